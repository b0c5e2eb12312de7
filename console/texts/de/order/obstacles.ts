/** German texts for why something cannot be done with an order now. They load with the order. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/obstacles.ts";
import type { Translated } from "../../languages.ts";

export const obstacleTexts: Translated<typeof english.obstacleTexts> = isolating({
  role: "Ihre Rolle erlaubt das nicht. Ein Inhaber kann Ihre Rolle ändern.",
  "send-first": "Markieren Sie die Bestellung zuerst als gesendet.",
  "confirm-first": "Bestätigen Sie zuerst die Bestellung.",
  "begin-first": "Starten Sie zuerst die Bearbeitung der Bestellung.",
  "receive-first": "Buchen Sie zuerst Ware ein.",
  received: "Es ist schon Ware eingebucht. Korrigieren Sie das im Wareneingang.",
  "move-back": "Setzen Sie die Bestellung zuerst zurück.",
  reopen: "Öffnen Sie die Bestellung zuerst wieder.",
  held: "Setzen Sie die Bestellung zuerst fort.",
  "use-complete": "Es ist schon Ware eingebucht: Schließen Sie die Bestellung ab.",
  "cancel-first": "Nur Entwürfe und stornierte Bestellungen lassen sich löschen. Stornieren Sie die Bestellung zuerst.",
  "delete-instead": "Ein Entwurf wird stattdessen gelöscht.",
  "draft-only": "Nur Entwürfe lassen sich zusammenführen.",
});
