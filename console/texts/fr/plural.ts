import { number } from "../../data/format.ts";

/** A count with its noun. In French 0 and whatever is less than 2 are singular. */
export const plural = (count: number, one: string, more: string): string =>
  `${number(count)} ${Math.abs(count) < 2 ? one : more}`;
