/** Texts of an order's document and of how documents look. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/documents.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";

export const documentTexts: Translated<typeof english.documentTexts> = isolating({
  print: "Afdrukken",
  back: "Terug naar de bestelling",
  page: "Zo ziet het er op papier uit",
  hint: "De PDF ziet er zo uit en heeft paginanummers en een streepjescode. Bestanden zijn voor iedereen gelijk tot de bestelling of het briefhoofd verandert.",
  title: "Opmaak van documenten",
  lead: "Wat je leveranciers boven en onder aan elke bestelling zien, en welke kolommen de regels hebben.",
  language: "Taal",
  paper: "Papier",
  papers: { A4: "A4", Letter: "Letter" },
  columns: "Kolommen naast omschrijving en aantal",
  columnNames: {
    position: "Regelnummer",
    supplierSku: "SKU leverancier",
    sku: "Onze SKU",
    barcode: "Barcode",
    expectedDeliveryDate: "Verwachte datum",
    packSize: "Verpakt per",
    unitCost: "Inkoopprijs",
    lineTotal: "Bedrag",
  },
  address: "Je adres",
  fields: {
    companyName: "Bedrijf",
    contactName: "Contactpersoon",
    address1: "Straat",
    address2: "Straat, tweede regel",
    zip: "Postcode",
    city: "Plaats",
    province: "Provincie of staat",
    country: "Land",
    phone: "Telefoon",
    email: "E-mail",
  },
  footer: "Voettekst van elke pagina",
  footerHint: "KvK- en btw-nummer, bankrekening. Maximaal 600 tekens.",
  logo: "Logo",
  logoHint: (kilobytes) =>
    `PNG, JPEG of een SVG van paden; maximaal ${number(kilobytes)} kB en 1.000.000 pixels. Het staat boven aan de eerste pagina.`,
  logoTooLarge: (kilobytes) => `Het bestand is groter dan ${number(kilobytes)} kB. Maak het kleiner.`,
  removeLogo: "Logo verwijderen",
  currentLogo: "Het huidige logo",
  save: "Opslaan",
  saving: "Opslaan…",
  saved: "Opgeslagen. Nieuwe documenten zien er vanaf nu zo uit.",
});
