/** German texts of receiving and of the dock. They are loaded with these screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/receive.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const positions = (count: number): string => plural(count, "Position", "Positionen");

export const receiveTexts: Translated<typeof english.receiveTexts> = isolating({
  title: (poNumber) => `Wareneingang ${poNumber}`,
  back: (poNumber) => `Bestellung ${poNumber}`,
  to: (location) => `An ${location}`,
  notReceivable: (status) =>
    `Ware wird eingebucht, wenn eine Bestellung in Bearbeitung, teilweise erhalten oder erhalten ist. Der Status dieser Bestellung: ${status}.`,
  toOrder: "Zur Bestellung",
  elsewhere:
    "Diese Bestellung wird in einem anderen Tab dieses Browsers gezählt. Schließen Sie ihn, um hier weiterzumachen.",
  scan: "Scannen",
  ready: "Bereit zum Scannen",
  undo: "Rückgängig",
  all: "Alles Offene zählen",
  save: "Einbuchen",
  saveAgain: "Erneut senden",
  counted: (lines) => `${positions(lines)} gezählt`,
  noneCounted: "Noch nichts gezählt",
  sending: "Wird gespeichert …",
  waiting: "Der Server antwortet nicht. Ihre Zählung bleibt auf diesem Gerät und wird von selbst noch einmal gesendet.",
  saved: (lines) => `${positions(lines)} eingebucht.`,
  allHere: "Alles Bestellte ist da oder erledigt.",
  missing: (lines) => (lines === 1 ? "Noch offen ist 1 Position:" : `Noch offen sind ${number(lines)} Positionen:`),
  next: (order) => `Als Nächstes einbuchen: ${order}`,
  syncAgain: "Bestand erneut übertragen",
  unkept: "Dieser Browser speichert keine Daten. Ihre Zählung geht verloren, wenn diese Seite geschlossen wird.",
  doubtful: {
    message: "Dieser Vorgang ist einen Tag alt und wurde vielleicht schon gebucht.",
    action:
      "Vergleichen Sie die Mengen mit der Ware. Buchen Sie dann noch einmal ein, oder verwerfen Sie Ihre Zählung.",
  },
  discard: "Zählung verwerfen",
  somebody: "jemandem",
  othersCounts: (name, lines) =>
    `Eine Zählung von ${name} auf diesem Gerät wurde nicht gespeichert: ${positions(lines)}.`,
  othersDoubtful:
    "Sie wurde gerade gespeichert, und die Bestellung hat sich seitdem geändert: Vielleicht ist sie schon gebucht. Vergleichen Sie zuerst die Mengen mit der Ware.",
  takeOver: "Übernehmen",
  discardOthers: (name) => `Zählung von ${name} verwerfen`,
  asking: "Inzwischen haben andere eingebucht. Mit Ihrer Zählung ist es mehr, als bestätigt wurde:",
  askingLine: (product, over) => `${product}: ${over} mehr`,
  allowAll: "Trotzdem einbuchen",
  allow: "Trotzdem zählen",
  activate: "Aktivieren und einbuchen",
  skip: "Ohne Onlineshop einbuchen",
  ofBase: (total, base) => `${total} von ${base}`,
  mine: (amount) => `+${amount} nicht gespeichert`,
  parts: { received: "Erhalten", rejected: "Abgelehnt", cancelled: "Fehlmenge" },
  more: "Ablehnung oder Fehlmenge",
  short: "Der Rest kommt nicht",
  outcome: {
    countsAs: {
      piece: "",
      pack: " (eine VPE)",
      count: " (laut Code)",
      "unknown-pack": " (VPE unbekannter Größe, als 1 gezählt)",
    },
    counted: (amount, total, base, product) => `${amount} → ${total} von ${base} ${product}`,
    unknown: (code) => `„${code}“ steht nicht in dieser Bestellung. Nichts wurde gezählt.`,
    ambiguous: (code) =>
      `Mehrere Produkte haben den Code „${code}“. Geben Sie die Menge bei der richtigen Position ein.`,
    unreadable: (text) => `„${text}“ ist keine Menge. Nichts wurde gezählt.`,
    over: (product) => `Mehr als bestätigt: ${product}. Nichts wurde gezählt.`,
    complete: (product) => `Schon vollständig: ${product}. Nichts wurde gezählt.`,
    below: (least, product) =>
      `Von ${product} sind schon ${least} gebucht. Zurückgenommen wird Ware in der Bestellung.`,
    undone: (product, more) =>
      more === 0 ? `Rückgängig: ${product}` : `Rückgängig: ${product} und ${number(more)} weitere`,
    countedAll: (lines) => `${positions(lines)} aufgefüllt`,
  },
});

export const dockTexts: Translated<typeof english.dockTexts> = isolating({
  title: "Wareneingang",
  lead: "Scannen Sie einen Karton, um die offenen Bestellungen zu sehen, die darauf warten, oder einen Lieferschein, um seine Bestellung zu öffnen.",
  none: (code) => `Keine offene Bestellung wartet auf „${code}“.`,
  found: (code, lines) =>
    lines === 1 ? `1 offene Position wartet auf „${code}“` : `${number(lines)} offene Positionen warten auf „${code}“`,
  pending: (quantity) => `${quantity} offen`,
  expected: (date) => `erwartet am ${date}`,
  enter: "Enter öffnet den Wareneingang der ersten.",
  pack: (pieces) => `Ein Scan ist eine VPE mit ${pieces}`,
  count: (pieces) => `Ein Scan sind ${pieces}`,
  unknownPack: "VPE unbekannter Größe: Ein Scan zählt 1",
  notYet: "Noch nicht in Bearbeitung",
  nothing: "Es gibt nichts einzubuchen.",
  nothingHint:
    "Eine Bestellung steht hier, sobald sie in Bearbeitung ist. Die Ware wird dann per Scan oder von Hand gezählt.",
  toOrders: "Alle Bestellungen ansehen",
});
