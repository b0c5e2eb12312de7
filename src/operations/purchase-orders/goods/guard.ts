/**
 * The inventory guard: no call touches stock of a variant that is not active at the storefront, unless its caller says
 * what to do (spec "Rules attached to the endpoints" 5; C44).
 *
 * Owns: looking variants up, activating them, and the refusal. Does not own: the verdict (core/goods/guard.ts).
 */
import { mention, only } from "../../../core/order/guidance.ts";
import { z } from "zod";
import { Fault, type GuardDetail } from "../../../base/fault.ts";
import { type GuardVerdict, guardVerdict, type Resolution, type VariantStanding } from "../../../core/goods/guard.ts";
import { isUnknownVariant, codeText } from "../../../core/order/advice/warnings.ts";
import { isCustom } from "../../../core/order/lines.ts";
import { type LineItem, linesPerOrderMax } from "../../../core/order/purchase-order.ts";
import { StorefrontError } from "../../../storefront/storefront.ts";
import { noRepeats } from "../../fields.ts";
import type { Call } from "../../../requests/operation.ts";
import { withinLimit } from "../../../requests/write/upstream-time-limit.ts";
import { lineItemId } from "../json.ts";
import { variantsByCode } from "../warnings.ts";

/** The input schema of `resolutions[]`. */
export const resolutions = z
  .array(
    z.strictObject({
      itemId: lineItemId.meta({ description: only("rest", "Id of the line item, not of the variant.") }),
      action: z.enum(["activate", "skip"]).meta({
        description: `${only("rest", "`activate` makes the variant active again; `skip` goes on without the storefront for this line.")}${only("mcp", "skip: without the storefront.")}`,
      }),
    }),
  )
  .max(linesPerOrderMax)
  .check(noRepeats((resolution) => resolution.itemId, "itemId"))
  .meta({ description: "Answers to INVENTORY_GUARD_ISSUES." });

/** Further faults of a call whose input has `resolutions`. */
export const guardFaults = ["INVENTORY_GUARD_ISSUES", "UPSTREAM_STOREFRONT", "TIMEOUT"] as const;

/** A line as the guard sees it. */
type GuardedLine = Pick<LineItem, "poLineItemId" | "variantId" | "productName">;

/** Findings of the guard, for the decision that follows. */
export interface GuardFacts {
  /** Lines to record without telling the storefront in this call. */
  readonly skippedLineItemIds: ReadonlySet<string>;
  /** Variants of the skipped lines. */
  readonly skippedVariantIds: ReadonlySet<string>;
}

/** Nothing was looked up, since nothing would be touched. */
export const noGuard: GuardFacts = { skippedLineItemIds: new Set(), skippedVariantIds: new Set() };

/**
 * Looks all variants of the lines up at once and makes sure that each is active or resolved. Activates those that the
 * caller wants active and looks them up again. Changes nothing in the shop, and nothing at the storefront while an
 * issue is left.
 *
 * Call it after the order's state was checked and before any change, never inside a transaction of the shop (S5).
 *
 * @param lineItems the lines that the call touches; custom ones are exempt.
 * @throws Fault INVENTORY_GUARD_ISSUES        some variants are not active and not resolved; `details` lists just
 *                                             those.
 * @throws Fault UPSTREAM_STOREFRONT, TIMEOUT  the storefront could not be asked.
 */
export async function guard(
  call: Pick<Call, "storefront" | "read" | "shop">,
  lineItems: readonly GuardedLine[],
  resolutions: readonly Resolution[],
): Promise<GuardFacts> {
  const variantIds = [...new Set(lineItems.filter((line) => !isCustom(line)).map((line) => line.variantId))];
  if (variantIds.length === 0) return noGuard;
  const standings = await ask("look variants up", () => variantStandings(call, variantIds));
  const { issues, activateVariantIds, skippedLineItemIds } = guardVerdict(lineItems, standings, resolutions);
  await refuse(issues, lineItems, call);
  if (activateVariantIds.length > 0) {
    await ask("activate variants", () =>
      withinLimit((signal) => call.storefront.activateVariants(activateVariantIds, { signal })),
    );
    const after = await ask("look variants up", () => variantStandings(call, activateVariantIds));
    const activated = lineItems.filter(
      (line) => after.has(line.variantId) && !skippedLineItemIds.has(line.poLineItemId),
    );
    await refuse(guardVerdict(activated, after, []).issues, lineItems, call);
  }
  const skipped = lineItems.filter((line) => skippedLineItemIds.has(line.poLineItemId));
  return { skippedLineItemIds, skippedVariantIds: new Set(skipped.map((line) => line.variantId)) };
}

/**
 * Returns the present standing of each of these variants at the storefront.
 *
 * @throws StorefrontError  the storefront could not be asked.
 */
export async function variantStandings(
  call: Pick<Call, "storefront">,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantStanding>> {
  const standings = await withinLimit((signal) => call.storefront.checkVariants(variantIds, { signal }));
  return new Map(variantIds.map((variantId, index) => [variantId, standings[index] ?? "deleted"]));
}

/**
 * Makes a call of the storefront; its error becomes the caller's fault: 504 when there was no answer in time, else 502.
 */
async function ask<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    throw new Fault(
      error.kind === "timeout" ? "TIMEOUT" : "UPSTREAM_STOREFRONT",
      `The storefront could not ${doing}: ${error.message}. The order was not changed.`,
      {
        action: "Repeat the call in a moment.",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      },
    );
  }
}

const unknownAdvice = `An unknown id may be mistyped, or an SKU: ${only("mcp", "find the variant with variant_search and ")}put a line with the right one in its place. `;

/** Issues that the message spells out; `details` has them all. */
const namedIssuesMax = 5;

async function refuse(
  issues: GuardVerdict["issues"],
  lineItems: readonly GuardedLine[],
  { storefront, shop, read }: Pick<Call, "storefront" | "read" | "shop">,
): Promise<void> {
  if (issues.length === 0) return;
  // Nobody has deleted what never was.
  const unknown = lineItems.filter(isUnknownVariant);
  const unknownIds = new Set(unknown.map(({ variantId }) => variantId));
  const isUnknown = ({ issue, variantId }: GuardDetail): boolean => issue === "deleted" && unknownIds.has(variantId);
  const shown = issues.slice(0, namedIssuesMax);
  const inQuestion = unknown.filter(({ variantId }) => shown.some((issue) => issue.variantId === variantId));
  const byCode =
    inQuestion.length === 0 ? new Map() : await read((tx) => variantsByCode(tx, shop.shopId, null, inQuestion));
  const named = shown.map((issue) => {
    if (!isUnknown(issue)) return `${issue.variantId} is ${issue.issue}`;
    const code = codeText(byCode, issue.variantId);
    return `${issue.variantId} is unknown${code === "" ? "" : ` (${code})`}`;
  });
  const more = issues.length > namedIssuesMax ? `, and ${issues.length - namedIssuesMax} more` : "";
  const siblings =
    storefront.capabilities.activates === "product" && issues.some((each) => each.allowedActions.includes("activate"))
      ? " On this storefront activate makes every variant of the product active."
      : "";
  throw new Fault(
    "INVENTORY_GUARD_ISSUES",
    `INVENTORY_GUARD_ISSUES: ${issues.length} line item(s) have a variant that is not active on the storefront: ${named.join(", ")}${more}. The order was not changed.`,
    {
      action: `${issues.some(isUnknown) ? unknownAdvice : ""}Repeat the call with resolutions: [{ ${mention("resolvedLineId")}, action }] for each of details, action one of its allowedActions.${siblings}`,
      details: issues,
    },
  );
}

/** The change is about lines that were added after the guard looked the variants up; nothing was changed. */
export class LinesAdded extends Error {
  override readonly name = "LinesAdded";
}

/** Attempts to guard an order's lines and then change it. Another one follows while lines are added in between. */
const guardAttemptsMax = 3;

const linesAddedRetryAfterMs = 1_000;

/**
 * Makes an attempt that asks the guard and then changes the order. Repeats it when it ends in `LinesAdded`.
 *
 * @throws Fault DO_OVERLOADED  lines were added during every attempt.
 */
export async function untilAllLinesAreGuarded<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; attempts <= guardAttemptsMax; attempts += 1)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LinesAdded)) throw error;
    }
  throw new Fault("DO_OVERLOADED", "Lines kept being added to the order while its variants were checked.", {
    action: "Repeat the call once the order's lines are complete.",
    retryAfterMs: linesAddedRetryAfterMs,
  });
}
