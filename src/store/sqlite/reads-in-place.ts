/** Counts how often the files of closed shops were read, so that one that is read often is opened (D376). */
import { RecentMap } from "../../base/recent-map.ts";

/**
 * Reads of a shop after which its closed file is opened, although that closes another. While as many files are open as
 * may be, so many first reads take the rows from the closed file. That costs a third of opening one file and closing
 * another (D376).
 */
export const readsInPlaceMax = 8;

/** Closed shops whose reads are counted. */
export const shopsCountedMax = 16_384;

export class ReadsInPlace {
  readonly #counts = new RecentMap<number>(shopsCountedMax);

  add(shopId: string): void {
    this.#counts.set(shopId, (this.#counts.get(shopId) ?? 0) + 1);
  }

  /** The next read of the shop opens its file. */
  isEnough(shopId: string): boolean {
    return (this.#counts.get(shopId) ?? 0) >= readsInPlaceMax;
  }

  forget(shopId: string): void {
    this.#counts.delete(shopId);
  }
}
