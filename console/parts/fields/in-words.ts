/** Sentences of the service without the words of its API. */
import { day, fieldName, pageLanguage } from "../../data/format.ts";
import { serviceTexts } from "../../texts/en/service.ts";

/** Name of a field within a sentence. */
const fieldWithin = (field: string): string => {
  const name = fieldName(field);
  return pageLanguage === "de" || /^\p{Lu}{2}/u.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
};

/** The sentence with names of fields, and days as the reader's country writes them. Other words may be somebody's. */
export const inWords = (text: string): string =>
  text
    .replace(
      /(^Changed |^)([a-z]\w*(?:, [a-z]\w*)*)(?=\.$|, and the supplier's|: what was typed)/,
      (_, verb: string, fields: string) => verb + fields.split(", ").map(fieldWithin).join(", "),
    )
    .replaceAll(/\b[a-z]+[A-Z]\w*/g, (word) => (serviceTexts.fields[word] === undefined ? word : fieldWithin(word)))
    .replaceAll(/(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])/g, day);
