/** A supplier's price list: its entries for variants, one by one (C82). */
import { z } from "zod";
import { encodeCursor, decodeCursor } from "../../base/cursor.ts";
import { valuesFrom } from "../../core/order/purchase-order-fields.ts";
import { operation } from "../../requests/operation.ts";
import {
  loadVariants,
  pageOfEntries,
  priceFields,
  type SupplierVariant,
  supplierTable,
  supplierVariantTable,
} from "../../shop/catalogue/catalogue.ts";
import { shownChanges } from "../../shop/catalogue/record-log.ts";
import { presentSupplierId } from "../../shop/catalogue/supplier-merges.ts";
import { recordsByKey, replaceRecord } from "../../shop/record-table.ts";
import { remove } from "../../store/change.ts";
import { tables } from "../../shop/tables.ts";
import { Fault } from "../../base/fault.ts";
import { fieldMembers, fieldObject, renderer, schemasOf } from "../field-members.ts";
import { cursor, limit, pageShape, pathId, shownId } from "../fields.ts";
import { withoutRise } from "./cost-measures.ts";
import { supplierVariantInputs } from "./inputs.ts";
import { etagOfRecord, historyStatements, kept, recordFaults, recordOf, requireRecordVersion } from "./records.ts";

// What the operator alone may see is no part of a price list (C36).
export const { supplierVariantDetails: _input, ...priceInputs } = supplierVariantInputs;

const members = fieldMembers(priceFields);
const entryJson = renderer<Omit<SupplierVariant, "supplierVariantDetails">, typeof members>(members);
const entrySchema = z.strictObject(schemasOf(members));

export const priceRoute = "/suppliers/{supplierId}/variants";
const path = `${priceRoute}/{variantId}`;
const inPath = { supplierId: pathId, variantId: pathId };

/** Kind of the record that a price list belongs to. */
export const supplierKind = { kind: "supplier", table: supplierTable } as const;

const nullable = z.string().nullable();

/** The entry without what its answer hides: what the version names. */
export const shownEntry = ({ supplierVariantDetails: _hidden, ...entry }: SupplierVariant) => entry;

export const listPrices = operation({
  ...kept,
  name: "supplier_variant_list",
  title: "Read a price list",
  summary: "A supplier's price list.",
  description: "Its entries by variant id, with the names of the variants.",
  scope: "read",
  route: { method: "GET", path: priceRoute },
  repeat: "read",
  faults: ["NOT_FOUND"],
  input: z.strictObject({ supplierId: pathId, limit, cursor }),
  output: z.strictObject({
    supplierVariants: z.array(
      z.strictObject({
        ...entrySchema.shape,
        productName: nullable,
        variantName: nullable,
        sku: nullable,
        version: z.string().meta({ description: "Names the entry's state." }),
      }),
    ),
    ...pageShape,
  }),
  run: (call, { supplierId: sent, limit: rows, cursor: encoded }) =>
    call.read(async (tx) => {
      const { shopId } = call.shop;
      const supplierId = await presentSupplierId(tx, shopId, sent);
      const scope = { list: call.operation, shopId, filters: { supplierId } };
      const after = encoded === undefined ? null : decodeCursor(scope, encoded, ["string"])[0];
      await recordOf(tx, shopId, supplierKind, supplierId);
      const { entries, totalCount, end } = await pageOfEntries(tx, shopId, supplierId, after, rows);
      const variants = await loadVariants(
        tx,
        shopId,
        entries.map(({ variantId }) => variantId),
      );
      return {
        data: {
          supplierVariants: entries.map((entry) => {
            const { productName = null, variantName = null, sku = null } = variants.get(entry.variantId) ?? {};
            const version = etagOfRecord(shownEntry(entry));
            return { ...entryJson(entry), productName, variantName, sku, version };
          }),
          totalCount,
          cursor: end === null ? null : encodeCursor(scope, [end]),
        },
      };
    }),
});

export const putPrice = operation({
  ...kept,
  name: "supplier_variant_put",
  title: "Set a supplier's terms",
  summary: "Sets a supplier's terms for a variant.",
  description: "The entry is made or replaced: what is left out is empty.",
  scope: "write",
  route: { method: "PUT", path },
  repeat: "safe",
  faults: recordFaults,
  input: fieldObject(priceFields, priceInputs, "new", inPath),
  output: z.strictObject({ supplierVariant: entrySchema }),
  run: (call, sent) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const next = valuesFrom(priceFields, sent);
      const { supplierId, variantId } = next;
      await recordOf(tx, shopId, supplierKind, supplierId);
      const [before] = await recordsByKey(tx, supplierVariantTable, shopId, [[supplierId, variantId]]);
      const shown = before === undefined ? null : shownEntry(before);
      requireRecordVersion(call, shown);
      const changes = shownChanges(priceFields, shown, next);
      const costsOf = () => ({ supplierId, variantIds: [variantId] });
      if (shown === null || changes.length > 0)
        await withoutRise(tx, call, costsOf, () =>
          tx.batch([
            replaceRecord(supplierVariantTable, shopId, {
              ...next,
              supplierVariantDetails: before?.supplierVariantDetails ?? null,
            }),
            ...historyStatements(call, "supplier", supplierId, {
              action: shown === null ? "created" : "changed",
              variantId,
              changes,
            }),
          ]),
        );
      return { effects: [], answer: () => ({ data: { supplierVariant: entryJson(next) }, etag: etagOfRecord(next) }) };
    }),
});

export const deletePrice = operation({
  ...kept,
  name: "supplier_variant_delete",
  title: "Remove a supplier's terms",
  summary: "Removes a variant from a supplier's price list.",
  description: "Orders keep what they have.",
  scope: "write",
  route: { method: "DELETE", path },
  repeat: "refused",
  destructive: true,
  faults: recordFaults,
  input: z.strictObject(inPath),
  output: z.strictObject({ supplierId: z.string(), variantId: z.string(), deleted: z.literal(true) }),
  run: (call, { supplierId, variantId }) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const [before] = await recordsByKey(tx, supplierVariantTable, shopId, [[supplierId, variantId]]);
      if (before === undefined) {
        await recordOf(tx, shopId, supplierKind, supplierId);
        throw new Fault("NOT_FOUND", `The supplier has no entry for the variant ${shownId(variantId)}.`);
      }
      requireRecordVersion(call, shownEntry(before));
      const costsOf = () => ({ supplierId, variantIds: [variantId] });
      await withoutRise(tx, call, costsOf, () =>
        tx.batch([
          remove(tables.supplier_variant, shopId, { supplier_id: supplierId, variant_id: variantId }),
          ...historyStatements(call, "supplier", supplierId, {
            action: "deleted",
            variantId,
            changes: shownChanges(priceFields, shownEntry(before), null),
          }),
        ]),
      );
      return { effects: [], answer: () => ({ data: { supplierId, variantId, deleted: true as const } }) };
    }),
});
