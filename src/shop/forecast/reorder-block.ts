/**
 * A block of a shop's variants: the facts that decide if each needs an order, by location and supplier. So decisions
 * for many variants read no rows of theirs.
 *
 * Owns: how a block is stored and read. Does not own: which variants are in which block, and as of when
 * (reorder-block-tables.ts).
 *
 * The numbers of a block stand together in base64: as JSON they took three times as long to read.
 */
import type { StockFacts } from "../../core/forecast/forecast.ts";
import { type Quantity, asQuantity } from "../../core/money/money.ts";
import { seriesFrom } from "./demand.ts";
import { type DecidingRows, type GoodsRow, type PricedKey, offerFrom } from "./forecast-facts.ts";
import type { ForecastView } from "./saved-views.ts";

/** A block as it is stored. */
export interface StoredBlock {
  /** JSON of `Named`. */
  readonly names: string;
  /** Values of the rows, variant by variant: 64-bit floats, the lowest byte first, in base64. */
  readonly numbers: string;
}

interface Named {
  readonly variants: readonly (readonly [
    variantId: string,
    productName: string,
    status: string,
    price: number | null,
    unitCost: number | null,
  ])[];
  /** Ids, names and currencies, of which numbers tell the place. */
  readonly texts: readonly string[];
}

/** In bytes. */
const floatSize = 8;

/** Number that stands for null. */
const none = Number.NaN;

class Writer {
  readonly #numbers: number[] = [];
  readonly #texts = new Map<string, number>();

  number(value: number | null): void {
    this.#numbers.push(value ?? none);
  }

  text(value: string | null): void {
    const place = value === null ? null : (this.#texts.get(value) ?? this.#texts.size);
    if (value !== null && place !== null) this.#texts.set(value, place);
    this.number(place);
  }

  rows<R>(rows: readonly R[], write: (row: R) => void): void {
    this.number(rows.length);
    for (const row of rows) write(row);
  }

  get texts(): readonly string[] {
    return [...this.#texts.keys()];
  }

  get numbers(): string {
    const bytes = Buffer.alloc(this.#numbers.length * floatSize);
    for (const [index, value] of this.#numbers.entries()) bytes.writeDoubleLE(value, index * floatSize);
    return bytes.toString("base64");
  }
}

/** Reads the numbers that a `Writer` has written, in the same order. */
class Reader {
  readonly #numbers: DataView;
  #offset = 0;

  constructor(numbers: string) {
    const bytes = Buffer.from(numbers, "base64");
    this.#numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  next(): number {
    const value = this.#numbers.getFloat64(this.#offset, true);
    this.#offset += floatSize;
    return value;
  }

  nextOrNull(): number | null {
    const value = this.next();
    return Number.isNaN(value) ? null : value;
  }

  skip(numbers: number): void {
    this.#offset += numbers * floatSize;
  }
}

/** Numbers of a row of a series or of terms, after the one that says where or whose it is. */
const seriesNumbers = 15;
const offerNumbers = 6;

/** The block of these variants. */
export function blockOf(keys: readonly PricedKey[], rowsOf: (variantId: string) => DecidingRows): StoredBlock {
  const writer = new Writer();
  const writeGoods = ({ location_id, quantity }: GoodsRow): void => {
    writer.text(location_id);
    writer.number(quantity);
  };
  for (const { variant_id: variantId } of keys) {
    const { onHand, incoming, series, offers } = rowsOf(variantId);
    writer.rows(onHand, writeGoods);
    writer.rows(incoming, writeGoods);
    writer.rows(series, (row) => {
      writer.text(row.location_id);
      writer.number(row.latest_week);
      writer.number(row.latest_week_quantity);
      writer.number(row.weeks);
      writer.number(row.level_sum);
      writer.number(row.slow_sum);
      writer.number(row.slow_square_sum);
      writer.number(row.sale_week_sum);
      writer.number(row.sale_weeks);
      writer.number(row.size);
      writer.number(row.counted_days);
      writer.number(row.sale_days);
      writer.number(row.latest_from);
      writer.number(row.latest_day);
      writer.number(row.out_from);
      writer.number(row.out_until);
    });
    writer.rows(offers, (row) => {
      writer.text(row.supplier_id);
      writer.text(row.supplier_name);
      writer.number(row.unit_cost);
      writer.text(row.currency_code);
      writer.number(row.moq);
      writer.number(row.pack_size);
      writer.number(row.lead_time_days);
    });
  }
  const variants = keys.map((key) => [key.variant_id, key.product_name, key.status, key.price, key.unit_cost] as const);
  const named: Named = { variants, texts: writer.texts };
  return { names: JSON.stringify(named), numbers: writer.numbers };
}

/** Facts in a block: all but the times when goods come, which days decide, and what few variants have. */
export type BlockedStock = Omit<StockFacts, "lateArrivals" | "steering">;

/** Parts of a view that decide about a variant in it. */
type BlockView = Pick<ForecastView, "locationIds" | "supplierIds" | "variantIds">;

/** Which of these texts are asked for, by place; null: all. */
function placesOf(texts: readonly string[], chosenIds: readonly string[] | null): readonly boolean[] {
  const wanted = new Set(chosenIds);
  return texts.map((text) => chosenIds === null || wanted.has(text));
}

/** The facts of one variant after another. */
class FactsReader {
  readonly #reader: Reader;
  readonly #texts: readonly string[];
  readonly #isLocation: readonly boolean[];
  readonly #isSupplier: readonly boolean[];
  readonly #shopCurrencyCode: string;
  /** True if a row that was read since this was set brings the variant into a view of its locations. */
  isThere = false;

  constructor(numbers: string, texts: readonly string[], view: BlockView, shopCurrencyCode: string) {
    this.#reader = new Reader(numbers);
    this.#texts = texts;
    this.#isLocation = placesOf(texts, view.locationIds);
    this.#isSupplier = placesOf(texts, view.supplierIds);
    this.#shopCurrencyCode = shopCurrencyCode;
  }

  /**
   * The sum over the view's locations. @param thereFrom the quantity from which goods bring the variant into the view.
   */
  goods(thereFrom: number): Quantity {
    let total = 0;
    for (let left = this.#reader.next(); left > 0; left -= 1) {
      const isWanted = this.#isLocation[this.#reader.next()] ?? false;
      const quantity = this.#reader.next();
      if (!isWanted) continue;
      total += quantity;
      this.isThere ||= quantity >= thereFrom;
    }
    return asQuantity(total);
  }

  series(variantId: string): StockFacts["series"] {
    const found: StockFacts["series"][number][] = [];
    for (let left = this.#reader.next(); left > 0; left -= 1) {
      if (!this.#isLocation[this.#reader.next()]) {
        this.#reader.skip(seriesNumbers);
        continue;
      }
      this.isThere = true;
      const series = seriesFrom({
        variant_id: variantId,
        latest_week: this.#reader.nextOrNull(),
        latest_week_quantity: this.#reader.next(),
        weeks: this.#reader.next(),
        level_sum: this.#reader.next(),
        slow_sum: this.#reader.next(),
        slow_square_sum: this.#reader.next(),
        sale_week_sum: this.#reader.next(),
        sale_weeks: this.#reader.next(),
        size: this.#reader.next(),
        counted_days: this.#reader.nextOrNull(),
        sale_days: this.#reader.nextOrNull(),
        latest_from: this.#reader.nextOrNull(),
        latest_day: this.#reader.nextOrNull(),
        out_from: this.#reader.nextOrNull(),
        out_until: this.#reader.nextOrNull(),
      });
      if (series !== null) found.push(series);
    }
    return found;
  }

  offers(variantId: string): StockFacts["offers"] {
    const found: StockFacts["offers"][number][] = [];
    for (let left = this.#reader.next(); left > 0; left -= 1) {
      const supplier = this.#reader.next();
      if (!this.#isSupplier[supplier]) {
        this.#reader.skip(offerNumbers);
        continue;
      }
      const row = {
        variant_id: variantId,
        supplier_id: this.#texts[supplier] ?? "",
        supplier_name: this.#texts[this.#reader.next()] ?? null,
        unit_cost: this.#reader.nextOrNull(),
        currency_code: this.#texts[this.#reader.next()] ?? null,
        moq: this.#reader.nextOrNull(),
        pack_size: this.#reader.nextOrNull(),
        lead_time_days: this.#reader.nextOrNull(),
      };
      found.push(offerFrom(row, this.#shopCurrencyCode));
    }
    return found;
  }
}

/**
 * Returns what `decide` makes of the variants of a block that the view has, in the order of the block. It leaves out
 * those of which it makes null.
 */
export function keptOf<Kept>(
  { names, numbers }: StoredBlock,
  view: BlockView,
  shopCurrencyCode: string,
  decide: (key: PricedKey, stock: BlockedStock) => Kept | null,
): readonly Kept[] {
  // Trusted: `blockOf` wrote it.
  const { variants, texts }: Named = JSON.parse(names);
  const reader = new FactsReader(numbers, texts, view, shopCurrencyCode);
  const chosenIds = view.variantIds === null ? null : new Set(view.variantIds);
  const kept: Kept[] = [];
  for (const [variant_id, product_name, status, price, unit_cost] of variants) {
    reader.isThere = view.locationIds === null;
    const stock: BlockedStock = {
      isActive: status === "active",
      onHand: reader.goods(Number.NEGATIVE_INFINITY),
      incoming: reader.goods(1),
      series: reader.series(variant_id),
      offers: reader.offers(variant_id),
    };
    if (!reader.isThere || chosenIds?.has(variant_id) === false) continue;
    if (view.supplierIds !== null && stock.offers.length === 0) continue;
    const decided = decide({ variant_id, product_name, status, price, unit_cost }, stock);
    if (decided !== null) kept.push(decided);
  }
  return kept;
}
