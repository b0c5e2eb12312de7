/** Texts in the order in which people count: `PO-999` before `PO-1001`. */
import { fold } from "./fold.ts";

/** Before the digits of a number: how many there are. */
const lengthOf = (digits: string): string => String.fromCharCode(0x30 + digits.length);

/** A text that sorts as people count, by code units. Case and accents are left aside. Has no tab and no line feed. */
export const naturalKey = (text: string): string =>
  fold(text)
    .replaceAll(/[\t\n]/g, " ")
    .replaceAll(/0*(\d+)/g, (_, digits: string) => lengthOf(digits) + digits);
