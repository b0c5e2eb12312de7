/** Texts of importing files. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/import.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";

const names: Readonly<Record<string, readonly [string, string]>> = {
  variant: ["product", "producten"],
  supplier: ["leverancier", "leveranciers"],
  location: ["locatie", "locaties"],
  supplierVariant: ["leveranciersprijs", "leveranciersprijzen"],
  inventoryLevel: ["voorraadstand", "voorraadstanden"],
  sale: ["dag met verkopen", "dagen met verkopen"],
  purchaseOrder: ["bestelling", "bestellingen"],
  forecastView: ["prognoseweergave", "prognoseweergaven"],
};

export const importTexts: Translated<typeof english.importTexts> = isolating({
  title: "Importeren",
  lead: "Een bestand wordt eerst gecontroleerd. Je ziet wat het zou wijzigen voordat er iets gebeurt.",
  why: "Eigenaren van de winkel importeren bestanden.",
  drop: "Sleep een bestand hierheen of kies er een",
  chosen: (name, size) => `${name}, ${size}`,
  kilobytes: (size) => `${number(size)} kB`,
  kind: "Wat er in het bestand staat",
  /** Heads of columns are those that the files have: English. */
  kinds: {
    "shopify-products": {
      title: "Producten",
      hint: "Productexport van Shopify: Handle, Title, Variant SKU, Variant Price …",
    },
    "shopify-inventory": { title: "Voorraad", hint: "Voorraadexport van Shopify: Handle, Location, On hand …" },
    "supplier-prices": {
      title: "Leveranciersprijzen",
      hint: "Kolommen: Supplier, SKU of Product, Unit cost, Currency, MOQ, Pack size …",
    },
    suppliers: {
      title: "Leveranciers",
      hint: "Kolommen: Supplier, E-mail, Currency, Lead time, Payment terms, City …",
    },
    sales: { title: "Verkopen", hint: "Kolommen: Product, Date, Quantity, Location" },
    ndjson: { title: "Records van OpenPO", hint: "Eén JSON-object per regel, zoals in een export." },
  },
  supplier: "Leverancier, als het bestand er geen noemt",
  preview: (rows) => (rows === 1 ? "De eerste rij" : `De eerste ${number(rows)} rijen`),
  line: "Regel",
  checking: "Controleren…",
  importing: "Importeren…",
  sent: (share) => `${share} geüpload`,
  good: "Het bestand is in orde. Dit zou worden geïmporteerd:",
  nothing: "Het bestand is in orde, maar er valt niets te importeren.",
  records: (type, count) => `${number(count)} ${(names[type] ?? [type, type])[count === 1 ? 0 : 1]}`,
  replaced: (count) => `, waarvan ${number(count)} ter vervanging van bestaande gegevens`,
  counts: ({ changed, added, cleared }) =>
    [
      [changed, "gewijzigd"],
      [added, "nieuw"],
      [cleared, "leeggemaakt"],
    ]
      .filter(([count]) => count !== 0)
      .map(([count, word]) => `${number(Number(count))} ${word}`)
      .join(", "),
  changes: (rows) => `Voor en na${rows > 1 ? `, in de eerste ${number(rows)}` : ""}`,
  truncated: "Van een lang bestand zijn de eerste 20.000 records vergeleken.",
  rule: "Alles wordt geïmporteerd, of niets. Waar het bestand geen kolom voor heeft, blijft zoals het is.",
  go: "Importeren",
  bad: "Er is niets geïmporteerd. Dit klopt niet:",
  download: "Deze lijst downloaden",
  heads: ["Regel", "Kolom", "Fout"],
  row: "De regel in het bestand",
  again: "Verbeter het bestand en kies het opnieuw.",
  done: "Geïmporteerd:",
  another: "Nog een bestand importeren",
});
