/**
 * Values that were made of what was read, within a bound in bytes, each as long as the rows that it was made from stand (D111).
 */
import type { Footprint } from "./store.ts";

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  readonly seen: readonly Footprint[];
}

/** Characters and objects of an entry beside its value, roughly. */
const entryBytes = 500;

/** What a text takes in memory: a byte for each character, or two if one is beyond U+00FF. */
export const bytesOfText = (text: string): number => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length;

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
