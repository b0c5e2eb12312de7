/** Texts of the search for everything, and of the list of keys. */

import { isolating } from "../isolated.ts";
import type * as english from "../en/find.ts";
import type { Translated } from "../languages.ts";

export const findTexts: Translated<typeof english.findTexts> = isolating({
  title: "Zoeken of doen",
  hint: "Bestellingen, producten, leveranciers, pagina’s, acties",
  nothing: "Niets gevonden.",
  groups: {
    actions: "Acties",
    places: "Ga naar",
    orders: "Bestellingen",
    products: "Producten",
    suppliers: "Leveranciers",
    locations: "Locaties",
  },
  newOrder: "Nieuwe bestelling",
  invite: "Iemand uitnodigen",
  keysHelp: "Sneltoetsen",
  dark: "Donker thema",
  light: "Licht thema",
  compact: "Compacte rijen",
  comfortable: "Ruime rijen",
  signOut: "Uitloggen",
  close: "Sluiten",
  keys: {
    title: "Sneltoetsen",
    rows: [
      ["Ctrl K, ⌘ K", "Alles doorzoeken of iets doen"],
      ["?", "Deze lijst"],
      ["Ctrl B, ⌘ B", "Zijbalk in- of uitklappen"],
      ["/", "Zoeken in de lijst"],
      ["N", "Nieuwe bestelling, vanuit de lijst met bestellingen"],
      ["X", "Rij van de lijst selecteren; Shift en klik selecteert tot daar"],
      ["↑ ↓ ← →", "Door regels en prognoses navigeren"],
      ["Enter", "Cel bewerken; opslaan en naar beneden"],
      ["Escape", "Annuleren of sluiten"],
      ["Ctrl Z, ⌘ Z", "Het laatste ongedaan maken, zolang dat kan"],
      ["Spatie", "Product aanvinken om bij te bestellen"],
    ],
  },
});
