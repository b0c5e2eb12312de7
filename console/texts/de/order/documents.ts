/** German texts of an order's document and of how documents look. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/documents.ts";
import type { Translated } from "../../languages.ts";

export const documentTexts: Translated<typeof english.documentTexts> = isolating({
  print: "Drucken",
  back: "Zurück zur Bestellung",
  page: "So sieht es auf Papier aus",
  hint: "Das PDF sieht so aus und hat Seitenzahlen und einen Barcode. Dateien sind für alle gleich, bis sich die Bestellung oder der Briefkopf ändert.",
  title: "Aussehen der Dokumente",
  lead: "Was Ihre Lieferanten im Kopf und im Fuß jeder Bestellung sehen, und welche Spalten die Positionen haben.",
  language: "Sprache",
  paper: "Papier",
  papers: { A4: "A4", Letter: "Letter" },
  columns: "Spalten neben Bezeichnung und Menge",
  columnNames: {
    position: "Positionsnummer",
    supplierSku: "Art.-Nr. des Lieferanten",
    sku: "Unsere Art.-Nr.",
    barcode: "Barcode",
    expectedDeliveryDate: "Liefertermin",
    packSize: "VPE",
    unitCost: "Einzelpreis",
    lineTotal: "Betrag",
  },
  address: "Ihre Adresse",
  fields: {
    companyName: "Firma",
    contactName: "Ansprechpartner",
    address1: "Straße",
    address2: "Straße, zweite Zeile",
    zip: "Postleitzahl",
    city: "Ort",
    province: "Bundesland oder Provinz",
    country: "Land",
    phone: "Telefon",
    email: "E-Mail",
  },
  footer: "Fuß jeder Seite",
  footerHint: "Registernummer, USt-IdNr., Bankverbindung. Höchstens 600 Zeichen.",
  logo: "Logo",
  logoHint: (kilobytes) =>
    `PNG, JPEG oder ein SVG aus Pfaden; höchstens ${number(kilobytes)} kB und 1.000.000 Pixel. Es steht im Kopf der ersten Seite.`,
  logoTooLarge: (kilobytes) => `Die Datei ist größer als ${number(kilobytes)} kB. Speichern Sie sie kleiner.`,
  removeLogo: "Logo entfernen",
  currentLogo: "Das aktuelle Logo",
  save: "Speichern",
  saving: "Wird gespeichert …",
  saved: "Gespeichert. Ab jetzt erstellte Dokumente sehen so aus.",
});
