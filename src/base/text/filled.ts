import { onOneLine } from "./plain-text.ts";

/**
 * The text with a value in each place `{name}`. In one pass: a value that has another's place in it stays as it is. A
 * place without a value stays too.
 */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);

/** The same with each value on one line: what names it holds makes no further lines of a mail. */
export const filledLine = (text: string, values: Readonly<Record<string, string | number>>): string =>
  filled(text, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, onOneLine(String(value))])));
