/**
 * An order's document as it is read: every text in its language, every figure as it is printed. The PDF and the
 * console's print view show the same sheet.
 *
 * Pure. Figures are the API's own (C35): nothing is added up here.
 */
import { dayText } from "../core/supplier/day-text.ts";
import { packsText } from "../core/supplier/packs.ts";
import type { DocumentColumn, DocumentSettings, Logo } from "../core/supplier/document-settings.ts";
import { minorDigits } from "../core/money/minor-units.ts";
import type { Address } from "../core/order/purchase-order.ts";
import { type ContentLine, descriptionOf, type DocumentContent } from "./content.ts";
import { named, numberText, texts } from "./texts.ts";

/** A column of the lines. Figures are set flush right. Packs stand beside the quantity. */
export interface SheetColumn {
  readonly id: Exclude<DocumentColumn, "packSize"> | "description" | "quantity";
  readonly label: string;
  readonly isFigure: boolean;
}

/** A line: a cell for each column, and smaller lines below its description. */
interface SheetRow {
  readonly cells: readonly string[];
  readonly details: readonly string[];
}

/** A document as it is read. */
export interface Sheet {
  readonly language: DocumentSettings["language"];
  readonly paper: DocumentSettings["paper"];
  readonly logo: Logo | null;
  readonly buyerName: string;
  readonly title: string;
  readonly poNumber: string;
  /** Word for a draft or a cancelled order; null for others. */
  readonly marking: string | null;
  /** Which version it replaces that was sent before. */
  readonly replaces: string | null;
  readonly parties: readonly { readonly heading: string; readonly lines: readonly string[] }[];
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  readonly columns: readonly SheetColumn[];
  readonly rows: readonly SheetRow[];
  /** Instead of rows. */
  readonly noLines: string;
  /** The last one is what is owed. */
  readonly totals: readonly { readonly label: string; readonly value: string }[];
  readonly remarks: readonly { readonly heading: string | null; readonly text: string }[];
  readonly footer: string | null;
  /** `{page}` and `{pages}` are replaced. */
  readonly pageText: string;
  readonly versionText: string;
}

/** All columns, in their order on paper. */
const columnOrder = [
  { id: "position", isFigure: true },
  { id: "supplierSku", isFigure: false },
  { id: "sku", isFigure: false },
  { id: "barcode", isFigure: false },
  { id: "description", isFigure: false },
  { id: "expectedDeliveryDate", isFigure: false },
  { id: "quantity", isFigure: true },
  { id: "unitCost", isFigure: true },
  { id: "lineTotal", isFigure: true },
] as const;

const joined = (parts: readonly (string | null)[]): string | null => {
  const known = parts.filter((part) => part !== null && part !== "");
  return known.length === 0 ? null : known.join(" ");
};

/**
 * The lines of an address as they stand on an envelope, then telephone and e-mail. A name that heads it already is left
 * out.
 */
function addressLines(name: string | null, address: Address | null, telephone: string): readonly string[] {
  if (address === null) return name === null ? [] : [name];
  const { companyName, contactName, address1, address2, city, province, provinceCode, country, countryCode, zip } =
    address;
  const lines = [
    name,
    companyName === name ? null : companyName,
    contactName,
    address1,
    address2,
    joined([zip, city, provinceCode ?? province]),
    country ?? countryCode,
    address.phone === null ? null : `${telephone} ${address.phone}`,
    address.email,
  ];
  return lines.flatMap((line) => (line === null || line === "" ? [] : [line]));
}

const sameAddress = (one: Address | null, other: Address | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Returns this document's formats of amounts, quantities and days. */
function writer({ settings: { language }, currencyCode }: DocumentContent) {
  const amount = (value: number, currency = currencyCode): string => numberText(value, language, minorDigits(currency));
  return {
    amount,
    /** An amount in the order's currency, which it names. */
    total: (value: number): string => `${amount(value)} ${currencyCode}`,
    quantity: (value: number): string => numberText(value, language),
    day: (value: string): string => dayText(value, language),
  };
}

function partiesOf({ settings, buyerName, supplier, deliverTo, billingAddress }: DocumentContent): Sheet["parties"] {
  const words = texts[settings.language];
  const lines = (name: string | null, address: Address | null) => addressLines(name, address, words.telephone);
  const email = supplier === null || supplier.email === supplier.address?.email ? null : supplier.email;
  return [
    { heading: words.buyer, lines: lines(buyerName, settings.address) },
    {
      heading: words.supplier,
      lines: supplier === null ? [] : [...lines(supplier.name, supplier.address), ...(email === null ? [] : [email])],
    },
    { heading: words.deliverTo, lines: lines(deliverTo.name, deliverTo.address) },
    {
      heading: words.billTo,
      lines: sameAddress(billingAddress, settings.address) ? [] : lines(null, billingAddress),
    },
  ].filter((party) => party.lines.length > 0);
}

function factsOf(content: DocumentContent, isPriced: boolean): Sheet["facts"] {
  const words = texts[content.settings.language];
  const { day } = writer(content);
  const fact = (label: string, value: string | null) => (value === null || value === "" ? [] : [{ label, value }]);
  return [
    ...fact(words.orderDate, day(content.orderDate)),
    ...fact(
      words.expectedDeliveryDate,
      content.expectedDeliveryDate === null ? null : day(content.expectedDeliveryDate),
    ),
    ...fact(words.supplierReference, content.supplierReference),
    ...fact(words.paymentTerms, content.paymentTerms),
    ...fact(words.incoterm, content.incoterm),
    ...fact(words.currency, isPriced ? content.currencyCode : null),
  ];
}

function cellsOf(
  content: DocumentContent,
  line: ContentLine,
  index: number,
): Readonly<Record<SheetColumn["id"], string>> {
  const { amount, quantity, day } = writer(content);
  // A cost in another currency than the order's says so.
  const suffix = line.currencyCode === content.currencyCode ? "" : ` ${line.currencyCode}`;
  return {
    position: String(index + 1),
    supplierSku: line.supplierSku ?? "",
    sku: line.sku ?? "",
    barcode: line.barcode ?? "",
    description: descriptionOf(line),
    expectedDeliveryDate: line.expectedDeliveryDate === null ? "" : day(line.expectedDeliveryDate),
    quantity:
      quantity(line.quantity) +
      (content.settings.columns.includes("packSize") ? packsText(line.quantity, line.packSize, quantity) : ""),
    unitCost: amount(line.unitCost, line.currencyCode) + suffix,
    lineTotal: amount(line.lineTotal, line.currencyCode) + suffix,
  };
}

/** Returns the texts below a line's description. */
function detailsOf(content: DocumentContent, line: ContentLine): readonly string[] {
  const words = texts[content.settings.language];
  const { quantity, day } = writer(content);
  const { quantityCancelled, expectedDeliveryDate } = line;
  const hasOwnDate =
    expectedDeliveryDate !== content.expectedDeliveryDate && !content.settings.columns.includes("expectedDeliveryDate");
  return [
    ...(quantityCancelled === 0
      ? []
      : [
          words.cancelledQuantity
            .replace("{ordered}", quantity(line.quantityOrdered))
            .replace("{cancelled}", quantity(quantityCancelled)),
        ]),
    ...(expectedDeliveryDate === null || !hasOwnDate
      ? []
      : [named(words.expectedDeliveryDate, day(expectedDeliveryDate), content.settings.language)]),
  ];
}

/** Units of a ten-thousandth, in which amounts are added without an error. */
const moneyScale = 10_000;

const sumOf = (amounts: readonly number[]): number =>
  amounts.reduce((sum, each) => sum + Math.round(each * moneyScale), 0) / moneyScale;

/**
 * The rows below the lines. They add up to what is owed (C35): where the lines that are printed do not, a row says by
 * how much. A discount takes no more away than there is.
 */
function totalsOf(content: DocumentContent): Sheet["totals"] {
  const words = texts[content.settings.language];
  const { total } = writer(content);
  const { lineItems, currencyCode, totalValue, discountAmount, shippingCost, taxAmount, grandTotal } = content;
  const canAdd = lineItems.every((line) => line.isUnpriced || line.currencyCode === currencyCode);
  const subtotal = canAdd ? sumOf(lineItems.map((line) => (line.isUnpriced ? 0 : line.lineTotal))) : totalValue;
  const before = sumOf([totalValue, shippingCost ?? 0, taxAmount ?? 0]);
  const discount = discountAmount === null ? null : Math.min(discountAmount, Math.max(before, 0));
  const between = [
    { label: words.rounding, value: nullIfZero(sumOf([totalValue, -subtotal])) },
    { label: words.discount, value: discount === null ? null : -discount },
    { label: words.shipping, value: shippingCost },
    { label: words.tax, value: taxAmount },
    { label: words.notDelivered, value: nullIfZero(sumOf([grandTotal, -before, discount ?? 0])) },
  ].flatMap(({ label, value }) => (value === null ? [] : [{ label, value: total(value) }]));
  return [
    ...(between.length === 0 ? [] : [{ label: words.subtotal, value: total(subtotal) }, ...between]),
    { label: words.grandTotal, value: total(grandTotal) },
  ];
}

const nullIfZero = (value: number): number | null => (value === 0 ? null : value);

function remarksOf(content: DocumentContent, isPriced: boolean): Sheet["remarks"] {
  const words = texts[content.settings.language];
  const unpriced = content.lineItems.flatMap((line, index) => (line.isUnpriced ? [String(index + 1)] : []));
  return [
    ...(unpriced.length === 0 || !isPriced
      ? []
      : [{ heading: null, text: words.unpriced.replace("{lines}", unpriced.join(", ")) }]),
    ...(content.noteToSupplier === null ? [] : [{ heading: words.note, text: content.noteToSupplier }]),
  ];
}

function markingOf({ status, settings }: DocumentContent): string | null {
  const words = texts[settings.language];
  if (status === "Draft") return words.draft;
  return status === "Cancelled" ? words.cancelled : null;
}

function replacesOf({ replaces, orderVersion, settings: { language } }: DocumentContent): string | null {
  if (replaces === null) return null;
  return texts[language].replaces
    .replace("{version}", String(orderVersion))
    .replace("{replaced}", String(replaces.version))
    .replace("{day}", dayText(replaces.day, language));
}

export function sheetOf(content: DocumentContent): Sheet {
  const { settings } = content;
  const words = texts[settings.language];
  const shown = columnOrder.filter(
    ({ id }) => id === "description" || id === "quantity" || settings.columns.includes(id),
  );
  const isPriced = settings.columns.includes("unitCost") || settings.columns.includes("lineTotal");
  return {
    language: settings.language,
    paper: settings.paper,
    logo: settings.logo,
    buyerName: content.buyerName,
    title: words.title,
    poNumber: content.poNumber,
    marking: markingOf(content),
    replaces: replacesOf(content),
    parties: partiesOf(content),
    facts: factsOf(content, isPriced),
    columns: shown.map(({ id, isFigure }) => ({ id, isFigure, label: words.columns[id] })),
    rows: content.lineItems.map((line, index) => {
      const cells = cellsOf(content, line, index);
      return { cells: shown.map(({ id }) => cells[id]), details: detailsOf(content, line) };
    }),
    noLines: words.noLines,
    totals: isPriced ? totalsOf(content) : [],
    remarks: remarksOf(content, isPriced),
    footer: settings.footer,
    pageText: words.page,
    versionText: `${words.version} ${content.orderVersion}`,
  };
}
