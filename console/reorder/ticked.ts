/** Ticked rows of a forecast view, and the orders that come of them. Pure. */
import type { Output } from "../../client/index.ts";
import type { PackTerms } from "../data/packs.ts";
import { dotted } from "../texts/isolated.ts";

export type ForecastRow = Output<"forecast_view_rows">["rows"][number];

/** A cell of a row as a number; null when the view does not show it, or it is blank. */
export const numberOf = (row: ForecastRow, id: string): number | null => {
  const value = row[id];
  return typeof value === "number" ? value : null;
};

/** A cell of a row as a text; null when the view does not show it, or it is blank. */
const textOf = (row: ForecastRow, id: string): string | null => {
  const value = row[id];
  return typeof value === "string" ? value : null;
};

export const productOf = (row: ForecastRow): string =>
  dotted([textOf(row, "productName") ?? textOf(row, "sku") ?? row.variantId, textOf(row, "variantName")]);

/** Returns the supplier's terms, as far as the view shows them. */
export const termsOf = (row: ForecastRow): PackTerms => ({
  moq: numberOf(row, "moq"),
  packSize: numberOf(row, "packSize"),
});

/** The quantity in an order line: 0 when the view suggests none. */
export const suggested = (row: ForecastRow): number => numberOf(row, "suggestedOrderQuantity") ?? 0;

/** Ticked lines: the row and how much of it. */
export type Ticked = ReadonlyMap<string, { readonly row: ForecastRow; readonly quantity: number }>;

/** Rows that the service suggests and that no draft has yet. */
export const isSuggested = (row: ForecastRow): boolean =>
  suggested(row) > 0 &&
  (numberOf(row, "draftQuantity") ?? 0) === 0 &&
  (supplierKey(row) !== null || !namesSuppliers(Object.keys(row)));

/** True if columns with these ids say who supplies a row. */
export const namesSuppliers = (ids: readonly string[]): boolean =>
  ids.includes("supplierId") || ids.includes("supplierName");

/** Who supplies a row: an id, or a name where the view has no ids; null when nobody does, or the view does not say. */
const supplierKey = (row: ForecastRow): string | null => textOf(row, "supplierId") ?? textOf(row, "supplierName");

/** An order to be made. */
export interface Draft {
  readonly key: string;
  /** Null: the view shows names alone. */
  readonly supplierId: string | null;
  readonly supplierName: string;
  readonly lines: readonly { readonly variantId: string; readonly quantityOrdered: number }[];
  /** Sums of what the view shows of costs, by currency. */
  readonly values: ReadonlyMap<string, number>;
  /** The day on which the last line arrives; null when the view does not show it. */
  readonly arrivalDate: string | null;
  /** Lines of products that are on a draft already. */
  readonly onDraft: number;
}

interface Plan {
  /** By supplier name. */
  readonly drafts: readonly Draft[];
  /** Products that nobody supplies. */
  readonly unsupplied: readonly string[];
}

/** One draft for each supplier of what is ticked. `currencyCode` is the shop's. */
export function planOf(ticked: Ticked, currencyCode: string): Plan {
  const drafts = new Map<string, Draft>();
  const unsupplied: string[] = [];
  for (const { row, quantity } of ticked.values()) {
    const key = supplierKey(row);
    if (key === null) {
      unsupplied.push(productOf(row));
      continue;
    }
    const { lines, values, arrivalDate, onDraft } = drafts.get(key) ?? {
      lines: [],
      values: new Map<string, number>(),
      arrivalDate: null,
      onDraft: 0,
    };
    const arrives = textOf(row, "expectedArrivalDate");
    const currency = textOf(row, "unitCostCurrencyCode") ?? currencyCode;
    const cost = numberOf(row, "unitCost");
    drafts.set(key, {
      key,
      supplierId: textOf(row, "supplierId"),
      supplierName: textOf(row, "supplierName") ?? key,
      lines: [...lines, { variantId: row.variantId, quantityOrdered: quantity }],
      values: cost === null ? values : new Map([...values, [currency, (values.get(currency) ?? 0) + cost * quantity]]),
      arrivalDate: arrives !== null && (arrivalDate === null || arrives > arrivalDate) ? arrives : arrivalDate,
      onDraft: onDraft + ((numberOf(row, "draftQuantity") ?? 0) > 0 ? 1 : 0),
    });
  }
  const byName = [...drafts.values()].toSorted((a, b) => a.supplierName.localeCompare(b.supplierName));
  return { drafts: byName, unsupplied };
}
