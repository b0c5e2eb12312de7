/** German texts of the home screen. They are loaded with it. */

import { isolating } from "../isolated.ts";
import { number } from "../../data/format.ts";
import type * as english from "../en/home.ts";
import type { Translated } from "../languages.ts";
import { plural } from "../plural.ts";

const orders = (count: number): string => plural(count, "Bestellung", "Bestellungen");

export const homeTexts: Translated<typeof english.homeTexts> = isolating({
  hello: (name) => `Guten Tag, ${name}`,
  todo: "Zu tun",
  /** Words below a number of one or many. */
  tasks: {
    approvals: "freizugeben",
    late: "überfällig",
    today: "heute erwartet",
    waiting: "beim Lieferanten",
    answers: "mit neuer Antwort",
    reorder: "zu bestellen",
    drafts: "noch im Entwurf",
    failed: "Sync-Fehler",
    mails: "E-Mail-Fehler",
  },
  failures: "E-Mail- und Sync-Fehler",
  mailFailed: "E-Mail fehlgeschlagen",
  syncFailures: "Alle Sync-Fehler",
  moreFailures: (count) => `und ${number(count)} weitere`,
  arriving: "Als Nächstes erwartet",
  unread: "Die Bestellungen konnten nicht gelesen werden. Laden Sie die Seite gleich noch einmal.",
  nothingArriving: "Nichts ist unterwegs.",
  allOpen: "Alle offenen Bestellungen",
  value: "Unterwegs nach Woche",
  valueHint: (amount, count) => `Offener Wert: ${amount} in ${orders(count)}`,
  nothingExpected: "Nichts davon wird in diesen Wochen erwartet.",
  lateWeek: "Zu spät",
  week: "Woche ab",
  amount: "Wert",
  supplier: "Lieferant",
  received: "Eingegangen nach Woche",
  receivedHint: (amount, weeks) => `${amount} in ${number(weeks)} Wochen`,
  nothingReceived: "In diesen Wochen ist nichts eingegangen.",
  spend: "Ausgaben nach Lieferant",
  spendHint: (amount, count) => `In den letzten 90 Tagen bestellt: ${amount} in ${orders(count)}`,
  nothingOrdered: "In den letzten 90 Tagen wurde nichts bestellt.",
  calendar: "Lieferungen",
  deliveries: (count) => plural(count, "Lieferung", "Lieferungen"),
  today: "heute",
  runsOut: "Bald ausverkauft",
  runsOutHint: "Bestand und Zulauf gegen den Bedarf der Prognose.",
  days: (days) => (days <= 0 ? "ausverkauft" : days === 1 ? "noch 1 Tag" : `noch ${number(days)} Tage`),
  order: (quantity) => `${number(quantity)} bestellen`,
  nothingRunsOut: "Jedes Produkt reicht bis zu seiner nächsten Lieferung.",
  toReorder: "Nachbestellen",
  lately: "Zuletzt",
  nothingLately: "Noch hat niemand eine Bestellung geändert.",
  allActivity: "Alle Aktivität",
  ofAssistants: (count) =>
    count === 0
      ? "Assistenten haben seit gestern nichts geändert"
      : `Was Assistenten seit gestern getan haben (${number(count)})`,
  first: {
    title: "Fünf Schritte zur ersten Bestellung",
    more: "Außerdem",
    idle: "Noch gibt es keine Bestellungen. Hier steht dann, was heute zu tun ist.",
    done: "Erledigt.",
    locations: "Standort anlegen",
    locationsHint: "Der Ort, an den die Ware kommt.",
    suppliers: "Lieferanten anlegen",
    suppliersHint: "Bei wem Sie kaufen, und zu welchen Bedingungen.",
    products: "Produkt anlegen",
    productsHint: "Was Sie kaufen, mit SKU oder Barcode.",
    prices: "Preis des Produkts angeben",
    pricesHint: "Auf der Seite des Lieferanten: Suchen Sie es dort, oder fügen Sie seine Preisliste ein.",
    import: "Alles aus einer Datei importieren",
    importHint: "CSV oder JSON, aus anderen Programmen.",
    storefront: "Onlineshop verbinden",
    storefrontHint:
      "Bestand, Produkte und Verkäufe kommen von selbst, eingebuchte Ware geht zurück. Es geht auch ohne.",
    people: "Kollegen einladen",
    peopleHint: "Zum Einbuchen, Bestellen oder nur Ansehen gibt es eigene Rollen.",
    assistant: "Assistenten zulassen",
    assistantHint: "Er entwirft Bestellungen und fasst bei Lieferanten nach; Sie sehen alles, was er tut.",
    order: "Erste Bestellung anlegen",
    orderHint: "Wählen Sie Lieferant und Standort. Der Rest ist eine Liste.",
  },
});
