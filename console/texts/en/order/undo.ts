/** Texts of what was done to an order, and of what became of taking it back. They load with the order. */

import { isolating } from "../../isolated.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "line", "lines");

export const undoTexts = isolating({
  saved: (what: string) => `Saved: ${what}`,
  restored: (what: string) => `Undone: ${what}`,
  what: (field: string, line: string) => `${field}, ${line}`,
  lines,
  deleted: (what: string) => `Deleted: ${what}`,
  deletedDraft: (order: string) => `Deleted: ${order}. Undo makes it again under a new number.`,
  back: (line: string) => `Put back: ${line}.`,
  isLast: "It is the last line now.",
  isOtherwise: "Its name and codes are now the catalogue's.",
  draftBack: (order: string, now: string) => `${order} is back as ${now}, without its history.`,
  partlyBack: (order: string, now: string) => `${order} is back as ${now}, but lines are missing.`,
  open: (order: string) => `Open ${order}`,
  added: (what: string) => `Added: ${what}`,
  takenOut: (what: string) => `Taken out again: ${what}`,
  moved: (order: string, status: string) => `${order} is now ${status}`,
  movedBack: (order: string, status: string) => `${order} is ${status} again`,
  waits: "Not undone yet: it waits for approval.",
  overtaken: (order: string) => `Not undone: ${order} was changed since, and stays as it is.`,
  refused: "Not undone.",
} as const);
