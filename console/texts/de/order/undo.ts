/** German texts of what was done to an order, and of what became of taking it back. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/undo.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "Position", "Positionen");

export const undoTexts: Translated<typeof english.undoTexts> = isolating({
  saved: (what) => `Gespeichert: ${what}`,
  restored: (what) => `Rückgängig gemacht: ${what}`,
  what: (field, line) => `${field}, ${line}`,
  lines,
  deleted: (what) => `Gelöscht: ${what}`,
  deletedDraft: (order) => `Gelöscht: ${order}. „Rückgängig“ legt sie unter neuer Nummer wieder an.`,
  back: (line) => `Wiederhergestellt: ${line}.`,
  isLast: "Die Position steht jetzt am Ende.",
  isOtherwise: "Name und Codes sind jetzt die des Katalogs.",
  draftBack: (order, now) => `${order} ist als ${now} wieder da, ohne den bisherigen Verlauf.`,
  partlyBack: (order, now) => `${order} ist als ${now} wieder da, aber es fehlen Positionen.`,
  open: (order) => `${order} öffnen`,
  added: (what) => `Hinzugefügt: ${what}`,
  takenOut: (what) => `Wieder entfernt: ${what}`,
  moved: (order, status) => `${order}: jetzt „${status}“`,
  movedBack: (order, status) => `${order}: wieder „${status}“`,
  waits: "Noch nicht rückgängig gemacht: Die Freigabe steht aus.",
  overtaken: (order) => `Nicht rückgängig gemacht: ${order} wurde inzwischen geändert und bleibt unverändert.`,
  refused: "Nicht rückgängig gemacht.",
});
