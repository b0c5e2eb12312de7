/** Texts of merging two Drafts. They are loaded with its menu entry. */
import { isolating } from "../../isolated.ts";
import type { Choice } from "../../../data/look-ups.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "line", "lines");

export const mergeTexts = isolating({
  into: "Merge into …",
  alone: "There is no other draft of its supplier, location and currency.",
  of: (order: string) => `Merge ${order} into another draft`,
  stays: "Draft that stays",
  size: (count: number, total: string) => `${lines(count)}, ${total}`,
  action: "Merge",
  title: (order: string, into: string) => `Merge ${order} into ${into}?`,
  text: (order: string, count: number, into: Choice, then: string) =>
    `${order} ends, and its ${lines(count)} ${count === 1 ? "goes" : "go"} over to ${into.title}: now ${into.hint ?? ""}, then ${then}. Notes, dates, shipping and discounts of ${order} do not go over. This cannot be undone.`,
  stale: (order: string) => ({
    message: `Somebody has changed ${order} meanwhile.`,
    action: "Look at it again before you merge it.",
  }),
} as const);
