/** Spanish texts of what was done to an order, and of what became of taking it back. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/undo.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "línea", "líneas");

export const undoTexts: Translated<typeof english.undoTexts> = isolating({
  saved: (what) => `Guardado: ${what}`,
  restored: (what) => `Deshecho: ${what}`,
  what: (field, line) => `${field}, ${line}`,
  lines,
  deleted: (what) => `Eliminado: ${what}`,
  deletedDraft: (order) => `Eliminado: ${order}. Deshacer lo crea de nuevo con otro número.`,
  back: (line) => `Restaurado: ${line}.`,
  isLast: "Ahora es la última línea.",
  isOtherwise: "Su nombre y sus códigos son ahora los del catálogo.",
  draftBack: (order, now) => `${order} ha vuelto como ${now}, sin su historial.`,
  partlyBack: (order, now) => `${order} ha vuelto como ${now}, pero faltan líneas.`,
  open: (order) => `Abrir ${order}`,
  added: (what) => `Añadido: ${what}`,
  takenOut: (what) => `Retirado: ${what}`,
  moved: (order, status) => `${order}: ahora ${status}`,
  movedBack: (order, status) => `${order}: otra vez ${status}`,
  waits: "Aún sin deshacer: está pendiente de aprobación.",
  overtaken: (order) => `Sin deshacer: ${order} se modificó entretanto y queda como está.`,
  refused: "Sin deshacer.",
});
