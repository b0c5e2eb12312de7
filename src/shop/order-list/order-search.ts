/**
 * The orders that match a list's filters: how many, and a page of their keys, newest first.
 *
 * Owns: reading segments and recent orders (R4, R5) side by side. Does not own: what matches (segment.ts), other orders
 * than by age (sorted-search.ts), the filters and the rows of a page (purchase-order-list.ts).
 *
 * Matches among all orders are counted in the columns that the question needs. These are a byte or two an order for a
 * filter, and its texts for a search. For one filter the total is kept, so a page ends the reading.
 */
import { RecentMap } from "../../base/recent-map.ts";
import { compareText } from "../../base/text/compare-text.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import type { Article, CodeColumn } from "./order-facts.ts";
import { type CountedColumn, type RecentOrder, loadRecent } from "./order-recent.ts";
import { type SegmentHead, type SegmentKey, articlesOfWords, indexOf, loadHeads } from "./segment-heads.ts";
import {
  type ArticleCondition,
  ArticleIds,
  type Bodies,
  type OrderKey,
  SegmentKeys,
  type Wanted,
  articleConditions,
  isAnything,
  isMatch,
  markArticles,
  columnsWanted,
  eachLineWith,
  placesOf,
  valuesOfCodes,
} from "./segment.ts";

/** A filter whose total is kept. */
export interface KeptFilter {
  readonly kind: CountedColumn;
  readonly values: readonly string[];
}

export interface Question {
  /** Names what is wanted, ages left aside: equal texts ask the same. Null: counts are not remembered. */
  readonly key: string | null;
  readonly wanted: Wanted;
  /** Created at this instant or later; null: no bound. */
  readonly createdFromMs: number | null;
  /** Created before this instant; null: no bound. */
  readonly createdBeforeMs: number | null;
  /** Nothing else is asked than this; null: it is. */
  readonly kept: KeptFilter | null;
}

export interface Matches<Key extends OrderKey = OrderKey> {
  readonly totalCount: number;
  readonly keys: readonly Key[];
}

/** The limit of what wants all matches. */
const unlimited = Number.POSITIVE_INFINITY;

/** Segments that are read at once: at first for a page, and at most. */
const firstSegments = 2;
export const togetherMax = 64;

// Articles.

/** True of these values. */
export function isOneOf(values: readonly string[]): (value: string | null) => boolean {
  const known = new Set(values);
  return (value) => value !== null && known.has(value);
}

const articleColumns = {
  variantId: "variant_id",
  sku: "sku",
  barcode: "barcode",
  supplierSku: "supplier_sku",
  supplierBarcode: "supplier_barcode",
} as const;

/** The condition that an order has an article with one of these values in one of these columns. */
export async function articlesWith(
  tx: Tx,
  shopId: string,
  names: readonly (keyof typeof articleColumns)[],
  values: readonly string[],
): Promise<ArticleCondition> {
  const rows = await Promise.all(
    names.map((name) =>
      selectIn<{ article_id: number }>(
        tx,
        `select article_id from order_article where shop_id = ? and ${articleColumns[name]} in (?)`,
        [shopId],
        values,
      ),
    ),
  );
  const wanted = new Set(values);
  return {
    ids: new ArticleIds(rows.flat().map((row) => row.article_id)),
    has: (article: Article) => names.some((name) => wanted.has(article[name] ?? "")),
  };
}

/** The conditions that an order has an article with the word, for each of these words. */
export async function articlesNamed(
  tx: Tx,
  shopId: string,
  words: readonly string[],
): Promise<readonly ArticleCondition[]> {
  if (words.length === 0) return [];
  const groups = await tx.all<{ created_from: number; body: string }>(
    "select created_from, body from order_segment where shop_id = ? and name = 'words'",
    [shopId],
  );
  return words.map((word) => {
    const ids: number[] = [];
    for (const { created_from: group, body } of groups)
      eachLineWith(body, word, (place) => ids.push(group * articlesOfWords + place));
    return { ids: new ArticleIds(ids), has: (article: Article) => article.words.includes(word) };
  });
}

// Segments.

/** True if one order comes after another in the list, which is newest first. */
export const isAfter = (key: OrderKey, position: OrderKey): boolean =>
  key.created_at < position.created_at ||
  (key.created_at === position.created_at && compareText(key.purchase_order_id, position.purchase_order_id) < 0);

/** Orders of a segment that a range of ages has. */
type Share = "all" | "some" | "none";

/** A segment as it is looked through. */
export interface Segment {
  readonly index: number;
  readonly head: SegmentHead;
  /** Of its orders those within the bounds of the question. */
  readonly within: Share;
  /** Of its orders those that come after the page before. */
  readonly follows: Share;
  /** Recent orders that it holds as they were. */
  readonly recent: readonly RecentOrder[];
}

function shareWithin(head: SegmentKey, next: SegmentKey | undefined, question: Question): Share {
  const { createdFromMs: from, createdBeforeMs: before } = question;
  if (before !== null && head.created_from >= before) return "none";
  if (from !== null && next !== undefined && next.created_from < from) return "none";
  const isWhole =
    (from === null || head.created_from >= from) &&
    (before === null || (next !== undefined && next.created_from < before));
  return isWhole ? "all" : "some";
}

/** The next segment, which is newer, is undefined for the newest. */
function shareAfter(head: SegmentKey, next: SegmentKey | undefined, after: OrderKey | null): Share {
  if (after === null) return "all";
  const begin = (key: SegmentKey): OrderKey => ({ created_at: key.created_from, purchase_order_id: key.id_from });
  if (!isAfter(begin(head), after)) return "none";
  return next === undefined || isAfter(after, begin(next)) ? "some" : "all";
}

/** The segments of the question, newest first. */
export function segmentsOf(
  heads: readonly SegmentHead[],
  recent: readonly RecentOrder[],
  question: Question,
  after: OrderKey | null,
): readonly Segment[] {
  const sealed = Map.groupBy(
    recent.filter((order) => order.sealed !== null),
    ({ purchaseOrderId, sealed }) => indexOf(heads, sealed?.createdAtMs ?? 0, purchaseOrderId),
  );
  return heads
    .map((head, index) => ({
      index,
      head,
      within: shareWithin(head, heads[index + 1], question),
      follows: shareAfter(head, heads[index + 1], after),
      recent: sealed.get(index) ?? [],
    }))
    .filter(({ within }) => within !== "none")
    .toReversed();
}

// What is remembered.

/** Bytes of columns of segments that each thread remembers, of all shops. */
export const segmentsBytesMax = 67_108_864;

/** Questions of which the counts are remembered, of all shops. */
export const questionsMax = 32;

/** Something that is known of a segment with this stamp. */
interface Stamped<Value> {
  readonly stamp: string;
  readonly value: Value;
}

/** By where the segment begins. */
type BySegment<Value> = Map<string, Stamped<Value>>;

const keyText = ({ created_from, id_from }: SegmentKey): string => `${created_from} ${id_from}`;

/** Columns by shop and name; the one that was asked for the longest time ago is forgotten first. */
const columns = new Map<string, { readonly bodies: BySegment<string>; bytes: number }>();

/** Bytes of all of them. */
let columnsBytes = 0;

/** Counts of matches by shop and question. */
const counts = new RecentMap<BySegment<number>>(questionsMax);

function known<Value>(values: BySegment<Value>, head: SegmentHead): Value | null {
  const found = values.get(keyText(head));
  return found?.stamp === head.stamp ? found.value : null;
}

/** Reads a column in these segments, as far as it is not remembered. */
export async function loadColumn(
  tx: Tx,
  shopId: string,
  name: string,
  heads: readonly SegmentHead[],
): Promise<readonly string[]> {
  const key = `${shopId} ${name}`;
  const column = columns.get(key) ?? { bodies: new Map(), bytes: 0 };
  const missing = heads.filter((head) => known(column.bodies, head) === null);
  const [newest, oldest] = [missing[0], missing.at(-1)];
  const read = new Map<string, string>();
  if (newest !== undefined && oldest !== undefined) {
    const rows = await tx.all<SegmentKey & { readonly body: string }>(
      `select created_from, id_from, body from order_segment where shop_id = ? and name = ?
         and (created_from, id_from) >= (?, ?) and (created_from, id_from) <= (?, ?)`,
      [shopId, name, oldest.created_from, oldest.id_from, newest.created_from, newest.id_from],
    );
    for (const row of rows) read.set(keyText(row), row.body);
  }
  const bodies = heads.map((head) => known(column.bodies, head) ?? read.get(keyText(head)) ?? "");
  // Another look may have forgotten it meanwhile, or taken its place.
  columnsBytes -= columns.get(key)?.bytes ?? 0;
  for (const head of missing) {
    const value = read.get(keyText(head)) ?? "";
    column.bytes += value.length - (column.bodies.get(keyText(head))?.value.length ?? 0);
    column.bodies.set(keyText(head), { stamp: head.stamp, value });
  }
  columns.delete(key);
  columns.set(key, column);
  columnsBytes += column.bytes;
  for (const [each, { bytes }] of columns) {
    if (columnsBytes <= segmentsBytesMax) break;
    columns.delete(each);
    columnsBytes -= bytes;
  }
  return bodies;
}

/** True if the order of this segment is a recent one by now. */
export const isRecent = ({ recent }: Segment, id: string): boolean =>
  recent.some((order) => order.purchaseOrderId === id);

/** Matches of a segment that are not recent. */
interface Found {
  readonly segment: Segment;
  /** Returns their places, oldest first. Some may be of recent orders if `keys` is null. */
  readonly places: () => readonly number[];
  readonly keys: SegmentKeys | null;
  readonly count: number;
}

/** The question with texts and articles left aside. */
const valuesOf = (wanted: Wanted): Wanted => ({ ...wanted, words: [], articles: [] });

/** A search under way. */
export class Search {
  readonly #tx: Tx;
  readonly #shopId: string;
  readonly #question: Question;
  /** Columns by which segments are left aside, and those that are then needed. */
  readonly #values: readonly string[];
  readonly #others: readonly string[];
  readonly #conditions: readonly ArticleCondition[];
  readonly #counts: BySegment<number>;
  /** Conditions that recent orders fulfil by articles that their segments have, by order. */
  readonly fulfilled = new Map<string, Set<ArticleCondition>>();

  constructor(tx: Tx, shopId: string, question: Question) {
    this.#tx = tx;
    this.#shopId = shopId;
    this.#question = question;
    this.#values = columnsWanted(valuesOf(question.wanted));
    this.#others = columnsWanted(question.wanted).filter((name) => !this.#values.includes(name));
    this.#conditions = articleConditions(question.wanted);
    const key = question.key === null ? null : `${shopId} ${question.key}`;
    this.#counts = (key === null ? null : counts.get(key)) ?? new Map();
    if (key !== null) counts.set(key, this.#counts);
  }

  /** The matches in these segments, newest first. @param isCounted only their number is asked for. */
  async find(segments: readonly Segment[], isCounted: (segment: Segment) => boolean): Promise<readonly Found[]> {
    const unknown = segments.filter((segment) => this.#countOf(segment) === null || !isCounted(segment));
    const [bodies, keys] = await Promise.all([
      this.#bodies(unknown),
      Promise.all(unknown.map(async (segment) => (this.#needsKeys(segment) ? await this.keys(segment) : null))),
    ]);
    const found = new Map(
      unknown.map((segment, index) => [
        segment,
        this.#foundIn(segment, bodies.get(segment) ?? new Map(), keys[index] ?? null),
      ]),
    );
    return segments.map(
      (segment) => found.get(segment) ?? { segment, places: () => [], keys: null, count: this.#countOf(segment) ?? 0 },
    );
  }

  /**
   * The columns of these segments. Texts and articles are large: they are read of a segment only if an order has the
   * wanted values, or may have them by now.
   */
  async #bodies(segments: readonly Segment[]): Promise<ReadonlyMap<Segment, Bodies>> {
    const bodies = new Map(segments.map((segment) => [segment, new Map<string, string>()]));
    const load = async (names: readonly string[], some: readonly Segment[]): Promise<void> => {
      const heads = some.map(({ head }) => head);
      const columnsOf = await Promise.all(names.map((name) => loadColumn(this.#tx, this.#shopId, name, heads)));
      for (const [column, name] of names.entries())
        for (const [index, segment] of some.entries()) bodies.get(segment)?.set(name, columnsOf[column]?.[index] ?? "");
    };
    await load(this.#values, segments);
    const values = valuesOf(this.#question.wanted);
    const isSought = (segment: Segment): boolean =>
      this.#values.length === 0 ||
      segment.recent.length > 0 ||
      placesOf(bodies.get(segment) ?? new Map(), segment.head.orders, values).length > 0;
    if (this.#others.length > 0) await load(this.#others, segments.filter(isSought));
    return bodies;
  }

  /** The keys of a segment's orders. */
  async keys({ head }: Segment): Promise<SegmentKeys> {
    const [body = ""] = await loadColumn(this.#tx, this.#shopId, "keys", [head]);
    return new SegmentKeys(body);
  }

  /** The number of its matches, if it is known without a look at them. */
  #countOf(segment: Segment): number | null {
    if (segment.within === "all" && isAnything(this.#question.wanted))
      return segment.head.orders - segment.recent.length;
    return this.#needsKeys(segment) ? null : known(this.#counts, segment.head);
  }

  /** Its orders must be told apart to be counted. */
  #needsKeys({ within, recent }: Segment): boolean {
    return within === "some" || (recent.length > 0 && !isAnything(this.#question.wanted));
  }

  #foundIn(segment: Segment, bodies: Bodies, keys: SegmentKeys | null): Found {
    const { head, recent, within } = segment;
    const { wanted, createdFromMs: from, createdBeforeMs: before } = this.#question;
    const matching = placesOf(bodies, head.orders, wanted);
    if (keys === null) {
      if (!isAnything(wanted)) this.#counts.set(keyText(head), { stamp: head.stamp, value: matching.length });
      return { segment, places: () => matching, keys, count: this.#countOf(segment) ?? matching.length };
    }
    if (recent.length > 0 && this.#conditions.length > 0) this.#noteFulfilled(segment, bodies, keys);
    const places = matching.filter((place) => {
      const { created_at: atMs, purchase_order_id: id } = keys.at(place);
      return (
        (within === "all" || ((from === null || atMs >= from) && (before === null || atMs < before))) &&
        !isRecent(segment, id)
      );
    });
    return { segment, places: () => places, keys, count: places.length };
  }

  #noteFulfilled({ recent, head }: Segment, bodies: Bodies, keys: SegmentKeys): void {
    for (const condition of this.#conditions) {
      const found = new Uint8Array(head.orders);
      markArticles(found, bodies, condition.ids);
      for (const { purchaseOrderId } of recent) {
        if (found[keys.all().findIndex((key) => key.purchase_order_id === purchaseOrderId)] !== 1) continue;
        const conditions = this.fulfilled.get(purchaseOrderId) ?? new Set();
        this.fulfilled.set(purchaseOrderId, conditions.add(condition));
      }
    }
  }

  /** Reads the keys of what was found, all together. */
  async preload(found: readonly Found[]): Promise<void> {
    const heads = found.flatMap(({ keys, count, segment }) => (keys === null && count > 0 ? segment.head : []));
    await loadColumn(this.#tx, this.#shopId, "keys", heads);
  }

  /** The keys of found orders that come after a position, newest first; no more than so many. */
  async keysOf({ segment, places, keys: read }: Found, after: OrderKey | null, limit: number): Promise<OrderKey[]> {
    const keys = read ?? (await this.keys(segment));
    const found: OrderKey[] = [];
    for (const place of places().toReversed()) {
      if (found.length === limit) break;
      const key = keys.at(place);
      const follows = segment.follows === "all" || after === null || isAfter(key, after);
      if (follows && !isRecent(segment, key.purchase_order_id)) found.push(key);
    }
    return found;
  }

  /** True if the recent order matches. The segment that holds it must have been looked through. */
  matches({ purchaseOrderId, facts, articles }: RecentOrder): boolean {
    if (facts === null) return false;
    const { wanted, createdFromMs: from, createdBeforeMs: before } = this.#question;
    const fulfilled = this.fulfilled.get(purchaseOrderId);
    const hasArticle = (condition: ArticleCondition): boolean =>
      articles === null
        ? fulfilled?.has(condition) === true
        : [...articles.values()].some((article) => condition.has(article));
    return (
      (from === null || facts.createdAtMs >= from) &&
      (before === null || facts.createdAtMs < before) &&
      isMatch(facts, hasArticle, wanted)
    );
  }
}

/** Sealed orders with one of these values. */
async function keptCount(tx: Tx, shopId: string, { kind, values }: KeptFilter): Promise<number> {
  const [row] = await tx.all<{ n: number }>(
    `select cast(coalesce(sum(orders), 0) as bigint) as n from order_count
     where shop_id = ? and kind = ? and value in (${placeholders(values.length)})`,
    [shopId, kind, ...values],
  );
  return row?.n ?? 0;
}

/** Orders of the shop. */
export async function countOrders(tx: Tx, shopId: string): Promise<number> {
  const [recent, heads] = await Promise.all([loadRecent(tx, shopId), loadHeads(tx, shopId)]);
  return (
    heads.reduce((sum, head) => sum + head.orders, 0) +
    recent.reduce((sum, { facts, sealed }) => sum + (facts === null ? 0 : 1) - (sealed === null ? 0 : 1), 0)
  );
}

/**
 * Counts the orders that match and finds the keys of a page of them.
 *
 * @param after where the page before ended; null for the first.
 */
export async function findOrders(
  tx: Tx,
  shopId: string,
  questionOf: () => Promise<Question>,
  after: OrderKey | null,
  limit: number,
): Promise<Matches> {
  const [recent, heads, question] = await Promise.all([loadRecent(tx, shopId), loadHeads(tx, shopId), questionOf()]);
  const { kept } = question;
  const search = new Search(tx, shopId, question);
  const all = segmentsOf(heads, recent, question, after);
  const sealed = kept === null ? null : await keptCount(tx, shopId, kept);
  // A page that is counted needs no segments before it.
  const segments = sealed === null ? all : all.filter(({ follows }) => follows !== "none");
  let count = 0;
  const keys: OrderKey[] = [];
  for (let next = 0, together = limit === unlimited ? togetherMax : firstSegments; next < segments.length;) {
    if (sealed !== null && keys.length >= limit) break;
    const some = segments.slice(next, next + together);
    const found = await search.find(some, ({ follows }) => follows === "none" || keys.length >= limit);
    next += together;
    together = Math.min(together * 2, togetherMax);
    if (limit === unlimited) await search.preload(found);
    for (const each of found) {
      count += each.count;
      if (each.segment.follows === "none" || each.count === 0 || keys.length >= limit) continue;
      keys.push(...(await search.keysOf(each, after, limit - keys.length)));
    }
    await tx.giveWay?.();
  }
  if (kept !== null && sealed !== null) {
    const has = (facts: RecentOrder["sealed"]): number =>
      facts !== null && kept.values.includes(facts[kept.kind] ?? "") ? 1 : 0;
    count = sealed - recent.reduce((sum, order) => sum + has(order.sealed), 0);
  }
  const matching = recent.filter((order) => search.matches(order));
  const others = matching.flatMap(({ facts }) =>
    facts === null ? [] : { created_at: facts.createdAtMs, purchase_order_id: facts.purchaseOrderId },
  );
  return {
    totalCount: count + matching.length,
    keys: [...keys, ...others.filter((key) => after === null || isAfter(key, after))]
      .sort((one, other) => (isAfter(one, other) ? 1 : -1))
      .slice(0, limit),
  };
}

/**
 * The newest of the orders that match with each of these values of a column. A value that none has is left out.
 * Segments are looked through until each value is found.
 */
export async function newestBy(
  tx: Tx,
  shopId: string,
  column: CodeColumn,
  values: readonly string[],
  columns: Wanted["columns"],
): Promise<ReadonlyMap<string, string>> {
  const [recent, heads] = await Promise.all([loadRecent(tx, shopId), loadHeads(tx, shopId)]);
  const left = new Set<string | null>(values);
  const wanted: Wanted = {
    columns: { ...columns, [column]: (value: string | null) => left.has(value) },
    updated: null,
    words: [],
    articles: [],
  };
  const question: Question = { key: null, wanted, createdFromMs: null, createdBeforeMs: null, kept: null };
  const newest = new Map<string, OrderKey>();
  for (const order of recent) {
    const { facts } = order;
    const value = facts?.[column] ?? null;
    if (facts === null || value === null || !isMatch(facts, () => false, wanted)) continue;
    const key = { created_at: facts.createdAtMs, purchase_order_id: facts.purchaseOrderId };
    const known = newest.get(value);
    if (known === undefined || isAfter(known, key)) newest.set(value, key);
  }
  const search = new Search(tx, shopId, question);
  const segments = segmentsOf(heads, recent, question, null);
  for (let next = 0, together = firstSegments; next < segments.length && left.size > 0;) {
    const some = segments.slice(next, next + together);
    const found = (await search.find(some, () => false)).filter(({ count }) => count > 0);
    const bodies = await loadColumn(
      tx,
      shopId,
      column,
      found.map(({ segment }) => segment.head),
    );
    for (const [index, { segment, places, keys: read }] of found.entries()) {
      const valueAt = valuesOfCodes(bodies[index] ?? "");
      const keys = read ?? (await search.keys(segment));
      for (const place of places().toReversed()) {
        const value = valueAt(place);
        const key = keys.at(place);
        if (value === null || !left.has(value)) continue;
        left.delete(value);
        const known = newest.get(value);
        if (known === undefined || isAfter(known, key)) newest.set(value, key);
      }
    }
    next += together;
    together = Math.min(together * 2, togetherMax);
  }
  return new Map([...newest].map(([value, key]) => [value, key.purchase_order_id]));
}

/** The question of a look-up to each order. */
export type OrdersWanted = Pick<Wanted, "columns" | "articles"> &
  Partial<Pick<Wanted, "updated"> & Pick<Question, "createdFromMs" | "createdBeforeMs">>;

/** Ids of the orders that match, newest first; of all if there is no limit. */
export async function orderIdsOf(
  tx: Tx,
  shopId: string,
  wantedOf: () => Promise<OrdersWanted>,
  limit: number = unlimited,
): Promise<readonly string[]> {
  const question = async (): Promise<Question> => {
    const { columns, articles, updated = null, createdFromMs = null, createdBeforeMs = null } = await wantedOf();
    const wanted = { updated, words: [], columns, articles };
    return { key: null, wanted, createdFromMs, createdBeforeMs, kept: null };
  };
  const { keys } = await findOrders(tx, shopId, question, null, limit);
  return keys.map((key) => key.purchase_order_id);
}
