/** French texts for why something cannot be done with an order now. They load with the order. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/obstacles.ts";
import type { Translated } from "../../languages.ts";

export const obstacleTexts: Translated<typeof english.obstacleTexts> = isolating({
  role: "Votre rôle ne le permet pas. Un propriétaire peut le modifier.",
  "send-first": "Marquez d’abord la commande comme envoyée.",
  "confirm-first": "Confirmez d’abord la commande.",
  "begin-first": "Passez d’abord la commande en cours.",
  "receive-first": "Réceptionnez d’abord des marchandises.",
  received: "Des marchandises ont été enregistrées. Corrigez-les sur l’écran de réception.",
  "move-back": "Revenez d’abord à un statut antérieur.",
  reopen: "Rouvrez d’abord la commande.",
  held: "Reprenez d’abord la commande.",
  "use-complete": "Des marchandises sont déjà reçues : clôturez la commande.",
  "cancel-first": "Seuls brouillons et commandes annulées se suppriment. Annulez d’abord la commande.",
  "delete-instead": "Un brouillon se supprime.",
  "draft-only": "Seuls les brouillons peuvent être fusionnés.",
});
