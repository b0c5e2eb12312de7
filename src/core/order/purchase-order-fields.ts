/**
 * The fields of a purchase order and its lines as data: one row for every member that is stored.
 *
 * A row gives the member's type, its column, its default, and how it is set and cleared. It gives its log entries, and
 * its place in answers and import records. CONTRIBUTING.md, "Add a header field of an order", has the steps.
 *
 * The table in which a row stands says who sets the field:
 * - `headerFields`: create, header update, import. `orderTermFields` are among them; the supplier's record has them
 *   too.
 * - `headerUpdateFields`: header update, import.
 * - `lineQuantities`, `lineCostFields`: adding and editing lines, confirming, receiving, import; each by rules of its
 *   own (edit.ts, core/goods/).
 * - `articleFields`: adding and editing custom lines, import. A catalogue line takes them from its variant.
 * - `supplierFields`: adding and editing lines, import. Written back to the supplier's catalogue, whose entries have
 *   them too.
 * - `lineFields`: adding and editing lines, import.
 * - `headerRecordFields`, `headerKeptFields`, `lineRecordFields`: the rules; import.
 *
 * Does not own: limits and descriptions (operations/purchase-orders/json.ts), rules about single fields (edit.ts).
 */
import {
  type FxRate,
  type FxRates,
  fxRateDecimalsMax,
  fxRateToNumber,
  type Money,
  moneyDecimalsMax,
  type Quantity,
  quantityDecimalsMax,
  zeroMoney,
  zeroQuantity,
} from "../money/money.ts";
import { type ReorderSettings, shownReorder } from "../forecast/reorder-settings.ts";
import type { Address } from "./purchase-order.ts";

/** The kinds of field and the type of their values. A day is `YYYY-MM-DD`, an instant is in milliseconds. */
interface KindValues {
  readonly text: string;
  readonly day: string;
  readonly instant: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly quantity: Quantity;
  readonly money: Money;
  readonly rate: FxRate;
  readonly rates: FxRates;
  readonly strings: readonly string[];
  readonly address: Address;
  readonly reorder: ReorderSettings;
}
/** Kind of a field's value. */
export type FieldKind = keyof KindValues;
/** A value of any field. */
export type FieldValue = KindValues[FieldKind] | null;

/** One field. */
export interface Field {
  readonly kind: FieldKind;
  /** The value before anything is set and after null has cleared it. A field without one must always be given. */
  readonly empty?: FieldValue;
}
/** A table of fields, by name. */
export type Fields = Readonly<Record<string, Field>>;

/** Values of a record with these fields. A field can be null exactly when null is its empty value. */
export type ValuesOf<T extends Fields> = {
  readonly [Name in keyof T]: KindValues[T[Name]["kind"]] | (T[Name] extends { readonly empty: null } ? null : never);
};

/** Values to set. An absent field is left as it is; null sets the field's empty value. */
export type Changes<T extends Fields> = { readonly [Name in keyof T]?: ValuesOf<T>[Name] | null | undefined };

/** The terms that a new order takes from its supplier's record where its request leaves them out (C32). */
export const orderTermFields = {
  paymentTerms: { kind: "text", empty: null },
  incoterm: { kind: "text", empty: null },
} as const satisfies Fields;

/** Header fields in the order in which requests and answers name them. */
export const headerFields = {
  poName: { kind: "text", empty: null },
  supplierId: { kind: "text", empty: null },
  locationId: { kind: "text", empty: null },
  /** Derived from supplier and shop when it is not given (C35). */
  currencyCode: { kind: "text" },
  orderDate: { kind: "day", empty: null },
  expectedDeliveryDate: { kind: "day", empty: null },
  supplierReference: { kind: "text", empty: null },
  ...orderTermFields,
  shippingCost: { kind: "money", empty: null },
  discountAmount: { kind: "money", empty: null },
  taxAmount: { kind: "money", empty: null },
  tags: { kind: "strings", empty: [] },
  note: { kind: "text", empty: null },
  noteToSupplier: { kind: "text", empty: null },
  billingAddress: { kind: "address", empty: null },
  shippingAddress: { kind: "address", empty: null },
} as const satisfies Fields;

/** Header fields that a new order cannot be given. */
export const headerUpdateFields = {
  /** Order currency → shop currency. */
  fxRateOverride: { kind: "rate", empty: null },
} as const satisfies Fields;

/** Fields of a header that the rules keep. The names of supplier and location are not stored; a read looks them up. */
export const headerRecordFields = {
  purchaseOrderId: { kind: "text" },
  poNumber: { kind: "text" },
  status: { kind: "text" },
  previousStatus: { kind: "text" },
  itemCount: { kind: "integer" },
  totalValue: { kind: "money" },
  /** Amount owed: the total value with shipping and tax, less the discount (C35). */
  grandTotal: { kind: "money" },
  /** Lines that no rate converts to the order's currency; they are left out of `totalValue` (C35). */
  unpricedLineItemIds: { kind: "strings" },
  /** Sums over the lines. */
  quantityOrdered: { kind: "quantity" },
  quantityConfirmed: { kind: "quantity" },
  quantityReceived: { kind: "quantity" },
  quantityPending: { kind: "quantity" },
  /** The earliest day on which something is still to come (C13). */
  nextExpectedDate: { kind: "day", empty: null },
  /** Payments made plus credits applied, in the order's currency. */
  settledAmount: { kind: "money" },
  storefrontSyncState: { kind: "text" },
  createdBy: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  updatedAtMs: { kind: "instant" },
  sentAtMs: { kind: "instant", empty: null },
  confirmedAtMs: { kind: "instant", empty: null },
  receivedAtMs: { kind: "instant", empty: null },
  completedAtMs: { kind: "instant", empty: null },
  cancelledAtMs: { kind: "instant", empty: null },
  version: { kind: "integer" },
} as const satisfies Fields;

/** Fields that an order keeps of the shop's settings and records of its day: later ones do not change it (C13, C35). */
export const headerKeptFields = {
  /**
   * Each currency of the order, its lines, payments and credits → shop currency. One without a rate, and the shop's
   * own, are not in it.
   */
  fxRates: { kind: "rates", empty: {} },
  /** The supplier's, for lines without their own. */
  supplierLeadTimeDays: { kind: "integer", empty: null },
  /** The day of `sentAtMs` where the shop is. */
  sentDate: { kind: "day", empty: null },
} as const satisfies Fields;

/** The quantities of a line (P1–P3). */
const lineQuantities = {
  quantityOrdered: { kind: "quantity" },
  quantityConfirmed: { kind: "quantity", empty: zeroQuantity },
  quantityReceived: { kind: "quantity", empty: zeroQuantity },
  quantityRejected: { kind: "quantity", empty: zeroQuantity },
  quantityCancelled: { kind: "quantity", empty: zeroQuantity },
  quantitySynced: { kind: "quantity", empty: zeroQuantity },
} as const satisfies Fields;

/** Cost of one unit of a line. */
export const lineCostFields = {
  unitCost: { kind: "money", empty: zeroMoney },
  /** The order's currency when it is not given (C35). */
  unitCostCurrencyCode: { kind: "text" },
} as const satisfies Fields;

/** The article of a line: a snapshot of the variant, or what a custom line was given (D2). */
export const articleFields = {
  productName: { kind: "text", empty: null },
  variantName: { kind: "text", empty: null },
  sku: { kind: "text", empty: null },
  barcode: { kind: "text", empty: null },
} as const satisfies Fields;

/** The supplier's side of a line's article. */
export const supplierFields = {
  supplierSku: { kind: "text", empty: null },
  supplierBarcode: { kind: "text", empty: null },
  supplierProductName: { kind: "text", empty: null },
  supplierProductUrl: { kind: "text", empty: null },
  moq: { kind: "quantity", empty: null },
  packSize: { kind: "quantity", empty: null },
  leadTimeDays: { kind: "integer", empty: null },
} as const satisfies Fields;

/** Further fields of every line. */
export const lineFields = {
  expectedDeliveryDate: { kind: "day", empty: null },
  note: { kind: "text", empty: null },
} as const satisfies Fields;

/** Fields that identify a line and say when it changed. */
const lineRecordFields = {
  poLineItemId: { kind: "text" },
  variantId: { kind: "text" },
  createdAtMs: { kind: "instant" },
  updatedAtMs: { kind: "instant" },
} as const satisfies Fields;

/** Everything that is stored of a header. */
export const storedHeaderFields = {
  ...headerRecordFields,
  ...headerFields,
  ...headerUpdateFields,
  ...headerKeptFields,
} as const satisfies Fields;

/** Everything that is stored of a line. */
export const storedLineFields = {
  ...lineRecordFields,
  ...lineQuantities,
  ...lineCostFields,
  ...articleFields,
  ...supplierFields,
  ...lineFields,
} as const satisfies Fields;

/** Fields that a header update sets, in the order of the log. */
export const editableHeaderFields = { ...headerFields, ...headerUpdateFields } as const satisfies Fields;

/** Fields that a line edit sets, in the order of the log. */
export const editableLineFields = {
  quantityOrdered: lineQuantities.quantityOrdered,
  quantityRejected: lineQuantities.quantityRejected,
  quantityCancelled: lineQuantities.quantityCancelled,
  ...lineCostFields,
  ...supplierFields,
  ...lineFields,
  ...articleFields,
} as const satisfies Fields;

/**
 * Makes a record with all fields of the table: each has the given value, else that of `otherwise`, else its empty one.
 * Other members are ignored.
 *
 * @throws TypeError  a field without an empty value is in neither: a bug of the caller.
 */
export function valuesFrom<T extends Fields>(fields: T, given: Changes<T>, otherwise: Changes<T> = {}): ValuesOf<T> {
  // A copy has all names from the start: an object that grows by so many computed names becomes a slow one.
  const values: Record<string, FieldValue | Field> = { ...fields };
  for (const name in fields) values[name] = given[name] ?? otherwise[name] ?? emptyValue(fields, name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of T is set above
  return values as ValuesOf<T>;
}

/** The values of a record in the order of the table, without their names. */
export const packed = <T extends Fields>(fields: T, values: ValuesOf<T>): readonly (FieldValue | undefined)[] =>
  Object.keys(fields).map((name) => values[name]);

/** The record of which these are the packed values, by the same table. */
export function unpacked<T extends Fields>(fields: T, values: readonly (FieldValue | undefined)[]): ValuesOf<T> {
  // A copy has all names from the start, as in `valuesFrom`.
  const record: Record<string, FieldValue | Field> = { ...fields };
  let index = 0;
  for (const name in fields) {
    record[name] = values[index] ?? fields[name]?.empty ?? null;
    index += 1;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of T is set above
  return record as ValuesOf<T>;
}

/**
 * Applies changes to a record that has these fields and maybe others.
 *
 * @throws TypeError  null is given for a field without an empty value: a bug of the caller.
 */
export function withChanges<T extends Fields, Of extends ValuesOf<T>>(fields: T, before: Of, changes: Changes<T>): Of {
  const values: Record<string, FieldValue> = {};
  for (const name in fields) {
    const value = changes[name];
    if (value !== undefined) values[name] = value ?? emptyValue(fields, name);
  }
  return { ...before, ...values };
}

/** The changes, where those that are absent are taken from `known`. Null is not absent. Other members are left out. */
export function completed<T extends Fields>(fields: T, changes: Changes<T>, known: Changes<T>): Changes<T> {
  const values: Record<string, FieldValue | undefined> = {};
  for (const name in fields) values[name] = changes[name] === undefined ? known[name] : changes[name];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is that of the same field
  return values as Changes<T>;
}

/** The names of the fields that the changes set or clear. */
export function namesGiven<T extends Fields>(fields: T, changes: Changes<T>): readonly string[] {
  const names: string[] = [];
  for (const name in fields) if (changes[name] !== undefined) names.push(name);
  return names;
}

function emptyValue(fields: Fields, name: string): FieldValue {
  const empty = fields[name]?.empty;
  if (empty === undefined) throw new TypeError(`${name} has no empty value; it must be given`);
  return empty;
}

/** Renders rates as the API shows them. */
export const shownRates = (rates: FxRates): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(rates).map(([currency, rate]) => [currency, fxRateToNumber(rate)]));

/**
 * Renders a value as the API shows it: decimals as JSON numbers, instants as RFC 3339 in UTC, everything else as it is.
 */
export function shownValue(kind: FieldKind, value: FieldValue): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind says what the value is
  if (kind === "rates") return shownRates(value as FxRates);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind says what the value is
  if (kind === "reorder" && value !== null) return shownReorder(value as ReorderSettings);
  if (typeof value !== "number") return value;
  switch (kind) {
    case "quantity":
      return value / 10 ** quantityDecimalsMax;
    case "money":
      return value / 10 ** moneyDecimalsMax;
    case "rate":
      return value / 10 ** fxRateDecimalsMax;
    case "instant":
      return new Date(value).toISOString();
    case "integer":
    case "boolean":
    case "text":
    case "day":
    case "strings":
    case "address":
    case "reorder":
      return value;
  }
}
