import { number } from "../data/format.ts";

/** A count with its noun: "1 line", "1,200 lines". French has a rule of its own. */
export const plural = (count: number, one: string, more: string): string =>
  `${number(count)} ${count === 1 ? one : more}`;
