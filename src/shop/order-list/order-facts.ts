/**
 * Facts that lists know of an order: a pure projection of it.
 *
 * Owns: which facts there are, and how they follow from an order. Does not own: where they are kept (order-recent.ts,
 * segment.ts).
 */
import { compareText } from "../../base/text/compare-text.ts";
import { foldedLines } from "../../base/text/fold.ts";
import { naturalKey } from "../../base/text/natural-key.ts";
import { convert } from "../../core/money/money.ts";
import { paidStatus } from "../../core/order/lines.ts";
import type { LineItem, OrderWithLines } from "../../core/order/purchase-order.ts";
import { asciiLower } from "../code-forms.ts";

/** Facts that have few different values among the orders of a shop. */
export const codeColumns = [
  "status",
  "paidStatus",
  "storefrontSyncState",
  "supplierId",
  "locationId",
  "nextExpectedDate",
  "tags",
] as const;

export type CodeColumn = (typeof codeColumns)[number];

/** Values by which lists are sorted, beside age. */
export const sortColumns = ["nextExpectedDate", "updatedAt", "totalValue", "poNumber"] as const;

export type SortColumn = (typeof sortColumns)[number];

/** Facts of an order's header. `tags` is a list as JSON. */
export type OrderFacts = Readonly<Record<CodeColumn, string | null>> & {
  readonly purchaseOrderId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The number as it sorts. */
  readonly number: string;
  /** The total value as it sorts: in the order's own currency, and in another one at the order's rate. */
  readonly values: readonly string[];
  /** Texts that a search looks through, folded; without line feeds, which no searched word has. */
  readonly text: string;
};

/** A product as a line of an order names it: equal ones are one article. Codes are as look-ups compare them. */
export interface Article {
  readonly variantId: string;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly supplierSku: string | null;
  readonly supplierBarcode: string | null;
  /** Folded names and codes that a search looks through; without line feeds. */
  readonly words: string;
}

// A search has no line feed in its words, so another blank may stand between two fields.
const searched = (texts: readonly (string | null)[]): string => foldedLines(texts).replaceAll("\n", "\r");

/** Digits of an amount or an instant in a sort key. */
const sortDigits = 16;

const digitsOf = (number: number): string => String(number).padStart(sortDigits, "0");

/** The sort key of an instant. Those before 1970 come first. */
const instantKey = (atMs: number): string =>
  atMs < 0 ? `-${digitsOf(Number.MAX_SAFE_INTEGER + atMs)}` : digitsOf(atMs);

/** The sort keys of a total value. Which one holds depends on the shop's currency. */
function valueKeys({ totalValue, currencyCode, fxRateOverride, fxRates }: OrderWithLines): readonly string[] {
  const rate = fxRateOverride ?? fxRates[currencyCode];
  const own = `${digitsOf(totalValue)}=${currencyCode}`;
  if (rate === undefined) return [own];
  // As they are sorted.
  return [own, `${digitsOf(convert(totalValue, rate))}!${currencyCode}`].sort(compareText);
}

/** The part of a sort key that decides the order: of a value its amount, else all of it. */
export const sorted = (column: SortColumn, key: string): string =>
  column === "totalValue" ? key.slice(0, sortDigits) : key;

/** True if the sort key holds in a shop of this currency. */
export function isKeyIn(column: SortColumn, key: string, shopCurrency: string): boolean {
  if (column !== "totalValue") return true;
  return (key[sortDigits] === "=") === (key.slice(sortDigits + 1) === shopCurrency);
}

/** The sort keys of an order; none: it does not have the value. */
export function sortKeysOf({ nextExpectedDate, updatedAtMs, number, values }: OrderFacts, column: SortColumn) {
  if (column === "poNumber") return [number];
  if (column === "totalValue") return values;
  if (column === "updatedAt") return [instantKey(updatedAtMs)];
  return nextExpectedDate === null ? [] : [nextExpectedDate];
}

export const factsOf = (order: OrderWithLines): OrderFacts => ({
  purchaseOrderId: order.purchaseOrderId,
  createdAtMs: order.createdAtMs,
  updatedAtMs: order.updatedAtMs,
  number: naturalKey(order.poNumber),
  values: valueKeys(order),
  status: order.status,
  paidStatus: paidStatus(order),
  storefrontSyncState: order.storefrontSyncState,
  supplierId: order.supplierId,
  locationId: order.locationId,
  nextExpectedDate: order.nextExpectedDate,
  tags: JSON.stringify(order.tags),
  // The supplier's name is searched in the supplier's row (C13).
  text: searched([order.poNumber, order.poName, order.supplierReference, ...order.tags]),
});

const lowered = (code: string | null): string | null => (code === null ? null : asciiLower(code));

const articleOf = (line: LineItem): Article => ({
  variantId: line.variantId,
  sku: lowered(line.sku),
  barcode: lowered(line.barcode),
  supplierSku: lowered(line.supplierSku),
  supplierBarcode: lowered(line.supplierBarcode),
  words: searched([line.productName, line.variantName, line.sku, line.supplierSku, line.barcode]),
});

/** Names an article: equal texts are the same article. */
const articleKey = ({ variantId, sku, barcode, supplierSku, supplierBarcode, words }: Article): string =>
  JSON.stringify([variantId, sku, barcode, supplierSku, supplierBarcode, words]);

/** Articles of an order by their keys. */
export const articlesOf = ({ lineItems }: OrderWithLines): ReadonlyMap<string, Article> =>
  new Map(
    lineItems.map((line) => {
      const article = articleOf(line);
      return [articleKey(article), article];
    }),
  );

type StoredArticle = readonly [
  variantId: string,
  sku: string | null,
  barcode: string | null,
  supplierSku: string | null,
  supplierBarcode: string | null,
  words: string,
];

/** The article with this key. */
export function articleFrom(key: string): Article {
  const stored: StoredArticle = JSON.parse(key);
  const [variantId, sku, barcode, supplierSku, supplierBarcode, words] = stored;
  return { variantId, sku, barcode, supplierSku, supplierBarcode, words };
}
