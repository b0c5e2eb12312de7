/** Texts of the home screen. They are loaded with it. */

import { isolating } from "../isolated.ts";
import type * as english from "../en/home.ts";
import type { Translated } from "../languages.ts";
import { number } from "../../data/format.ts";
import { plural } from "../plural.ts";

const orders = (count: number): string => plural(count, "bestelling", "bestellingen");

export const homeTexts: Translated<typeof english.homeTexts> = isolating({
  hello: (name) => `Hallo ${name}`,
  todo: "Te doen",
  tasks: {
    approvals: "goed te keuren",
    late: "te laat",
    today: "vandaag verwacht",
    waiting: "wacht op leverancier",
    answers: "te accepteren antwoorden",
    reorder: "bij te bestellen",
    drafts: "te verzenden concepten",
    failed: "fouten webshop",
    mails: "e-mailfouten",
  },
  failures: "E-mail- en webshopfouten",
  mailFailed: "E-mail mislukt",
  syncFailures: "Alle webshopfouten",
  moreFailures: (count) => `en nog ${number(count)}`,
  arriving: "Binnenkort verwacht",
  unread: "Bestellingen konden niet worden gelezen. Laad de pagina zo meteen opnieuw.",
  nothingArriving: "Er is niets onderweg.",
  allOpen: "Alle open bestellingen",
  value: "Onderweg, per week",
  valueHint: (amount, count) => `Openstaande waarde: ${amount} in ${orders(count)}`,
  nothingExpected: "Niets daarvan wordt in deze weken verwacht.",
  lateWeek: "Te laat",
  week: "Week van",
  amount: "Waarde",
  supplier: "Leverancier",
  received: "Ontvangen, per week",
  receivedHint: (amount, weeks) => `${amount} in ${number(weeks)} weken`,
  nothingReceived: "In deze weken is niets ontvangen.",
  spend: "Uitgaven per leverancier",
  spendHint: (amount, count) => `Besteld in de laatste 90 dagen: ${amount} in ${orders(count)}`,
  nothingOrdered: "In de laatste 90 dagen is niets besteld.",
  calendar: "Leveringen",
  deliveries: (count) => plural(count, "levering", "leveringen"),
  today: "vandaag",
  runsOut: "Als eerste op",
  runsOutHint: "Voorraad en wat onderweg is, tegenover de vraag volgens de prognose.",
  days: (days) => (days <= 0 ? "niet op voorraad" : days === 1 ? "nog 1 dag" : `nog ${number(days)} dagen`),
  order: (quantity) => `bestel ${number(quantity)}`,
  nothingRunsOut: "Elk product gaat mee tot de volgende levering.",
  toReorder: "Bijbestellen",
  lately: "Recent",
  nothingLately: "Er is nog geen bestelling gewijzigd.",
  allActivity: "Alle activiteit",
  ofAssistants: (count) =>
    count === 0
      ? "Assistenten hebben sinds gisteren niets gewijzigd"
      : `Wat assistenten sinds gisteren hebben gedaan (${number(count)})`,
  first: {
    title: "In vijf stappen naar je eerste bestelling",
    more: "En verder",
    idle: "Er zijn nog geen bestellingen. Straks staat hier wat er vandaag te doen is.",
    done: "Klaar.",
    locations: "Voeg een locatie toe",
    locationsHint: "De plek waar goederen binnenkomen.",
    suppliers: "Voeg een leverancier toe",
    suppliersHint: "Bij wie je inkoopt, en op welke voorwaarden.",
    products: "Voeg een product toe",
    productsHint: "Wat je inkoopt, met SKU of barcode.",
    prices: "Vul in wat het product kost",
    pricesHint: "Op de pagina van de leverancier: zoek het product daar of plak de prijslijst van de leverancier.",
    import: "Importeer alles uit een bestand",
    importHint: "CSV of JSON, uit andere programma’s.",
    storefront: "Koppel je webshop",
    storefrontHint:
      "Voorraad, producten en verkopen komen vanzelf binnen, en ontvangen goederen gaan terug. Of ga verder zonder webshop.",
    people: "Nodig de mensen uit met wie je werkt",
    peopleHint: "Wie ontvangt, bestelt of alleen meekijkt, heeft een eigen rol.",
    assistant: "Laat een assistent toe",
    assistantHint: "Hij maakt conceptbestellingen en spoort leveranciers aan; jij ziet alles wat hij doet.",
    order: "Maak de eerste bestelling",
    orderHint: "Kies een leverancier en een locatie. De rest is één lijst.",
  },
});
