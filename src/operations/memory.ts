/**
 * What a process remembers of what it has read, as long as the rows from which it was made stand (D111). An engine whose rows others may
 * change says nothing of them, so nothing is remembered there.
 *
 * Owns: what a call's answer depends on. Does not own: the values and their bytes (store/memory.ts), whether rows have changed (the engine's
 * `Footprint`).
 *
 * Invariants:
 * - H11. A remembered value is what the same reads would give now, and durable: it is put here when the reads that it comes from have
 *        resolved (S4), and it counts only while all that they have seen stands.
 */
import type { Engine, Footprint } from "../store/store.ts";
import type { Call } from "./operation.ts";

interface NotedCall {
  readonly call: Call;
  /** What its reads have seen; null if its answer may depend on more than these rows, the input and the shop's settings. */
  readonly seen: () => readonly Footprint[] | null;
}

/** The call of a read, with notes of what it depends on: an answer that depends on the time, say, cannot be given again later. */
export function noting(call: Call, engine: Engine): NotedCall {
  const seen: Footprint[] = [];
  let unseen = 0;
  const noted = <T>(value: T): T => {
    unseen += 1;
    return value;
  };
  return {
    call: {
      ...call,
      get actor() {
        return noted(call.actor);
      },
      get requestId() {
        return noted(call.requestId);
      },
      get clock() {
        return noted(call.clock);
      },
      get ids() {
        return noted(call.ids);
      },
      get storefront() {
        return noted(call.storefront);
      },
      get ifMatch() {
        return noted(call.ifMatch);
      },
      async readPart(part, asked) {
        return await noted(call).readPart(part, asked);
      },
      async read(work) {
        unseen += 1;
        return await engine.read(call.shop.shopId, work, (footprint) => {
          unseen -= 1;
          seen.push(footprint);
        });
      },
    },
    seen: () => (unseen === 0 && seen.length > 0 ? seen : null),
  };
}
