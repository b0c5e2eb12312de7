/** Texts of the operator's screen. They are loaded with it. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/operator.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 t/m ${most}`;

export const operatorTexts: Translated<typeof english.operatorTexts> = isolating({
  lead: "Je bent de beheerder: je ziet alle winkels van deze dienst.",
  locked:
    "Geef het admintoken nog een keer op om te zien wat winkels bevatten en om instellingen te wijzigen. Het blijft in het geheugen van deze pagina.",
  unlock: "Meer tonen",
  open: (name) => `${name} openen`,
  allShops: "Alle winkels",
  noShop: (shopId) => `Er is geen winkel ${shopId}.`,
  notYours: "Deze pagina is voor de beheerder",
  notYoursHint: "Hier staan alle winkels van de dienst. Log in met het admintoken om ze te zien.",
  empty: "Er is nog geen winkel.",
  emptyHint: "Op de server maakt openpo shop create er een, en openpo demo een met gegevens om uit te proberen.",
  columns: {
    shop: "Winkel",
    orders: "Bestellingen",
    suppliers: "Leveranciers",
    locations: "Locaties",
    variants: "Producten",
    keys: "Sleutels",
    settings: "Instellingen",
  },
  health: { good: "De dienst is gereed.", bad: "De dienst is niet gereed." },
  faults: {
    title: "Storingen van de sandbox",
    lead: "Om mee te oefenen. Wat hier wordt ingesteld, vervangt de vorige instelling; zonder storing werkt de sandbox.",
    latencyMs: { label: "Elke aanroep duurt (ms)", hint: `${zeroTo("600.000")}.` },
    applyDelayMs: {
      label: "Een voorraadwijziging is zichtbaar na (ms)",
      hint: `${zeroTo("600.000")}.`,
    },
    fault: (nth) => `Storing ${nth}`,
    call: "Aanroep",
    everyCall: "elke aanroep",
    outcome: "Wat er gebeurt",
    outcomes: {
      error: "fout: er is niets gedaan",
      throttled: "afgeremd: er is niets gedaan",
      timeout: "time-out: geen antwoord, er is niets gedaan",
      refused: "geweigerd: deze producten, definitief",
      "lost-response": "antwoord kwijt: het is gedaan, geen antwoord",
    },
    variantIds: { label: "Alleen bij deze varianten", hint: "Variant-ID’s met komma’s ertussen; leeg: alle." },
    times: { label: "Aantal keer", hint: "Leeg: altijd." },
    add: "Storing toevoegen",
    remove: (nth) => `Storing ${nth} verwijderen`,
    set: "Storingen instellen",
  },
});
