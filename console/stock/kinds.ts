/** Shared by the four kinds of stock records, so that one list and one page show them all. */
import { type ComponentChildren, h } from "preact";
import type { LogEntry } from "../../client/index.ts";
import { openpo, type Problem } from "../data/client.ts";
import type { Page } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import type { FactRow } from "../parts/lists/facts.tsx";
import type { RecordColumn, RecordRow } from "../parts/lists/record-columns.tsx";
import { Day, Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";

export interface StockTable {
  readonly title: string;
  readonly columns: readonly RecordColumn[];
  readonly rows: readonly { readonly id: string; readonly values: readonly string[] }[];
}

/** A record on its own page. */
export interface StockDetail {
  readonly title: string;
  readonly hint: string | null;
  readonly status: string;
  readonly facts: readonly FactRow[];
  readonly tables: readonly StockTable[];
  readonly log: readonly LogEntry[];
  readonly orders: readonly { readonly purchaseOrderId: string; readonly poNumber: string | null }[];
}

export interface Kind {
  readonly statuses: readonly string[];
  /** Filters by a location: the parameter of the API and what the page calls it. */
  readonly places: readonly { readonly parameter: string; readonly title: string }[];
  readonly hasDates: boolean;
  /** Of its list, by their names in its address. */
  readonly columns: Readonly<Record<string, RecordColumn>>;
  readonly page: (
    query: URLSearchParams,
    cursor: string | null,
  ) => Promise<Page<RecordRow> | { readonly problem: Problem }>;
  readonly detail: (id: string) => Promise<StockDetail | Problem>;
}

/** Values of a parameter that the API knows. */
export const chosenOf = <Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]) => {
  const wanted = (query.get(name) ?? "").split(",");
  const known = words.filter((word) => wanted.includes(word));
  return known.length === 0 ? undefined : known;
};

export const textIn = (query: URLSearchParams, name: string): string | undefined => query.get(name) ?? undefined;

export const cursorOf = (cursor: string | null) => (cursor === null ? {} : { cursor });

const { none } = texts.orders;

export const value = (text: ComponentChildren): ComponentChildren => text ?? none;
export const dayOf = (on: string | null): ComponentChildren => (on === null ? null : h(Day, { at: on }));
export const momentOf = (at: string | null): ComponentChildren => (at === null ? null : h(Moment, { at }));

const locationNames = new Map<string, string>();

/** Learns the names of locations that are not known yet. A name that cannot be read is its id. */
export async function nameLocations(ids: readonly (string | null)[]): Promise<void> {
  const wanted = [...new Set(ids.filter((id) => id !== null && !locationNames.has(`${shopId()} ${id}`)))];
  if (wanted.length === 0) return;
  const result = await openpo.call("location_list", {
    shopId: shopId(),
    ids: wanted.filter((id) => id !== null).slice(0, 50),
  });
  if (result.ok)
    for (const { locationId, name } of result.data.locations) locationNames.set(`${shopId()} ${locationId}`, name);
}

export const locationName = (id: string | null): string | null =>
  id === null ? null : (locationNames.get(`${shopId()} ${id}`) ?? id);

const idsMax = 50;

/** Names of variants by id. */
export async function variantNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const wanted = [...new Set(ids)];
  for (let from = 0; from < wanted.length; from += idsMax) {
    const result = await openpo.call("variant_search", {
      shopId: shopId(),
      ids: wanted.slice(from, from + idsMax),
      limit: idsMax,
    });
    if (!result.ok) return names;
    for (const { variantId, productName, variantName } of result.data.variants)
      names.set(variantId, variantName === null ? productName : `${productName} ${variantName}`);
  }
  return names;
}
