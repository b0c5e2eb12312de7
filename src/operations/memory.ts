/**
 * What a process remembers of what it has read, as long as the rows from which it was made stand (D111). An engine whose rows others may
 * change says nothing of them, so nothing is remembered there.
 *
 * Owns: the values and their bytes. Does not own: whether rows have changed (the engine's `Footprint`).
 *
 * Invariants:
 * - H11. A remembered value is what the same reads would give now, and durable: it is put here when the reads that it comes from have
 *        resolved (S4), and it counts only while all that they have seen stands.
 */
import type { Engine, Footprint } from "../store/store.ts";
import type { Call } from "./operation.ts";

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  readonly seen: readonly Footprint[];
}

/** Characters and objects of an entry beside its value, roughly. */
const entryBytes = 500;

/** Values by key, the least recently used first. */
export class Memory<T> {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): T | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.#entries.delete(key);
    if (!entry.seen.every((each) => each.stands())) {
      this.#bytes -= entry.bytes;
      return null;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @param seen what the value was made from, of every read. */
  put(key: string, value: T, valueBytes: number, seen: readonly Footprint[]): void {
    this.#forget(key);
    const bytes = valueBytes + key.length + entryBytes;
    if (bytes > this.#bytesMax) return;
    this.#entries.set(key, { value, bytes, seen });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

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
