/** German texts of the shop's storefront. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/storefront.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const storefrontTexts: Translated<typeof english.storefrontTexts> = isolating({
  title: "Onlineshop",
  why: "Um den Onlineshop kümmern sich Inhaber des Shops.",
  kinds: {
    sandbox: "Sandbox",
    shopify: "Shopify",
    medusa: "Medusa",
    none: "Keiner: Der Shop führt den Bestand selbst",
  },
  states: { sandbox: "Nicht verbunden", connected: "Verbunden", failing: "Bitte prüfen" },
  sandbox:
    "Dieser Shop nutzt die eingebaute Sandbox: Was eingebucht und bestellt wird, erreicht einen simulierten Onlineshop.",
  without: "Dieser Shop hat keinen Onlineshop: Er führt seinen Bestand selbst.",
  sandboxHint:
    "Verbinden Sie den Onlineshop, in dem der Shop verkauft, und holen Sie dann Produkte, Bestand und Verkäufe hierher.",
  operators: {
    title: "Verbinden ist Sache des Betreibers",
    lead: "Wer den Dienst betreibt, verbindet und trennt den Onlineshop. Senden Sie ihm diesen Befehl, mit der eigenen Adresse des Onlineshops:",
    command: "Befehl für den Betreiber",
  },
  locked:
    "Nach einem Neuladen hat diese Seite kein Admin-Token. Geben Sie es noch einmal ein, um den Onlineshop zu verbinden oder zu trennen.",
  unlock: "Fortfahren",
  facts: {
    store: "Onlineshop",
    apiVersion: "Version der API",
    token: "Zugriffstoken",
    scopes: "Rechte",
    lastCall: "Letzter Aufruf",
    lastError: "Letzter Fehler",
    backlog: "Wartet auf Übertragung",
    points: "Rate-Limit",
  },
  token: {
    fixed: "läuft nicht ab",
    renewed: (until) => (until === null ? "erneuert sich von selbst" : `bis ${until}, erneuert sich von selbst`),
    until: (until) => `bis ${until}, wird nicht erneuert`,
  },
  noScopes: "Nicht bekannt: verbunden, bevor sie gespeichert wurden",
  missing: (scopes, isNone) =>
    isNone
      ? `Ohne ${scopes} werden keine Verkäufe abgerufen. Fügen Sie der App in Shopify die Rechte hinzu und verbinden Sie dann neu.`
      : `Ohne ${scopes} zeigt Shopify die Verkäufe von 60 Tagen. Beantragen Sie das Recht bei Shopify und verbinden Sie dann neu.`,
  never: "Nicht seit dem Start des Dienstes",
  noError: "Keiner seit dem Start des Dienstes",
  backlog: (value) => plural(value, "Änderung", "Änderungen"),
  points: (left, max) => `${number(left)} von ${number(max)} Punkten übrig`,
  pull: {
    title: "Produkte, Bestand und Verkäufe",
    lead: "Ein Abruf holt Standorte, Produkte, den Lagerbestand und die Verkäufe eines Jahres. Der erste holt alles, spätere das Geänderte.",
    none: "Noch wurde nichts abgerufen.",
    noPull:
      "Von diesem Onlineshop lässt sich nichts abrufen. Importieren Sie Produkte, Bestand und Verkäufe als Dateien.",
    first: "Jetzt abrufen",
    changes: "Änderungen abrufen",
    everything: "Alles neu abrufen",
    again: "Erneut abrufen",
    running: (step, index, of) => `Abruf: ${step}, Schritt ${index} von ${of}`,
    steps: {
      locations: "Standorte",
      variants: "Produkte",
      sweep: "Gelöschtes",
      levels: "Bestand",
      sales: "Verkäufe",
      settle: "Bedarf",
    },
    counts: {
      locations: "Standorte",
      variants: "Produkte und Varianten",
      levels: "Lagerbestände",
      sales: "Verkaufsaufträge",
    },
    of: (value, total) => `${number(value)} von ${number(total)}`,
    done: (at) => `Abgerufen am ${at}.`,
    failed: (at) => `Der Abruf vom ${at} ist fehlgeschlagen:`,
    kept: "Was er bis dahin geholt hat, ist hier; ein neuer Abruf holt den Rest.",
    retried: "Ein Versuch ist fehlgeschlagen und wird von selbst wiederholt:",
    deleted: (value) => `${plural(value, "Variante ist", "Varianten sind")} im Onlineshop gelöscht:`,
    inactive: (value) => `${plural(value, "Variante ist", "Varianten sind")} im Onlineshop nicht mehr im Verkauf:`,
    goesOn: "Der Abruf läuft weiter, wenn Sie diese Seite verlassen.",
  },
  products: {
    title: "Was hier ist",
    lead: "Die ersten abgerufenen Produkte. Vergleichen Sie einige mit der Verwaltung des Onlineshops.",
    columns: { product: "Produkt", sku: "SKU", onHand: "Auf Lager", status: "Status" },
    next: "Lieferanten und ihre Preise kommen nicht aus dem Onlineshop:",
    import: "importieren",
    reorder: "Nachbestellungen ansehen",
  },
  webhooks: {
    title: "Änderungen im Onlineshop",
    states: { on: "Sofort gemeldet", incomplete: "Nicht alles gemeldet", off: "Nur durch Abrufe" },
    on: "Der Onlineshop meldet Änderungen an Produkten, Bestand und Aufträgen. Sie werden dann innerhalb von etwa einer Minute abgerufen.",
    at: (address) => `An ${address}`,
    ask: "Webhooks erneut anfordern",
    asking: "Webhooks werden angefordert …",
  },
  connect: {
    title: "Onlineshop verbinden",
    anew: "Neu verbinden, mit anderem Token oder anderem Onlineshop",
    lead: "Die Verbindung wird sofort geprüft. Fehlt etwas, ändert sich nichts, und Sie erfahren, was fehlt.",
    platform: "Plattform",
    way: "Zugangsdaten",
    ways: {
      credentials: "Client-ID und Secret einer App (Token werden erneuert)",
      token: "Zugriffstoken einer eigenen App (shpat_…)",
    },
    domain: { label: "Onlineshop", hint: "Seine eigene Domain, wie example.myshopify.com." },
    accessToken: { label: "Zugriffstoken", hint: "Wird verschlüsselt gespeichert und nie wieder angezeigt." },
    clientId: { label: "Client-ID", hint: "Der App im Dev Dashboard von Shopify, in ihren Einstellungen." },
    clientSecret: { label: "Client-Secret", hint: "Wird verschlüsselt gespeichert und nie wieder angezeigt." },
    hookSecret: {
      label: "Client-Secret (optional)",
      hint: "Damit lassen sich die Webhooks des Onlineshops prüfen, und Änderungen werden sofort gemeldet.",
    },
    url: { label: "Adresse", hint: "Des Medusa-Servers selbst, wie https://medusa.example.com." },
    secretKey: {
      label: "Geheimer API-Schlüssel",
      hint: "Beginnt mit sk_. Wird verschlüsselt gespeichert und nie wieder angezeigt.",
    },
    scopes:
      "Die App braucht Lese- und Schreibrechte für Produkte und Bestand, read_locations, und für Verkäufe read_orders oder read_all_orders.",
    send: "Verbinden",
    without: "Ohne Onlineshop fortfahren",
    doneWithout: "Der Shop führt seinen Bestand selbst.",
    asking: "Verbindung wird geprüft …",
    done: "Der Onlineshop ist verbunden.",
  },
  disconnect: {
    action: "Trennen",
    title: "Diesen Onlineshop trennen?",
    text: (account) =>
      `Der Zulauf, den dieser Shop bei ${account} eingetragen hat, wird dort zurückgenommen, die Webhooks werden entfernt, und der Shop arbeitet mit der Sandbox weiter. Abgerufene Produkte, Bestände und Verkäufe bleiben hier. Solange das Ergebnis einer Bestandsübertragung nicht bekannt ist, wird das abgewiesen.`,
  },
});
