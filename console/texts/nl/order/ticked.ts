/** Dutch texts of what is done with several orders at once. They are loaded when one is ticked in the list. */
import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/ticked.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const orders = (count: number): string => plural(count, "bestelling", "bestellingen");

export const tickedTexts: Translated<typeof english.tickedTexts> = isolating({
  bar: "Met de geselecteerde bestellingen",
  selected: (count) => `${number(count)} geselecteerd`,
  clear: "Selectie opheffen",
  send: "Verzenden",
  move: "Status",
  noMove: "Geen stap is voor alle mogelijk. Selecteer bestellingen met dezelfde status.",
  noSend: "Verzenden: alleen concepten kunnen samen worden verzonden.",
  noMerge: "Samenvoegen: selecteer ten minste twee concepten met dezelfde leverancier, locatie en valuta.",
  more: "Meer",
  print: "Afdrukken",
  pdf: "PDF downloaden",
  csv: "CSV exporteren",
  tooMany: (max) => `Hooguit ${number(max)} documenten tegelijk.`,
  running: (done, of) => `${number(done)} van ${number(of)}…`,
  count: orders,
  done: (count) => `${orders(count)} klaar`,
  refused: (count) => `${number(count)} geweigerd`,
  waiting: (count) => plural(count, "wacht op goedkeuring", "wachten op goedkeuring"),
  noAddress:
    "De leverancier heeft geen e-mailadres. Voeg er een toe bij de leverancier of verzend de bestelling apart.",
  stale: "Iemand heeft deze intussen gewijzigd. Bekijk de bestelling en probeer het opnieuw.",
  close: "Sluiten",
  sendTitle: (count) => `${orders(count)} naar de leveranciers verzenden?`,
  sendText:
    "Elke leverancier krijgt een e-mail met de bestelling als pdf, de gebruikelijke tekst en een link om te antwoorden. De bestellingen krijgen de status Verzonden. Een e-mail kan niet worden teruggehaald.",
  moveTitle: (action, count) => `${action}: ${orders(count)}?`,
  merge: "Samenvoegen",
  mergeTitle: (count) => `${number(count)} concepten samenvoegen?`,
  mergeInto: "Concept dat blijft",
  mergeText:
    "De andere concepten vervallen en hun regels gaan ernaartoe. Hun notities, datums, verzendkosten en kortingen gaan niet mee. Dit kan niet ongedaan worden gemaakt.",
  lines: (count) => plural(count, "regel", "regels"),
  noSupplier: "geen leverancier",
  records: {
    bar: "Met de geselecteerde rijen",
    selected: (count) => `${number(count)} geselecteerd`,
    archived: (count) => `${number(count)} gearchiveerd`,
    broughtBack: (count) => `${number(count)} uit het archief gehaald`,
    done: (count) => `${number(count)} klaar`,
    refused: (count) => `${number(count)} geweigerd`,
  },
});
