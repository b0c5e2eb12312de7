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
import { valuesFrom } from "../../core/order/purchase-order-fields.ts";
import {
  codeText,
  address,
  amount,
  currencyCode,
  day,
  id,
  leadTimeDays,
  mailAddresses,
  noteMax,
  productNameMax,
  quantity,
  supplierVariantDetailsMax,
  text,
  textOfLines,
  unitCost,
} from "../../operations/fields.ts";
import { supplierInput } from "../../operations/purchase-orders/json.ts";
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
  variantStatuses,
} from "../../shop/catalogue/catalogue.ts";
import { optional, recordJson, shortText, signedQuantity } from "../record-type.ts";

export const locationInput = z
  .strictObject({ type: z.literal("location"), locationId: id, name: shortText, address: optional(address) })
  .transform(({ type: _type, ...location }): Location => location);

export const locationJson = (location: Location) => recordJson("location", locationFields, location);

export const supplierRecordInput = z
  .strictObject({
    type: z.literal("supplier"),
    supplierId: id,
    name: shortText,
    email: optional(mailAddresses),
    phone: optional(shortText),
    contactName: optional(shortText),
    currencyCode: optional(currencyCode),
    leadTimeDays: optional(leadTimeDays),
    paymentTerms: optional(shortText),
    incoterm: optional(shortText),
    address: optional(address),
  })
  .transform(({ type: _type, ...supplier }): Supplier => supplier);

export const supplierJson = (supplier: Supplier) => recordJson("supplier", supplierRecordFields, supplier);

export const variantInput = z
  .strictObject({
    type: z.literal("variant"),
    variantId: id,
    productId: id,
    productName: text(productNameMax),
    variantName: optional(text(productNameMax)),
    sku: optional(codeText),
    barcode: optional(codeText),
    unitCost: optional(unitCost),
    price: optional(unitCost),
    status: z.enum(variantStatuses).default("active"),
  })
  .transform(({ type: _type, ...variant }): Variant => variant);

export const variantJson = (variant: Variant) => recordJson("variant", variantFields, variant);

export const supplierVariantInput = z
  .strictObject({
    type: z.literal("supplierVariant"),
    supplierId: id,
    variantId: id,
    unitCost: optional(unitCost),
    unitCostCurrencyCode: optional(currencyCode),
    ...supplierInput,
    supplierVariantDetails: optional(z.unknown()).transform((details, context): string | null => {
      const json = details === null ? null : JSON.stringify(details);
      if (json === null || json.length <= supplierVariantDetailsMax) return json;
      context.addIssue({ code: "custom", message: `must be at most ${supplierVariantDetailsMax} characters of JSON` });
      return z.NEVER;
    }),
  })
  .transform((entry): SupplierVariant => valuesFrom(supplierVariantFields, entry));

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
