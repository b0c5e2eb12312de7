/** Dutch texts of what was done to an order, and of what became of taking it back. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/undo.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "regel", "regels");

export const undoTexts: Translated<typeof english.undoTexts> = isolating({
  saved: (what) => `Opgeslagen: ${what}`,
  restored: (what) => `Ongedaan gemaakt: ${what}`,
  what: (field, line) => `${field}, ${line}`,
  lines,
  deleted: (what) => `Verwijderd: ${what}`,
  deletedDraft: (order) => `Verwijderd: ${order}. Met Ongedaan maken komt de bestelling terug onder een nieuw nummer.`,
  back: (line) => `Teruggezet: ${line}.`,
  isLast: "Dit is nu de laatste regel.",
  isOtherwise: "De naam en codes zijn nu die van de catalogus.",
  draftBack: (order, now) => `${order} is terug als ${now}, zonder de geschiedenis.`,
  partlyBack: (order, now) => `${order} is terug als ${now}, maar er ontbreken regels.`,
  open: (order) => `${order} openen`,
  added: (what) => `Toegevoegd: ${what}`,
  takenOut: (what) => `Weer weggehaald: ${what}`,
  moved: (order, status) => `${order} is nu “${status}”`,
  movedBack: (order, status) => `${order} is weer “${status}”`,
  waits: "Nog niet ongedaan gemaakt: het wacht op goedkeuring.",
  overtaken: (order) => `Niet ongedaan gemaakt: ${order} is intussen gewijzigd en blijft zoals die is.`,
  refused: "Niet ongedaan gemaakt.",
});
