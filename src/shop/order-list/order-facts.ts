/**
 * Facts that lists know of an order: a pure projection of it.
 *
 * Owns: which facts there are, and how they follow from an order. Does not own: where they are kept (order-recent.ts,
 * segment.ts).
 */
import { foldedLines } from "../../base/text/fold.ts";
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

/** Facts of an order's header. `tags` is a list as JSON. */
export type OrderFacts = Readonly<Record<CodeColumn, string | null>> & {
  readonly purchaseOrderId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
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

export const factsOf = (order: OrderWithLines): OrderFacts => ({
  purchaseOrderId: order.purchaseOrderId,
  createdAtMs: order.createdAtMs,
  updatedAtMs: order.updatedAtMs,
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
