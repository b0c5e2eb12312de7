/**
 * The orders that match a list's filters, sorted by a value of theirs: how many, and a page of their keys (C13).
 *
 * Owns: merging segments, each of which has its orders by the value (segment.ts), and recent orders. Does not own: what
 * matches (order-search.ts), the values (order-facts.ts).
 */
import { compareText } from "../../base/text/compare-text.ts";
import type { Tx } from "../../store/store.ts";
import { type SortColumn, isKeyIn, sortKeysOf, sorted } from "./order-facts.ts";
import { loadRecent } from "./order-recent.ts";
import {
  type Matches,
  type Question,
  Search,
  type Segment,
  isAfter,
  isRecent,
  loadColumn,
  segmentsOf,
  togetherMax,
} from "./order-search.ts";
import { loadHeads } from "./segment-heads.ts";
import { type OrderKey, SortedPlaces, isAnything, sortColumn } from "./segment.ts";

/** Sort of a list. */
export interface OrderSort {
  readonly column: SortColumn;
  readonly isDescending: boolean;
  /** In which values are compared. */
  readonly shopCurrency: string;
}

/** Where an order stands in a sorted list. */
export interface SortedKey extends OrderKey {
  /** Null: it does not have the value. */
  readonly by: string | null;
}

/** Compares places in a sorted list. Equal values are by age in the same direction; those without one are last. */
function bySort({ isDescending }: OrderSort): (one: SortedKey, other: SortedKey) => number {
  const newestFirst = (one: OrderKey, other: OrderKey): number =>
    isAfter(one, other) ? 1 : isAfter(other, one) ? -1 : 0;
  return (one, other) => {
    if (one.by === null || other.by === null)
      return one.by === other.by ? newestFirst(one, other) : one.by === null ? 1 : -1;
    const order = compareText(one.by, other.by) || -newestFirst(one, other);
    return isDescending ? -order : order;
  };
}

/** Matches of a segment in the order of the sort. */
interface SortedMatches {
  readonly segment: Segment;
  /** Null: all of its orders match, recent ones apart. */
  readonly marks: Uint8Array | null;
  readonly entries: SortedPlaces;
  /** The next one; null: there is none any more. */
  next: { readonly line: number; readonly by: string; readonly place: number } | null;
}

/** Matches by a value, as far as a page shows them. */
class SortedSearch {
  readonly #search: Search;
  readonly #sort: OrderSort;
  readonly #after: SortedKey | null;
  readonly #limit: number;
  readonly #compare: (one: SortedKey, other: SortedKey) => number;
  readonly found: SortedKey[] = [];

  constructor(search: Search, sort: OrderSort, after: SortedKey | null, limit: number) {
    this.#search = search;
    this.#sort = sort;
    this.#after = after;
    this.#limit = limit;
    this.#compare = bySort(sort);
  }

  isAfter(key: SortedKey): boolean {
    return this.#after === null || this.#compare(key, this.#after) > 0;
  }

  /** The sort key of an order by its keys in the column. */
  keyOf(keys: readonly string[]): string | null {
    const { column, shopCurrency } = this.#sort;
    const key = keys.find((each) => isKeyIn(column, each, shopCurrency));
    return key === undefined ? null : sorted(column, key);
  }

  /** Goes to the first match of the segment after the page before. */
  async begin(matches: SortedMatches): Promise<void> {
    const { entries, segment } = matches;
    const { column, isDescending } = this.#sort;
    const after = this.#after;
    if (after === null) return this.#goOn(matches, entries.first(isDescending));
    if (after.by === null) return;
    const by = after.by;
    // Keys tell equal values apart where the ages of the segment's orders do not.
    const isTold = segment.follows === "some" || segment.head.id_from === after.purchase_order_id;
    const keys = isTold ? await this.#search.keys(segment) : null;
    const isOlder = (place: number): boolean =>
      keys === null ? segment.follows === "all" : isAfter(keys.at(place), after);
    const isSame = (place: number): boolean => keys?.at(place).purchase_order_id === after.purchase_order_id;
    const line = entries.seek(({ key, place }) => {
      const order = compareText(sorted(column, key), by);
      if (order !== 0) return order > 0 !== isDescending;
      return isOlder(place) === isDescending && !isSame(place);
    }, isDescending);
    this.#goOn(matches, line);
  }

  /** Goes on to the first match from this line on. */
  #goOn(matches: SortedMatches, from: number | null): void {
    const { marks, entries } = matches;
    const { column, isDescending, shopCurrency } = this.#sort;
    matches.next = null;
    for (let line = from; line !== null; line = entries.next(line, isDescending)) {
      const { key, place } = entries.at(line);
      if ((marks !== null && marks[place] !== 1) || !isKeyIn(column, key, shopCurrency)) continue;
      matches.next = { line, by: sorted(column, key), place };
      return;
    }
  }

  /** The segment with the next match of all. Segments come newest first, and equal values by age. */
  #first(all: readonly SortedMatches[]): SortedMatches | null {
    const { isDescending } = this.#sort;
    let first: SortedMatches | null = null;
    for (const each of all) {
      if (each.next === null) continue;
      const order = compareText(each.next.by, first?.next?.by ?? "");
      if (first === null || (order === 0 ? !isDescending : order > 0 === isDescending)) first = each;
    }
    return first;
  }

  /** Takes the matches that have the value. */
  async takeValues(all: readonly SortedMatches[]): Promise<void> {
    while (this.found.length < this.#limit) {
      const first = this.#first(all);
      if (first === null || first.next === null) return;
      const { line, by, place } = first.next;
      const key = (await this.#search.keys(first.segment)).at(place);
      if (!isRecent(first.segment, key.purchase_order_id)) this.found.push({ ...key, by });
      this.#goOn(first, first.entries.next(line, this.#sort.isDescending));
    }
  }

  /** Takes the matches that do not have it. */
  async takeOthers(all: readonly SortedMatches[]): Promise<void> {
    const { column, shopCurrency } = this.#sort;
    for (const { segment, marks, entries } of all) {
      if (this.found.length >= this.#limit) return;
      if (this.#after?.by === null && segment.follows === "none") continue;
      const left = marks === null ? new Uint8Array(segment.head.orders).fill(1) : marks.slice();
      for (let line = entries.first(false); line !== null; line = entries.next(line, false)) {
        const { key, place } = entries.at(line);
        if (isKeyIn(column, key, shopCurrency)) left[place] = 0;
      }
      if (!left.includes(1)) continue;
      const keys = await this.#search.keys(segment);
      for (const place of [...left.keys()].reverse()) {
        if (this.found.length >= this.#limit) return;
        if (left[place] !== 1) continue;
        const key = { ...keys.at(place), by: null };
        if (this.isAfter(key) && !isRecent(segment, key.purchase_order_id)) this.found.push(key);
      }
    }
  }
}

/** By place, 1 for each of these. */
function marksOf(places: readonly number[], count: number): Uint8Array {
  const marks = new Uint8Array(count);
  for (const place of places) marks[place] = 1;
  return marks;
}

/**
 * Counts the orders that match and finds the keys of a page of them, as they are sorted. Cost grows with the page, and
 * with the segments by some microseconds each.
 */
export async function findSortedOrders(
  tx: Tx,
  shopId: string,
  questionOf: () => Promise<Question>,
  sort: OrderSort,
  after: SortedKey | null,
  limit: number,
): Promise<Matches<SortedKey>> {
  const [recent, heads, question] = await Promise.all([loadRecent(tx, shopId), loadHeads(tx, shopId), questionOf()]);
  const search = new Search(tx, shopId, question);
  const page = new SortedSearch(search, sort, after, limit);
  const segments = segmentsOf(heads, recent, question, after);
  const all: SortedMatches[] = [];
  let totalCount = 0;
  for (let next = 0; next < segments.length; next += togetherMax) {
    const some = segments.slice(next, next + togetherMax);
    const whole = (segment: Segment): boolean => segment.within === "all" && isAnything(question.wanted);
    const [found, bodies] = await Promise.all([
      search.find(some, whole),
      loadColumn(
        tx,
        shopId,
        sortColumn(sort.column),
        some.map(({ head }) => head),
      ),
    ]);
    for (const [index, { segment, places, count }] of found.entries()) {
      totalCount += count;
      if (count === 0) continue;
      const marks = whole(segment) ? null : marksOf(places(), segment.head.orders);
      const matches = { segment, marks, entries: new SortedPlaces(bodies[index] ?? ""), next: null };
      await page.begin(matches);
      all.push(matches);
    }
    await tx.giveWay?.();
  }
  await page.takeValues(all);
  await page.takeOthers(all);
  const matching = recent.filter((order) => search.matches(order));
  const others = matching.flatMap(({ facts }) =>
    facts === null
      ? []
      : {
          created_at: facts.createdAtMs,
          purchase_order_id: facts.purchaseOrderId,
          by: page.keyOf(sortKeysOf(facts, sort.column)),
        },
  );
  return {
    totalCount: totalCount + matching.length,
    keys: [...page.found, ...others.filter((key) => page.isAfter(key))].sort(bySort(sort)).slice(0, limit),
  };
}
