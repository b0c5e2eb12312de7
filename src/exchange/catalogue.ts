/**
 * Import and export records (contract §8): one JSON object a line, `type` first.
 *
 * Owns: what each type of record looks like, from JSON to stored values and back, so that import(export(x)) = x. Does not own:
 * lines, chunks and transactions (import.ts, export.ts) or SQL (shop/catalogue.ts, shop/purchase-orders.ts).
 *
 * A record has the fields that the API returns for it. Nullable fields may be left out; fields that follow from others (`totalValue`,
 * `quantityPending`, `supplierName`, …) may be there and are computed anew. Unknown fields are refused.
 */
import { z } from "zod";
import type { SupplierCredit } from "../core/attachments.ts";
import { moneyToNumber, quantityToNumber } from "../core/money.ts";
import {
  address,
  addressJson,
  amount,
  currencyCode,
  day,
  id,
  leadTimeDays,
  moneyOrNull,
  noteMax,
  productNameMax,
  quantity,
  quantityOrNull,
  supplierVariantDetailsMax,
  text,
  unitCost,
} from "../operations/fields.ts";
import { supplierInput } from "../operations/purchase-orders/json.ts";
import {
  type InventoryLevel,
  type Location,
  type Sale,
  type Supplier,
  type SupplierVariant,
  type Variant,
  variantStatuses,
} from "../shop/catalogue.ts";
import { optional, shortText, signedQuantity } from "./record-type.ts";

// Reference data.

export const locationInput = z
  .strictObject({ type: z.literal("location"), locationId: id, name: shortText, address: optional(address) })
  .transform(({ type: _type, ...location }): Location => location);

export const locationJson = (location: Location) => ({
  type: "location",
  locationId: location.locationId,
  name: location.name,
  address: addressJson(location.address),
});

export const supplierRecordInput = z
  .strictObject({
    type: z.literal("supplier"),
    supplierId: id,
    name: shortText,
    email: optional(shortText),
    currencyCode: optional(currencyCode),
    leadTimeDays: optional(leadTimeDays),
    address: optional(address),
  })
  .transform(({ type: _type, ...supplier }): Supplier => supplier);

export const supplierJson = (supplier: Supplier) => ({
  type: "supplier",
  supplierId: supplier.supplierId,
  name: supplier.name,
  email: supplier.email,
  currencyCode: supplier.currencyCode,
  leadTimeDays: supplier.leadTimeDays,
  address: addressJson(supplier.address),
});

export const variantInput = z
  .strictObject({
    type: z.literal("variant"),
    variantId: id,
    productId: id,
    productName: text(productNameMax),
    variantName: optional(text(productNameMax)),
    sku: optional(shortText),
    barcode: optional(shortText),
    unitCost: optional(unitCost),
    price: optional(unitCost),
    status: z.enum(variantStatuses).default("active"),
  })
  .transform(({ type: _type, ...variant }): Variant => variant);

export const variantJson = (variant: Variant) => ({
  type: "variant",
  variantId: variant.variantId,
  productId: variant.productId,
  productName: variant.productName,
  variantName: variant.variantName,
  sku: variant.sku,
  barcode: variant.barcode,
  unitCost: moneyOrNull(variant.unitCost),
  price: moneyOrNull(variant.price),
  status: variant.status,
});

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
  .transform((entry): SupplierVariant => ({
    supplierId: entry.supplierId,
    variantId: entry.variantId,
    unitCost: entry.unitCost,
    unitCostCurrencyCode: entry.unitCostCurrencyCode,
    supplierSku: entry.supplierSku ?? null,
    supplierBarcode: entry.supplierBarcode ?? null,
    supplierProductName: entry.supplierProductName ?? null,
    supplierProductUrl: entry.supplierProductUrl ?? null,
    supplierVariantDetails: entry.supplierVariantDetails,
    moq: entry.moq ?? null,
    packSize: entry.packSize ?? null,
    leadTimeDays: entry.leadTimeDays ?? null,
  }));

function detailsFrom(json: string | null): unknown {
  const details: unknown = json === null ? null : JSON.parse(json);
  return details;
}

export const supplierVariantJson = (entry: SupplierVariant) => ({
  type: "supplierVariant",
  supplierId: entry.supplierId,
  variantId: entry.variantId,
  unitCost: moneyOrNull(entry.unitCost),
  unitCostCurrencyCode: entry.unitCostCurrencyCode,
  supplierSku: entry.supplierSku,
  supplierBarcode: entry.supplierBarcode,
  supplierProductName: entry.supplierProductName,
  supplierProductUrl: entry.supplierProductUrl,
  supplierVariantDetails: detailsFrom(entry.supplierVariantDetails),
  moq: quantityOrNull(entry.moq),
  packSize: quantityOrNull(entry.packSize),
  leadTimeDays: entry.leadTimeDays,
});

export const inventoryLevelInput = z
  .strictObject({ type: z.literal("inventoryLevel"), variantId: id, locationId: id, onHand: signedQuantity })
  .transform(({ type: _type, ...level }): InventoryLevel => level);

export const inventoryLevelJson = (level: InventoryLevel) => ({
  type: "inventoryLevel",
  variantId: level.variantId,
  locationId: level.locationId,
  onHand: quantityToNumber(level.onHand),
});

export const saleInput = z
  .strictObject({
    type: z.literal("sale"),
    variantId: id,
    locationId: optional(id),
    date: day,
    quantity,
  })
  .transform(({ type: _type, ...sale }): Sale => sale);

export const saleJson = (sale: Sale) => ({
  type: "sale",
  variantId: sale.variantId,
  locationId: sale.locationId,
  date: sale.date,
  quantity: quantityToNumber(sale.quantity),
});

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
    reason: optional(text(noteMax)),
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
