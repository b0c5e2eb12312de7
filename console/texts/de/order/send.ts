/** German texts of sending an order to its supplier and of what became of its e-mails, which load with the order. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/send.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const sendTexts: Translated<typeof english.sendTexts> = isolating({
  title: (poNumber) => `${poNumber} an den Lieferanten senden`,
  goesTo: (address) => `Geht an ${address}.`,
  noAddress:
    "Der Lieferant hat keine E-Mail-Adresse. Geben Sie eine ein, oder bitten Sie einen Inhaber, sie zu ergänzen.",
  moves: "Die Bestellung wird damit auf „Gesendet“ gesetzt.",
  to: "An",
  toHint: "Mehrere Adressen durch Kommas trennen.",
  cc: "Kopie an",
  subject: "Betreff",
  message: "Nachricht",
  link: "Lieferanten per Link antworten lassen",
  linkHint: "Der Link steht, wo in der Nachricht {link} steht. Er gilt 14 Tage, ohne Anmeldung.",
  csv: "Auch eine CSV-Datei anhängen",
  attaches: (name, size) => `Anhang: ${name}, ${size}`,
  send: "Senden",
  sending: "Die E-Mail wird gesendet …",
  later: "Später",
  preview: "Was angehängt wird",
  drawing: "Das Dokument wird erstellt …",
  size: (bytes) => (bytes < 1000 ? `${number(bytes)} Byte` : `${number(Math.round(bytes / 100) / 10)} kB`),
  hash: (sha256) => `SHA-256 ${sha256}`,
  download: "Herunterladen",
  open: "In eigenem Tab öffnen",
  noViewer: "Dieser Browser zeigt kein PDF innerhalb einer Seite. Öffnen Sie es, oder laden Sie es herunter.",
  changed:
    "Die Bestellung wurde geändert, seit Sie sie angesehen haben. Dies ist die aktuelle Datei; nichts wurde gesendet, und Ihr Text bleibt erhalten.",
  off: "Dieser Dienst sendet noch keine E-Mails.",
  offHint:
    "Der Betreiber setzt OPENPO_SMTP_URL und OPENPO_MAIL_FROM und startet den Dienst neu. Bis dahin laden Sie die Datei herunter und senden sie mit Ihrem eigenen E-Mail-Programm.",
  mailProgram: "E-Mail-Programm öffnen",
  mailProgramHint: "Hängen Sie die heruntergeladene Datei an. Markieren Sie dann die Bestellung als gesendet.",
  markSent: "Als gesendet markieren",
  mails: "E-Mails",
  allSent: (count) => plural(count, "E-Mail wurde gesendet", "E-Mails wurden gesendet"),
  states: { queued: "Noch nicht gesendet", sent: "Gesendet", failed: "Fehlgeschlagen" },
  mailTo: (addresses) => `an ${addresses}`,
  by: (name) => `von ${name}`,
  next: (at) => `Nächster Versuch am ${at}.`,
  firstTry: "Wird gerade gesendet.",
  serverSays: (words) => `Der Mailserver meldet: ${words}`,
  attached: (names, version) => `${names}, Version ${number(version)}`,
  withLink: "mit Link zum Antworten",
  sendAgain: "Erneut senden",
  sendAgainOf: (addresses) => `Erneut an ${addresses} senden`,
  anew: "Ändern und neu senden",
  more: (count) => `und ${number(count)} frühere`,
  pleaseCheck: "Bitte prüfen",
  gone: {
    sent: (addresses) => `Der Mailserver hat die E-Mail an ${addresses} angenommen.`,
    queued:
      "Der Mailserver hat die E-Mail noch nicht angenommen. Der Versand wird 24 Stunden lang wiederholt; siehe unten.",
    failed:
      "Die E-Mail ist fehlgeschlagen. Die Bestellung ist gespeichert; den Grund sehen Sie unten, dort können Sie erneut senden.",
  },
});
