/**
 * A block of a shop's orders: what lists filter and search them by, and finding those that match.
 *
 * Owns: how a block is stored and searched. Does not own: which orders are in which block (block-tables.ts), reading
 * blocks (block-search.ts).
 */

/** Columns of an order in a block, beside age and text. */
export const digestColumns = [
  "status",
  "paid_status",
  "storefront_sync_state",
  "supplier_id",
  "location_id",
  "next_expected_date",
] as const;

type DigestColumn = (typeof digestColumns)[number];

/** An order as a row of `selectDigestRows` (block-tables.ts). */
export type DigestRow = Readonly<Record<DigestColumn, string | null>> & {
  readonly created_at: number;
  readonly purchase_order_id: string;
  readonly search_folded: string;
};

/** Stands between the texts of two orders, so that no search finds a match across them. */
const separator = "\u0001";

/** Replacement of a separator within a text. A search for one of the two cannot be answered from a block. */
const escaped = "\u0002";

/** True if blocks can answer a search for this folded word. */
export const isSearchable = (search: string): boolean =>
  search !== "" && !search.includes(separator) && !search.includes(escaped);

/** The first code of a value in `codes`. A block has at most 64 orders, so codes are letters and digits. */
const firstCode = 48;

/** A column of a block: its distinct values, and a character for each order that says which of them it has. */
type StoredColumn = readonly [values: readonly (string | null)[], codes: string];

interface StoredBlock {
  readonly at: readonly number[];
  readonly texts: string;
  readonly columns: readonly StoredColumn[];
}

function storedColumn(rows: readonly DigestRow[], name: DigestColumn): StoredColumn {
  const codes = new Map<string | null, string>();
  for (const row of rows) if (!codes.has(row[name])) codes.set(row[name], String.fromCharCode(firstCode + codes.size));
  return [[...codes.keys()], rows.map((row) => codes.get(row[name]) ?? "").join("")];
}

/** The orders as a block stores them. */
const stored = (rows: readonly DigestRow[]): StoredBlock => ({
  at: rows.map((row) => row.created_at),
  texts: rows.map((row) => row.search_folded.replaceAll(separator, escaped)).join(separator),
  columns: digestColumns.map((name) => storedColumn(rows, name)),
});

export const factsOf = (rows: readonly DigestRow[]): string => JSON.stringify(stored(rows));

/** A word that is searched for. */
interface WantedWord {
  /** Folded and searchable. */
  readonly text: string;
  /** Suppliers whose name has it. */
  readonly namedSuppliers: ReadonlySet<string>;
}

/** Question of a list to a block. */
export interface Wanted {
  /** Names the question: equal texts ask the same. */
  readonly key: string;
  /** Each must be found; none: not searched. */
  readonly words: readonly WantedWord[];
  /** By column, which values are wanted; a column that is absent may have any. */
  readonly columns: Readonly<Partial<Record<DigestColumn, ((value: string | null) => boolean) | undefined>>>;
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

/** Bits that say which groups of three characters the texts of a block may have. */
const gramBits = 4_096;

const gramAt = (text: string, index: number): number =>
  (text.charCodeAt(index) * 961 + text.charCodeAt(index + 1) * 31 + text.charCodeAt(index + 2)) & (gramBits - 1);

const supplierColumn = digestColumns.indexOf("supplier_id");

/** Orders of neighbouring age, oldest first. */
export class OrderBlock {
  readonly createdAt: readonly number[];
  readonly #texts: string;
  /** Where the text of each order begins. */
  readonly #starts: readonly number[];
  readonly #columns: readonly StoredColumn[];
  #grams: Uint32Array | null = null;

  constructor({ at, texts, columns }: StoredBlock) {
    this.createdAt = at;
    this.#texts = texts;
    this.#columns = columns;
    const starts = at.length === 0 ? [] : [0];
    for (let end = texts.indexOf(separator); end >= 0; end = texts.indexOf(separator, end + 1)) starts.push(end + 1);
    this.#starts = starts;
  }

  /** From the text of `factsOf`, which is trusted: block-tables.ts wrote it. */
  static read(facts: string): OrderBlock {
    const found: StoredBlock = JSON.parse(facts);
    return new OrderBlock(found);
  }

  static of(rows: readonly DigestRow[]): OrderBlock {
    return new OrderBlock(stored(rows));
  }

  /** The places of the orders that match, oldest first. */
  matches(wanted: Wanted): readonly number[] {
    let found: readonly number[] | null = null;
    for (const word of wanted.words) {
      const places = this.#searched(word);
      const known: ReadonlySet<number> | null = found === null ? null : new Set(found);
      found = known === null ? places : places.filter((place) => known.has(place));
      if (found.length === 0) return found;
    }
    for (const [index, name] of digestColumns.entries()) {
      const isWanted = wanted.columns[name];
      if (isWanted !== undefined) found = this.#narrowed(found, index, isWanted);
      if (found?.length === 0) return found;
    }
    const { createdFromMs, createdBeforeMs } = wanted;
    const places = found ?? this.createdAt.map((_, place) => place);
    if (createdFromMs === null && createdBeforeMs === null) return places;
    return places.filter((place) => {
      const at = this.createdAt[place] ?? 0;
      return (createdFromMs === null || at >= createdFromMs) && (createdBeforeMs === null || at < createdBeforeMs);
    });
  }

  /** The places that have a wanted value in this column, of those found before. */
  #narrowed(
    found: readonly number[] | null,
    column: number,
    isWanted: (value: string | null) => boolean,
  ): readonly number[] | null {
    const [values, codes] = this.#columns[column] ?? [[], ""];
    const wanted = values.map(isWanted);
    if (!wanted.includes(true)) return [];
    if (!wanted.includes(false)) return found;
    const has = (place: number): boolean => wanted[codes.charCodeAt(place) - firstCode] ?? false;
    if (found !== null) return found.filter(has);
    const places: number[] = [];
    for (let place = 0; place < codes.length; place += 1) if (has(place)) places.push(place);
    return places;
  }

  /** The places of the orders whose own text or whose supplier's name has this word. */
  #searched({ text, namedSuppliers }: WantedWord): readonly number[] {
    const places = this.#inTexts(text);
    if (namedSuppliers.size === 0) return places;
    const named = this.#narrowed(null, supplierColumn, (value) => value !== null && namedSuppliers.has(value));
    if (named === null) return this.createdAt.map((_, place) => place);
    if (named.length === 0 || places.length === 0) return places.length === 0 ? named : places;
    return [...new Set([...places, ...named])].sort((a, b) => a - b);
  }

  #inTexts(search: string): readonly number[] {
    const texts = this.#texts;
    const starts = this.#starts;
    const places: number[] = [];
    if (!this.#mayHave(search)) return places;
    let place = 0;
    for (let index = texts.indexOf(search); index >= 0;) {
      while ((starts[place + 1] ?? Number.POSITIVE_INFINITY) <= index) place += 1;
      places.push(place);
      const next = starts[place + 1];
      index = next === undefined ? -1 : texts.indexOf(search, next);
    }
    return places;
  }

  /** False only if no text of the block has it. */
  #mayHave(search: string): boolean {
    if (search.length < 3) return true;
    const grams = (this.#grams ??= this.#gramsOfTexts());
    for (let index = 0; index + 2 < search.length; index += 1) {
      const gram = gramAt(search, index);
      if (((grams[gram >> 5] ?? 0) & (1 << (gram & 31))) === 0) return false;
    }
    return true;
  }

  #gramsOfTexts(): Uint32Array {
    const grams = new Uint32Array(gramBits / 32);
    for (let index = 0; index + 2 < this.#texts.length; index += 1) {
      const gram = gramAt(this.#texts, index);
      grams[gram >> 5] = (grams[gram >> 5] ?? 0) | (1 << (gram & 31));
    }
    return grams;
  }
}
