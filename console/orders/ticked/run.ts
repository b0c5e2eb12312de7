/** One action for several orders, one after another, each with its own guard and key. What became of each is kept. */
import { signal } from "@preact/signals";
import { newIdempotencyKey, type OperationName, type PurchaseOrderHeader, type Result } from "../../../client/index.ts";
import { type Problem, problemOf } from "../../data/client.ts";
import { sentence } from "../../data/format.ts";
import { sleep } from "../../data/reading.ts";
import { tickedTexts as words } from "../../texts/en/order/ticked.ts";

/** Order for which an action was not all done. `partly`: it was, but what follows it was not. */
export interface Undone {
  readonly order: PurchaseOrderHeader;
  readonly kind: "refused" | "waiting" | "partly";
  readonly says: string;
  /** The request that waits for a decision. */
  readonly approvalRequestId: string | null;
}

/** Outcome of an action for several orders. */
export interface Summary {
  readonly done: number;
  readonly undone: readonly Undone[];
}

/** Terms of an order's call: the version that the list shows, and a key, so that it is made once. */
interface How {
  readonly ifMatch: string;
  readonly idempotencyKey: string;
}

/** Calls that one action may send at once. After them each waits, so that the shop's people keep most of theirs. */
const callsAtOnce = 20;
const callWaitMs = 150;

function says({ reason, message, action, details }: Problem): string {
  if (reason === "VERSION_MISMATCH") return words.stale;
  // Nobody was asked for an address here.
  if (details.some((each) => "path" in each && each.path === "/to")) return words.noAddress;
  return `${sentence(message)} ${action ?? ""}`.trim();
}

/** Follow-on work that a call has left undone: an e-mail that failed, or stock that was not pushed. */
const recoveryIn = (data: object): string | null => {
  const recovery: unknown = Reflect.get(data, "recovery");
  return typeof recovery === "string" ? recovery : null;
};

export function runner() {
  /** Number of orders that are through, while an action runs. */
  const progress = signal<{ readonly done: number; readonly of: number } | null>(null);
  const summary = signal<Summary | null>(null);
  /** Keys of calls that nobody has answered, by action, order and version. */
  const keys = new Map<string, string>();

  /** @returns ids of the orders for which it was done, or asked for. Null: another action is running. */
  const run = async <Name extends OperationName>(
    action: string,
    orders: readonly PurchaseOrderHeader[],
    call: (order: PurchaseOrderHeader, how: How) => Promise<Result<Name>>,
    after: (order: PurchaseOrderHeader, result: Result<Name> & { readonly ok: true }) => void = () => {},
  ): Promise<readonly string[] | null> => {
    if (progress.value !== null) return null;
    progress.value = { done: 0, of: orders.length };
    summary.value = null;
    const through: string[] = [];
    const undone: Undone[] = [];
    const one = async (index: number, order: PurchaseOrderHeader): Promise<void> => {
      if (index >= callsAtOnce) await sleep(callWaitMs);
      const { purchaseOrderId, version } = order;
      const name = JSON.stringify([action, purchaseOrderId, version]);
      const idempotencyKey = keys.get(name) ?? newIdempotencyKey();
      keys.set(name, idempotencyKey);
      // The ETag of an order is its version (C37).
      const result = await call(order, { ifMatch: `"${version}"`, idempotencyKey });
      if (result.ok || (result.status !== null && result.status < 500)) keys.delete(name);
      if (result.ok) {
        after(order, result);
        const recovery = recoveryIn(result.data);
        if (recovery !== null) undone.push({ order, kind: "partly", says: recovery, approvalRequestId: null });
        through.push(purchaseOrderId);
      } else {
        const problem = problemOf(result);
        const { approvalRequestId = null } = problem;
        const kind = approvalRequestId === null ? "refused" : "waiting";
        undone.push({ order, kind, says: says(problem), approvalRequestId });
        if (kind === "waiting") through.push(purchaseOrderId);
      }
    };
    try {
      for (const [index, order] of orders.entries()) {
        await one(index, order);
        progress.value = { done: index + 1, of: orders.length };
      }
    } finally {
      progress.value = null;
    }
    summary.value = { done: through.length - undone.filter(({ kind }) => kind === "waiting").length, undone };
    return through;
  };
  return { progress, summary, run };
}
