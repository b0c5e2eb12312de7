/** German texts of importing files. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/import.ts";
import type { Translated } from "../../languages.ts";

const names: Readonly<Record<string, readonly [string, string]>> = {
  variant: ["Produkt", "Produkte"],
  supplier: ["Lieferant", "Lieferanten"],
  location: ["Standort", "Standorte"],
  supplierVariant: ["Lieferantenpreis", "Lieferantenpreise"],
  inventoryLevel: ["Lagerbestand", "Lagerbestände"],
  sale: ["Verkaufstag", "Verkaufstage"],
  purchaseOrder: ["Bestellung", "Bestellungen"],
  forecastView: ["Prognoseansicht", "Prognoseansichten"],
};

/** Names of columns in the hints are those that a file must have, which are English. */
export const importTexts: Translated<typeof english.importTexts> = isolating({
  title: "Import",
  lead: "Eine Datei wird zuerst geprüft. Sie sehen, was sie ändern würde, bevor etwas geschieht.",
  why: "Dateien werden von Inhabern des Shops importiert.",
  drop: "Datei hier ablegen oder auswählen",
  chosen: (name, size) => `${name}, ${size}`,
  kilobytes: (size) => `${number(size)} kB`,
  kind: "Was die Datei enthält",
  kinds: {
    "shopify-products": {
      title: "Produkte",
      hint: "Produktexport von Shopify: Handle, Title, Variant SKU, Variant Price …",
    },
    "shopify-inventory": { title: "Bestand", hint: "Bestandsexport von Shopify: Handle, Location, On hand …" },
    "supplier-prices": {
      title: "Lieferantenpreise",
      hint: "Spalten: Supplier, SKU oder Product, Unit cost, Currency, MOQ, Pack size …",
    },
    suppliers: { title: "Lieferanten", hint: "Spalten: Supplier, E-mail, Currency, Lead time, Payment terms, City …" },
    sales: { title: "Verkäufe", hint: "Spalten: Product, Date, Quantity, Location" },
    ndjson: { title: "Datensätze von OpenPO", hint: "Ein JSON-Objekt je Zeile, wie ein Export sie hat." },
  },
  supplier: "Lieferant, falls die Datei keinen nennt",
  preview: (rows) => (rows === 1 ? "Die erste Zeile" : `Die ersten ${number(rows)} Zeilen`),
  line: "Zeile",
  checking: "Wird geprüft …",
  importing: "Wird importiert …",
  sent: (share) => `${share} gesendet`,
  good: "Die Datei ist in Ordnung. Importiert würden:",
  nothing: "Die Datei ist in Ordnung und bringt nichts Neues.",
  records: (type, count) => `${number(count)} ${(names[type] ?? [type, type])[count === 1 ? 0 : 1]}`,
  replaced: (count) => `, davon ${number(count)} als Ersatz für Vorhandenes`,
  counts: ({ changed, added, cleared }) =>
    [
      [changed, "geändert"],
      [added, "neu"],
      [cleared, "geleert"],
    ]
      .filter(([count]) => count !== 0)
      .map(([count, word]) => `${number(Number(count))} ${word}`)
      .join(", "),
  changes: (rows) => `Vorher und nachher${rows > 1 ? `, in den ersten ${number(rows)}` : ""}`,
  truncated: "Bei einer langen Datei wurden die ersten 20.000 Datensätze verglichen.",
  rule: "Alles wird übernommen oder nichts. Wofür die Datei keine Spalte hat, bleibt, wie es ist.",
  go: "Importieren",
  bad: "Nichts wurde importiert. Die Fehler:",
  download: "Diese Liste herunterladen",
  heads: ["Zeile", "Spalte", "Fehler"],
  row: "Die Zeile in der Datei",
  again: "Korrigieren Sie die Datei und wählen Sie sie noch einmal aus.",
  done: "Importiert:",
  another: "Weitere Datei importieren",
});
