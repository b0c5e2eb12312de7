/** Numbers, money, days and sentences as a person reads them. */
import { minorDigits } from "../../src/core/money/minor-units.ts";
import { serviceTexts } from "../texts/en/service.ts";
import type { Language } from "../texts/languages.ts";

/** The language that these scripts were built in; a test has no build. */
declare const builtLanguage: Language | undefined;

/** Language of the page and its texts. */
export const pageLanguage: Language = typeof builtLanguage === "undefined" ? "en" : builtLanguage;

/** As the reader's country writes numbers and days, where the browser says so. */
const locale = navigator.languages.find((tag) => tag.split("-")[0] === pageLanguage) ?? pageLanguage;

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });

export const number = (value: number): string => numbers.format(value);

const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 12 });

/** A number with all its decimals. */
export const exactNumber = (value: number): string => exact.format(value);

const percents = new Intl.NumberFormat(locale, { style: "percent" });

/** A share of one, in whole percent. */
export const percent = (share: number): string => percents.format(share);

const signedPercents = new Intl.NumberFormat(locale, {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "always",
});

/** By how much something rose or fell, as a share of what it was. */
export const signedPercent = (share: number): string => signedPercents.format(share);

const currencies: Record<string, Intl.NumberFormat> = {};

/** Writes amounts with the decimals of the currency's minor unit, but for what `more` says. */
const amounts = (currency: string, more: Intl.NumberFormatOptions = {}): Intl.NumberFormat => {
  const minimumFractionDigits = minorDigits(currency);
  return new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits, ...more });
};

/** An amount with its currency. */
export const money = (value: number, currencyCode: string): string =>
  (currencies[currencyCode] ??= amounts(currencyCode)).format(value);

/** A cost with all its decimals. */
export const exactMoney = (value: number, currencyCode: string): string =>
  amounts(currencyCode, { maximumFractionDigits: 4 }).format(value);

const compactFrom = 1_000_000;

/** An amount in whole units, where cents say nothing; in millions from one of them. */
export const about = (value: number, currencyCode: string): string =>
  amounts(currencyCode, {
    minimumFractionDigits: 0,
    ...(Math.abs(value) < compactFrom
      ? { maximumFractionDigits: 0 }
      : { notation: "compact", maximumFractionDigits: 1 }),
  }).format(value);

/** The text as a sentence, for what stands before another one. */
export const sentence = (text: string): string => (/[.!?…:]$/.test(text) ? text : `${text}.`);

/** `quantityReceived` as "Quantity received", in the language of the page where it has words for the field. */
export function fieldName(field: string): string {
  const named = serviceTexts.fields[field];
  if (named !== undefined) return named;
  const text = field.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A status, of an order or a stock record, in the language of the page. */
export const statusName = (status: string): string => serviceTexts.states[status] ?? status;

/** Mistakes with the name of each field in place of its path: `/lines/0/unitCost` is "Unit cost". */
export const withoutPaths = (text: string): string =>
  text.replaceAll(
    /(^|; )(?:\/[^:;/]+)*?\/([a-z]\w*)(?:\/\d+)*(?=: )/gi,
    (_, before: string, name: string) => before + fieldName(name),
  );

const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });

/** A day (`YYYY-MM-DD`), which belongs to no time zone. */
export const day = (value: string): string => days.format(new Date(`${value}T00:00:00Z`));

/** The day of a filter as it stands in an address: what is no day is shown as it is written. */
export const writtenDay = (value: string): string =>
  Number.isNaN(Date.parse(`${value}T00:00:00Z`)) ? value : day(value);

const weekdays = new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" });

/** The day of the week of a day, in few letters. */
export const weekday = (value: string): string => weekdays.format(new Date(value));

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

/** The instant at which a day begins, where the reader is: moments are shown so. */
export const beginOf = (value: string): string => new Date(`${value}T00:00`).toISOString();

/** Today in a time zone, as `YYYY-MM-DD`; without one in the reader's, in which times are shown. */
export const todayIn = (timeZone?: string): string => new Intl.DateTimeFormat("en-CA", { timeZone }).format(new Date());

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
