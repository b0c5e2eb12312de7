/** Shared by suppliers, products and locations, so that one list, one page and one form show them all. */
import type { FunctionComponent } from "preact";
import type { CallOptions, OperationName, Output, Result } from "../../client/index.ts";
import { type Problem, problemOf } from "../data/client.ts";
import type { Page } from "../data/pages.ts";
import type { PickedBy } from "../parts/lists/record-bar.tsx";
import type { RecordColumn, RecordRow } from "../parts/lists/record-columns.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { type FieldGroup, type RecordField, spelled, type Values, valueOf } from "./fields.ts";

/** A record with its version. */
interface Kept {
  readonly record: object;
  readonly etag: string;
}

/** `isStale`: the record is no longer as it was read. */
export type Came = Kept | { readonly problem: Problem; readonly isStale: boolean };

export const isKept = (came: Came): came is Kept => "record" in came;

export const cameOf = <Name extends OperationName>(
  result: Result<Name>,
  recordOf: (data: Output<Name>) => object,
): Came =>
  result.ok
    ? { record: recordOf(result.data), etag: result.etag ?? "" }
    : { problem: problemOf(result), isStale: result.status === 412 };

/** A record in its list, with what the list said of it. */
export interface KeptRow extends RecordRow {
  readonly record: object;
}

/** Sections of a record's page beside its fields. */
export interface SectionProps {
  readonly id: string;
  readonly record: object;
  /** Saves fields of the record. @returns what went wrong, or the record as others have changed these fields. */
  readonly save: (changes: Values) => Promise<Problem | { readonly theirs: object } | null>;
  /** Something was saved that the record's history tells of. */
  readonly changed: () => void;
}

export interface RecordKind {
  /** The name of the kind for the service. */
  readonly kind: "supplier" | "variant" | "location";
  /** The record's field with its id, by which the list of orders is filtered too. */
  readonly idField: "supplierId" | "variantId" | "locationId";
  /** True if they come from a storefront that the shop is connected to. */
  readonly isOfStorefront: boolean;
  readonly groups: readonly FieldGroup[];
  /** Of its list, by their names in its address. */
  readonly columns: Readonly<Record<string, RecordColumn>>;
  readonly titleOf: (record: object) => string;
  /** The field that says that it is archived, with its two values. */
  readonly archive: { readonly field: string; readonly on: unknown; readonly off: unknown };
  /** Filters of its list beside the search. */
  readonly picks: readonly PickedBy[];
  /** @param query  the filters of its list. */
  readonly page: (
    query: URLSearchParams,
    cursor: string | null,
  ) => Promise<Page<KeptRow> | { readonly problem: Problem }>;
  readonly get: (id: string) => Promise<Came>;
  readonly create: (members: object, idempotencyKey: string) => Promise<Came>;
  readonly update: (id: string, members: object, ifMatch: string) => Promise<Came>;
  /** Archives it, or brings it back. */
  readonly setArchived: (
    id: string,
    isArchived: boolean,
    how: CallOptions,
  ) => Promise<Result<"supplier_update" | "variant_update" | "location_update">>;
  readonly remove: (id: string, ifMatch: string) => Promise<Problem | null>;
  /** Moves what names the record to another one, and ends it. Absent: such records are not merged. */
  readonly merge?: (id: string, into: string, ifMatch: string) => Promise<Problem | null>;
  /** A card of figures beside those of its fields. Absent: there is none. */
  readonly Card?: FunctionComponent<{ readonly id: string }>;
  readonly Sections: FunctionComponent<SectionProps> | null;
}

export const isArchived = ({ archive }: RecordKind, record: object): boolean =>
  valueOf(record, archive.field) === archive.on;

export const statusOf = (kind: RecordKind, record: object): string =>
  isArchived(kind, record) ? "archived" : spelled(valueOf(record, "status"));

/** The records as a table: their fields, as far as each says something of them, and if they are archived. */
export function tableOf(
  { idField, groups, archive }: RecordKind,
  records: readonly object[],
): readonly (readonly (string | number)[])[] {
  const names = new Set([
    idField,
    ...groups.flatMap(({ fields: each }) => each.map(({ name }) => name)),
    archive.field,
  ]);
  const head = [...names].filter((name) => records.every((record) => (name.split(".")[0] ?? "") in record));
  const cellOf = (value: unknown): string | number =>
    typeof value === "number" ? value : typeof value === "boolean" ? String(value) : spelled(value);
  return [head, ...records.map((record) => head.map((name) => cellOf(valueOf(record, name))))];
}

/** Parameters of every list; without a search or a cursor they are left out. */
export const askedFor = (query: URLSearchParams, cursor: string | null) => ({
  search: query.get("search") ?? undefined,
  ...(cursor === null ? {} : { cursor }),
});

const { fields } = words;

/** The fields of a postal address. */
export const addressGroup: FieldGroup = {
  title: words.groups.address,
  fields: [
    ...(["companyName", "address1", "address2", "zip", "city", "province", "country"] as const).map(
      (name): RecordField => ({ name: `address.${name}`, label: fields[name] }),
    ),
    { name: "address.countryCode", label: fields.countryCode, hint: fields.countryCodeHint, kind: "code" },
  ],
};
