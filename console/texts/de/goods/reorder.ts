/** German texts of reordering from a forecast. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/goods/reorder.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const positions = (count: number): string => plural(count, "Position", "Positionen");

const drafts = (count: number): string => plural(count, "Entwurf", "Entwürfe");

export const reorderTexts: Translated<typeof english.reorderTexts> = isolating({
  title: "Nachbestellen",
  views: "Prognoseansichten",
  empty: "Es gibt noch keine Prognoseansicht.",
  emptyHint:
    "Eine Ansicht legt fest, welche Produkte und Kennzahlen gezeigt werden. Ein Inhaber des Shops kann hier eine anlegen oder eine importieren.",
  makeView: "Ansicht „Zu bestellen“ anlegen",
  viewName: "Zu bestellen",
  noRows: "In dieser Ansicht muss nichts nachbestellt werden.",
  noSuppliers:
    "Diese Ansicht zeigt nicht, wer ein Produkt liefert. Bestellt wird jedes bei seinem günstigsten Lieferanten.",
  shown: (loaded, total) =>
    loaded === total
      ? plural(total, "Produkt", "Produkte")
      : `${number(loaded)} von ${number(total)} Produkten geladen`,
  search: "Ansicht durchsuchen",
  searchHint: "Name, SKU oder Lieferant",
  found: (found, total) => `${number(found)} von ${plural(total, "Produkt", "Produkten")}`,
  nothing: "Nichts in dieser Ansicht passt dazu.",
  toProduct: "Zur Produktseite",
  outlook: (days) => `Nächste ${days} Tage`,
  undated: "Ware ist unterwegs, ohne Termin",
  lasts: (days) => `Bestand für ${days} Tage und mehr`,
  out: (days) =>
    days === "0" ? "Nichts mehr auf Lager" : `In ${days} ${days === "1" ? "Tag" : "Tagen"} nichts mehr auf Lager`,
  grid: "Produkte und ihre Kennzahlen",
  help: "Pfeiltasten: bewegen. Leertaste: auswählen. Eine Menge wählt ihre Zeile aus.",
  tick: (product) => `${product} bestellen`,
  quantity: (product) => `Menge von ${product}`,
  order: "Bestellen",
  product: "Produkt",
  notNumber: "Menge eingeben.",
  terms: (moq, packSize) =>
    [moq === null ? null : `mind. ${moq}`, packSize === null ? null : `VPE ${packSize}`]
      .filter((part) => part !== null)
      .join(", "),
  roundTo: (quantity) => `→ ${quantity}`,
  roundToLabel: (quantity, product) => `${product} auf ${quantity} aufrunden`,
  onDraft: (quantity) => `${quantity} im Entwurf`,
  yes: "Ja",
  no: "Nein",
  tickAll: "Alle Vorschläge auswählen",
  untick: "Auswahl aufheben",
  ticked: (lines, suppliers) => `${positions(lines)} von ${plural(suppliers, "Lieferanten", "Lieferanten")}`,
  noneTicked: "Wählen Sie aus, was bestellt werden soll.",
  make: (count) => (count === 0 ? "Entwürfe erstellen" : `${drafts(count)} erstellen`),
  plan: {
    title: (count) => (count === 1 ? "Ein Entwurf" : drafts(count)),
    lead: "Eine Bestellung je Lieferant, als Entwurf: Nichts wird gesendet.",
    location: "Liefern an",
    noLocation: "Der Shop hat noch keinen Standort. Legen Sie zuerst einen an.",
    lines: positions,
    arrival: (date) => `Ankunft am ${date}`,
    onDraft: (lines) => `${positions(lines)} schon in einem Entwurf`,
    unsupplied: (products) => `Niemand liefert diese, deshalb bleiben sie abgewählt: ${products}`,
    making: "Wird erstellt …",
    unknownSupplier: (name) =>
      `Kein Lieferant oder mehr als einer heißt „${name}“. Fügen Sie der Ansicht die Spalte supplierId hinzu.`,
    tooMany: (max) => `Eine Bestellung hat höchstens ${max} Positionen. Wählen Sie einige ab.`,
    failed:
      "Entwürfe mit einer Nummer sind erstellt. Die anderen nicht, oder ihre Antwort ging verloren: Ein neuer Versuch erstellt keinen doppelt.",
    done: (count) => (count === 1 ? "Der Entwurf ist erstellt." : `Alle ${number(count)} Entwürfe sind erstellt.`),
    again: "Übrige erneut versuchen",
    close: "Schließen",
    cancel: "Abbrechen",
  },
});
