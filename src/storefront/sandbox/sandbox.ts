/**
 * The built-in storefront: a small simulated platform with durable state of its own and faults on demand (C47, contract §7). It is
 * the default storefront, and lets an integrator rehearse what goes wrong with a real one.
 *
 * Owns: variants (status, unit cost, product), tags of products, on-hand and incoming per location, results by reference, call
 * counts, delays and faults. Does not own: the shop's data; its engine is not the shops' (D8).
 *
 * Keeps F1–F4 (storefront.ts), and:
 * - X1. A change and the result under its reference commit together.
 * - X2. A variant that was never given to the sandbox is `deleted`: the platform does not know its id. A catalogue line may name one
 *       (C16); the guard then stops the order on its way to Sent (C44).
 * - X3. A call is counted once, whatever comes of it.
 */
import { Fault } from "../../core/fault.ts";
import { type Money, type Quantity, asMoney, asQuantity } from "../../core/money.ts";
import type { Clock, Engine, Statement, Tx } from "../../store/store.ts";
import {
  type ItemResult,
  type OnHandChange,
  type Storefront,
  StorefrontError,
  type VariantState,
  type WriteContext,
} from "../storefront.ts";
import {
  type SandboxCall,
  type SandboxFaults,
  type Weather,
  faultStatements,
  givenUp,
  outOfReach,
  sleep,
  storefrontErrorFrom,
  weatherOf,
} from "./faults.ts";
import {
  type ChangeRow,
  type VariantRow,
  addOnHand,
  costStatement,
  countCall,
  idsOf,
  keepChange,
  levelKey,
  loadChanges,
  loadLevels,
  loadState,
  loadTags,
  loadUnseen,
  loadVariants,
  setLevel,
  statusStatement,
  tagStatement,
} from "./state.ts";

export interface SandboxLevel {
  readonly locationId: string;
  /** What can be read by now: accepted changes less those still within `applyDelayMs`. */
  readonly onHand: Quantity;
  readonly incoming: Quantity;
}

export interface SandboxVariant {
  readonly variantId: string;
  readonly status: VariantState;
  readonly unitCost: Money | null;
  /** Tags of its product. */
  readonly tags: readonly string[];
  readonly levels: readonly SandboxLevel[];
}

/** What is left out stays. */
export interface SandboxVariantPatch {
  readonly status?: VariantState | undefined;
  readonly unitCost?: Money | null | undefined;
  readonly levels?:
    | readonly {
        readonly locationId: string;
        readonly onHand?: Quantity | undefined;
        readonly incoming?: Quantity | undefined;
      }[]
    | undefined;
}

/** The operator's side of the sandbox. */
export interface SandboxControl {
  /** @param variantIds only these; null for all. Variants and levels in code-point order. */
  state(variantIds: readonly string[] | null): Promise<{
    readonly variants: readonly SandboxVariant[];
    readonly calls: Readonly<Partial<Record<SandboxCall, number>>>;
  }>;
  /** @returns null when the sandbox does not hold the variant. */
  patchVariant(variantId: string, patch: SandboxVariantPatch): Promise<SandboxVariant | null>;
  /** Replaces delays and all faults. */
  replaceFaults(faults: SandboxFaults): Promise<void>;
  /** Gives the sandbox these variants, or replaces what it holds of them. Levels and tags stay. */
  seedVariants(
    variants: readonly {
      readonly variantId: string;
      readonly productId: string;
      readonly status: VariantState;
      readonly unitCost: Money | null;
    }[],
  ): Promise<void>;
  /** Sets what is on hand; incoming stays. */
  seedLevels(
    levels: readonly { readonly variantId: string; readonly locationId: string; readonly onHand: Quantity }[],
  ): Promise<void>;
  /** Deletes all of it. */
  remove(): Promise<void>;
}

/** How long a call under the fault `timeout` hangs before it is given up. */
export const sandboxTimeoutMs = 1_000;

/** What a throttled call is told to wait. */
export const sandboxThrottleMs = 250;

export interface SandboxOptions {
  /** Databases of sandboxes by shop id, with the schema beside this file. Never the shops' own engine. */
  readonly engine: Engine;
  readonly clock: Clock;
  readonly shopId: string;
  /** Default `sandboxTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** The sandbox storefront of one shop; its database is created on first use. Opening is free and may be repeated. */
export function openSandbox(options: SandboxOptions): Storefront & SandboxControl {
  const { engine, clock, shopId, timeoutMs = sandboxTimeoutMs } = options;

  /** Runs in the sandbox's turn; a sandbox that is not there yet is created. */
  async function within<T>(work: (tx: Tx) => Promise<T>, durable: boolean): Promise<T> {
    try {
      return await engine.write(shopId, work, { durable });
    } catch (error) {
      if (!(error instanceof Fault && error.code === "NOT_FOUND")) throw error;
      await engine.create(shopId);
      return await engine.write(shopId, work, { durable });
    }
  }

  /** One call of the platform: counted, delayed and struck as the faults say. */
  async function call<T>(
    name: SandboxCall,
    variantIds: readonly string[],
    writes: boolean,
    signal: AbortSignal | undefined,
    work: (tx: Tx, weather: Weather) => Promise<T>,
  ): Promise<T> {
    try {
      const entered = await within(async (tx) => {
        await tx.batch([countCall(shopId, name)]);
        const weather = await weatherOf(tx, shopId, name, variantIds);
        const calm = weather.strike === null && weather.latencyMs === 0;
        return calm ? { result: await work(tx, weather) } : { weather };
      }, writes);
      if ("result" in entered) return entered.result;
      const { weather } = entered;
      await sleep(weather.latencyMs, signal);
      switch (weather.strike) {
        case "error":
          throw new StorefrontError("error", "the storefront failed", { landed: "no" });
        case "throttled":
          throw new StorefrontError("throttled", "the storefront takes no more calls for now", {
            landed: "no",
            retryAfterMs: sandboxThrottleMs,
          });
        case "timeout":
          await sleep(timeoutMs, signal);
          throw new StorefrontError("timeout", "the storefront did not answer in time", {
            landed: writes ? "maybe" : "no",
          });
        case "lost-response":
        case null:
      }
      const result = await within(async (tx) => {
        if (signal?.aborted === true) throw givenUp();
        return await work(tx, weather);
      }, writes);
      if (weather.strike === "lost-response")
        throw new StorefrontError("error", "the storefront's answer was lost", { landed: writes ? "maybe" : "no" });
      return result;
    } catch (error) {
      throw storefrontErrorFrom(error);
    }
  }

  return {
    checkVariants: async (variantIds) =>
      variantIds.length === 0
        ? []
        : await call("checkVariants", variantIds, false, undefined, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, variantIds);
            return variantIds.map((id) => (isRefused(id) ? "unsyncable" : (variants.get(id)?.status ?? "deleted")));
          }),

    activateVariants: async (variantIds) =>
      variantIds.length === 0
        ? []
        : await call("activateVariants", variantIds, true, undefined, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, variantIds);
            const statements: Statement[] = [];
            const results = variantIds.map((id): ItemResult => {
              const variant = variants.get(id);
              if (isRefused(id)) return refused(id);
              if (variant === undefined || !canBeChanged(variant)) return outOfReach(id, variant);
              if (variant.status === "active") return unchanged;
              statements.push(statusStatement(shopId, id, "active"));
              return applied;
            });
            await tx.batch(statements);
            return results;
          }),

    changeOnHand: async (changes, context) =>
      changes.length === 0
        ? []
        : await call("changeOnHand", idsOf(changes), true, context.signal, async (tx, weather) => {
            const before = await loadChanges(tx, shopId, context.reference);
            if (before.length > 0) return resultsAgain(before, changes, context);
            const variants = await loadVariants(tx, shopId, idsOf(changes));
            const results = changes.map(({ variantId }): ItemResult => {
              const variant = variants.get(variantId);
              if (weather.isRefused(variantId)) return refused(variantId);
              return variant !== undefined && canBeChanged(variant) ? applied : outOfReach(variantId, variant);
            });
            const visibleAtMs = clock.now() + weather.applyDelayMs;
            await tx.batch(
              changes.flatMap((change, position) => {
                const result = results[position] ?? applied;
                const kept = keepChange(shopId, context.reference, position, change, result, visibleAtMs);
                return result.outcome === "applied" ? [addOnHand(shopId, change), kept] : [kept];
              }),
            );
            return results;
          }),

    readOnHand: async (changes, context) =>
      changes.length === 0
        ? []
        : await call("readOnHand", idsOf(changes), false, context.signal, async (tx, { isRefused }) => {
            const nowMs = clock.now();
            const made = await loadChanges(tx, shopId, context.reference);
            const levels = await loadLevels(tx, shopId, idsOf(changes), nowMs);
            return changes.map(({ variantId, locationId }) => {
              if (isRefused(variantId)) return { verified: false, onHand: null };
              const onHand = levels.get(levelKey(variantId, locationId))?.onHand ?? null;
              const verified = made.some(
                (row) =>
                  row.variant_id === variantId &&
                  row.location_id === locationId &&
                  row.outcome === "applied" &&
                  row.visible_at <= nowMs,
              );
              return { verified, onHand };
            });
          }),

    setIncoming: async (levels, context) =>
      levels.length === 0
        ? []
        : await call("setIncoming", idsOf(levels), true, context.signal, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, idsOf(levels));
            const known = await loadLevels(tx, shopId, idsOf(levels), clock.now());
            const statements: Statement[] = [];
            const results = levels.map(({ variantId, locationId, incoming }): ItemResult => {
              const variant = variants.get(variantId);
              if (isRefused(variantId)) return refused(variantId);
              if (variant === undefined || !canBeChanged(variant))
                return incoming === 0 ? unchanged : outOfReach(variantId, variant);
              if ((known.get(levelKey(variantId, locationId))?.incoming ?? 0) === incoming) return unchanged;
              statements.push(setLevel(shopId, variantId, locationId, { incoming }));
              return applied;
            });
            await tx.batch(statements);
            return results;
          }),

    writeCosts: async (costs, context) =>
      costs.length === 0
        ? []
        : await call("writeCosts", idsOf(costs), true, context.signal, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, idsOf(costs));
            const statements: Statement[] = [];
            const results = costs.map(({ variantId, unitCost }): ItemResult => {
              const variant = variants.get(variantId);
              if (isRefused(variantId)) return refused(variantId);
              if (variant === undefined || !canBeChanged(variant)) return outOfReach(variantId, variant);
              if (variant.unit_cost === unitCost) return unchanged;
              statements.push(costStatement(shopId, variantId, unitCost));
              return applied;
            });
            await tx.batch(statements);
            return results;
          }),

    readCosts: async (variantIds) =>
      variantIds.length === 0
        ? []
        : await call("readCosts", variantIds, false, undefined, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, variantIds);
            return variantIds.map((id) => {
              const variant = variants.get(id);
              if (variant === undefined || variant.status === "deleted" || isRefused(id)) return null;
              return variant.unit_cost === null ? null : asMoney(variant.unit_cost);
            });
          }),

    setTags: async (changes, context) =>
      changes.length === 0
        ? []
        : await call("setTags", idsOf(changes), true, context.signal, async (tx, { isRefused }) => {
            const variants = await loadVariants(tx, shopId, idsOf(changes));
            const tags = await loadTags(tx, shopId, [...variants.values()]);
            const statements: Statement[] = [];
            const results = changes.map(({ variantId, tag, present }): ItemResult => {
              const variant = variants.get(variantId);
              if (isRefused(variantId)) return refused(variantId);
              if (variant === undefined || variant.status === "deleted")
                return present ? outOfReach(variantId, variant) : unchanged;
              if ((tags.get(variant.product_id) ?? []).includes(tag) === present) return unchanged;
              statements.push(tagStatement(shopId, variant.product_id, tag, present));
              return applied;
            });
            await tx.batch(statements);
            return results;
          }),

    state: (variantIds) =>
      within(async (tx) => {
        const rows = await tx.all<{ call: SandboxCall; count: number }>(
          "select call, count from sandbox_call where shop_id = ? order by call",
          [shopId],
        );
        return {
          variants: await loadState(tx, shopId, variantIds, clock.now()),
          calls: Object.fromEntries(rows.map((row) => [row.call, row.count])),
        };
      }, true),

    patchVariant: (variantId, patch) =>
      within(async (tx) => {
        const nowMs = clock.now();
        const [before] = await loadState(tx, shopId, [variantId], nowMs);
        if (before === undefined) return null;
        const unseen = await loadUnseen(tx, shopId, nowMs);
        await tx.batch([
          ...(patch.status === undefined ? [] : [statusStatement(shopId, variantId, patch.status)]),
          ...(patch.unitCost === undefined ? [] : [costStatement(shopId, variantId, patch.unitCost)]),
          ...(patch.levels ?? []).map(({ locationId, onHand, incoming }) =>
            setLevel(shopId, variantId, locationId, {
              ...(onHand === undefined
                ? {}
                : { onHand: asQuantity(onHand + (unseen.get(levelKey(variantId, locationId)) ?? 0)) }),
              ...(incoming === undefined ? {} : { incoming }),
            }),
          ),
        ]);
        const [after] = await loadState(tx, shopId, [variantId], nowMs);
        return after ?? null;
      }, true),

    replaceFaults: (faults) => within((tx) => tx.batch(faultStatements(shopId, faults)), true),

    seedVariants: (variants) =>
      within(
        (tx) =>
          tx.batch(
            variants.map((variant) => ({
              sql: `insert into sandbox_variant (shop_id, variant_id, product_id, status, unit_cost) values (?, ?, ?, ?, ?)
                    on conflict (shop_id, variant_id) do update set
                      product_id = excluded.product_id, status = excluded.status, unit_cost = excluded.unit_cost`,
              params: [shopId, variant.variantId, variant.productId, variant.status, variant.unitCost],
            })),
          ),
        true,
      ),

    seedLevels: (levels) =>
      within(async (tx) => {
        const unseen = await loadUnseen(tx, shopId, clock.now());
        await tx.batch(
          levels.map(({ variantId, locationId, onHand }) =>
            setLevel(shopId, variantId, locationId, {
              onHand: asQuantity(onHand + (unseen.get(levelKey(variantId, locationId)) ?? 0)),
            }),
          ),
        );
      }, true),

    remove: () => engine.remove(shopId),
  };
}

// Results.

const applied: ItemResult = { outcome: "applied" };

const unchanged: ItemResult = { outcome: "unchanged" };

const refused = (variantId: string): ItemResult => ({
  outcome: "rejected",
  reason: "refused",
  message: `the storefront refuses variant ${variantId}`,
});

const canBeChanged = (variant: VariantRow): boolean => variant.status === "active" || variant.status === "inactive";

/** The first call's results (F1). */
function resultsAgain(
  rows: readonly ChangeRow[],
  changes: readonly OnHandChange[],
  context: WriteContext,
): ItemResult[] {
  const same =
    rows.length === changes.length &&
    rows.every((row, index) => {
      const change = changes[index];
      return (
        row.variant_id === change?.variantId && row.location_id === change.locationId && row.delta === change.delta
      );
    });
  if (!same)
    throw new StorefrontError("error", `reference ${context.reference} was used with other items`, { landed: "no" });
  return rows.map((row) =>
    row.outcome === "applied"
      ? applied
      : { outcome: "rejected", reason: row.reason ?? "refused", message: row.message ?? "refused" },
  );
}
