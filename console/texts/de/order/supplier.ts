/** German texts of a supplier's link and of what suppliers have answered, which load with the order. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/supplier.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "Position", "Positionen");

export const supplierTexts: Translated<typeof english.supplierTexts> = isolating({
  title: "Antwort des Lieferanten",
  waiting: "Lieferanten haben geantwortet",
  more: (count) => `und ${number(count)} weitere`,
  answered: (name, at) => `${name} hat am ${at} geantwortet`,
  somebody: "Der Lieferant",
  waits: "Noch hat sich nichts geändert. Nehmen Sie an, was passt; der Rest bleibt, wie er ist.",
  overtaken:
    "Die Bestellung hat sich seitdem geändert. Überholte Positionen lassen sich nicht annehmen; bitten Sie den Lieferanten, noch einmal zu antworten.",
  columns: { order: "In der Bestellung" },
  accept: "Alles annehmen",
  acceptSome: (count) => `${lines(count)} annehmen`,
  reject: "Ablehnen",
  rejectTitle: "Diese Antwort ablehnen?",
  rejectText: "Die Bestellung bleibt, wie sie ist. Der Lieferant kann über denselben Link noch einmal antworten.",
  choose: (name) => `${name} annehmen`,
  quantity: (value) => `${value} bestätigt`,
  unconfirmed: (value) => `${value} bestellt, nicht bestätigt`,
  expected: (date) => `erwartet am ${date}`,
  noDate: "kein Termin",
  cannot: "nicht lieferbar",
  state: { open: "", overtaken: "Überholt", accepted: "Angenommen" },
  gone: "eine Position, die es nicht mehr gibt",
  reference: (value) => `Auftragsnr. des Lieferanten: ${value}`,
  tracking: (value) => `Sendungsnummer: ${value}`,
  earlier: "Frühere Antworten",
  earlierOf: {
    open: "offen",
    overtaken: "überholt",
    accepted: "angenommen",
    rejected: "abgelehnt",
    replaced: "durch eine neuere ersetzt",
  },
  by: (name) => `von ${name}`,
  link: "Link für den Lieferanten",
  linkHelp:
    "Über einen Link sieht der Lieferant diese Bestellung, lädt sie herunter und beantwortet sie, ohne Anmeldung.",
  make: "Link erstellen",
  made: "Link für den Lieferanten",
  madeLabel: "Link",
  madeHint: (until) => `Gilt bis ${until}. Wer den Link hat, sieht diese Bestellung.`,
  until: (until, who) => `Gilt bis ${until}${who === null ? "" : ` · erstellt von ${who}`}`,
  revoke: "Widerrufen",
  revokeOf: (until) => `Den Link widerrufen, der bis ${until} gilt`,
  noLinks: "Derzeit gibt es keinen Link.",
});
