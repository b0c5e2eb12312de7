/**
 * Results of reads that a process remembers, as long as the rows behind them stand (D111). An engine whose rows others
 * may change says nothing of them, so nothing is remembered there.
 *
 * Owns: what a call's answer depends on. Does not own: the values and their bytes (store/cache.ts), whether rows have
 * changed (the engine's `Footprint`).
 *
 * Invariants:
 * - H11. A remembered value is what the same reads would give now, and durable. It is put here when its reads have
 *        resolved (S4), and counts only while all that they have seen stands.
 */
import type { Work } from "../../store/store.ts";
import type { Call } from "../operation.ts";

interface NotedCall<Seen> {
  readonly call: Call;
  /**
   * Footprints of its reads; null if its answer may depend on more than these rows, the input and the shop's settings.
   */
  readonly seen: () => readonly Seen[] | null;
}

/**
 * The call of a read, with notes of what it depends on: an answer that depends on the time, say, cannot be given again
 * later.
 *
 * @param read reads the shop as `call.read` does, and tells what it has seen if that is known.
 */
export function noting<Seen>(
  call: Call,
  read: <T>(work: Work<T>, onSeen: (seen: Seen) => void) => Promise<T>,
): NotedCall<Seen> {
  const seen: Seen[] = [];
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
      async readQuery(query, input) {
        return await noted(call).readQuery(query, input);
      },
      async read(work) {
        unseen += 1;
        return await read(work, (each) => {
          unseen -= 1;
          seen.push(each);
        });
      },
    },
    seen: () => (unseen === 0 && seen.length > 0 ? seen : null),
  };
}
