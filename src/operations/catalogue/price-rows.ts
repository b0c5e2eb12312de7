/**
 * Rows of a sheet as entries of a supplier's price list, each by a code that leads to one variant (C82). A dry run says
 * what they would change.
 *
 * Does not own: the fields of an entry (inputs.ts), files with prices (exchange/csv-formats.ts).
 */
import { z } from "zod";
import { Fault, type ValidationDetail } from "../../base/fault.ts";
import { bulkLinesMax } from "../../core/order/purchase-order.ts";
import { valuesFrom, withChanges } from "../../core/order/purchase-order-fields.ts";
import { only } from "../../core/order/guidance.ts";
import { detailsMax } from "../../requests/input.ts";
import { operation } from "../../requests/operation.ts";
import {
  loadVariants,
  priceFields,
  supplierVariantTable,
  type VariantSnapshot,
} from "../../shop/catalogue/catalogue.ts";
import { variantsOfCodes } from "../../shop/catalogue/look-ups.ts";
import { shownChanges } from "../../shop/catalogue/record-log.ts";
import { recordsByKey, replaceRecord } from "../../shop/record-table.ts";
import type { Tx } from "../../store/store.ts";
import { fieldObject } from "../field-members.ts";
import { pathId, shownId, shortTextMax, text } from "../fields.ts";
import { withoutRise } from "./cost-measures.ts";
import { priceInputs, priceRoute, shownEntry, supplierKind } from "./price-list.ts";
import { etagOfRecord, historyStatements, kept, recordFaults, recordOf, requireRecordVersion } from "./records.ts";

const { supplierId: _supplier, variantId: _variant, ...termsFields } = priceFields;
const { supplierId: _inPath, variantId: _byCode, ...termsInputs } = priceInputs;

const rowSchema = z.strictObject({
  code: text(shortTextMax).meta({
    description: "The supplier's SKU or barcode, a barcode, a SKU or an id: of one variant alone.",
    example: "LIG-FIL-250",
  }),
  terms: fieldObject(termsFields, termsInputs, "changes"),
});

/** The variants that each code leads to: whoever's code it is, else as an id. */
async function variantsBy(tx: Tx, shopId: string, supplierId: string, codes: readonly string[]) {
  const led = await variantsOfCodes(tx, shopId, supplierId, codes);
  const variants = await loadVariants(tx, shopId, [...new Set([...led.flat(), ...codes])]);
  return {
    variants,
    led: led.map((variantIds, index) => {
      const code = codes[index] ?? "";
      return variantIds.length === 0 && variants.has(code) ? [code] : variantIds;
    }),
  };
}

/** Variants that a refusal names. */
const variantsNamed = 5;

const nameOf = (variant: Pick<VariantSnapshot, "productName" | "variantName"> | undefined, variantId: string): string =>
  `${[variant?.productName ?? "", variant?.variantName ?? ""].filter((part) => part !== "").join(" · ")} (${shownId(variantId)})`;

/** @throws Fault INVALID_INPUT  codes lead to no variant, to several, or to one that another row has. */
function oneEach(
  codes: readonly string[],
  { led, variants }: Awaited<ReturnType<typeof variantsBy>>,
): readonly string[] {
  const details: ValidationDetail[] = [];
  const rows = new Map<string, string>();
  for (const [index, variantIds] of led.entries()) {
    const [variantId, another] = variantIds;
    const code = codes[index] ?? "";
    const names = variantIds.slice(0, variantsNamed).map((each) => nameOf(variants.get(each), each));
    const message =
      variantId === undefined
        ? "no variant has it"
        : another !== undefined
          ? `is of ${variantIds.length} variants: ${names.join(", ")}; send the id of one`
          : rows.has(variantId)
            ? `is of ${names.join("")}, like ${shownId(rows.get(variantId) ?? "")}`
            : null;
    if (message !== null) details.push({ path: `/rows/${index}/code`, message });
    else if (variantId !== undefined) rows.set(variantId, code);
  }
  const [first] = details;
  if (first !== undefined)
    throw new Fault("INVALID_INPUT", `${first.path}: ${first.message}`, { details: details.slice(0, detailsMax) });
  return [...rows.keys()];
}

const nullable = z.string().nullable();

export const updatePrices = operation({
  ...kept,
  name: "supplier_variant_update",
  title: "Change a price list",
  summary: "Sets terms of a supplier for 1 to 500 variants, all or none.",
  description: `Each row names its variant by a code. Terms that are left out stay. A new entry without a currency has the supplier's.${only("rest", " version names what the entries were: send it as If-Match after a dry run.")}`,
  scope: "write",
  route: { method: "PATCH", path: priceRoute },
  repeat: "safe",
  faults: recordFaults,
  input: z.strictObject({ supplierId: pathId, rows: z.array(rowSchema).min(1).max(bulkLinesMax) }),
  output: z.strictObject({
    entries: z.array(
      z.strictObject({
        variantId: z.string(),
        productName: nullable,
        variantName: nullable,
        action: z.enum(["created", "changed", "unchanged"]),
        changes: z.array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() })),
      }),
    ),
    version: z.string(),
  }),
  run: (call, { supplierId, rows }) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const { currencyCode } = await recordOf(tx, shopId, supplierKind, supplierId);
      const codes = rows.map(({ code }) => code);
      const found = await variantsBy(tx, shopId, supplierId, codes);
      const variantIds = oneEach(codes, found);
      const stored = await recordsByKey(
        tx,
        supplierVariantTable,
        shopId,
        variantIds.map((variantId) => [supplierId, variantId]),
      );
      const byId = new Map(stored.map((entry) => [entry.variantId, entry]));
      const befores = variantIds.map((variantId) => byId.get(variantId) ?? null);
      const version = befores.map((before) => (before === null ? null : shownEntry(before)));
      requireRecordVersion(call, version);
      const made = variantIds.map((variantId, index) => {
        const before = befores[index] ?? null;
        const begun = { unitCostCurrencyCode: currencyCode, supplierId, variantId };
        const { terms = {} } = rows[index] ?? {};
        const next = withChanges(priceFields, before ?? valuesFrom(priceFields, begun), terms);
        const changes = shownChanges(priceFields, before, next);
        const action = before === null ? "created" : changes.length === 0 ? "unchanged" : "changed";
        return { variantId, next, changes, action, details: before?.supplierVariantDetails ?? null } as const;
      });
      await withoutRise(
        tx,
        call,
        () => ({ supplierId, variantIds }),
        () =>
          tx.batch(
            made.flatMap(({ variantId, next, changes, action, details }) =>
              action === "unchanged"
                ? []
                : [
                    replaceRecord(supplierVariantTable, shopId, { ...next, supplierVariantDetails: details }),
                    ...historyStatements(call, "supplier", supplierId, { action, variantId, changes }),
                  ],
            ),
          ),
      );
      return {
        effects: [],
        answer: () => ({
          data: {
            entries: made.map(({ variantId, changes, action }) => {
              const { productName = null, variantName = null } = found.variants.get(variantId) ?? {};
              return { variantId, productName, variantName, action, changes: changes.map((change) => ({ ...change })) };
            }),
            version: etagOfRecord(version),
          },
        }),
      };
    }),
});
