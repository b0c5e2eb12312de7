/** HTML made of templates: every value is escaped unless it is HTML already. */

/** Text that is HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[] | null | false;

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);

function shown(value: Value): string {
  if (value === null || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map((each) => each.text).join("");
  return escaped(String(value));
}

/** A template as HTML. Null and false are nothing. */
export const markup = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.map((part, index) => (index === 0 ? part : shown(values[index - 1] ?? null) + part)).join(""));
