/**
 * An order as CSV for its supplier: one row a line, totals below (RFC 4180, UTF-8).
 */
import { neutralised } from "../base/plain-text.ts";
import { descriptionOf, type DocumentContent } from "./content.ts";

/** A cell that a spreadsheet would take for a formula becomes text: others chose what stands in it. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const plain = neutralised(value);
  const text = /^[\s]*[=+\-@\t\r\n|%＝＋－＠]/u.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const heads = [
  "PO number",
  "Line",
  "Supplier SKU",
  "SKU",
  "Barcode",
  "Description",
  "Quantity",
  "Pack size",
  "Unit cost",
  "Currency",
  "Line total",
  "Expected delivery date",
];

export function csvDocument(content: DocumentContent): string {
  const rows: (string | number | null)[][] = content.lineItems.map((line, index) => [
    content.poNumber,
    index + 1,
    line.supplierSku,
    line.sku,
    line.barcode,
    descriptionOf(line),
    line.quantityOrdered,
    line.packSize,
    line.unitCost,
    line.currencyCode,
    line.lineTotal,
    line.expectedDeliveryDate ?? content.expectedDeliveryDate,
  ]);
  const sum = (name: string, value: number | null): (string | number | null)[][] =>
    value === null
      ? []
      : [[content.poNumber, null, null, null, null, name, null, null, null, content.currencyCode, value, null]];
  return [
    heads,
    ...rows,
    ...sum("Total value", content.totalValue),
    ...sum("Shipping", content.shippingCost),
    ...sum("Tax", content.taxAmount),
    ...sum("Discount", content.discountAmount),
    ...sum("Grand total", content.grandTotal),
  ]
    .map((row) => `${row.map(cell).join(",")}\r\n`)
    .join("");
}
