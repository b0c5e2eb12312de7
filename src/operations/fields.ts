/**
 * Building blocks of requests and answers: zod schemas that parse input into core values, schemas of answers, and the
 * way from core to JSON.
 *
 * Owns: limits and formats of values (contract §9, C11, C14). Does not own: rules about them (core), which operation
 * takes what. Every object is strict. A nullable member of an answer is always there, null or not. In a schema's
 * metadata `query` says how its query parameter is written: `string`, `integer`, `boolean`, `list` (separated by
 * commas) or `repeatable-list`. With `namesMembers` agents are shown its description in place of its members. In the
 * metadata of an operation's input `body` has the rules that the schema of one member cannot say. They are JSON Schema
 * keywords for the body as a whole. Or they are `alternatives`: bodies by name of which one is sent, each with its own
 * members.
 */
import { mailAddressesFrom, mailAddressFrom } from "../core/supplier/mail.ts";
import { only } from "../core/order/guidance.ts";
import { z } from "zod";
import { dayFrom, dayMs, dayStart } from "../base/time/calendar.ts";
import { invalidField } from "../base/fault.ts";
import {
  moneyDecimalsMax,
  moneyFrom,
  nearDecimal,
  quantityDecimalsMax,
  quantityFrom,
  quantityMax,
  totalValueMax,
  unitCostMax,
} from "../core/money/money.ts";
import { plainTextProblem, type TextForm } from "../base/text/plain-text.ts";
import type { Address } from "../core/order/purchase-order.ts";

// Limits, in characters unless said otherwise.

export const idMax = 200;

/** References, terms, SKUs, barcodes, names of people and places. */
export const shortTextMax = 200;

export const productNameMax = 500;

export const urlMax = 2_000;

export const noteMax = 5_000;

export const searchMax = 200;

/** Characters of the JSON text. */
export const supplierVariantDetailsMax = 10_000;

const leadTimeDaysMax = 3_650;

/** Values in one query parameter. */
export const listParameterMax = 500;

export const pageSizeMax = 50;

const pageSizeDefault = 50;

// Single values of requests. Each parses into its core value.

/**
 * A number that parses into an exact decimal. Its bounds are those of the decimal that it stands for (C14).
 *
 * @param bounded sets the bounds.
 * @param parse   answers null for too many decimals.
 */
export const decimal = <T>(
  bounded: (number: z.ZodNumber) => z.ZodNumber,
  decimals: number,
  parse: (value: number) => T | null,
) =>
  bounded(z.number().overwrite((value) => nearDecimal(value, decimals))).transform((value, context): T => {
    const parsed = parse(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: "custom", message: `must have at most ${decimals} decimals` });
    return z.NEVER;
  });

/** ≥ 0, at most 3 decimals. */
export const quantity = decimal((number) => number.min(0).max(quantityMax), quantityDecimalsMax, quantityFrom).meta({
  description: only("rest", "A quantity: at least 0, at most 3 decimals."),
});

/** > 0, at most 3 decimals. */
export const positiveQuantity = decimal(
  (number) => number.positive().max(quantityMax),
  quantityDecimalsMax,
  quantityFrom,
).meta({
  description: only("rest", "A quantity: above 0, at most 3 decimals."),
});

export const unitCost = decimal((number) => number.min(0).max(unitCostMax), moneyDecimalsMax, moneyFrom).meta({
  description: only("rest", "A cost of one unit: at least 0, at most 4 decimals."),
});

export const amount = decimal((number) => number.min(0).max(totalValueMax), moneyDecimalsMax, moneyFrom).meta({
  description: only("rest", "An amount of money: at least 0, at most 4 decimals."),
});

export const leadTimeDays = z.int().min(0).max(leadTimeDaysMax);

/** A day, `YYYY-MM-DD`. */
export const day = z.iso.date();

export const currencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be a currency code of three capital letters, like EUR")
  .meta({ description: only("rest", "ISO 4217 currency code."), example: "EUR" });

/** Refuses a text with control characters or bidi overrides (§8). */
export const plain =
  (form: TextForm) =>
  (context: z.core.ParsePayload<string>): void => {
    const message = plainTextProblem(context.value, form);
    if (message !== null) context.issues.push({ code: "custom", input: context.value, path: [], message });
  };

/** An opaque id. */
export const id = z.string().min(1).max(idMax).check(plain("line"));
/** Longest path value that a request can carry: all of the request line and headers. */
const pathValueMax = 65_536;
/**
 * An id in a path. One that is longer than any id that can be stored is an unknown id (404), not a bad request
 * (contract §1). The documents say how long an id can be.
 */
export const pathId = z.string().min(1).max(pathValueMax).meta({ maxLength: idMax });

/** An id as a message shows it: one that is too long to be real is cut. */
export const shownId = (id: string): string => (id.length <= idMax ? id : `${id.slice(0, idMax)}…`);

const filledText = (max: number) =>
  z.string().min(1, "must not be empty; leave it out, or send null to clear it").max(max);

/** A text of one line: a name, a number, a reference (§8). */
export const text = (max: number) => filledText(max).check(plain("line"));

/** Address of a picture that a page may load. */
export const imageUrl = text(urlMax).regex(/^https:\/\/[^\s"]+$/, "must begin with https://");

/** A SKU or barcode, without the blanks around it (C52). */
export const codeText = z
  .string()
  .trim()
  .min(1, "must not be empty; leave it out, or send null to clear it")
  .max(shortTextMax)
  .check(plain("line"));

/**
 * A text of several lines: a note or a message (§8). Its lines end with a line feed, also where a carriage return was
 * sent before it.
 */
export const textOfLines = (max: number) =>
  filledText(max)
    .check(plain("lines"))
    .overwrite((value) => value.replaceAll("\r\n", "\n"));

/** A text that is looked for and not kept. A scanner sends control characters in a code. */
export const soughtText = (max: number) => filledText(max);

/** An e-mail address, kept as mail is sent to it. */
export const mailAddress = text(shortTextMax)
  .refine((given) => mailAddressFrom(given) !== null, "must be an e-mail address like orders@supplier.example")
  .transform((given) => mailAddressFrom(given) ?? given);

/** Addresses that `;` or `,` parts, each with a name or without, kept as they are written. */
export const mailAddresses = text(shortTextMax)
  .check((context) => {
    const { wrong } = mailAddressesFrom(context.value);
    if (wrong !== null)
      context.issues.push({
        code: "custom",
        input: context.value,
        message: `must be e-mail addresses like orders@supplier.example, parted by ; or ,: ${JSON.stringify(wrong)} is none`,
      });
  })
  .transform((given) => given.trim());

/**
 * Refuses an array in which two entries have the same key (C15). An undefined key is none. `member` is the entry's
 * member with the key.
 */
export function noRepeats<T>(keyOf: (entry: T) => string | undefined, member?: string) {
  return (context: z.core.ParsePayload<readonly T[]>): void => {
    const seen = new Set<string>();
    // forEach leaves out the holes where reading stopped at a mistake.
    context.value.forEach((entry, index) => {
      const key = keyOf(entry);
      if (key === undefined) return;
      if (seen.has(key))
        context.issues.push({
          code: "custom",
          input: context.value,
          path: member === undefined ? [index] : [index, member],
          message: `${key} is given twice`,
        });
      seen.add(key);
    });
  };
}

/** Refuses an object in which every member but `idMember` is absent. */
export const namesAField =
  (idMember: string, message: string) =>
  (context: z.core.ParsePayload<Readonly<Record<string, unknown>>>): void => {
    const { [idMember]: _id, ...fields } = context.value;
    if (Object.values(fields).every((value) => value === undefined))
      context.issues.push({ code: "custom", input: context.value, path: [], message });
  };

const addressLine = text(shortTextMax).nullable().default(null);

export const address = z
  .strictObject({
    companyName: addressLine,
    contactName: addressLine,
    address1: addressLine,
    address2: addressLine,
    city: addressLine,
    province: addressLine,
    provinceCode: addressLine,
    country: addressLine,
    countryCode: z
      .string()
      .regex(/^[A-Z]{2}$/, "must be a country code of two capital letters, like NL")
      .nullable()
      .default(null),
    zip: addressLine,
    phone: addressLine,
    email: addressLine,
  })
  .meta({
    id: "AddressInput",
    description: `${only("rest", "A postal address. It is replaced as a whole: members left out become null.")}${only("mcp", "Replaced as a whole.")}`,
  });

/** A realistic address for the documents. */
export const exampleAddress = {
  companyName: "Tideline Coffee & Tea",
  contactName: null,
  address1: "Keilekade 12",
  address2: null,
  city: "Rotterdam",
  province: null,
  provinceCode: null,
  country: null,
  countryCode: "NL",
  zip: "3029 RA",
  phone: null,
  email: null,
} as const satisfies Address;

const days = z.int().min(0).max(leadTimeDaysMax).nullable().default(null);

const reorderRule = {
  minimum: quantity.nullable().default(null).meta({ description: "The reorder point is at least this." }),
  maximum: quantity.nullable().default(null).meta({ description: "An order restores at most this." }),
  coverDays: days.meta({ description: "Days beyond the lead time that an order covers; else 30." }),
  leadTimeDays: days.meta({ description: "In place of the supplier's." }),
  safetyDays: days.meta({ description: "Days of demand in place of the computed safety stock." }),
  isExcluded: z.boolean().nullable().default(null).meta({ description: "Nothing is suggested." }),
};

/** Settings by which a buyer steers a variant's reorder (C83). */
export const reorder = z
  .strictObject({
    ...reorderRule,
    locations: z
      .array(z.strictObject({ locationId: id, ...reorderRule }))
      .max(pageSizeMax)
      .check(noRepeats(({ locationId }) => locationId, "locationId"))
      .default([]),
  })
  .meta({ id: "ReorderInput", description: "It is replaced as a whole: members that are left out become null." });

// Query parameters.

export const limit = z
  .int()
  .min(1)
  .max(pageSizeMax)
  .default(pageSizeDefault)
  .meta({ description: only("rest", `Rows of one page, 1 to ${pageSizeMax}.`), query: "integer" });

/** For lists that belong to one order: everything when it is not given (contract §9). */
export const optionalLimit = z
  .int()
  .min(1)
  .max(pageSizeMax)
  .optional()
  .meta({
    description: only("rest", `Rows of one page, 1 to ${pageSizeMax}; all rows when left out.`),
    query: "integer",
  });

export const cursor = z
  .string()
  .min(1)
  .optional()
  .meta({
    description: only("rest", "`cursor` of the previous page, unchanged, with the same filters."),
    query: "string",
  });

export const textParameter = (description: string) =>
  soughtText(idMax).optional().meta({ description, query: "string" });

/** A filter. Tools tell it by its name; where that says too little, it has a description of its own. */
export const plainParameter = (description: string) => textParameter(only("rest", description));

/** One value or several, separated by commas on REST. */
export const listParameter = <T extends z.ZodType<string>>(entry: T, description: string) =>
  z
    .array(entry)
    .min(1)
    .max(listParameterMax)
    .optional()
    .meta({ description: only("rest", `${description} One value, or several separated by commas.`), query: "list" });

/** An RFC 3339 instant with its offset and nanoseconds, and some. */
const instantLengthMax = 40;

const dayPattern = z.regexes.date.source.slice("^".length, -"$".length);
const offsetTimePattern = String.raw`T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const dayOrInstantForms = "`YYYY-MM-DD`, or RFC 3339 with an offset";
const dayOrInstantMessage = "must be a day (YYYY-MM-DD) or an RFC 3339 instant";

/** One text, not a union of two formats: generators make a type of its own of a union, and Java then cannot send it. */
const dayOrInstant = z
  .string(dayOrInstantMessage)
  .max(instantLengthMax, { error: dayOrInstantMessage, abort: true })
  .regex(new RegExp(`^${dayPattern}(?:${offsetTimePattern})?$`), dayOrInstantMessage);

const isDay = (value: string): boolean => value.length === "YYYY-MM-DD".length;

/** From this day's beginning (UTC), or this instant, on: milliseconds, inclusive (C13). */
export const dateFrom = dayOrInstant
  .transform((value) => Date.parse(value))
  .optional()
  .meta({
    description: `${only("rest", `The first day (UTC) or instant: ${dayOrInstantForms}`)}${only("mcp", "First day (UTC) or instant")}.`,
    query: "string",
    example: "2026-01-01",
  });

/** To this day's end (UTC), or this instant, itself included: milliseconds, exclusive (C13). */
export const dateTo = dayOrInstant
  .transform((value) => Date.parse(value) + (isDay(value) ? dayMs : 1))
  .optional()
  .meta({
    description: `${only("rest", `The last day (UTC) or instant, included: ${dayOrInstantForms}`)}${only("mcp", "Last day or instant")}.`,
    query: "string",
    example: "2026-12-31",
  });

/** The first day of a range, where the shop is, or an instant. */
export const shopFrom = dayOrInstant.optional().meta({
  description: "First day at the shop or instant.",
  example: "2026-01-01",
});

/** The last day of a range, where the shop is, or an instant, itself included. */
export const shopTo = dayOrInstant.optional().meta({ description: "Last day or instant.", example: "2026-12-31" });

/**
 * Returns what `shopFrom` and `shopTo` read, in milliseconds: the beginning inclusive, the end exclusive. Null: none.
 *
 * @throws Fault INVALID_INPUT  the range ends before it begins.
 */
export function shopRange(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  timezone: string,
): { readonly fromMs: number | null; readonly beforeMs: number | null } {
  const bound = (value: string | undefined, after: { readonly days: number; readonly ms: number }): number | null => {
    if (value === undefined) return null;
    return isDay(value) ? dayStart(timezone, dayFrom(value) + after.days) : Date.parse(value) + after.ms;
  };
  const [fromMs, beforeMs] = [bound(from, { days: 0, ms: 0 }), bound(to, { days: 1, ms: 1 })];
  if (fromMs !== null && beforeMs !== null && fromMs >= beforeMs) throw invalidField("/to", "must not be before from");
  return { fromMs, beforeMs };
}

/** Refuses a range that ends before it begins. Its members are read by `dateFrom` and `dateTo`. */
export const orderedRange =
  <From extends string, To extends string>(from: From, to: To) =>
  (context: z.core.ParsePayload<{ readonly [Name in From | To]?: number | undefined }>): void => {
    const { [from]: begin, [to]: end } = context.value;
    if (begin !== undefined && end !== undefined && begin >= end)
      context.issues.push({
        code: "custom",
        input: context.value,
        path: [to],
        message: `must not be before ${from}`,
      });
  };

// Answers.

export const instantSchema = z.iso
  .datetime({ precision: 3 })
  .meta({ description: "RFC 3339, UTC, milliseconds.", example: "2026-03-01T09:30:00.000Z" });

export const dateSchema = z.iso.date().meta({ description: "YYYY-MM-DD." });

export const addressSchema = z
  .strictObject({
    companyName: z.string().nullable(),
    contactName: z.string().nullable(),
    address1: z.string().nullable(),
    address2: z.string().nullable(),
    city: z.string().nullable(),
    province: z.string().nullable(),
    provinceCode: z.string().nullable(),
    country: z.string().nullable(),
    countryCode: z.string().nullable(),
    zip: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
  })
  .meta({ id: "Address", description: "A postal address." });

const shownReorderRule = {
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  coverDays: z.int().nullable(),
  leadTimeDays: z.int().nullable(),
  safetyDays: z.int().nullable(),
  isExcluded: z.boolean().nullable(),
};

export const reorderSchema = z
  .strictObject({
    ...shownReorderRule,
    locations: z.array(z.strictObject({ locationId: z.string(), ...shownReorderRule })),
  })
  .meta({ id: "Reorder", description: "Settings of a variant's reorder; null: the forecast decides." });

/** The members that every list answers beside its rows. */
export const pageShape = {
  totalCount: z.int().meta({ description: "Rows over all pages." }),
  cursor: z.string().nullable().meta({ description: "For the next page; null on the last." }),
} as const;

// From core to JSON.

export const instant = (ms: number): string => new Date(ms).toISOString();

export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export const addressJson = (value: Address | null): z.output<typeof addressSchema> | null =>
  value === null ? null : { ...value };
