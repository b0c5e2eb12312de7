/** German texts of the operator's screen. They are loaded with it. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/operator.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 bis ${most}`;

export const operatorTexts: Translated<typeof english.operatorTexts> = isolating({
  lead: "Als Betreiber sehen Sie alle Shops dieses Dienstes.",
  locked:
    "Um zu sehen, was Shops enthalten, und um Einstellungen zu ändern, geben Sie das Admin-Token noch einmal ein. Es bleibt im Speicher dieser Seite.",
  unlock: "Mehr anzeigen",
  open: (name) => `${name} öffnen`,
  allShops: "Alle Shops",
  noShop: (shopId) => `Es gibt keinen Shop ${shopId}.`,
  notYours: "Diese Seite ist für den Betreiber",
  notYoursHint: "Sie zeigt alle Shops des Dienstes. Melden Sie sich mit dem Admin-Token an, um sie zu sehen.",
  empty: "Es gibt noch keinen Shop.",
  emptyHint: "Auf dem Server legt openpo shop create einen an, und openpo demo einen mit Daten zum Ausprobieren.",
  columns: {
    shop: "Shop",
    orders: "Bestellungen",
    suppliers: "Lieferanten",
    locations: "Standorte",
    variants: "Produkte",
    keys: "Schlüssel",
    settings: "Einstellungen",
  },
  health: { good: "Der Dienst ist bereit.", bad: "Der Dienst ist nicht bereit." },
  faults: {
    title: "Störungen der Sandbox",
    lead: "Zum Üben. Was hier gesetzt wird, ersetzt das zuvor Gesetzte; ohne Störung arbeitet die Sandbox normal.",
    latencyMs: { label: "Jeder Aufruf dauert (ms)", hint: `${zeroTo("600.000")}.` },
    applyDelayMs: {
      label: "Eine Bestandsänderung erscheint nach (ms)",
      hint: `${zeroTo("600.000")}.`,
    },
    fault: (nth) => `Störung ${nth}`,
    call: "Aufruf",
    everyCall: "jeder Aufruf",
    outcome: "Was geschieht",
    outcomes: {
      error: "Fehler: nichts ausgeführt",
      throttled: "gedrosselt: nichts ausgeführt",
      timeout: "Zeitüberschreitung: keine Antwort, nichts ausgeführt",
      refused: "abgewiesen: diese Produkte, endgültig",
      "lost-response": "Antwort verloren: ausgeführt, keine Antwort",
    },
    variantIds: { label: "Nur bei diesen Varianten", hint: "Varianten-IDs, durch Kommas getrennt; leer: alle." },
    times: { label: "Wie oft", hint: "Leer: immer." },
    add: "Störung hinzufügen",
    remove: (nth) => `Störung ${nth} entfernen`,
    set: "Störungen setzen",
  },
});
