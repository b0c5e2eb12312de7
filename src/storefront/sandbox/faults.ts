import { Fault } from "../../core/fault.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { type ItemResult, StorefrontError } from "../storefront.ts";
import type { VariantRow } from "./state.ts";

export const sandboxCalls = [
  "checkVariants",
  "activateVariants",
  "changeOnHand",
  "readOnHand",
  "setIncoming",
  "writeCosts",
  "readCosts",
  "setTags",
] as const;

export type SandboxCall = (typeof sandboxCalls)[number];

export const sandboxFaultOutcomes = ["error", "throttled", "timeout", "refused", "lost-response"] as const;

export type SandboxFaultOutcome = (typeof sandboxFaultOutcomes)[number];

/** What goes wrong, and when (contract §7). */
export interface SandboxFault {
  readonly call: SandboxCall | "*";
  /**
   * `error`, `throttled`, `timeout` (nothing happened) and `lost-response` (it happened) strike the whole call when one of the
   * variants is in it; `refused` strikes only those items. On calls that only read, a refused item reads as unsyncable, not
   * verified or without a cost.
   */
  readonly outcome: SandboxFaultOutcome;
  /** Null: any call, or any item. */
  readonly variantIds: readonly string[] | null;
  /** How many calls it strikes. Null: until the faults are replaced. */
  readonly times: number | null;
}

export interface SandboxFaults {
  /** Every call takes this long. */
  readonly latencyMs: number;
  /** Between accepting an on-hand change and the change being readable. */
  readonly applyDelayMs: number;
  readonly faults: readonly SandboxFault[];
}

interface FaultRow {
  readonly position: number;
  readonly call: SandboxCall | "*";
  readonly outcome: SandboxFaultOutcome;
  readonly variant_ids: string | null;
  readonly times_left: number | null;
}

/** What this call meets. */
export interface Weather {
  readonly latencyMs: number;
  readonly applyDelayMs: number;
  /** What strikes the whole call. */
  readonly strike: Exclude<SandboxFaultOutcome, "refused"> | null;
  readonly isRefused: (variantId: string) => boolean;
}

export const givenUp = (): StorefrontError =>
  new StorefrontError("timeout", "the caller did not wait for the storefront's answer", { landed: "no" });

/** Waits; a caller that waits no longer gets its answer, and nothing is done. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw givenUp();
  if (ms === 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(givenUp());
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A sandbox whose own store cannot be used is a storefront that fails: its caller need not know that it is built in. */
export function storefrontErrorFrom(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return error.code === "DO_OVERLOADED"
    ? new StorefrontError("throttled", "the sandbox storefront is busy", {
        landed: "no",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      })
    : new StorefrontError("error", "the sandbox storefront's store cannot be used", { landed: "maybe", cause: error });
}

export function outOfReach(variantId: string, variant: VariantRow | undefined): ItemResult {
  return variant?.status === "unsyncable"
    ? { outcome: "rejected", reason: "unsyncable", message: `variant ${variantId} is not tracked at the storefront` }
    : { outcome: "rejected", reason: "deleted", message: `variant ${variantId} is not at the storefront` };
}

// Faults.

export async function weatherOf(
  tx: Tx,
  shopId: string,
  name: SandboxCall,
  variantIds: readonly string[],
): Promise<Weather> {
  const [[delay], rows] = await Promise.all([
    tx.all<{ latency_ms: number; apply_delay_ms: number }>(
      "select latency_ms, apply_delay_ms from sandbox_delay where shop_id = ?",
      [shopId],
    ),
    tx.all<FaultRow>(
      `select position, call, outcome, variant_ids, times_left from sandbox_fault
       where shop_id = ? and call in (?, '*') order by position`,
      [shopId, name],
    ),
  ]);
  const inCall = new Set(variantIds);
  const matching = rows.flatMap((row) => {
    const ids: readonly string[] | null = row.variant_ids === null ? null : JSON.parse(row.variant_ids);
    const strikes = row.times_left !== 0 && (ids === null || ids.some((id) => inCall.has(id)));
    return strikes ? [{ row, outcome: row.outcome, ids: ids === null ? null : new Set(ids) }] : [];
  });
  const whole = matching.find((fault) => fault.outcome !== "refused");
  const refusing = matching.filter((fault) => fault.outcome === "refused");
  // Items are refused only by a call that happens.
  const happens = whole === undefined || whole.outcome === "lost-response";
  const struck = [...(whole === undefined ? [] : [whole]), ...(happens ? refusing : [])];
  await tx.batch(
    struck
      .filter(({ row }) => row.times_left !== null)
      .map(({ row }) => ({
        sql: "update sandbox_fault set times_left = times_left - 1 where shop_id = ? and position = ?",
        params: [shopId, row.position],
      })),
  );
  return {
    latencyMs: delay?.latency_ms ?? 0,
    applyDelayMs: delay?.apply_delay_ms ?? 0,
    strike: whole === undefined || whole.outcome === "refused" ? null : whole.outcome,
    isRefused: (variantId) => refusing.some(({ ids }) => ids === null || ids.has(variantId)),
  };
}

export const faultStatements = (shopId: string, faults: SandboxFaults): readonly Statement[] => [
  { sql: "delete from sandbox_fault where shop_id = ?", params: [shopId] },
  {
    sql: `insert into sandbox_delay (shop_id, latency_ms, apply_delay_ms) values (?, ?, ?)
          on conflict (shop_id) do update set
            latency_ms = excluded.latency_ms, apply_delay_ms = excluded.apply_delay_ms`,
    params: [shopId, faults.latencyMs, faults.applyDelayMs],
  },
  ...faults.faults.map((fault, position) => ({
    sql: "insert into sandbox_fault (shop_id, position, call, outcome, variant_ids, times_left) values (?, ?, ?, ?, ?, ?)",
    params: [
      shopId,
      position,
      fault.call,
      fault.outcome,
      fault.variantIds === null ? null : JSON.stringify(fault.variantIds),
      fault.times,
    ],
  })),
];
