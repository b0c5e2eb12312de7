/** The kinds of records that people keep, each with what is peculiar to it (C82, C83). */
import {
  locationFields,
  locationTable,
  type Supplier,
  supplierContactFields,
  supplierRecordFields,
  supplierTable,
  type Location,
  type Variant,
  variantFields,
  variantTable,
} from "../../shop/catalogue/catalogue.ts";
import { inOwnCurrency } from "../../shop/order/cost-bases.ts";
import { locationInputs, supplierInputs, variantInputs } from "./inputs.ts";
import { recordOperations } from "./records.ts";

const archive = "Archive it: send status archived.";

export const suppliers = recordOperations<typeof supplierRecordFields, Supplier>({
  kind: "supplier",
  idMember: "supplierId",
  madeIds: { supplierId: "sup" },
  fields: supplierRecordFields,
  inputs: supplierInputs,
  table: supplierTable,
  changedByPeople: supplierContactFields,
  costsOf: async (tx, shopId, supplierId) => ({ supplierId, variantIds: await inOwnCurrency(tx, shopId, supplierId) }),
  archive,
});

export const locations = recordOperations<typeof locationFields, Location>({
  kind: "location",
  idMember: "locationId",
  madeIds: { locationId: "loc" },
  fields: locationFields,
  inputs: locationInputs,
  table: locationTable,
  fromStorefront: () => ["name"],
  archive,
});

export const variants = recordOperations<typeof variantFields, Variant>({
  kind: "variant",
  idMember: "variantId",
  madeIds: { variantId: "var", productId: "prod" },
  fields: variantFields,
  inputs: variantInputs,
  table: variantTable,
  fromStorefront: ({ costSyncMode }) => [
    "productId",
    "productName",
    "variantName",
    "sku",
    "barcode",
    "price",
    "status",
    "imageUrl",
    // The storefront's is written by syncs of costs.
    ...(costSyncMode === "disabled" ? [] : (["unitCost"] as const)),
  ],
  costsOf: (_tx, _shopId, variantId) => Promise.resolve({ supplierId: null, variantIds: [variantId] }),
  archive: "Archive it: send isArchived true.",
  effects: (variantId, before, next) =>
    before !== null &&
    next !== null &&
    before.productId === next.productId &&
    before.status === next.status &&
    before.unitCost === next.unitCost
      ? []
      : [{ kind: "keep-variant", variantId }],
});
