/** Suppliers, locations and products as choices: by part of the name, and by id where one is chosen already. */
import { openpo, type Problem, problemOf } from "./client.ts";
import { shopId } from "./session.ts";

/** Something to choose. */
export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly hint: string | null;
}

type By = { readonly search: string } | { readonly ids: readonly string[] };
/** @param isForNew  what is archived is left out, since nothing new is made of it. */
export type LookUp = (by: By | Record<never, never>, isForNew?: boolean) => Promise<readonly Choice[] | Problem>;

const choicesMax = 10;
/** Rows that are read where some are left out: a page. */
const rowsMax = 50;

const offered = <Row extends { readonly status: string }>(rows: readonly Row[], isForNew: boolean): readonly Row[] =>
  isForNew ? rows.filter(({ status }) => status === "active").slice(0, choicesMax) : rows;

/** An empty search asks for the first ones. */
const asked = (by: Parameters<LookUp>[0]): Parameters<LookUp>[0] => ("search" in by && by.search === "" ? {} : by);

export const suppliers: LookUp = async (by, isForNew = false) => {
  const limit = isForNew ? rowsMax : choicesMax;
  const result = await openpo.call("supplier_list", { shopId: shopId(), ...asked(by), limit });
  if (!result.ok) return problemOf(result);
  return offered(result.data.suppliers, isForNew).map(({ supplierId, name, email }) => ({
    id: supplierId,
    title: name,
    hint: email,
  }));
};

export const locations: LookUp = async (by, isForNew = false) => {
  const limit = isForNew ? rowsMax : choicesMax;
  const result = await openpo.call("location_list", { shopId: shopId(), ...asked(by), limit });
  if (!result.ok) return problemOf(result);
  return offered(result.data.locations, isForNew).map(({ locationId, name }) => ({
    id: locationId,
    title: name,
    hint: null,
  }));
};

/** Products that a supplier has a price for, by name or id; without one, those of all. */
export const variantsOf =
  (of: { readonly supplierId?: string }): LookUp =>
  async (by, isForNew = false) => {
    const limit = isForNew ? rowsMax : choicesMax;
    const result = await openpo.call("variant_search", { shopId: shopId(), ...of, ...asked(by), limit });
    if (!result.ok) return problemOf(result);
    const rows = result.data.variants.filter(({ isArchived }) => !isForNew || !isArchived).slice(0, choicesMax);
    return rows.map(({ variantId, productName, variantName, sku }) => ({
      id: variantId,
      title: [productName, variantName].filter((part) => part !== null).join(" · "),
      hint: sku,
    }));
  };

export const variants = variantsOf({});
