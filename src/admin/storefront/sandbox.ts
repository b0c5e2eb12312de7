/** The sandbox storefront of a shop: its state, changes to it, and the faults that it makes. */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { moneyToNumber, quantityToNumber } from "../../core/money/money.ts";
import { id, pathId, quantity, shownId, unitCost } from "../../operations/fields.ts";
import { variantStatuses } from "../../shop/catalogue/catalogue.ts";
import { sandboxCalls, sandboxFaultOutcomes } from "../../storefront/sandbox/faults.ts";
import type { SandboxControl, SandboxVariant } from "../../storefront/sandbox/control.ts";
import { type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";

const faultDelayMsMax = 600_000;

const faultsMax = 100;

const variantIdsMax = 500;

const levelsMax = 1_000;

const sandboxVariantSchema = z.strictObject({
  variantId: z.string(),
  status: z.enum(variantStatuses),
  unitCost: z.number().nullable(),
  tags: z.array(z.string()),
  levels: z.array(z.strictObject({ locationId: z.string(), onHand: z.number(), incoming: z.number() })),
});

const sandboxVariantJson = (variant: SandboxVariant) => ({
  variantId: variant.variantId,
  status: variant.status,
  unitCost: variant.unitCost === null ? null : moneyToNumber(variant.unitCost),
  tags: variant.tags,
  levels: variant.levels.map((level) => ({
    locationId: level.locationId,
    onHand: quantityToNumber(level.onHand),
    incoming: quantityToNumber(level.incoming),
  })),
});

/** @throws Fault INVALID_INPUT when the shop is on another storefront. */
async function sandboxOf(context: AdminContext, id: string): Promise<SandboxControl> {
  const shop = await context.engine.read(id, (tx) => shopOf(tx, id));
  if (shop.storefront.kind !== "sandbox")
    throw new Fault("INVALID_INPUT", `Shop ${id} is on the storefront ${shop.storefront.kind}, not on the sandbox.`);
  return context.sandboxOf(id);
}

export const sandboxState = operation({
  name: "sandbox_get",
  route: { method: "GET", path: "/shops/{shopId}/sandbox" },
  describes: {
    summary: "What the sandbox holds, and how often each of its calls was made.",
    description: "Variants with status, cost, tags and stock by location. `calls` counts them by name.",
    output: z.strictObject({
      variants: z.array(sandboxVariantSchema),
      calls: z.partialRecord(z.enum(sandboxCalls), z.int()),
    }),
  },
  input: z.strictObject({
    ...inShop,
    variantIds: z.array(id).max(variantIdsMax).optional().meta({ query: "list", description: "Only these variants." }),
  }),
  async run(context, { shopId: id, variantIds }) {
    const sandbox = await sandboxOf(context, id);
    const { variants, calls } = await sandbox.state(variantIds ?? null);
    return data({ variants: variants.map(sandboxVariantJson), calls });
  },
});

export const patchSandboxVariant = operation({
  name: "sandbox_variant_patch",
  route: { method: "PATCH", path: "/shops/{shopId}/sandbox/variants/{variantId}" },
  describes: {
    summary: "Changes a variant of the sandbox.",
    description: "For rehearsals: what is sent is set at the built-in storefront, as if somebody had changed it there.",
    output: z.strictObject({ variant: sandboxVariantSchema }),
  },
  input: z.strictObject({
    ...inShop,
    variantId: pathId,
    status: z.enum(variantStatuses).optional(),
    unitCost: unitCost.nullable().optional(),
    levels: z
      .array(z.strictObject({ locationId: id, onHand: quantity.optional(), incoming: quantity.optional() }))
      .max(levelsMax)
      .optional(),
  }),
  async run(context, { shopId: id, variantId, ...patch }) {
    const sandbox = await sandboxOf(context, id);
    const variant = await sandbox.patchVariant(variantId, patch);
    if (variant === null)
      throw new Fault("NOT_FOUND", `The sandbox of shop ${id} has no variant ${shownId(variantId)}.`, {
        action: "Import the variant first.",
      });
    return data({ variant: sandboxVariantJson(variant) });
  },
});

export const putSandboxFaults = operation({
  name: "sandbox_faults_put",
  route: { method: "PUT", path: "/shops/{shopId}/sandbox/faults" },
  describes: {
    summary: "Tells the sandbox how slow it is and how it fails, in place of what it was told before.",
    description:
      "For rehearsals: delays, errors, timeouts, refusals and lost answers of the built-in storefront, by its call and by variant. What is left out is none.",
    output: z.looseObject({ latencyMs: z.int(), applyDelayMs: z.int() }),
  },
  input: z.strictObject({
    ...inShop,
    latencyMs: z.int().min(0).max(faultDelayMsMax).default(0),
    applyDelayMs: z.int().min(0).max(faultDelayMsMax).default(0),
    faults: z
      .array(
        z.strictObject({
          call: z.enum([...sandboxCalls, "*"]),
          outcome: z.enum(sandboxFaultOutcomes),
          variantIds: z.array(id).min(1).max(variantIdsMax).nullable().default(null),
          times: z.int().min(1).nullable().default(null),
        }),
      )
      .max(faultsMax)
      .default([]),
  }),
  /** Replaces delays and all faults; what is left out is none. */
  async run(context, { shopId: id, ...faults }) {
    const sandbox = await sandboxOf(context, id);
    await sandbox.replaceFaults(faults);
    return data(faults);
  },
});
