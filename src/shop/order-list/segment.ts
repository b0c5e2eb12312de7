/**
 * Segment: what lists know of some orders of neighbouring age, column by column.
 *
 * Owns: the stored form of a column, and which orders of a segment match. Pure: does not own which orders are in which
 * segment (sealing.ts), or reading segments (order-search.ts).
 *
 * Orders of a segment have places, the oldest first. Columns are texts: `keys` (ids and ages), `updated`, `text` (what
 * searches look through) and one for each of `codeColumns`. Those of `sortColumns` have the places of orders by a
 * value, `postingColumns` those by article.
 */
import { compareText } from "../../base/text/compare-text.ts";
import {
  type Article,
  type CodeColumn,
  type OrderFacts,
  type SortColumn,
  codeColumns,
  sortColumns,
  sortKeysOf,
  sorted,
} from "./order-facts.ts";

/** Orders of a segment: a place takes two digits of `digitBits`. */
export const segmentOrdersMax = 1_024;

/** An order with the numbers of its articles. */
export interface SealedOrder {
  readonly facts: OrderFacts;
  readonly articleIds: readonly number[];
}

/** Texts of a segment's columns by name. One that is missing is empty. */
export type Bodies = ReadonlyMap<string, string>;

/** The first code of a value, and of a digit. */
const firstCode = 48;

const digitBits = 6;
const articleDigits = 5;
const placeDigits = 2;

/** Postings are in so many columns, so that one article's is small. */
const postingColumnCount = 32;

const postingColumn = (articleId: number): string => `articles ${articleId % postingColumnCount}`;

/** Name of the column with the places of orders by a value. */
export const sortColumn = (column: SortColumn): string => `sort ${column}`;

export const headerColumns: readonly string[] = [
  "keys",
  "updated",
  "text",
  ...codeColumns,
  ...sortColumns.map(sortColumn),
];

export const postingColumns: readonly string[] = Array.from({ length: postingColumnCount }, (_, index) =>
  postingColumn(index),
);

// Columns.

/** Values of a column, each once, and a character for each order that says which of them it has. */
function codesText(values: readonly (string | null)[]): string {
  const known = new Map<string | null, string>();
  let codes = "";
  for (const value of values) {
    const code = known.get(value) ?? String.fromCharCode(firstCode + known.size);
    known.set(value, code);
    codes += code;
  }
  return `${JSON.stringify([...known.keys()])}\n${codes}`;
}

interface Codes {
  readonly values: readonly (string | null)[];
  readonly codes: string;
}

function codesFrom(body: string): Codes {
  const cut = body.indexOf("\n");
  // Stored text is trusted: `codesText` made it.
  const values: Codes["values"] = JSON.parse(body.slice(0, cut));
  return { values, codes: body.slice(cut + 1) };
}

/** The value at each place of a column that `codesText` has written. */
export function valuesOfCodes(body: string): (place: number) => string | null {
  const { values, codes } = codesFrom(body);
  return (place) => values[codes.charCodeAt(place) - firstCode] ?? null;
}

/** Id and age of an order. */
export interface OrderKey {
  readonly created_at: number;
  readonly purchase_order_id: string;
}

/** Keys are read in groups, since a page shows few of a segment. */
const keysOfGroup = 128;

/** Ids and ages of a segment's orders. */
export class SegmentKeys {
  readonly #groups: readonly string[];
  readonly #keys: (readonly OrderKey[] | undefined)[] = [];

  constructor(body: string) {
    this.#groups = body === "" ? [] : body.split("\n");
  }

  static text(facts: readonly OrderFacts[]): string {
    const groups: string[] = [];
    for (let from = 0; from < facts.length; from += keysOfGroup) {
      const group = facts.slice(from, from + keysOfGroup);
      groups.push(JSON.stringify(group.map((each) => [each.createdAtMs, each.purchaseOrderId])));
    }
    return groups.join("\n");
  }

  at(place: number): OrderKey {
    const group = Math.floor(place / keysOfGroup);
    const keys = (this.#keys[group] ??= this.#read(group));
    const key = keys[place % keysOfGroup];
    if (key === undefined) throw new Error(`a segment has no place ${place}`);
    return key;
  }

  all(): readonly OrderKey[] {
    return this.#groups.flatMap((_, group) => (this.#keys[group] ??= this.#read(group)));
  }

  #read(group: number): readonly OrderKey[] {
    // Stored text is trusted: `text` made it.
    const stored: readonly (readonly [number, string])[] = JSON.parse(this.#groups[group] ?? "[]");
    return stored.map(([createdAtMs, id]) => ({ created_at: createdAtMs, purchase_order_id: id }));
  }
}

/** Instants of the last changes; before them the earliest and the latest. */
function updatedText(facts: readonly OrderFacts[]): string {
  const instants = facts.map((each) => each.updatedAtMs);
  return JSON.stringify([Math.min(...instants), Math.max(...instants)]) + JSON.stringify(instants);
}

function instantsFrom(text: string): readonly number[] {
  const instants: readonly number[] = JSON.parse(text);
  return instants;
}

function updatedFrom(body: string): readonly number[] {
  return body === "" ? [] : instantsFrom(body.slice(body.indexOf("]") + 1));
}

/** The columns that hold these orders' headers, oldest first. */
export const columnsText = (facts: readonly OrderFacts[]): Bodies =>
  new Map([
    ["keys", SegmentKeys.text(facts)],
    ["updated", updatedText(facts)],
    ["text", facts.map((each) => each.text).join("\n")],
    ...codeColumns.map((name) => [name, codesText(facts.map((each) => each[name]))] as const),
    ...sortColumns.map((column) => [sortColumn(column), sortText(column, facts)] as const),
  ]);

/** The orders' headers that `columnsText` has written. */
export function factsFrom(bodies: Bodies): readonly OrderFacts[] {
  const updatedAtMs = updatedFrom(bodies.get("updated") ?? "");
  const texts = (bodies.get("text") ?? "").split("\n");
  const columns = codeColumns.map((name) => valuesOfCodes(bodies.get(name) ?? "[]\n"));
  const valueAt = (column: number, place: number): string | null => columns[column]?.(place) ?? null;
  const numbers = keysByPlace(bodies.get(sortColumn("poNumber")) ?? "");
  const values = keysByPlace(bodies.get(sortColumn("totalValue")) ?? "");
  return new SegmentKeys(bodies.get("keys") ?? "").all().map((key, place) => ({
    purchaseOrderId: key.purchase_order_id,
    createdAtMs: key.created_at,
    updatedAtMs: updatedAtMs[place] ?? 0,
    number: numbers.get(place)?.[0] ?? "",
    values: values.get(place) ?? [],
    text: texts[place] ?? "",
    status: valueAt(0, place),
    paidStatus: valueAt(1, place),
    storefrontSyncState: valueAt(2, place),
    supplierId: valueAt(3, place),
    locationId: valueAt(4, place),
    nextExpectedDate: valueAt(5, place),
    tags: valueAt(6, place),
  }));
}

// Sorted places.

/** A line for each sort key, in their order, then by age: the key, and the place of its order. */
function sortText(column: SortColumn, facts: readonly OrderFacts[]): string {
  const keys = facts.flatMap((each, place) =>
    sortKeysOf(each, column).map((key) => ({ key, by: sorted(column, key), place })),
  );
  return keys
    .sort((one, other) => compareText(one.by, other.by) || one.place - other.place)
    .map(({ key, place }) => `${key}\t${digitsOf(place, placeDigits)}`)
    .join("\n");
}

/** The sort keys of each order that `sortText` has written. */
function keysByPlace(body: string): ReadonlyMap<number, readonly string[]> {
  const keys = new Map<number, string[]>();
  const entries = new SortedPlaces(body);
  for (let at = entries.first(false); at !== null; at = entries.next(at, false)) {
    const { key, place } = entries.at(at);
    keys.set(place, [...(keys.get(place) ?? []), key]);
  }
  return keys;
}

/** A sort key with the place of its order. */
interface SortedPlace {
  readonly key: string;
  readonly place: number;
}

/** The lines that `sortText` has written, each by where it begins. */
export class SortedPlaces {
  readonly #body: string;

  constructor(body: string) {
    this.#body = body;
  }

  at(begin: number): SortedPlace {
    const tab = this.#body.indexOf("\t", begin);
    return { key: this.#body.slice(begin, tab), place: pairAt(this.#body, tab + 1) };
  }

  /** The first line; the last one if the order is descending. Null: there is none. */
  first(isDescending: boolean): number | null {
    if (this.#body === "") return null;
    return isDescending ? this.#beginOf(this.#body.length) : 0;
  }

  /** The line after this one; the one before it if the order is descending. Null: there is none. */
  next(begin: number, isDescending: boolean): number | null {
    if (isDescending) return begin === 0 ? null : this.#beginOf(begin - 1);
    return this.#orNull(this.#endOf(begin) + 1);
  }

  /** The first line for which this is true. It is false for those before, and true for those after. */
  seek(isFound: (entry: SortedPlace) => boolean, isDescending: boolean): number | null {
    let [from, to] = [0, this.#body.length];
    while (from < to) {
      const begin = this.#beginOf((from + to) >> 1);
      if (isFound(this.at(begin)) === isDescending) from = this.#endOf(begin) + 1;
      else to = begin;
    }
    if (!isDescending) return this.#orNull(from);
    return from === 0 ? null : this.#beginOf(from - 1);
  }

  /** Where the line begins that has this character, or ends with it. */
  #beginOf(index: number): number {
    return this.#body.lastIndexOf("\n", index - 1) + 1;
  }

  #endOf(begin: number): number {
    const end = this.#body.indexOf("\n", begin);
    return end === -1 ? this.#body.length : end;
  }

  #orNull(begin: number): number | null {
    return begin < this.#body.length ? begin : null;
  }
}

// Postings.

function digitsOf(number: number, count: number): string {
  let text = "";
  for (let shift = (count - 1) * digitBits; shift >= 0; shift -= digitBits)
    text += String.fromCharCode(firstCode + ((number >> shift) & ((1 << digitBits) - 1)));
  return text;
}

/** The number of two digits. */
const pairAt = (text: string, index: number): number =>
  ((text.charCodeAt(index) - firstCode) << digitBits) | (text.charCodeAt(index + 1) - firstCode);

const articleAt = (text: string, index: number): number =>
  (((pairAt(text, index) << (2 * digitBits)) | pairAt(text, index + 2)) << digitBits) |
  (text.charCodeAt(index + 4) - firstCode);

/** The columns that hold these orders' articles. */
export function postingsText(orders: readonly (readonly number[])[]): Bodies {
  const places = new Map<number, string>();
  for (const [place, articleIds] of orders.entries()) {
    const digits = digitsOf(place, placeDigits);
    for (const articleId of articleIds) places.set(articleId, (places.get(articleId) ?? "") + digits);
  }
  const bodies = new Map<string, string>(postingColumns.map((name) => [name, ""]));
  for (const articleId of [...places.keys()].sort((one, other) => one - other)) {
    const text = places.get(articleId) ?? "";
    const name = postingColumn(articleId);
    const posting = `${digitsOf(articleId, articleDigits)}${digitsOf(text.length / placeDigits - 1, placeDigits)}${text}`;
    bodies.set(name, (bodies.get(name) ?? "") + posting);
  }
  return bodies;
}

/** Calls `visit` for each article with where the places of its orders stand. */
function eachPosting(body: string, visit: (articleId: number, body: string, from: number, end: number) => void): void {
  for (let index = 0; index < body.length;) {
    const articleId = articleAt(body, index);
    const from = index + articleDigits + placeDigits;
    index = from + (pairAt(body, index + articleDigits) + 1) * placeDigits;
    visit(articleId, body, from, index);
  }
}

/** The articles of each order that `postingsText` has written. @param count orders of the segment. */
export function articleIdsFrom(bodies: Bodies, count: number): readonly (readonly number[])[] {
  const orders = Array.from({ length: count }, (): number[] => []);
  for (const name of postingColumns) {
    eachPosting(bodies.get(name) ?? "", (articleId, body, from, end) => {
      for (let index = from; index < end; index += placeDigits) orders[pairAt(body, index)]?.push(articleId);
    });
  }
  return orders;
}

// Matches.

/** Numbers of articles. */
export class ArticleIds {
  /** By number, 1 for each of them. */
  readonly marks: Uint8Array;
  /** Names of the columns with their postings. */
  readonly columns: readonly string[];

  constructor(ids: readonly number[]) {
    this.marks = new Uint8Array(ids.reduce((most, id) => Math.max(most, id + 1), 0));
    const columns = new Set<string>();
    for (const id of ids) {
      this.marks[id] = 1;
      if (columns.size < postingColumnCount) columns.add(postingColumn(id));
    }
    this.columns = [...columns];
  }
}

/** A condition on an order that one of its articles fulfils. */
export interface ArticleCondition {
  /** Sealed articles that do. */
  readonly ids: ArticleIds;
  has(article: Article): boolean;
}

interface WantedWord {
  /** Folded. */
  readonly text: string;
  /** Suppliers whose name has it. */
  readonly suppliers: ReadonlySet<string>;
  readonly articles: ArticleCondition;
}

/** Question of a list. Ages are left to the caller. */
export interface Wanted {
  /** By column, which values are wanted; a column that is absent may have any. */
  readonly columns: Readonly<Partial<Record<CodeColumn, (value: string | null) => boolean>>>;
  /** Which instants of the last change are wanted; null: any. */
  readonly updated: ((atMs: number) => boolean) | null;
  /** Each must be found. */
  readonly words: readonly WantedWord[];
  /** Each must be found. */
  readonly articles: readonly ArticleCondition[];
}

/** The conditions on articles, in which `hasArticle` of `isMatch` is asked. */
export const articleConditions = ({ words, articles }: Wanted): readonly ArticleCondition[] => [
  ...articles,
  ...words.map((word) => word.articles),
];

/** True if every order matches. */
export const isAnything = ({ columns, updated, words, articles }: Wanted): boolean =>
  updated === null && Object.keys(columns).length + words.length + articles.length === 0;

/** Names of the columns that the question needs. */
export const columnsWanted = (wanted: Wanted): readonly string[] => [
  ...new Set([
    ...codeColumns.filter((name) => wanted.columns[name] !== undefined),
    ...(wanted.updated === null ? [] : ["updated"]),
    ...(wanted.words.length === 0 ? [] : ["text"]),
    ...(wanted.words.some(({ suppliers }) => suppliers.size > 0) ? ["supplierId"] : []),
    ...articleConditions(wanted).flatMap(({ ids }) => ids.columns),
  ]),
];

/** Marks the places with a wanted value. */
function markValues(found: Uint8Array, body: string, isWanted: (value: string | null) => boolean): void {
  const { values, codes } = codesFrom(body);
  const wanted = values.map(isWanted);
  if (!wanted.includes(true)) return;
  for (let place = 0; place < codes.length; place += 1)
    if (wanted[codes.charCodeAt(place) - firstCode] === true) found[place] = 1;
}

/** Calls `visit` with the place of each line that has the word. */
export function eachLineWith(body: string, word: string, visit: (place: number) => void): void {
  let place = 0;
  let end = body.indexOf("\n");
  for (let at = body.indexOf(word); at !== -1;) {
    while (end !== -1 && end < at) {
      place += 1;
      end = body.indexOf("\n", end + 1);
    }
    visit(place);
    if (end === -1) return;
    at = body.indexOf(word, end + 1);
  }
}

/** Marks the places of the orders that have one of these articles. */
export function markArticles(found: Uint8Array, bodies: Bodies, { marks, columns }: ArticleIds): void {
  for (const name of columns)
    eachPosting(bodies.get(name) ?? "", (articleId, body, from, end) => {
      if (marks[articleId] !== 1) return;
      for (let index = from; index < end; index += placeDigits) found[pairAt(body, index)] = 1;
    });
}

/** Marks the places of the orders that were changed last at a wanted instant. */
function markUpdated(found: Uint8Array, body: string, isWanted: (atMs: number) => boolean): void {
  const [earliest = 0, latest = 0] = instantsFrom(body.slice(0, body.indexOf("]") + 1));
  // What is wanted is a range.
  if (isWanted(earliest) && isWanted(latest)) found.fill(1);
  else for (const [place, atMs] of updatedFrom(body).entries()) if (isWanted(atMs)) found[place] = 1;
}

/** The places of the orders that match, oldest first. @param bodies those of `columnsWanted`. */
export function placesOf(bodies: Bodies, count: number, wanted: Wanted): readonly number[] {
  const { updated } = wanted;
  const bodyOf = (name: string): string => bodies.get(name) ?? "";
  const marks: ((found: Uint8Array) => void)[] = [];
  for (const name of codeColumns) {
    const isWanted = wanted.columns[name];
    if (isWanted !== undefined) marks.push((found) => markValues(found, bodyOf(name), isWanted));
  }
  for (const { ids } of wanted.articles) marks.push((found) => markArticles(found, bodies, ids));
  if (updated !== null) marks.push((found) => markUpdated(found, bodyOf("updated"), updated));
  for (const { text, suppliers, articles } of wanted.words)
    marks.push((found) => {
      eachLineWith(bodyOf("text"), text, (place) => {
        found[place] = 1;
      });
      if (suppliers.size > 0)
        markValues(found, bodyOf("supplierId"), (value) => value !== null && suppliers.has(value));
      markArticles(found, bodies, articles.ids);
    });
  let matching = new Uint8Array(count).fill(1);
  for (const mark of count === 0 ? [] : marks) {
    const found = new Uint8Array(count);
    mark(found);
    for (let place = 0; place < count; place += 1) found[place] = (found[place] ?? 0) & (matching[place] ?? 0);
    matching = found;
    if (!matching.includes(1)) return [];
  }
  const places: number[] = [];
  for (let place = 0; place < count; place += 1) if (matching[place] === 1) places.push(place);
  return places;
}

/** True if an order with these facts matches. */
export const isMatch = (
  facts: OrderFacts,
  hasArticle: (condition: ArticleCondition) => boolean,
  { columns, updated, words, articles }: Wanted,
): boolean =>
  codeColumns.every((name) => columns[name]?.(facts[name]) ?? true) &&
  (updated === null || updated(facts.updatedAtMs)) &&
  articles.every(hasArticle) &&
  words.every(
    (word) =>
      facts.text.includes(word.text) ||
      (facts.supplierId !== null && word.suppliers.has(facts.supplierId)) ||
      hasArticle(word.articles),
  );
