/**
 * Looking up variants of the catalogue with their stock and a supplier's terms: a tool without a path on REST (C68).
 */
import { z } from "zod";
import type { ShopFacts } from "../../core/order/purchase-order.ts";
import { quantityToNumber, moneyToNumberOrNull, quantityToNumberOrNull } from "../../core/money/money.ts";
import { compareText } from "../../base/text/compare-text.ts";
import { costInShopCurrency } from "../../core/forecast/forecast.ts";
import {
  type SupplierEntry,
  type Variant,
  loadSupplierEntries,
  variantStatuses,
} from "../../shop/catalogue/catalogue.ts";
import { presentSupplierId } from "../../shop/catalogue/supplier-merges.ts";
import { type Level, loadLevels, lookUpVariants } from "../../shop/catalogue/look-ups.ts";
import { hasMoreRows } from "../../shop/size.ts";
import { rowsOnLoopMax } from "../../requests/loop-limits.ts";
import { cursor, id, limit, pageShape, shortTextMax, soughtText } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { toolSets } from "../../requests/tool-sets.ts";
import { lookUpInput, lookUpPage, lookUpTool } from "./tool.ts";

const code = (description: string) => soughtText(shortTextMax).optional().meta({ description });

/** Suppliers that a variant is shown with. */
const suppliersShownMax = 20;

const termsSchema = z.strictObject({
  unitCost: z.number().nullable(),
  unitCostCurrencyCode: z.string(),
  supplierSku: z.string().nullable(),
  supplierBarcode: z.string().nullable(),
  moq: z.number().nullable(),
  packSize: z.number().nullable(),
  leadTimeDays: z.int().nullable(),
});

export const foundVariantSchema = z.strictObject({
  variantId: z.string(),
  productId: z.string(),
  productName: z.string(),
  variantName: z.string().nullable(),
  sku: z.string().nullable(),
  barcode: z.string().nullable(),
  status: z.enum(variantStatuses),
  price: z.number().nullable(),
  unitCost: z.number().nullable(),
  imageUrl: z.string().nullable(),
  levels: z.array(z.strictObject({ locationId: z.string(), onHand: z.number(), incoming: z.number() })),
  suppliers: z
    .array(z.strictObject({ supplierId: z.string(), supplierName: z.string().nullable(), terms: termsSchema }))
    .meta({ description: `Up to ${suppliersShownMax}, cheapest first.` }),
  terms: termsSchema
    .optional()
    .meta({ description: "With supplierId: that supplier's terms, named as on an order's line." }),
});

const termsJson = (entry: SupplierEntry, shopCurrencyCode: string): z.output<typeof termsSchema> => ({
  unitCost: moneyToNumberOrNull(entry.unitCost),
  unitCostCurrencyCode: entry.unitCostCurrencyCode ?? shopCurrencyCode,
  supplierSku: entry.supplierSku,
  supplierBarcode: entry.supplierBarcode,
  moq: quantityToNumberOrNull(entry.moq),
  packSize: quantityToNumberOrNull(entry.packSize),
  leadTimeDays: entry.leadTimeDays,
});

/**
 * The cheapest in the shop's currency first; last those without a cost or a rate. Of equal ones the lower supplier id
 * comes first.
 */
function byCost(
  entries: readonly SupplierEntry[],
  { currencyCode, fxRates }: Pick<ShopFacts, "currencyCode" | "fxRates">,
): readonly SupplierEntry[] {
  const costOf = ({ unitCost, unitCostCurrencyCode }: SupplierEntry): number =>
    costInShopCurrency({ unitCost, currencyCode: unitCostCurrencyCode ?? currencyCode }, { currencyCode, fxRates }) ??
    Number.MAX_SAFE_INTEGER;
  return entries
    .map((entry) => ({ entry, cost: costOf(entry) }))
    .sort((a, b) => a.cost - b.cost || compareText(a.entry.supplierId, b.entry.supplierId))
    .map(({ entry }) => entry);
}

const variantJson = (variant: Variant, levels: readonly Level[]) => ({
  variantId: variant.variantId,
  productId: variant.productId,
  productName: variant.productName,
  variantName: variant.variantName,
  sku: variant.sku,
  barcode: variant.barcode,
  status: variant.status,
  price: moneyToNumberOrNull(variant.price),
  unitCost: moneyToNumberOrNull(variant.unitCost),
  imageUrl: variant.imageUrl,
  levels: levels.map(({ locationId, onHand, incoming }) => ({
    locationId,
    onHand: quantityToNumber(onHand),
    incoming: quantityToNumber(incoming),
  })),
});

export const searchVariants = operation({
  ...lookUpTool,
  name: "variant_search",
  toolSets,
  title: "Look up variants",
  summary: "Variants by name, SKU or barcode, with stock and a supplier's terms.",
  description:
    "price and unitCost are in the shop's currency. incoming is what open orders still bring. With supplierId: only variants of that supplier, each with its terms.",
  faults: [],
  input: z
    .strictObject({
      ...lookUpInput,
      search: lookUpInput.search.meta({
        description: "Words, each in the names, SKU, barcode, or a supplier's SKU, barcode or name.",
      }),
      sku: code("The whole SKU; case does not matter."),
      barcode: code("The whole barcode."),
      supplierId: id.optional(),
      limit,
      cursor,
    })
    .meta({ example: { search: "espresso", limit: 10 } }),
  output: z.strictObject({ variants: z.array(foundVariantSchema), ...pageShape }),
  async run(call, input) {
    const { shopId, currencyCode } = call.shop;
    const { search = null, ids = null, sku = null, barcode = null } = input;
    const byKey = ids ?? sku ?? barcode;
    const { rows, page } = await lookUpPage(call, input, async (tx, after, max) => {
      if (byKey === null && (await hasMoreRows(tx, "variant", shopId, rowsOnLoopMax))) call.leaveLoop();
      const supplierId = input.supplierId === undefined ? null : await presentSupplierId(tx, shopId, input.supplierId);
      const found = await lookUpVariants(tx, shopId, { search, ids, sku, barcode, supplierId }, after, max);
      const variantIds = found.rows.map((variant) => variant.variantId);
      const [levels, entries] = await Promise.all([
        loadLevels(tx, shopId, variantIds),
        loadSupplierEntries(tx, shopId, variantIds),
      ]);
      const shown = found.rows.map((variant): z.output<typeof foundVariantSchema> => {
        const cheapestFirst = byCost(entries.get(variant.variantId) ?? [], call.shop);
        const own = cheapestFirst.find((entry) => entry.supplierId === supplierId);
        return {
          ...variantJson(variant, levels.get(variant.variantId) ?? []),
          suppliers: cheapestFirst.slice(0, suppliersShownMax).map((entry) => ({
            supplierId: entry.supplierId,
            supplierName: entry.supplierName,
            terms: termsJson(entry, currencyCode),
          })),
          ...(own === undefined ? {} : { terms: termsJson(own, currencyCode) }),
        };
      });
      return { ...found, rows: shown };
    });
    return { data: { variants: [...rows], ...page } };
  },
});
