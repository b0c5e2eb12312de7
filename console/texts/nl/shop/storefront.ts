/** Texts of the shop's storefront. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/storefront.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const storefrontTexts: Translated<typeof english.storefrontTexts> = isolating({
  title: "Webshop",
  why: "Eigenaren van de winkel beheren de webshop.",
  kinds: {
    sandbox: "Sandbox",
    shopify: "Shopify",
    medusa: "Medusa",
    none: "Geen: de winkel houdt zelf de voorraad bij",
  },
  states: { sandbox: "Niet gekoppeld", connected: "Gekoppeld", failing: "Vraagt aandacht" },
  sandbox:
    "Deze winkel werkt met de ingebouwde sandbox: wat wordt ontvangen en besteld, gaat naar een gesimuleerde webshop.",
  without: "Deze winkel heeft geen webshop en houdt zelf de voorraad bij.",
  sandboxHint: "Koppel de webshop waarin de winkel verkoopt en haal daarna producten, voorraad en verkopen op.",
  operators: {
    title: "Koppelen doet de beheerder",
    lead: "Wie de dienst beheert, koppelt en ontkoppelt de webshop. Stuur deze opdracht naar de beheerder, met het eigen adres van de webshop:",
    command: "Opdracht voor de beheerder",
  },
  locked:
    "Na het herladen heeft deze pagina geen admintoken meer. Geef het opnieuw op om de webshop te koppelen of te ontkoppelen.",
  unlock: "Doorgaan",
  facts: {
    store: "Webshop",
    apiVersion: "API-versie",
    token: "Toegangstoken",
    scopes: "Scopes",
    lastCall: "Laatste aanroep",
    lastError: "Laatste fout",
    backlog: "Wacht op de webshop",
    points: "Aanroeplimiet",
  },
  token: {
    fixed: "verloopt niet",
    renewed: (until) => (until === null ? "wordt vanzelf vernieuwd" : `tot ${until}, wordt vanzelf vernieuwd`),
    until: (until) => `tot ${until}, wordt niet vernieuwd`,
  },
  noScopes: "Onbekend: gekoppeld voordat ze werden bewaard",
  missing: (scopes, isNone) =>
    isNone
      ? `Zonder ${scopes} worden geen verkopen opgehaald. Voeg de scopes toe aan de app in Shopify en koppel daarna opnieuw.`
      : `Zonder ${scopes} toont Shopify de verkopen van 60 dagen. Vraag de scope aan bij Shopify en koppel daarna opnieuw.`,
  never: "Niet sinds de dienst is gestart",
  noError: "Geen sinds de dienst is gestart",
  backlog: (value) => plural(value, "wijziging", "wijzigingen"),
  points: (left, max) => `${number(left)} van ${number(max)} punten over`,
  pull: {
    title: "Producten, voorraad en verkopen",
    lead: "Je haalt locaties, producten, de aanwezige voorraad en een jaar aan verkopen op. De eerste keer komt alles mee, later alleen wat is gewijzigd.",
    none: "Er is nog niets opgehaald.",
    noPull: "Uit deze webshop kan niets worden opgehaald. Importeer producten, voorraad en verkopen als bestanden.",
    first: "Nu ophalen",
    changes: "Wijzigingen ophalen",
    everything: "Alles opnieuw ophalen",
    again: "Opnieuw ophalen",
    running: (step, index, of) => `Ophalen: ${step}, stap ${index} van ${of}`,
    steps: {
      locations: "locaties",
      variants: "producten",
      sweep: "wat is verwijderd",
      levels: "voorraad",
      sales: "verkopen",
      settle: "vraag",
    },
    counts: {
      locations: "Locaties",
      variants: "Producten en varianten",
      levels: "Voorraadstanden",
      sales: "Verkooporders",
    },
    of: (value, total) => `${number(value)} van ${number(total)}`,
    done: (at) => `Opgehaald op ${at}.`,
    failed: (at) => `Het ophalen van ${at} is mislukt:`,
    kept: "Wat toen al was opgehaald, staat hier; opnieuw ophalen haalt de rest.",
    retried: "Een poging is mislukt en wordt vanzelf herhaald:",
    deleted: (value) => `${plural(value, "variant is", "varianten zijn")} verwijderd in de webshop:`,
    inactive: (value) => `${plural(value, "variant is", "varianten zijn")} niet meer te koop in de webshop:`,
    goesOn: "Het gaat door als je deze pagina verlaat.",
  },
  products: {
    title: "Wat hier staat",
    lead: "De eerste producten zoals ze zijn opgehaald. Vergelijk er een paar met het beheer van de webshop zelf.",
    columns: { product: "Product", sku: "SKU", onHand: "Aanwezig", status: "Status" },
    next: "Leveranciers en hun prijzen staan niet in de webshop:",
    import: "importeer ze",
    reorder: "bekijk wat je moet bijbestellen",
  },
  webhooks: {
    title: "Wijzigingen in de webshop",
    states: { on: "Direct gemeld", incomplete: "Niet alles gemeld", off: "Alleen bij ophalen" },
    on: "De webshop meldt wijzigingen van producten, voorraad en orders, die dan binnen ongeveer een minuut worden opgehaald.",
    at: (address) => `Op ${address}`,
    ask: "Webshop opnieuw vragen",
    asking: "Webshop vragen…",
  },
  connect: {
    title: "Webshop koppelen",
    anew: "Opnieuw koppelen, met een ander token of een andere webshop",
    lead: "De webshop wordt meteen gecontroleerd. Ontbreekt er iets, dan wordt niets gewijzigd en zie je wat er ontbreekt.",
    platform: "Platform",
    way: "Geheim",
    ways: {
      credentials: "Client-ID en clientgeheim van een app (tokens worden vernieuwd)",
      token: "Toegangstoken van een eigen app (shpat_…)",
    },
    domain: { label: "Webshop", hint: "Het eigen domein, zoals example.myshopify.com." },
    accessToken: { label: "Toegangstoken", hint: "Wordt versleuteld opgeslagen en nooit meer getoond." },
    clientId: { label: "Client-ID", hint: "Van de app in het Dev Dashboard van Shopify, bij de instellingen." },
    clientSecret: { label: "Clientgeheim", hint: "Wordt versleuteld opgeslagen en nooit meer getoond." },
    hookSecret: {
      label: "Clientgeheim (optioneel)",
      hint: "Hiermee kunnen de webhooks van de webshop worden gecontroleerd, zodat wijzigingen direct worden gemeld.",
    },
    url: { label: "Adres", hint: "Van de eigen server van Medusa, zoals https://medusa.example.com." },
    secretKey: {
      label: "Geheime API-sleutel",
      hint: "Begint met sk_. Wordt versleuteld opgeslagen en nooit meer getoond.",
    },
    scopes:
      "De app heeft lees- en schrijfrechten nodig voor producten en voorraad, read_locations, en voor verkopen read_orders of read_all_orders.",
    send: "Koppelen",
    without: "Doorgaan zonder webshop",
    doneWithout: "De winkel houdt zelf de voorraad bij.",
    asking: "Webshop controleren…",
    done: "De webshop is gekoppeld.",
  },
  disconnect: {
    action: "Ontkoppelen",
    title: "Deze webshop ontkoppelen?",
    text: (account) =>
      `Wat voor deze winkel bij ${account} als inkomend staat, wordt daar teruggedraaid, de webhooks worden er verwijderd en de winkel gaat verder met de sandbox. Opgehaalde producten, voorraad en verkopen blijven hier. Zolang de uitkomst van doorgestuurde voorraad onbekend is, wordt dit geweigerd.`,
  },
});
