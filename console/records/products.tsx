/** Products: what the shop buys, variant by variant, with stock, reorder settings and who sells it. */
import type { Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { money, number } from "../data/format.ts";
import { suppliers } from "../data/look-ups.ts";
import type { ReadPage } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { chosenColumn, column, nameColumn, type RecordRow } from "../parts/lists/record-columns.tsx";
import { Picture } from "../parts/picture.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { currencyCode, ruleFieldsOf, spelled, valueOf } from "./fields.ts";
import { askedFor, cameOf, type KeptRow, type RecordKind } from "./kinds.ts";
import { Cover, later } from "./figures/figures.tsx";
import { ProductCard, ProductSections } from "./product-sections.tsx";

const { columns: titles, fields } = words;

type Variant = Output<"variant_search">["variants"][number];

/**
 * A page of products.
 *
 * @param query       the search, and the supplier that has a price for them.
 * @param locationId  the place whose stock is shown; null: all places together.
 * @param valuesOf    the row's own columns. `stock` is what is on hand, what is on its way, and cover.
 */
export async function productRows(
  query: URLSearchParams,
  cursor: string | null,
  locationId: string | null,
  valuesOf: (variant: Variant, stock: RecordRow["values"]) => RecordRow["values"],
): ReturnType<ReadPage<KeptRow>> {
  const supplierId = query.get("supplierId") ?? undefined;
  const result = await openpo.call("variant_search", { shopId: shopId(), supplierId, ...askedFor(query, cursor) });
  if (!result.ok) return { problem: problemOf(result) };
  const { variants, totalCount, cursor: next } = result.data;
  const ids = variants.map(({ variantId }) => variantId);
  const shown = later(ids, async () => {
    const answer = await openpo.call("variant_figures_list", { shopId: shopId(), ids });
    return answer.ok ? new Map(answer.data.variants.map((each) => [each.variantId, each])) : null;
  });
  const rows = variants.map((variant): KeptRow => {
    const { variantId } = variant;
    const levels = variant.levels.filter((level) => locationId === null || level.locationId === locationId);
    const sum = (of: "onHand" | "incoming"): string => number(levels.reduce((total, level) => total + level[of], 0));
    return {
      record: variant,
      id: variantId,
      title: products.titleOf(variant),
      picture: <Picture url={variant.imageUrl} />,
      hint: variant.sku,
      status: variant.isArchived ? "archived" : variant.status,
      values: valuesOf(variant, [sum("onHand"), sum("incoming"), shown(variantId, (of) => <Cover of={of} />)]),
    };
  });
  return { rows, totalCount, cursor: next };
}

export const products: RecordKind = {
  kind: "variant",
  idField: "variantId",
  isOfStorefront: true,
  groups: [
    {
      title: words.groups.product,
      fields: [
        { name: "productName", label: fields.productName, isNeeded: true, isOfStorefront: true },
        { name: "variantName", label: fields.variantName, hint: fields.variantHint, isOfStorefront: true },
        { name: "sku", label: fields.sku, isOfStorefront: true },
        { name: "barcode", label: fields.barcode, isOfStorefront: true },
        { name: "unitCost", label: fields.unitCost, kind: "money" },
        { name: "price", label: fields.price, kind: "money", isOfStorefront: true },
        { name: "imageUrl", label: fields.picture, hint: fields.pictureHint, kind: "link", isOfStorefront: true },
        { name: "status", label: fields.status, choices: words.variantStatuses, isOfStorefront: true },
      ],
    },
    {
      title: words.groups.reorder,
      fields: ruleFieldsOf("reorder."),
    },
  ],
  columns: {
    supplier: nameColumn(titles.supplier),
    onHand: column(titles.onHand, true, true),
    incoming: column(titles.incoming, true, true),
    cover: column(titles.cover, true, true),
    unitCost: column(titles.unitCost, true),
    price: chosenColumn(fields.price, true),
    barcode: chosenColumn(fields.barcode),
  },
  picks: [{ parameter: "supplierId", title: titles.supplier, lookUp: suppliers }],
  titleOf: (record) =>
    [valueOf(record, "productName"), valueOf(record, "variantName")]
      .map(spelled)
      .filter((part) => part !== "")
      .join(" · "),
  archive: { field: "isArchived", on: true, off: false },
  page: (query, cursor) =>
    productRows(query, cursor, null, ({ suppliers: offers, unitCost, price, barcode }, stock) => [
      offers[0]?.supplierName ?? texts.orders.none,
      ...stock,
      unitCost === null ? texts.orders.none : money(unitCost, currencyCode()),
      price === null ? texts.orders.none : money(price, currencyCode()),
      barcode ?? texts.orders.none,
    ]),
  get: async (variantId) =>
    cameOf(await openpo.call("variant_get", { shopId: shopId(), variantId }), ({ variant }) => variant),
  async create(members, idempotencyKey) {
    const input = { productName: "", ...members, shopId: shopId() };
    return cameOf(await openpo.call("variant_create", input, { idempotencyKey }), (data) => data.variant);
  },
  update: async (variantId, members, ifMatch) =>
    cameOf(
      await openpo.call("variant_update", { ...members, shopId: shopId(), variantId }, { ifMatch }),
      (data) => data.variant,
    ),
  setArchived: (variantId, isOff, how) =>
    openpo.call("variant_update", { shopId: shopId(), variantId, isArchived: isOff }, how),
  async remove(variantId, ifMatch) {
    const result = await openpo.call("variant_delete", { shopId: shopId(), variantId }, { ifMatch });
    return result.ok ? null : problemOf(result);
  },
  Card: ProductCard,
  Sections: ProductSections,
};
