/** German texts of approval requests. They are loaded with what shows them. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/approvals.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const requests = (count: number): string => plural(count, "Anfrage", "Anfragen");

export const approvalTexts: Translated<typeof english.approvalTexts> = isolating({
  title: "Freigaben",
  back: "Freigaben",
  status: "Anzeigen",
  statuses: {
    pending: "Wartet",
    all: "Alle",
    approved: "Freigegeben",
    rejected: "Abgelehnt",
    withdrawn: "Zurückgezogen",
    expired: "Abgelaufen",
    overtaken: "Überholt",
    failed: "Fehlgeschlagen",
  },
  shown: (count, total) => `${number(count)} von ${requests(total)}`,
  more: "Mehr laden",
  yours: "Sie entscheiden",
  others: "Andere entscheiden",
  empty: "Nichts wartet auf Freigabe.",
  emptyOther: "Es gibt keine solchen Anfragen.",
  emptyHint:
    "Was ein Assistent nur vorschlagen darf, was außerhalb seiner Limits liegt, und Bestellungen, auf die eine Regel des Shops zutrifft, warten hier, bis ein Mensch zustimmt.",
  toKeys: "Schlüssel mit dem Recht „Vorschlagen“ vergeben",
  toRules: "Regeln festlegen",
  moves: (order, status) => `${order}: auf „${status}“ setzen`,
  asks: (who) => `Anfrage von ${who}`,
  asked: "Angefragt von",
  inNameOf: (name) => `im Namen von ${name}`,
  byKey: (keyId) => `Schlüssel ${keyId}`,
  askedAt: "Angefragt am",
  until: "Wartet bis",
  supplier: "Lieferant",
  value: "Wert",
  order: "Bestellung",
  why: "Warum eine Freigabe nötig ist",
  causes: {
    scope: "Der Schlüssel darf das nur vorschlagen.",
    rule: (name) => `Regel „${name}“.`,
    supplierIds: "Der Schlüssel darf nicht bei diesem Lieferanten bestellen.",
    locationIds: "Der Schlüssel darf nicht für diesen Standort bestellen.",
    orderValueMax: "Eine Bestellung",
    dayValueMax: "Bestellungen pro Tag",
    monthValueMax: "Bestellungen pro Monat",
    limit: (of, allowed) => `${of}: höchstens ${allowed}`,
    used: (used) => `${used} verbraucht`,
    adds: (asked) => `angefragt: ${asked}`,
    unpriced: "hier fehlt der Wechselkurs",
    rise: (allowed, asked) =>
      `Ein EK-Preis darf um höchstens ${number(allowed)}\u00a0% steigen; ${asked === null ? "der bisherige ist nicht bekannt" : `hier steigt einer um ${number(asked)}\u00a0%`}.`,
  },
  cover: "Bestand und Reichweite",
  stock: (onHand, incoming) => `${onHand} auf Lager, ${incoming} im Zulauf`,
  days: (before, after) =>
    before === null || after === null
      ? "Keine Verkäufe"
      : `Reichweite in Tagen: ${number(Math.floor(before))} → ${number(Math.floor(after))}`,
  what: "Was sich ändern wird",
  wouldHave: "Was sich geändert hätte",
  changed: "Was sich geändert hat",
  reason: "Grund",
  noFields: "Dazu sind keine einzelnen Felder genannt.",
  lines: "Was bestellt wird",
  moreLines: (count) => `und ${number(count)} weitere`,
  comment: "Kommentar",
  commentHint: "Wer angefragt hat, liest ihn.",
  approve: (count) => (count === 1 ? "Freigeben" : `${number(count)} freigeben`),
  reject: (count) => (count === 1 ? "Ablehnen" : `${number(count)} ablehnen`),
  withdraw: "Zurückziehen",
  tick: (title) => `${title} auswählen`,
  ticked: (count) => `${number(count)} ausgewählt`,
  working: "Einen Moment …",
  othersDecide: "Hierüber können Sie nicht entscheiden.",
  needs: "Zuerst ist eine Freigabe nötig",
  askToSend: "Senden anfragen",
  ask: "Freigabe anfragen",
  ofOrder: "Wartet auf Freigabe",
  see: "Änderungen ansehen",
  became: {
    approved: (who) => `Freigegeben von ${who} und ausgeführt.`,
    rejected: (who) => `Abgelehnt von ${who}. Nichts wurde ausgeführt.`,
    withdrawn: (who) => `Zurückgezogen von ${who}. Nichts wurde ausgeführt.`,
    expired: () => "Niemand hat rechtzeitig entschieden. Nichts wurde ausgeführt.",
    overtaken: (who) =>
      `Freigegeben von ${who}, aber die Bestellung hatte sich geändert: Das Ergebnis wäre inzwischen ein anderes gewesen. Nichts wurde ausgeführt.`,
    failed: (who) => `Freigegeben von ${who}, aber inzwischen abgewiesen. Nichts wurde ausgeführt.`,
  },
  shownThen: "Was angefragt wurde",
  shownNow: "Was bei der Freigabe geschehen wäre",
});
