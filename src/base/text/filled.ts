/**
 * The text with a value in each place `{name}`. In one pass: a value that has another's place in it stays as it is. A
 * place without a value stays too.
 */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
