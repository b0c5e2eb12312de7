/**
 * Names in sentences. One that runs from right to left would turn what stands beside it. So every text that takes it
 * isolates it, by the characters U+2068 and U+2069.
 */

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The name as it stands in a sentence. One that runs as the page does is left as it is. */
export const isolated = (name: string): string =>
  rightToLeft.test(name) && !name.startsWith("\u2068") ? `\u2068${name}\u2069` : name;

/** Facts beside each other, without those that are not there. */
export const dotted = (facts: readonly (string | null)[]): string =>
  facts
    .filter((fact) => fact !== null)
    .map(isolated)
    .join(" · ");

const isRecord = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype;

/** A part of a sentence: a name, a list of them, or an object that has some. */
function inSentence(part: unknown): unknown {
  if (typeof part === "string") return isolated(part);
  if (Array.isArray(part)) return part.map(inSentence);
  if (!isRecord(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, inSentence(each)]));
}

/** Has each of the texts that takes parts isolate the names among them. @returns the same texts. */
export function isolating<Texts extends object>(texts: Texts): Texts {
  const members: readonly (readonly [string, unknown])[] = Object.entries(texts);
  for (const [name, text] of members)
    if (typeof text === "function")
      Reflect.set(texts, name, (...parts: readonly unknown[]): unknown =>
        Reflect.apply(text, undefined, parts.map(inSentence)),
      );
    else if (typeof text === "object" && text !== null) isolating(text);
  return texts;
}
