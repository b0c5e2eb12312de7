/** Numbers, money, days and sentences as a person reads them. */

const locale = navigator.language;

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });

export const number = (value: number): string => numbers.format(value);

const currencies = new Map<string, Intl.NumberFormat>();

/** An amount with its currency. */
export function money(value: number, currencyCode: string): string {
  const format =
    currencies.get(currencyCode) ?? new Intl.NumberFormat(locale, { style: "currency", currency: currencyCode });
  currencies.set(currencyCode, format);
  return format.format(value);
}

/** A cost with all its decimals. */
export const exactMoney = (value: number, currencyCode: string): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency: currencyCode, maximumFractionDigits: 4 }).format(value);

/** An amount in whole units, where cents say nothing. */
export const about = (value: number, currencyCode: string): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency: currencyCode, maximumFractionDigits: 0 }).format(value);

/** The text as a sentence, for what stands before another one. */
export const sentence = (text: string): string => (/[.!?…:]$/.test(text) ? text : `${text}.`);

/** Mistakes with the name of each field in place of its path: `/lines/0/unitCost` is "Unit cost". */
export const withoutPaths = (text: string): string =>
  text.replaceAll(/(^|; )(?:\/[^:;/]+)*?\/([a-z]\w*)(?:\/\d+)*(?=: )/gi, (_, before: string, name: string) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return before + words.charAt(0).toUpperCase() + words.slice(1);
  });

const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });

/** A day (`YYYY-MM-DD`), which belongs to no time zone. */
export const day = (value: string): string => days.format(new Date(`${value}T00:00:00Z`));

const daysOfYear = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });

/** A day of which the year is clear. */
export const dayOfYear = (value: string): string => daysOfYear.format(new Date(`${value}T00:00:00Z`));

/** The same without the year, if it is this one. */
export const shortDay = (value: string): string =>
  value.startsWith(`${new Date().getFullYear()}-`) ? dayOfYear(value) : day(value);

const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

/** An instant, in the reader's time zone. Where a line ends, day and time part, and neither is broken. */
export function moment(value: string): string {
  const parts = moments.formatToParts(new Date(value));
  const time = parts.findIndex(({ type }) => type === "hour" || type === "dayPeriod");
  return parts
    .map(({ type, value: text }, at) => (type === "literal" && at !== time - 1 ? text.replaceAll(" ", "\u00a0") : text))
    .join("");
}

/** Today in a time zone, as `YYYY-MM-DD`. */
export const todayIn = (timeZone: string): string => new Intl.DateTimeFormat("en-CA", { timeZone }).format(new Date());

const parts = new Intl.NumberFormat(locale).formatToParts(12345.6);
const decimalMark = parts.find((part) => part.type === "decimal")?.value ?? ".";
const groupMark = parts.find((part) => part.type === "group")?.value ?? ",";

/**
 * The number that a person typed or pasted in the reader's locale; null when it is none. A group mark must stand before
 * three digits.
 */
export function numberIn(text: string): number | null {
  const [whole = "", fraction, ...rest] = text.replaceAll(/\s/g, "").split(decimalMark);
  if (rest.length > 0) return null;
  const groups = whole.split(groupMark.trim() === "" ? "\u0000" : groupMark);
  if (groups.slice(1).some((group) => !/^\d{3}$/.test(group))) return null;
  const spelled = fraction === undefined ? groups.join("") : `${groups.join("")}.${fraction}`;
  return /^-?\d+(?:\.\d+)?$/.test(spelled) ? Number(spelled) : null;
}

/** A number as a person would type it: no group marks. */
export const typed = (value: number): string => String(value).replace(".", decimalMark);
