/** Texts of importing files. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";

const names: Readonly<Record<string, readonly [string, string]>> = {
  variant: ["product", "products"],
  supplier: ["supplier", "suppliers"],
  location: ["location", "locations"],
  supplierVariant: ["supplier's price", "suppliers' prices"],
  inventoryLevel: ["stock level", "stock levels"],
  sale: ["day of sales", "days of sales"],
  purchaseOrder: ["order", "orders"],
  forecastView: ["forecast view", "forecast views"],
};

export const importTexts = isolating({
  title: "Import",
  lead: "A file is checked first. You see what it would change before anything does.",
  why: "Files are imported by owners of the shop.",
  drop: "Drop a file here, or choose one",
  chosen: (name: string, size: string) => `${name}, ${size}`,
  kilobytes: (size: number) => `${number(size)} kB`,
  kind: "What is in the file",
  kinds: {
    "shopify-products": {
      title: "Products",
      hint: "Shopify's product export: Handle, Title, Variant SKU, Variant Price …",
    },
    "shopify-inventory": { title: "Stock", hint: "Shopify's inventory export: Handle, Location, On hand …" },
    "supplier-prices": {
      title: "Suppliers' prices",
      hint: "Supplier, SKU or product, Unit cost, Currency, MOQ, Pack size …",
    },
    suppliers: { title: "Suppliers", hint: "Supplier, E-mail, Currency, Lead time, Payment terms, City …" },
    sales: { title: "Sales", hint: "Product, Date, Quantity, Location" },
    ndjson: { title: "Records of OpenPO", hint: "One JSON object a line, as an export has them." },
  },
  supplier: "Supplier, if the file names none",
  preview: (rows: number) => (rows === 1 ? "The first row" : `The first ${number(rows)} rows`),
  line: "Line",
  checking: "Checking …",
  importing: "Importing …",
  sent: (share: string) => `${share} sent`,
  good: "The file is in order. It would bring in:",
  nothing: "The file is in order and brings in nothing.",
  records: (type: string, count: number) => `${number(count)} ${(names[type] ?? [type, type])[count === 1 ? 0 : 1]}`,
  replaced: (count: number) => `, ${number(count)} of them ${count === 1 ? "replaces" : "replace"} what is there`,
  counts: ({
    changed,
    added,
    cleared,
  }: {
    readonly changed: number;
    readonly added: number;
    readonly cleared: number;
  }) =>
    [
      [changed, "changed"],
      [added, "new"],
      [cleared, "emptied"],
    ]
      .filter(([count]) => count !== 0)
      .map(([count, word]) => `${number(Number(count))} ${word}`)
      .join(", "),
  changes: (rows: number) => `Before and after${rows > 1 ? `, in the first ${number(rows)}` : ""}`,
  truncated: "Of a long file, the first 20,000 records were compared.",
  rule: "Everything comes in, or nothing. What the file has no column for stays as it is.",
  go: "Import",
  bad: "Nothing was imported. What is wrong:",
  download: "Download this list",
  heads: ["Line", "Column", "Mistake"],
  row: "The line in the file",
  again: "Correct the file and choose it again.",
  done: "Imported:",
  another: "Import another file",
} as const);
