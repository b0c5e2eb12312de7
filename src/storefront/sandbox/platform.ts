/** Calls of the sandbox: those of the port on the rows of state.ts, with one result per item (F2). */
import { asMoney, type Money, type Quantity } from "../../core/money/money.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Statement, Tx } from "../../store/store.ts";
import {
  type ItemResult,
  type OnHandChange,
  type Storefront,
  StorefrontError,
  type VariantState,
  type WriteContext,
} from "../storefront.ts";
import type { SandboxCalls } from "./calls.ts";
import type { CallFaults, SandboxCall } from "./faults.ts";
import {
  addOnHand,
  type ChangeRow,
  costStatement,
  idsOf,
  keepChange,
  loadChanges,
  loadLevels,
  loadTags,
  loadVariants,
  seedVariant,
  setLevel,
  statusStatement,
  tagStatement,
  type VariantRow,
} from "./state.ts";
import { levelKey } from "../../core/goods/incoming.ts";

/** Where and when a call works. */
interface CallContext {
  readonly tx: Tx;
  readonly shopId: string;
  readonly nowMs: number;
  /** Found in the round trip of the call's own loads. The call changes nothing before it has them. */
  readonly faults: Promise<CallFaults>;
}

interface VariantItem {
  readonly variantId: string;
}

/** The port's side of the sandbox. A call without items is not made: it is not counted and cannot fail. */
export function createPlatform(calls: SandboxCalls, shopId: string, clock: Clock): Storefront {
  const callOf =
    (writes: boolean) =>
    async <Item extends VariantItem, Result>(
      name: SandboxCall,
      items: readonly Item[],
      signal: AbortSignal | undefined,
      work: (context: CallContext, items: readonly Item[]) => Promise<Result[]>,
    ): Promise<Result[]> => {
      if (items.length === 0) return [];
      return await calls.run({ name, variantIds: idsOf(items), writes, signal }, (tx, faults) =>
        work({ tx, shopId, nowMs: clock.now(), faults }, items),
      );
    };
  const read = callOf(false);
  const write = callOf(true);
  return {
    capabilities: { stockWrite: "delta", wholeQuantitiesOnly: false, incoming: true, activates: "variant" },
    ownStock: {
      putVariants: (variants) => calls.upkeep((tx) => tx.batch(variants.map((each) => seedVariant(shopId, each)))),
    },
    checkVariants: (variantIds, context) => read("checkVariants", itemsOf(variantIds), context?.signal, variantStates),
    activateVariants: (variantIds, context) =>
      write("activateVariants", itemsOf(variantIds), context?.signal, activateVariants),
    changeOnHand: (changes, context) =>
      write("changeOnHand", changes, context.signal, (call) => changeOnHand(call, changes, context)),
    readOnHand: (changes, context) =>
      read("readOnHand", changes, context.signal, (call) => readOnHand(call, changes, context)),
    setIncoming: (levels, context) => write("setIncoming", levels, context.signal, setIncoming),
    writeCosts: (costs, context) => write("writeCosts", costs, context.signal, writeCosts),
    readCosts: (variantIds, context) => read("readCosts", itemsOf(variantIds), context?.signal, readCosts),
    setTags: (changes, context) => write("setTags", changes, context.signal, setTags),
  };
}

const itemsOf = (variantIds: readonly string[]): readonly VariantItem[] =>
  variantIds.map((variantId) => ({ variantId }));

async function variantStates(
  { tx, shopId, faults: finding }: CallContext,
  items: readonly VariantItem[],
): Promise<VariantState[]> {
  const [variants, faults] = await Promise.all([loadVariants(tx, shopId, idsOf(items)), finding]);
  return items.map(({ variantId }) =>
    faults.isRefused(variantId) ? "unsyncable" : (variants.get(variantId)?.status ?? "deleted"),
  );
}

async function readCosts(
  { tx, shopId, faults: finding }: CallContext,
  items: readonly VariantItem[],
): Promise<(Money | null)[]> {
  const [variants, faults] = await Promise.all([loadVariants(tx, shopId, idsOf(items)), finding]);
  return items.map(({ variantId }) => {
    const variant = variants.get(variantId);
    if (variant === undefined || variant.status === "deleted" || faults.isRefused(variantId)) return null;
    return variant.unit_cost === null ? null : asMoney(variant.unit_cost);
  });
}

/** Step for an item: a statement that applies it, or the result without one. */
type Step = Statement | ItemResult;

/**
 * Rejects refused items, decides about each other item, and applies what was decided.
 *
 * @param loading what the decisions need beside the variants.
 */
async function writeEach<Item extends VariantItem, Loaded>(
  { tx, shopId, faults: finding }: CallContext,
  items: readonly Item[],
  loading: Promise<Loaded>,
  decide: (item: Item, variant: VariantRow | undefined, loaded: Loaded) => Step,
): Promise<ItemResult[]> {
  const [variants, loaded, faults] = await Promise.all([loadVariants(tx, shopId, idsOf(items)), loading, finding]);
  const steps = items.map((item): Step => {
    const { variantId } = item;
    return faults.isRefused(variantId) ? refused(variantId) : decide(item, variants.get(variantId), loaded);
  });
  await tx.batch(steps.flatMap((step) => ("sql" in step ? step : [])));
  return steps.map((step) => ("sql" in step ? applied : step));
}

const nothing = Promise.resolve(null);

const activateVariants = (context: CallContext, items: readonly VariantItem[]): Promise<ItemResult[]> =>
  writeEach(context, items, nothing, ({ variantId }, variant) => {
    if (!canBeChanged(variant)) return unavailable(variantId, variant);
    return variant.status === "active" ? unchanged : statusStatement(context.shopId, variantId, "active");
  });

const writeCosts = (
  context: CallContext,
  costs: readonly { readonly variantId: string; readonly unitCost: Money }[],
): Promise<ItemResult[]> =>
  writeEach(context, costs, nothing, ({ variantId, unitCost }, variant) => {
    if (!canBeChanged(variant)) return unavailable(variantId, variant);
    return variant.unit_cost === unitCost ? unchanged : costStatement(context.shopId, variantId, unitCost);
  });

/** Nothing incoming is right for a variant that is not there. */
async function setIncoming(
  context: CallContext,
  levels: readonly { readonly variantId: string; readonly locationId: string; readonly incoming: Quantity }[],
): Promise<ItemResult[]> {
  const { tx, shopId, nowMs } = context;
  const loading = loadLevels(tx, shopId, idsOf(levels), nowMs);
  return await writeEach(context, levels, loading, ({ variantId, locationId, incoming }, variant, known) => {
    if (!canBeChanged(variant)) return incoming === 0 ? unchanged : unavailable(variantId, variant);
    const before = known.get(levelKey(variantId, locationId))?.incoming ?? 0;
    return before === incoming ? unchanged : setLevel(shopId, variantId, locationId, { incoming });
  });
}

/**
 * A tag is that of the product, so it can be set on a variant without stock too. A variant that is not there has none.
 */
async function setTags(
  context: CallContext,
  changes: readonly { readonly variantId: string; readonly tag: string; readonly present: boolean }[],
): Promise<ItemResult[]> {
  const { tx, shopId } = context;
  const loading = loadTags(tx, shopId, idsOf(changes));
  return await writeEach(context, changes, loading, ({ variantId, tag, present }, variant, tags) => {
    if (variant === undefined || variant.status === "deleted")
      return present ? unavailable(variantId, variant) : unchanged;
    const isPresent = (tags.get(variant.product_id) ?? []).includes(tag);
    return isPresent === present ? unchanged : tagStatement(shopId, variant.product_id, tag, present);
  });
}

/**
 * Changes on-hand and keeps each result under the reference (X1); a reference that is known gets its results again
 * (F1).
 */
async function changeOnHand(
  { tx, shopId, nowMs, faults: finding }: CallContext,
  changes: readonly OnHandChange[],
  { reference }: WriteContext,
): Promise<ItemResult[]> {
  const [before, variants, faults] = await Promise.all([
    loadChanges(tx, shopId, reference),
    loadVariants(tx, shopId, idsOf(changes)),
    finding,
  ]);
  if (before.length > 0) return keptResults(before, changes, reference);
  const decided = changes.map((change) => {
    const { variantId } = change;
    const variant = variants.get(variantId);
    const result = faults.isRefused(variantId)
      ? refused(variantId)
      : canBeChanged(variant)
        ? applied
        : unavailable(variantId, variant);
    return { change, result };
  });
  const visibleAtMs = nowMs + faults.applyDelayMs;
  await tx.batch([
    ...decided.flatMap(({ change, result }) => (result.outcome === "applied" ? [addOnHand(shopId, change)] : [])),
    ...decided.map(({ change, result }, position) =>
      keepChange(shopId, reference, position, change, result, visibleAtMs),
    ),
  ]);
  return decided.map(({ result }) => result);
}

/** @throws StorefrontError when the reference was used with other items. */
function keptResults(rows: readonly ChangeRow[], changes: readonly OnHandChange[], reference: string): ItemResult[] {
  const isSame =
    rows.length === changes.length &&
    rows.every((row, index) => {
      const change = changes[index];
      return (
        row.variant_id === change?.variantId && row.location_id === change.locationId && row.delta === change.delta
      );
    });
  if (!isSame) throw new StorefrontError("error", `reference ${reference} was used with other items`, { landed: "no" });
  return rows.map((row) =>
    row.outcome === "applied"
      ? applied
      : { outcome: "rejected", reason: row.reason ?? "refused", message: row.message ?? "refused" },
  );
}

async function readOnHand(
  { tx, shopId, nowMs, faults: finding }: CallContext,
  changes: readonly OnHandChange[],
  { reference }: WriteContext,
): Promise<{ verified: boolean; onHand: Quantity | null }[]> {
  const [kept, levels, faults] = await Promise.all([
    loadChanges(tx, shopId, reference),
    loadLevels(tx, shopId, idsOf(changes), nowMs),
    finding,
  ]);
  return changes.map(({ variantId, locationId }) => {
    if (faults.isRefused(variantId)) return { verified: false, onHand: null };
    const verified = kept.some(
      (row) =>
        row.variant_id === variantId &&
        row.location_id === locationId &&
        row.outcome === "applied" &&
        row.visible_at <= nowMs,
    );
    return { verified, onHand: levels.get(levelKey(variantId, locationId))?.onHand ?? null };
  });
}

// Results.

const applied: ItemResult = { outcome: "applied" };

const unchanged: ItemResult = { outcome: "unchanged" };

const refused = (variantId: string): ItemResult => ({
  outcome: "rejected",
  reason: "refused",
  message: `the storefront refuses variant ${variantId}`,
});

const canBeChanged = (variant: VariantRow | undefined): variant is VariantRow =>
  variant?.status === "active" || variant?.status === "inactive";

const unavailable = (variantId: string, variant: VariantRow | undefined): ItemResult =>
  variant?.status === "unsyncable"
    ? { outcome: "rejected", reason: "unsyncable", message: `variant ${variantId} is not tracked at the storefront` }
    : { outcome: "rejected", reason: "deleted", message: `variant ${variantId} is not at the storefront` };
