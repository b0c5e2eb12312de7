/** Texts of receiving and of the dock. They are loaded with these screens. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/receive.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const linesOf = (count: number): string => plural(count, "regel", "regels");

export const receiveTexts: Translated<typeof english.receiveTexts> = isolating({
  title: (poNumber) => `${poNumber} ontvangen`,
  back: (poNumber) => `Bestelling ${poNumber}`,
  to: (location) => `Naar ${location}`,
  notReceivable: (status) =>
    `Ontvangen kan alleen met status In behandeling, Deels ontvangen of Ontvangen. De status is nu ${status}.`,
  toOrder: "Naar de bestelling",
  elsewhere: "Deze bestelling wordt in een ander tabblad van deze browser geteld. Sluit dat om hier verder te gaan.",
  scan: "Scannen",
  ready: "Klaar om te scannen",
  undo: "Ongedaan maken",
  all: "Hele rest ontvangen",
  save: "Ontvangst boeken",
  saveAgain: "Opnieuw verzenden",
  counted: (lines) => `${linesOf(lines)} geteld`,
  noneCounted: "Nog niets geteld",
  sending: "Opslaan…",
  waiting: "De server reageert niet. Je tellingen blijven op dit apparaat bewaard en worden vanzelf opnieuw verzonden.",
  saved: (lines) => `${linesOf(lines)} ontvangen.`,
  allHere: "Alles wat besteld is, is er of afgehandeld.",
  missing: (lines) => (lines === 1 ? "Nog te ontvangen, 1 regel:" : `Nog te ontvangen, ${number(lines)} regels:`),
  next: (order) => `Hierna ontvangen: ${order}`,
  syncAgain: "Voorraad opnieuw doorsturen",
  unkept: "Deze browser bewaart geen gegevens. Je tellingen gaan verloren als je deze pagina sluit.",
  doubtful: {
    message: "Deze boeking is een dag oud en is misschien al verwerkt.",
    action: "Vergelijk de totalen met de goederen. Boek daarna opnieuw of verwijder je tellingen.",
  },
  discard: "Tellingen verwijderen",
  somebody: "iemand",
  othersCounts: (name, lines) => `Tellingen van ${name} op dit apparaat zijn niet opgeslagen: ${linesOf(lines)}.`,
  othersDoubtful:
    "Ze werden net opgeslagen en de bestelling is sindsdien gewijzigd: misschien zijn ze al verwerkt. Vergelijk eerst de totalen met de goederen.",
  takeOver: "Overnemen",
  discardOthers: (name) => `Tellingen van ${name} verwijderen`,
  asking: "Anderen hebben intussen ook ontvangen. Met jouw tellingen is er meer dan bevestigd:",
  askingLine: (product, over) => `${product}: ${over} te veel`,
  allowAll: "Toch ontvangen",
  allow: "Toch tellen",
  activate: "Activeren en ontvangen",
  skip: "Ontvangen zonder webshop",
  ofBase: (total, base) => `${total} van ${base}`,
  mine: (amount) => `+${amount} niet opgeslagen`,
  parts: { received: "Ontvangen", rejected: "Afgekeurd", cancelled: "Tekort" },
  more: "Afkeuren of tekort",
  short: "De rest komt niet",
  outcome: {
    countsAs: {
      piece: "",
      pack: " (één verpakking)",
      count: " (volgens de code)",
      "unknown-pack": " (verpakking van onbekende grootte, geteld als één)",
    },
    counted: (amount, total, base, product) => `${amount} → ${total} van ${base} ${product}`,
    unknown: (code) => `“${code}” staat niet op deze bestelling. Er is niets geteld.`,
    ambiguous: (code) => `“${code}” is de code van meerdere producten. Vul het aantal in bij de juiste regel.`,
    unreadable: (text) => `“${text}” is geen aantal. Er is niets geteld.`,
    over: (product) => `Meer dan bevestigd: ${product}. Er is niets geteld.`,
    complete: (product) => `Al compleet: ${product}. Er is niets geteld.`,
    below: (least, product) => `Al geboekt: ${least} × ${product}. Terugboeken doe je in de bestelling.`,
    undone: (product, more) =>
      more === 0 ? `Ongedaan gemaakt: ${product}` : `Ongedaan gemaakt: ${product} en nog ${number(more)}`,
    countedAll: (lines) => `${linesOf(lines)} aangevuld`,
  },
});

export const dockTexts: Translated<typeof english.dockTexts> = isolating({
  title: "Ontvangst",
  lead: "Scan een doos om te zien welke open bestellingen erop wachten, of een pakbon om de bestelling te openen.",
  none: (code) => `Geen open bestelling wacht op “${code}”.`,
  found: (code, lines) =>
    lines === 1 ? `1 open regel wacht op “${code}”` : `${number(lines)} open regels wachten op “${code}”`,
  pending: (quantity) => `${quantity} open`,
  expected: (date) => `verwacht ${date}`,
  enter: "Met Enter ontvang je op de eerste.",
  pack: (pieces) => `Eén scan is een verpakking van ${pieces}`,
  count: (pieces) => `Eén scan is ${pieces}`,
  unknownPack: "Verpakking van onbekende grootte: een scan telt er één",
  notYet: "Nog niet in behandeling",
  nothing: "Er is niets te ontvangen.",
  nothingHint:
    "Een bestelling staat hier zodra die in behandeling is. Je telt de goederen dan met de scanner of met de hand.",
  toOrders: "Alle bestellingen bekijken",
});
