/** Limits of a key or connection as they are sent and shown (C78). */
import { z } from "zod";
import { percentToNumber } from "../../core/access/cost-rises.ts";
import type { KeyLimits } from "../../core/access/limits.ts";
import { amount, id, noRepeats, quantity } from "../../operations/fields.ts";
import { moneyToNumberOrNull } from "../../core/money/money.ts";

/** Suppliers, and locations, that the limits of a key may name. */
export const limitIdsMax = 100;

const limitIds = z
  .array(id)
  .min(1)
  .max(limitIdsMax)
  .check(noRepeats((each) => each));

const beyondLimits = ["ask", "refuse"] as const;

/** Limits as they are sent, replaced as a whole (C78). */
export const limitsInput = z
  .strictObject({
    orderValueMax: amount.nullable().default(null),
    dayValueMax: amount.nullable().default(null),
    monthValueMax: amount.nullable().default(null),
    unitCostRisePercentMax: quantity
      .nullable()
      .default(null)
      .meta({ description: "Percent by which a line's cost may be above what is known of it; at most 3 decimals." }),
    supplierIds: limitIds.nullable().default(null),
    locationIds: limitIds.nullable().default(null),
    beyond: z
      .enum(beyondLimits)
      .default("ask")
      .meta({ description: "`ask`: a person decides; `refuse`: it is refused." }),
  })
  .check((context) => {
    const { beyond: _beyond, ...limits } = context.value;
    if (Object.values(limits).every((limit) => limit === null))
      context.issues.push({ code: "custom", input: context.value, path: [], message: "names no limit" });
  })
  .meta({ description: "In the shop's currency; a maximum itself is within. Counted from when the key has limits." });

export const limitsSchema = z.strictObject({
  orderValueMax: z.number().nullable(),
  dayValueMax: z.number().nullable(),
  monthValueMax: z.number().nullable(),
  unitCostRisePercentMax: z.number().nullable(),
  supplierIds: z.array(z.string()).nullable(),
  locationIds: z.array(z.string()).nullable(),
  beyond: z.enum(beyondLimits),
});

export const limitsJson = (limits: KeyLimits | null): z.output<typeof limitsSchema> | null =>
  limits === null
    ? null
    : {
        orderValueMax: moneyToNumberOrNull(limits.orderValueMax),
        dayValueMax: moneyToNumberOrNull(limits.dayValueMax),
        monthValueMax: moneyToNumberOrNull(limits.monthValueMax),
        unitCostRisePercentMax:
          limits.unitCostRisePercentMax === null ? null : percentToNumber(limits.unitCostRisePercentMax),
        supplierIds: limits.supplierIds === null ? null : [...limits.supplierIds],
        locationIds: limits.locationIds === null ? null : [...limits.locationIds],
        beyond: limits.beyond,
      };
