/**
 * Values that were made of what was read, within a bound in bytes, each as long as the rows that it was made from stand
 * (D111).
 */
import type { Footprint } from "./store.ts";

/** Orders that a process remembers, so that a change does not read them anew (D248). */
export const recordsRememberedBytesMax = 16_777_216;

/** An entry of a memory. */
export interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  readonly seen: readonly Footprint[];
}

/** Characters and objects of an entry beside its value, roughly. */
const entryBytes = 500;

/** Returns the bytes of a text in memory: one for each character, or two if one is beyond U+00FF. */
export const bytesOfText = (text: string): number => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length;

const stands = ({ seen }: Entry<unknown>): boolean => seen.every((each) => each.stands());

/** Values by key, the least recently used first. */
export class Cache<T> {
  readonly #bytesMax: number;
  readonly #left: (key: string, entry: Entry<T>) => void;
  readonly #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  /** @param left  is told of an entry that others have taken the place of, while it stands. */
  constructor(bytesMax: number, left: (key: string, entry: Entry<T>) => void = () => {}) {
    this.#bytesMax = bytesMax;
    this.#left = left;
  }

  get(key: string): T | null {
    return this.find(key)?.value ?? null;
  }

  /** The value, and what it was made from. */
  find(key: string): Entry<T> | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.#entries.delete(key);
    if (!stands(entry)) {
      this.#bytes -= entry.bytes;
      return null;
    }
    this.#entries.set(key, entry);
    return entry;
  }

  /**
   * @param seen  what the value was made from, of every read. Empty: nobody knows it, so the value is not kept.
   */
  put(key: string, value: T, valueBytes: number, seen: readonly Footprint[]): void {
    this.#forget(key);
    const bytes = valueBytes + key.length + entryBytes;
    if (bytes > this.#bytesMax || seen.length === 0) return;
    // A copy has no room for more.
    this.#entries.set(key, { value, bytes, seen: [...seen] });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
      if (stands(entry)) this.#left(oldest, entry);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
