/** German texts of the search for everything, and of the list of keys. */
import { isolating } from "../isolated.ts";
import type * as english from "../en/find.ts";
import type { Translated } from "../languages.ts";

export const findTexts: Translated<typeof english.findTexts> = isolating({
  title: "Suchen oder ausführen",
  hint: "Bestellungen, Produkte, Lieferanten, Seiten, Aktionen",
  nothing: "Nichts gefunden.",
  groups: {
    actions: "Aktionen",
    places: "Seiten",
    orders: "Bestellungen",
    products: "Produkte",
    suppliers: "Lieferanten",
    locations: "Standorte",
  },
  newOrder: "Neue Bestellung",
  invite: "Jemanden einladen",
  keysHelp: "Tastenkürzel",
  dark: "Dunkles Design",
  light: "Helles Design",
  compact: "Kompakte Zeilen",
  comfortable: "Normale Zeilen",
  signOut: "Abmelden",
  close: "Schließen",
  keys: {
    title: "Tastenkürzel",
    rows: [
      ["Strg K, ⌘ K", "Alles durchsuchen oder etwas ausführen"],
      ["?", "Diese Liste"],
      ["Strg B, ⌘ B", "Seitenleiste ein- oder ausklappen"],
      ["/", "In der Liste suchen"],
      ["N", "Neue Bestellung, aus der Liste der Bestellungen"],
      ["X", "Zeile der Liste auswählen; Umschalt und Klick wählt bis dorthin"],
      ["↑ ↓ ← →", "Durch Positionen und Prognosen gehen"],
      ["Enter", "Zelle bearbeiten; speichern und eine Zeile tiefer"],
      ["Esc", "Verwerfen oder schließen"],
      ["Strg Z, ⌘ Z", "Das Letzte rückgängig machen, solange es angeboten wird"],
      ["Leertaste", "Produkt zum Nachbestellen auswählen"],
    ],
  },
});
