/** Sentences of the service about lines of an order. */
import { inWords } from "../../parts/fields/in-words.ts";

/** A line with its name. */
interface NamedLine {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly name: string;
}

/** The sentence with the names of lines in place of their ids, and no words of the API. */
export function saidOf(lines: readonly NamedLine[], text: string): string {
  const names = new Map(lines.map(({ variantId, name }) => [variantId, name]));
  const said = lines
    .reduce((rest, { poLineItemId }) => rest.replaceAll(` (${poLineItemId})`, ""), text)
    .split(/([\s,;]+|[.:](?=\s|$))/)
    .map((part) => names.get(part) ?? part);
  return inWords(said.join(""));
}
