/**
 * Fields of a record as a person sees and types them, and what is sent of them. A field of an address or of reorder
 * settings has its place in its name: `address.city`; the object is sent as a whole.
 */
import { h } from "preact";
import { money, number, numberIn, typed } from "../data/format.ts";
import { member, signedIn } from "../data/session.ts";
import type { FactRow } from "../parts/lists/facts.tsx";
import { isShown, Picture } from "../parts/picture.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import type { telling } from "./told.ts";

/** Tells of what was done, by words that are loaded then. It is done whether or not they come. */
export const tell = (say: (by: typeof telling) => void): void =>
  void import("./told.ts").then(
    (loaded) => say(loaded.telling),
    () => {},
  );

export interface RecordField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Left out: a line of text. `code`: in capitals. `money`: in the shop's currency. `link`: an address. */
  readonly kind?: "lines" | "code" | "number" | "money" | "tick" | "link";
  /** Words to choose from, with what they are called. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly isNeeded?: true;
  /** True if a connected storefront says what it is. */
  readonly isOfStorefront?: true;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly RecordField[];
}

const { fields } = words;

/** The fields of a reorder rule. @param at  where the rule stands: `reorder.`. */
export const ruleFieldsOf = (at: string): readonly RecordField[] => [
  { name: `${at}minimum`, label: fields.minimum, kind: "number" },
  { name: `${at}maximum`, label: fields.maximum, kind: "number" },
  { name: `${at}coverDays`, label: fields.coverDays, hint: fields.coverHint, kind: "number" },
  { name: `${at}leadTimeDays`, label: fields.ownLeadTime, hint: fields.ownLeadTimeHint, kind: "number" },
  { name: `${at}safetyDays`, label: fields.safetyDays, hint: fields.safetyHint, kind: "number" },
  { name: `${at}isExcluded`, label: fields.isExcluded, kind: "tick" },
];

export const currencyCode = (): string => signedIn()?.shop.currencyCode ?? "";

export const valueOf = (record: object, name: string): unknown =>
  name.split(".").reduce<unknown>((value, step) => member(value, step), record) ?? null;

/** A value as it stands in its field. */
export function spelled(value: unknown): string {
  if (typeof value === "number") return typed(value);
  if (typeof value === "boolean") return value ? "on" : "";
  return typeof value === "string" ? value : "";
}

/** A value as it is read. */
export function said({ kind, choices }: RecordField, value: unknown): string {
  if (typeof value === "boolean") return value ? words.yes : texts.orders.none;
  if (typeof value === "number") return kind === "money" ? money(value, currencyCode()) : number(value);
  return typeof value !== "string" ? texts.orders.none : (choices?.[value] ?? value);
}

/** True if a word, as an e-mail address, is longer than a column of facts is wide. */
const hasLongWord = (text: string): boolean => /\S{20}/.test(text);

/** The facts of a group, without its title, its status and what is not known. */
export const factsOf = (fields: readonly RecordField[], record: object): readonly FactRow[] =>
  fields.flatMap((field): readonly FactRow[] => {
    const value = field.isNeeded === true || field.name === "status" ? null : valueOf(record, field.name);
    if (value === null || value === false) return [];
    const text = spelled(value);
    const shown =
      field.kind !== "link"
        ? said(field, value)
        : isShown(text)
          ? h(Picture, { url: text, name: spelled(valueOf(record, "productName")), size: 96 })
          : h("a", { href: text, target: "_blank", rel: "noreferrer" }, new URL(text).hostname);
    return [[field.label, shown, field.kind === "lines" || hasLongWord(text)]];
  });

/** Members of a record as they are sent. */
export type Values = ReadonlyMap<string, unknown>;

/** Values that were typed and are not the record's, by the field's name. `refuse` learns what is wrong. */
export function differencesIn(
  fields: readonly RecordField[],
  record: object,
  written: ReadonlyMap<string, string>,
  refuse: (name: string, text: string) => void,
): Values {
  const changes = new Map<string, unknown>();
  for (const { name, kind, isNeeded } of fields) {
    const before = valueOf(record, name);
    const text = (written.get(name) ?? spelled(before)).trim();
    if (text === "" && isNeeded === true) refuse(name, words.needed);
    if (!written.has(name)) continue;
    const isNumber = kind === "number" || kind === "money";
    const value =
      kind === "tick"
        ? text !== ""
        : text === ""
          ? null
          : isNumber
            ? numberIn(text)
            : kind === "code"
              ? text.toUpperCase()
              : text;
    if (isNumber && text !== "" && value === null) refuse(name, texts.order.notNumber);
    else if (value !== before) changes.set(name, value);
  }
  return changes;
}

const isBare = (value: unknown): boolean =>
  value === null || value === false || (Array.isArray(value) && value.length === 0);

/** Members with these changes. An object of which nothing is left is null. */
export function membersWith(record: object, changes: Values): object {
  const members = new Map<string, unknown>();
  for (const [name, value] of changes) {
    const [outer = "", inner] = name.split(".");
    const object = members.get(outer) ?? valueOf(record, outer) ?? {};
    members.set(outer, inner === undefined ? value : { ...object, [inner]: value });
  }
  return Object.fromEntries(
    [...members].map(([name, value]) => [
      name,
      typeof value === "object" && value !== null && Object.values(value).every(isBare) ? null : value,
    ]),
  );
}
