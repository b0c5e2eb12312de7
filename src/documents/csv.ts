/**
 * An order as CSV for its supplier: one row a line (RFC 4180, UTF-8 with the mark by which spreadsheets know it).
 * Totals are in the PDF: below the lines they would be read as further lines.
 */
import { neutralised } from "../base/text/plain-text.ts";
import { descriptionOf, type DocumentContent } from "./content.ts";

/** Stands before the first cell: without it spreadsheets read UTF-8 as something else. */
const byteOrderMark = "\ufeff";

/**
 * Place before what a spreadsheet takes for a formula or a command, where a cell begins. Blanks may stand before it,
 * which some of them take away. A cell of ours may be several for one that parts at `;`, tabs or line ends.
 */
const beforeFormula = /(?:^[\s\p{Cc}\p{Cf}]*|[;\t\n][\p{Zs}\p{Cf}]*)(?=[=+\-@|%＝＋－＠｜％﹢﹣﹦﹫−])|^[\t\n]/gu;

/**
 * A cell. A text that a spreadsheet would take for a formula gets an apostrophe before it: others chose what stands in
 * it.
 */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const plain = neutralised(value);
  const text = plain.replace(beforeFormula, (before, at: number) =>
    at === 0 && !before.startsWith(";") ? `'${before}` : `${before.charAt(0)}'${before.slice(1)}`,
  );
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
  const rows = content.lineItems.map((line, index) => [
    content.poNumber,
    index + 1,
    line.supplierSku,
    line.sku,
    line.barcode,
    descriptionOf(line),
    line.quantity,
    line.packSize,
    line.unitCost,
    line.currencyCode,
    line.lineTotal,
    line.expectedDeliveryDate ?? content.expectedDeliveryDate,
  ]);
  return byteOrderMark + [heads, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
