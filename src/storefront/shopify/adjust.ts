/**
 * One `inventoryAdjustQuantities` call: all of its changes are made, or none (Shopify's rule), under a key that Shopify
 * knows for 24 hours.
 *
 * Owns: its input, what its `userErrors` mean, and whether the answer shows what was asked. Does not own: where input
 * and key are kept (on-hand.ts, incoming.ts).
 */
import { createHash } from "node:crypto";
import { hourMs } from "../../base/time/calendar.ts";
import { StorefrontError } from "../storefront.ts";
import type { ShopifyClient } from "./client.ts";
import { adjustDocument, type UserError } from "./documents.ts";

/** Shopify takes at most so many entries in a list. */
export const changesPerCallMax = 250;

/**
 * Time for which a call without an outcome may be repeated. Shopify forgets a key after 24 hours, and a repetition
 * would then be a new change. The hour between is for clocks that differ and a call on its way.
 */
export const keyHoldsMs = 23 * hourMs;

/** Wait that Shopify asks for while another call with the key is under way. */
const concurrentMs = 1_000;

/** One entry of the input. */
export interface AdjustedLevel {
  readonly itemGid: string;
  readonly locationGid: string;
  /** Pieces; not 0. */
  readonly delta: number;
}

/** A key for a call: a UUID made of an id that is never used twice. */
export function keyFrom(id: string): string {
  const hash = createHash("sha256").update(`openpo ${id}`).digest("hex");
  const variant = "89ab".charAt(Number.parseInt(hash.charAt(16), 16) % 4);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}

/** The variables of the call, as they are stored and sent, the key included. */
export const adjustInput = (
  name: "available" | "incoming",
  key: string,
  documentUri: string,
  levels: readonly AdjustedLevel[],
): string =>
  JSON.stringify({
    input: {
      name,
      reason: name === "available" ? "received" : "movement_updated",
      referenceDocumentUri: documentUri,
      changes: levels.map(({ itemGid, locationGid, delta }) => ({
        inventoryItemId: itemGid,
        locationId: locationGid,
        delta,
        // Adds to whatever is there: the number is not ours alone.
        changeFromQuantity: null,
        ...(name === "incoming" ? { ledgerDocumentUri: documentUri } : {}),
      })),
    },
    key,
  });

/** Why an entry was refused. */
export interface RefusedChange {
  readonly reason: string;
  readonly message: string;
}

/**
 * Outcome of the call. `landed`: all of it. `refused`: nothing of it, on account of these entries; the others are sent
 * anew. `renew`: nothing of it, and the same is sent under a new key.
 */
type AdjustOutcome =
  | { readonly kind: "landed"; readonly changedAtMs: number }
  | { readonly kind: "refused"; readonly byIndex: ReadonlyMap<number, RefusedChange> }
  | { readonly kind: "renew" };

/** Input that an answer is held against. */
interface SentInput {
  readonly input: {
    readonly name: string;
    readonly changes: readonly {
      readonly inventoryItemId: string;
      readonly locationId: string;
      readonly delta: number;
    }[];
  };
}

/**
 * Sends the input. It may be sent again, byte by byte, until there is an outcome.
 *
 * @throws StorefrontError without an outcome.
 */
export async function adjust(
  client: ShopifyClient,
  input: string,
  signal: AbortSignal | undefined,
): Promise<AdjustOutcome> {
  const sent: SentInput = JSON.parse(input);
  const { name, changes } = sent.input;
  const { inventoryAdjustQuantities } = await client.ask(adjustDocument, input, {
    writes: true,
    items: changes.length,
    signal,
  });
  const { inventoryAdjustmentGroup: group, userErrors } = inventoryAdjustQuantities;
  if (userErrors.length > 0) return refusal(userErrors, changes.length);
  const isShown = changes.every((change) =>
    group?.changes.some(
      (shown) =>
        shown.name === name &&
        shown.delta === change.delta &&
        shown.item?.id === change.inventoryItemId &&
        shown.location?.id === change.locationId,
    ),
  );
  if (group === null || !isShown)
    throw new StorefrontError("error", "Shopify answered without an error, but its answer does not show the change", {
      landed: "maybe",
    });
  return { kind: "landed", changedAtMs: Date.parse(group.createdAt) };
}

/** Returns the meaning of an answer's errors; with any of them nothing of the call was done. */
function refusal(errors: readonly UserError[], count: number): AdjustOutcome {
  for (const { code, message } of errors)
    switch (code) {
      case "IDEMPOTENCY_CONCURRENT_REQUEST":
        throw new StorefrontError("throttled", "the same call is under way at Shopify", {
          landed: "maybe",
          retryAfterMs: concurrentMs,
        });
      case "IDEMPOTENCY_KEY_PARAMETER_MISMATCH":
        throw new StorefrontError(
          "error",
          "Shopify knows the key of this change with another input. That is a mistake of OpenPO; please report it",
          { landed: "maybe" },
        );
      case "IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED":
        return { kind: "renew" };
      case "ADJUST_QUANTITIES_FAILED":
      case "SERVICE_UNAVAILABLE":
        throw new StorefrontError("error", `Shopify could not make the change for now: ${message}`, { landed: "no" });
      case null:
      default:
    }
  const byIndex = new Map<number, RefusedChange>();
  const ofAll: RefusedChange[] = [];
  for (const error of errors) {
    const index = indexIn(error);
    const refused = { reason: reasons[error.code ?? ""] ?? "refused", message: error.message };
    if (index === null || index >= count) ofAll.push(refused);
    else if (!byIndex.has(index)) byIndex.set(index, refused);
  }
  // Without an entry that is named, it is about each of them.
  const [every] = ofAll;
  if (every !== undefined)
    for (let index = 0; index < count; index += 1) if (!byIndex.has(index)) byIndex.set(index, every);
  return { kind: "refused", byIndex };
}

/** The entry that an error names: `["input", "changes", "71", "inventoryItemId"]`. */
function indexIn({ field }: UserError): number | null {
  const index = field?.[field.indexOf("changes") + 1] ?? "";
  return field?.includes("changes") === true && /^\d{1,6}$/.test(index) ? Number(index) : null;
}

const reasons: Readonly<Record<string, string>> = {
  INVALID_INVENTORY_ITEM: "deleted",
  NON_MUTABLE_INVENTORY_ITEM: "unsyncable",
  ITEM_NOT_STOCKED_AT_LOCATION: "not-stocked",
  INVALID_LOCATION: "unknown-location",
  INVALID_QUANTITY_TOO_HIGH: "too-much",
  INVALID_QUANTITY_TOO_LOW: "too-little",
};
