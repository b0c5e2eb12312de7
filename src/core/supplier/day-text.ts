/**
 * Days as documents and mails write them. Written by hand and not taken from the platform, so that the same document
 * has the same bytes with every version of Node. Pure.
 */
import type { Language } from "../../base/text/language.ts";

interface Days {
  readonly months: readonly string[];
  /** `{day}`, `{month}` and `{year}` are replaced. */
  readonly date: string;
}

const days: Readonly<Record<Language, Days>> = {
  en: {
    months: [
      "January",
      "February",
      "March",
      "April",
      "May",
      "June",
      "July",
      "August",
      "September",
      "October",
      "November",
      "December",
    ],
    date: "{day} {month} {year}",
  },
  de: {
    months: [
      "Januar",
      "Februar",
      "März",
      "April",
      "Mai",
      "Juni",
      "Juli",
      "August",
      "September",
      "Oktober",
      "November",
      "Dezember",
    ],
    date: "{day}. {month} {year}",
  },
  fr: {
    months: [
      "janvier",
      "février",
      "mars",
      "avril",
      "mai",
      "juin",
      "juillet",
      "août",
      "septembre",
      "octobre",
      "novembre",
      "décembre",
    ],
    date: "{day} {month} {year}",
  },
  es: {
    months: [
      "enero",
      "febrero",
      "marzo",
      "abril",
      "mayo",
      "junio",
      "julio",
      "agosto",
      "septiembre",
      "octubre",
      "noviembre",
      "diciembre",
    ],
    date: "{day} de {month} de {year}",
  },
  nl: {
    months: [
      "januari",
      "februari",
      "maart",
      "april",
      "mei",
      "juni",
      "juli",
      "augustus",
      "september",
      "oktober",
      "november",
      "december",
    ],
    date: "{day} {month} {year}",
  },
};

/** A day, `YYYY-MM-DD`, with the name of its month: no country reads it another way round. */
export function dayText(day: string, language: Language): string {
  const [year = "", month = "", date = ""] = day.split("-");
  const { date: pattern, months } = days[language];
  return pattern
    .replace("{day}", String(Number(date)))
    .replace("{month}", months[Number(month) - 1] ?? month)
    .replace("{year}", year);
}
