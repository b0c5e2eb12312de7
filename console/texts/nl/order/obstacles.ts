/** Dutch texts for why something cannot be done with an order now. They load with the order. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/obstacles.ts";
import type { Translated } from "../../languages.ts";

export const obstacleTexts: Translated<typeof english.obstacleTexts> = isolating({
  role: "Met jouw rol kan dit niet. Een eigenaar kan je rol wijzigen.",
  "send-first": "Markeer de bestelling eerst als verzonden.",
  "confirm-first": "Bevestig de bestelling eerst.",
  "begin-first": "Neem de bestelling eerst in behandeling.",
  "receive-first": "Boek eerst een ontvangst.",
  received: "Er is al een ontvangst geboekt. Corrigeer die in het ontvangstscherm.",
  "move-back": "Zet de bestelling eerst terug.",
  reopen: "Heropen de bestelling eerst.",
  held: "Hervat de bestelling eerst.",
  "use-complete": "Er zijn al goederen ontvangen: rond de bestelling af.",
  "cancel-first":
    "Alleen concepten en geannuleerde bestellingen kunnen worden verwijderd. Annuleer de bestelling eerst.",
  "delete-instead": "Een concept verwijder je in plaats daarvan.",
  "draft-only": "Alleen concepten kunnen worden samengevoegd.",
});
