/** French texts of what was done to an order, and of what became of taking it back. */
import { plural } from "../plural.ts";
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/undo.ts";
import type { Translated } from "../../languages.ts";

const lines = (count: number): string => plural(count, "ligne", "lignes");

export const undoTexts: Translated<typeof english.undoTexts> = isolating({
  saved: (what) => `Enregistré : ${what}`,
  restored: (what) => `Annulé : ${what}`,
  what: (field, line) => `${field}, ${line}`,
  lines,
  deleted: (what) => `Supprimé : ${what}`,
  deletedDraft: (order) => `Supprimé : ${order}. Annuler la recrée sous un nouveau numéro.`,
  back: (line) => `Rétabli : ${line}.`,
  isLast: "La ligne est maintenant la dernière.",
  isOtherwise: "Son nom et ses codes sont désormais ceux du catalogue.",
  draftBack: (order, now) => `${order} est de retour sous le numéro ${now}, sans son historique.`,
  partlyBack: (order, now) => `${order} est de retour sous le numéro ${now}, mais des lignes manquent.`,
  open: (order) => `Ouvrir ${order}`,
  added: (what) => `Ajouté : ${what}`,
  takenOut: (what) => `Retiré : ${what}`,
  moved: (order, status) => `${order} : maintenant « ${status} »`,
  movedBack: (order, status) => `${order} : de nouveau « ${status} »`,
  waits: "Pas encore annulé : une approbation est attendue.",
  overtaken: (order) => `Non annulé : ${order} a été modifiée entre-temps et reste telle quelle.`,
  refused: "Non annulé.",
});
