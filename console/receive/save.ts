/** A save of counts as the API takes it, and what an answer means for the counts. */
import type { Failure } from "../../client/index.ts";
import { addedOf, changedLines, type CountedLine, type Counts, overBy, totalOf } from "./amounts.ts";
import type { Save } from "./keeping.ts";

type Resolutions = NonNullable<Save["input"]["resolutions"]>;

/** A key for one save. Pages without TLS have no `crypto.randomUUID`. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Everything that was counted, as new totals of an order at this version. */
export function saveOf(
  order: { readonly purchaseOrderId: string; readonly etag: string },
  lines: readonly CountedLine[],
  counts: Counts,
  resolutions: Resolutions,
): Save {
  const changed = changedLines(lines, counts);
  return {
    idempotencyKey: newKey(),
    ifMatch: order.etag,
    madeAtMs: Date.now(),
    input: {
      purchaseOrderId: order.purchaseOrderId,
      lines: changed.map((line) => ({
        lineItemId: line.lineId,
        quantityReceived: totalOf(line, counts, "received"),
        ...(addedOf(counts, line.lineId).rejected === 0 ? {} : { quantityRejected: totalOf(line, counts, "rejected") }),
        ...(addedOf(counts, line.lineId).cancelled === 0
          ? {}
          : { quantityCancelled: totalOf(line, counts, "cancelled") }),
      })),
      ...(changed.some((line) => overBy(line, counts) > 0) ? { allowOverReceipt: true } : {}),
      ...(resolutions.length === 0 ? {} : { resolutions }),
    },
  };
}

/** Stored answers live 24 hours (C21). A save that is older may have been recorded under a key that is forgotten. */
const replayMsMax = 23 * 3_600_000;

/**
 * Meaning of a refused save. `again`: it may have been recorded, so the same one is sent again. `merge`: nothing was
 * recorded since the order has changed. `doubtful`: the order has changed, perhaps by this save. `refused`: nothing was
 * recorded.
 */
type Verdict = "again" | "merge" | "doubtful" | "refused";

export function verdictOf({ status, error }: Failure<"purchase_order_receive">, save: Save, nowMs: number): Verdict {
  if (status === null || status === 401 || status === 429 || status >= 500) return "again";
  const reason = "reason" in error ? error.reason : undefined;
  if (reason === "IDEMPOTENCY_IN_PROGRESS") return "again";
  if (reason !== "VERSION_MISMATCH") return "refused";
  return nowMs - save.madeAtMs > replayMsMax ? "doubtful" : "merge";
}

/** Lines that the storefront cannot take, and what each may be answered with. */
export function guardIssuesOf({ error }: Failure<"purchase_order_receive">): readonly GuardIssue[] {
  if (error.code !== "INVENTORY_GUARD_ISSUES" || !("details" in error)) return [];
  return (error.details ?? []).flatMap((detail) =>
    "allowedActions" in detail ? [{ lineId: detail.itemId, actions: detail.allowedActions }] : [],
  );
}

export interface GuardIssue {
  readonly lineId: string;
  readonly actions: readonly ("activate" | "skip")[];
}
