/** Texts of reordering from a forecast. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/goods/reorder.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const linesOf = (count: number): string => plural(count, "regel", "regels");

export const reorderTexts: Translated<typeof english.reorderTexts> = isolating({
  title: "Bijbestellen",
  views: "Prognoseweergaven",
  empty: "Er is nog geen prognoseweergave.",
  emptyHint:
    "Een weergave bepaalt welke producten en cijfers je ziet. Een eigenaar van de winkel kan er hier een maken of er een importeren.",
  makeView: "Weergave “Te bestellen” maken",
  viewName: "Te bestellen",
  noRows: "In deze weergave hoeft niets te worden bijbesteld.",
  noSuppliers: "Deze weergave toont niet wie een product levert. Elk product bestel je bij de goedkoopste leverancier.",
  shown: (loaded, total) =>
    loaded === total
      ? plural(total, "product", "producten")
      : `${number(loaded)} van ${number(total)} producten geladen`,
  search: "Zoeken in deze weergave",
  searchHint: "Naam, SKU of leverancier",
  found: (found, total) => `${number(found)} van ${plural(total, "product", "producten")}`,
  nothing: "Niets in deze weergave past daarbij.",
  toProduct: "Naar het product",
  outlook: (days) => `Komende ${days} dagen`,
  undated: "Goederen onderweg, zonder datum",
  lasts: (days) => `Voorraad voor ${days} dagen of meer`,
  out: (days) =>
    days === "0" ? "Er is niets meer" : `Over ${days} ${days === "1" ? "dag" : "dagen"} is er niets meer`,
  grid: "Producten en hun cijfers",
  help: "Navigeer met de pijltjestoetsen, vink aan met de spatiebalk. Een aantal invullen vinkt de regel ook aan.",
  tick: (product) => `${product} bestellen`,
  quantity: (product) => `Aantal voor ${product}`,
  order: "Bestel",
  product: "Product",
  notNumber: "Vul een aantal in.",
  terms: (moq, packSize) =>
    [moq === null ? null : `min. ${moq}`, packSize === null ? null : `verpakt per ${packSize}`]
      .filter((part) => part !== null)
      .join(", "),
  roundTo: (quantity) => `→ ${quantity}`,
  roundToLabel: (quantity, product) => `${product} ophogen naar ${quantity}`,
  onDraft: (quantity) => `${quantity} in concept`,
  yes: "Ja",
  no: "Nee",
  tickAll: "Voorstellen aanvinken",
  untick: "Alles uitvinken",
  ticked: (lines, suppliers) => `${linesOf(lines)} van ${plural(suppliers, "leverancier", "leveranciers")}`,
  noneTicked: "Vink aan wat je wilt bestellen.",
  make: (drafts) => (drafts === 0 ? "Concepten maken" : plural(drafts, "concept maken", "concepten maken")),
  plan: {
    title: (drafts) => (drafts === 1 ? "Eén concept" : `${number(drafts)} concepten`),
    lead: "Eén bestelling per leverancier, als concept: er wordt niets verzonden.",
    location: "Afleverlocatie",
    noLocation: "De winkel heeft nog geen locatie. Voeg er eerst een toe.",
    lines: (lines) => linesOf(lines),
    arrival: (date) => `aankomst ${date}`,
    onDraft: (lines) => plural(lines, "regel staat al in een concept", "regels staan al in een concept"),
    unsupplied: (products) => `Hiervoor is geen leverancier bekend, dus ze blijven uitgevinkt: ${products}`,
    making: "Concepten maken…",
    unknownSupplier: (name) =>
      `Geen leverancier, of meer dan één, heet “${name}”. Voeg de kolom supplierId toe aan de weergave.`,
    tooMany: (max) => `Een bestelling heeft maximaal ${max} regels. Vink er een paar uit.`,
    failed:
      "Concepten met een nummer zijn gemaakt. De andere niet, of het antwoord is verloren gegaan: opnieuw proberen maakt er geen dubbel.",
    done: (drafts) => (drafts === 1 ? "Het concept is gemaakt." : `Alle ${number(drafts)} concepten zijn gemaakt.`),
    again: "De andere opnieuw proberen",
    close: "Sluiten",
    cancel: "Annuleren",
  },
});
