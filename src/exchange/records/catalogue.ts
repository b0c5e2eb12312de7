/**
 * Import and export records of the catalogue: locations, suppliers, variants, suppliers' entries for variants,
 * inventory levels, sales and suppliers' credits (contract §8).
 *
 * Owns: what a record looks like, from JSON to stored values and back, so that import(export(x)) = x. Does not own: how
 * records of a file reach their tables (staging.ts, import-chunks.ts, export.ts) or SQL (shop/catalogue/catalogue.ts).
 */
import { z } from "zod";
import type { SupplierCredit } from "../../core/order/attachments.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import { type Fields, type ValuesOf, valuesFrom } from "../../core/order/purchase-order-fields.ts";
import {
  locationInputs,
  supplierInputs,
  supplierVariantInputs,
  variantInputs,
} from "../../operations/catalogue/inputs.ts";
import { type InputFields, fieldObject } from "../../operations/field-members.ts";
import { amount, currencyCode, day, id, noteMax, quantity, textOfLines } from "../../operations/fields.ts";
import {
  type InventoryLevel,
  inventoryLevelFields,
  type Location,
  locationFields,
  type Sale,
  saleFields,
  type Supplier,
  supplierRecordFields,
  type SupplierVariant,
  supplierVariantFields,
  type Variant,
  variantFields,
} from "../../shop/catalogue/catalogue.ts";
import { type SupplierMerge, supplierMergeFields } from "../../shop/catalogue/supplier-merges.ts";
import { optional, recordJson, shortText, signedQuantity } from "../record-type.ts";

/** The schema of a record that has these fields. */
const fieldRecord = <T extends Fields, Stored extends ValuesOf<T>>(
  type: string,
  fields: T,
  inputs: InputFields<T>,
): z.ZodType<Stored> =>
  fieldObject(fields, inputs, "new", { type: z.literal(type) }).transform(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inputs take what a record may hold
    (given) => valuesFrom(fields, given) as Stored,
  );

export const locationInput = fieldRecord<typeof locationFields, Location>("location", locationFields, locationInputs);

export const locationJson = (location: Location) => recordJson("location", locationFields, location);

export const supplierRecordInput = fieldRecord<typeof supplierRecordFields, Supplier>(
  "supplier",
  supplierRecordFields,
  supplierInputs,
);

export const supplierJson = (supplier: Supplier) => recordJson("supplier", supplierRecordFields, supplier);

export const supplierMergeInput = z
  .strictObject({ type: z.literal("supplierMerge"), supplierId: id, intoId: id })
  .transform(({ type: _type, ...merge }): SupplierMerge => merge);

export const supplierMergeJson = (merge: SupplierMerge) => recordJson("supplierMerge", supplierMergeFields, merge);

export const variantInput = fieldRecord<typeof variantFields, Variant>("variant", variantFields, variantInputs);

export const variantJson = (variant: Variant) => recordJson("variant", variantFields, variant);

export const supplierVariantInput = fieldRecord<typeof supplierVariantFields, SupplierVariant>(
  "supplierVariant",
  supplierVariantFields,
  supplierVariantInputs,
);

function detailsFrom(json: string | null): unknown {
  const details: unknown = json === null ? null : JSON.parse(json);
  return details;
}

export const supplierVariantJson = (entry: SupplierVariant) => ({
  ...recordJson("supplierVariant", supplierVariantFields, entry),
  supplierVariantDetails: detailsFrom(entry.supplierVariantDetails),
});

export const inventoryLevelInput = z
  .strictObject({ type: z.literal("inventoryLevel"), variantId: id, locationId: id, onHand: signedQuantity })
  .transform(({ type: _type, ...level }): InventoryLevel => level);

export const inventoryLevelJson = (level: InventoryLevel) => recordJson("inventoryLevel", inventoryLevelFields, level);

export const saleInput = z
  .strictObject({
    type: z.literal("sale"),
    variantId: id,
    locationId: optional(id),
    date: day,
    quantity,
  })
  .transform(({ type: _type, ...sale }): Sale => sale);

export const saleJson = (sale: Sale) => recordJson("sale", saleFields, sale);

export const supplierCreditInput = z
  .strictObject({
    type: z.literal("supplierCredit"),
    creditId: id,
    creditNumber: optional(shortText),
    supplierId: id,
    creditDate: optional(day),
    amount,
    balance: amount.optional(),
    currencyCode,
    reason: optional(textOfLines(noteMax)),
  })
  .check((context) => {
    const { amount, balance } = context.value;
    if (balance !== undefined && balance > amount)
      context.issues.push({ code: "custom", input: balance, path: ["balance"], message: "must not be above amount" });
  })
  .transform(({ type: _type, balance, ...credit }): SupplierCredit => ({
    ...credit,
    balance: balance ?? credit.amount,
  }));

export const supplierCreditJson = (credit: SupplierCredit) => ({
  type: "supplierCredit",
  creditId: credit.creditId,
  creditNumber: credit.creditNumber,
  supplierId: credit.supplierId,
  creditDate: credit.creditDate,
  amount: moneyToNumber(credit.amount),
  balance: moneyToNumber(credit.balance),
  currencyCode: credit.currencyCode,
  reason: credit.reason,
});
