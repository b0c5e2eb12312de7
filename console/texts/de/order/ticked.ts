/** German texts of what is done with several orders at once. They are loaded when one is ticked in the list. */
import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/ticked.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const orders = (count: number): string => plural(count, "Bestellung", "Bestellungen");

export const tickedTexts: Translated<typeof english.tickedTexts> = isolating({
  bar: "Mit den ausgewählten Bestellungen",
  selected: (count) => `${number(count)} ausgewählt`,
  clear: "Auswahl aufheben",
  send: "Senden",
  move: "Status",
  noMove: "Kein Schritt ist für alle möglich. Wählen Sie Bestellungen mit demselben Status.",
  noSend: "Senden: Nur Entwürfe lassen sich gemeinsam senden.",
  noMerge:
    "Zusammenführen: Wählen Sie mindestens zwei Entwürfe mit demselben Lieferanten, Standort und derselben Währung.",
  more: "Mehr",
  print: "Drucken",
  pdf: "PDF herunterladen",
  csv: "CSV exportieren",
  tooMany: (max) => `Höchstens ${number(max)} Dokumente auf einmal.`,
  running: (done, of) => `${number(done)} von ${number(of)} …`,
  count: orders,
  done: (count) => `${orders(count)} erledigt`,
  refused: (count) => `${number(count)} abgelehnt`,
  waiting: (count) => plural(count, "wartet auf Freigabe", "warten auf Freigabe"),
  noAddress:
    "Der Lieferant hat keine E-Mail-Adresse. Tragen Sie eine beim Lieferanten ein, oder senden Sie die Bestellung einzeln.",
  stale: "Inzwischen hat jemand sie geändert. Sehen Sie sie an und versuchen Sie es dann noch einmal.",
  close: "Schließen",
  sendTitle: (count) => `${orders(count)} an die Lieferanten senden?`,
  sendText:
    "Jeder Lieferant bekommt eine E-Mail mit der Bestellung als PDF, dem üblichen Text und einem Link zum Antworten. Die Bestellungen stehen danach auf „Gesendet“. Eine E-Mail lässt sich nicht zurückholen.",
  moveTitle: (action, count) => `${action}: ${orders(count)}?`,
  merge: "Zusammenführen",
  mergeTitle: (count) => `${number(count)} Entwürfe zusammenführen?`,
  mergeInto: "Entwurf, der bleibt",
  mergeText:
    "Die anderen Entwürfe entfallen, ihre Positionen gehen auf ihn über. Notizen, Termine, Versand und Rabatte werden nicht übernommen. Das lässt sich nicht rückgängig machen.",
  lines: (count) => plural(count, "Position", "Positionen"),
  noSupplier: "kein Lieferant",
  records: {
    bar: "Mit den ausgewählten Zeilen",
    selected: (count) => `${number(count)} ausgewählt`,
    archived: (count) => `${number(count)} archiviert`,
    broughtBack: (count) => `${number(count)} zurückgeholt`,
    done: (count) => `${number(count)} erledigt`,
    refused: (count) => `${number(count)} abgelehnt`,
  },
});
