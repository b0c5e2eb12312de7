/** Texts of the shop's storefront. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const storefrontTexts = isolating({
  title: "Storefront",
  why: "The shop's storefront is looked after by owners of the shop.",
  kinds: { sandbox: "Sandbox", shopify: "Shopify", medusa: "Medusa", none: "None: the shop keeps its own stock" },
  states: { sandbox: "Not connected", connected: "Connected", failing: "Needs attention" },
  sandbox: "This shop is on the built-in sandbox: what is received and ordered reaches a simulated store.",
  without: "This shop has no store: it keeps its own stock.",
  sandboxHint: "Connect the store on which the shop sells, then bring its products, stock and sales here.",
  operators: {
    title: "Connecting is the operator's",
    lead: "Whoever runs the service connects the store and disconnects it. Send them this command, with the store's own address:",
    command: "Command for the operator",
  },
  locked: "After a reload this page has no admin token. Give it again to connect or disconnect the store.",
  unlock: "Go on",
  facts: {
    store: "Store",
    apiVersion: "Version of its API",
    token: "Access token",
    scopes: "Scopes",
    lastCall: "Last call",
    lastError: "Last error",
    backlog: "Waiting for the store",
    points: "Rate limit",
  },
  token: {
    fixed: "does not expire",
    renewed: (until: string | null) => (until === null ? "renewed by itself" : `until ${until}, renewed by itself`),
    until: (until: string) => `until ${until}, not renewed`,
  },
  noScopes: "Not known: connected before they were kept",
  missing: (scopes: string, isNone: boolean) =>
    isNone
      ? `Without ${scopes} no sales are pulled. Add the scopes to the app in Shopify, then connect anew.`
      : `Without ${scopes} Shopify shows the sales of 60 days. Ask Shopify for the scope, then connect anew.`,
  never: "Not since the service was started",
  noError: "None since the service was started",
  backlog: (value: number) => plural(value, "change", "changes"),
  points: (left: number, max: number) => `${number(left)} of ${number(max)} points left`,
  pull: {
    title: "Products, stock and sales",
    lead: "A pull brings locations, products, what is on hand and a year of sales. The first one brings everything, later ones what has changed.",
    none: "Nothing was pulled yet.",
    noPull: "Nothing can be pulled from this storefront. Import products, stock and sales as files.",
    first: "Pull now",
    changes: "Pull what has changed",
    everything: "Pull everything again",
    again: "Pull again",
    running: (step: string, index: number, of: number) => `Pulling: ${step}, step ${index} of ${of}`,
    steps: {
      locations: "locations",
      variants: "products",
      sweep: "what was deleted",
      levels: "stock",
      sales: "sales",
      settle: "demand",
    },
    counts: {
      locations: "Locations",
      variants: "Products and variants",
      levels: "Stock levels",
      sales: "Sales orders",
    },
    of: (value: number, total: number) => `${number(value)} of ${number(total)}`,
    done: (at: string) => `Pulled ${at}.`,
    failed: (at: string) => `The pull of ${at} has failed:`,
    kept: "What it had brought by then is here; a new pull brings the rest.",
    retried: "An attempt has failed and is made again by itself:",
    deleted: (value: number) => `${plural(value, "variant is", "variants are")} deleted at the store:`,
    inactive: (value: number) => `${plural(value, "variant is", "variants are")} not for sale at the store any more:`,
    goesOn: "It goes on when you leave this page.",
  },
  products: {
    title: "What is here",
    lead: "The first products as they were brought. Compare a few with the store's own admin.",
    columns: { product: "Product", sku: "SKU", onHand: "On hand", status: "Status" },
    next: "Suppliers and their prices are not the store's:",
    import: "import them",
    reorder: "see what to reorder",
  },
  webhooks: {
    title: "Changes at the store",
    states: { on: "Told at once", incomplete: "Not told of everything", off: "Found by pulls alone" },
    on: "The store tells of changes of products, stock and orders, which are then pulled within a minute or so.",
    at: (address: string) => `At ${address}`,
    ask: "Ask the store again",
    asking: "Asking the store …",
  },
  connect: {
    title: "Connect a store",
    anew: "Connect anew, with another token or another store",
    lead: "The store is asked at once. If something is missing, nothing is changed and it is said what.",
    platform: "Platform",
    way: "Secret",
    ways: {
      credentials: "Client ID and secret of an app (tokens are renewed)",
      token: "Access token of a custom app (shpat_…)",
    },
    domain: { label: "Store", hint: "Its own domain, like example.myshopify.com." },
    accessToken: { label: "Access token", hint: "It is stored encrypted, and never shown again." },
    clientId: { label: "Client ID", hint: "Of the app in Shopify's Dev Dashboard, under its settings." },
    clientSecret: { label: "Client secret", hint: "It is stored encrypted, and never shown again." },
    hookSecret: {
      label: "Client secret (optional)",
      hint: "With it the store's webhooks can be checked, so changes are told at once.",
    },
    url: { label: "Address", hint: "Of Medusa's own server, like https://medusa.example.com." },
    secretKey: { label: "Secret API key", hint: "It begins with sk_. It is stored encrypted, and never shown again." },
    scopes:
      "The app needs read and write of products and inventory, read_locations, and for sales read_orders or read_all_orders.",
    send: "Connect",
    without: "Go on without a store",
    doneWithout: "The shop keeps its own stock.",
    asking: "Asking the store …",
    done: "The store is connected.",
  },
  disconnect: {
    action: "Disconnect",
    title: "Disconnect this store?",
    text: (account: string) =>
      `What is incoming at ${account} on this shop's account is taken back there, its webhooks are removed, and the shop goes on with the sandbox. Products, stock and sales that were pulled stay here. While a push of stock has no known outcome this is refused.`,
  },
} as const);
