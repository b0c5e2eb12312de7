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
import { Fault } from "../core/fault.ts";
import { asMoney, asQuantity, type Money, type Quantity } from "../core/money.ts";
import type { Clock, Engine, Statement, Tx } from "../shop/shop.ts";
import {
  type ItemResult,
  type OnHandChange,
  type Storefront,
  StorefrontError,
  type VariantState,
  type WriteContext,
} from "./storefront.ts";

export const sandboxCalls = [
  "checkVariants",
  "activateVariants",
  "changeOnHand",
  "readOnHand",
  "setIncoming",
  "writeCosts",
  "readCosts",
  "setTags",
] as const;
export type SandboxCall = (typeof sandboxCalls)[number];

export const sandboxFaultOutcomes = ["error", "throttled", "timeout", "refused", "lost-response"] as const;
export type SandboxFaultOutcome = (typeof sandboxFaultOutcomes)[number];

/** What goes wrong, and when (contract §7). */
export interface SandboxFault {
  readonly call: SandboxCall | "*";
  /**
   * `error`, `throttled`, `timeout` (nothing happened) and `lost-response` (it happened) strike the whole call when one of the
   * variants is in it; `refused` strikes only those items. On calls that only read, a refused item reads as unsyncable, not
   * verified or without a cost.
   */
  readonly outcome: SandboxFaultOutcome;
  /** Null: any call, or any item. */
  readonly variantIds: readonly string[] | null;
  /** How many calls it strikes. Null: until the faults are replaced. */
  readonly times: number | null;
}

export interface SandboxFaults {
  /** Every call takes this long. */
  readonly latencyMs: number;
  /** Between accepting an on-hand change and the change being readable. */
  readonly applyDelayMs: number;
  readonly faults: readonly SandboxFault[];
}

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
/** Ids in one `in (…)`. */
const idsPerStatementMax = 90;

interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly status: VariantState;
  readonly unit_cost: number | null;
}

interface LevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly on_hand: number;
  readonly incoming: number;
}

interface ChangeRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly delta: number;
  readonly outcome: "applied" | "rejected";
  readonly reason: string | null;
  readonly message: string | null;
  readonly visible_at: number;
}

interface FaultRow {
  readonly position: number;
  readonly call: SandboxCall | "*";
  readonly outcome: SandboxFaultOutcome;
  readonly variant_ids: string | null;
  readonly times_left: number | null;
}

/** What this call meets. */
interface Weather {
  readonly latencyMs: number;
  readonly applyDelayMs: number;
  /** What strikes the whole call. */
  readonly strike: Exclude<SandboxFaultOutcome, "refused"> | null;
  readonly isRefused: (variantId: string) => boolean;
}

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

const givenUp = (): StorefrontError =>
  new StorefrontError("timeout", "the caller did not wait for the storefront's answer", { landed: "no" });

/** Waits; a caller that waits no longer gets its answer, and nothing is done. */
async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw givenUp();
  if (ms === 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(givenUp());
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A sandbox whose own store cannot be used is a storefront that fails: its caller need not know that it is built in. */
function storefrontErrorFrom(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return error.code === "DO_OVERLOADED"
    ? new StorefrontError("throttled", "the sandbox storefront is busy", {
        landed: "no",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      })
    : new StorefrontError("error", "the sandbox storefront's store cannot be used", { landed: "maybe", cause: error });
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

function outOfReach(variantId: string, variant: VariantRow | undefined): ItemResult {
  return variant?.status === "unsyncable"
    ? { outcome: "rejected", reason: "unsyncable", message: `variant ${variantId} is not tracked at the storefront` }
    : { outcome: "rejected", reason: "deleted", message: `variant ${variantId} is not at the storefront` };
}

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

// Faults.

async function weatherOf(tx: Tx, shopId: string, name: SandboxCall, variantIds: readonly string[]): Promise<Weather> {
  const [[delay], rows] = await Promise.all([
    tx.all<{ latency_ms: number; apply_delay_ms: number }>(
      "select latency_ms, apply_delay_ms from sandbox_delay where shop_id = ?",
      [shopId],
    ),
    tx.all<FaultRow>(
      `select position, call, outcome, variant_ids, times_left from sandbox_fault
       where shop_id = ? and call in (?, '*') order by position`,
      [shopId, name],
    ),
  ]);
  const inCall = new Set(variantIds);
  const matching = rows.flatMap((row) => {
    const ids: readonly string[] | null = row.variant_ids === null ? null : JSON.parse(row.variant_ids);
    const strikes = row.times_left !== 0 && (ids === null || ids.some((id) => inCall.has(id)));
    return strikes ? [{ row, outcome: row.outcome, ids: ids === null ? null : new Set(ids) }] : [];
  });
  const whole = matching.find((fault) => fault.outcome !== "refused");
  const refusing = matching.filter((fault) => fault.outcome === "refused");
  // Items are refused only by a call that happens.
  const happens = whole === undefined || whole.outcome === "lost-response";
  const struck = [...(whole === undefined ? [] : [whole]), ...(happens ? refusing : [])];
  await tx.batch(
    struck
      .filter(({ row }) => row.times_left !== null)
      .map(({ row }) => ({
        sql: "update sandbox_fault set times_left = times_left - 1 where shop_id = ? and position = ?",
        params: [shopId, row.position],
      })),
  );
  return {
    latencyMs: delay?.latency_ms ?? 0,
    applyDelayMs: delay?.apply_delay_ms ?? 0,
    strike: whole === undefined || whole.outcome === "refused" ? null : whole.outcome,
    isRefused: (variantId) => refusing.some(({ ids }) => ids === null || ids.has(variantId)),
  };
}

const faultStatements = (shopId: string, faults: SandboxFaults): readonly Statement[] => [
  { sql: "delete from sandbox_fault where shop_id = ?", params: [shopId] },
  {
    sql: `insert into sandbox_delay (shop_id, latency_ms, apply_delay_ms) values (?, ?, ?)
          on conflict (shop_id) do update set
            latency_ms = excluded.latency_ms, apply_delay_ms = excluded.apply_delay_ms`,
    params: [shopId, faults.latencyMs, faults.applyDelayMs],
  },
  ...faults.faults.map((fault, position) => ({
    sql: "insert into sandbox_fault (shop_id, position, call, outcome, variant_ids, times_left) values (?, ?, ?, ?, ?, ?)",
    params: [
      shopId,
      position,
      fault.call,
      fault.outcome,
      fault.variantIds === null ? null : JSON.stringify(fault.variantIds),
      fault.times,
    ],
  })),
];

const countCall = (shopId: string, name: SandboxCall): Statement => ({
  sql: `insert into sandbox_call (shop_id, call, count) values (?, ?, 1)
        on conflict (shop_id, call) do update set count = sandbox_call.count + 1`,
  params: [shopId, name],
});

// Rows.

const idsOf = (items: readonly { readonly variantId: string }[]): readonly string[] =>
  items.map((item) => item.variantId);

const levelKey = (variantId: string, locationId: string): string => JSON.stringify([variantId, locationId]);

/** Rows of a `where … in (?)`, in as many statements as the ids need, side by side. */
async function selectIn<Row>(tx: Tx, sql: string, shopId: string, values: readonly string[]): Promise<readonly Row[]> {
  const distinct = [...new Set(values)];
  const asked: Promise<Row[]>[] = [];
  for (let start = 0; start < distinct.length; start += idsPerStatementMax) {
    const chunk = distinct.slice(start, start + idsPerStatementMax);
    asked.push(tx.all<Row>(sql.replace("(?)", `(${chunk.map(() => "?").join(", ")})`), [shopId, ...chunk]));
  }
  return (await Promise.all(asked)).flat();
}

async function loadVariants(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantRow>> {
  const rows = await selectIn<VariantRow>(
    tx,
    "select variant_id, product_id, status, unit_cost from sandbox_variant where shop_id = ? and variant_id in (?) order by variant_id",
    shopId,
    variantIds,
  );
  return new Map(rows.map((row) => [row.variant_id, row]));
}

async function loadTags(
  tx: Tx,
  shopId: string,
  variants: readonly VariantRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await selectIn<{ product_id: string; tag: string }>(
    tx,
    "select product_id, tag from sandbox_tag where shop_id = ? and product_id in (?) order by product_id, tag",
    shopId,
    variants.map((variant) => variant.product_id),
  );
  return new Map(
    [...Map.groupBy(rows, (row) => row.product_id)].map(([productId, tags]) => [productId, tags.map((row) => row.tag)]),
  );
}

const loadChanges = (tx: Tx, shopId: string, reference: string): Promise<readonly ChangeRow[]> =>
  tx.all<ChangeRow>(
    `select variant_id, location_id, delta, outcome, reason, message, visible_at from sandbox_change
     where shop_id = ? and reference = ? order by position`,
    [shopId, reference],
  );

/** Accepted changes that cannot be read yet, summed by level. */
async function loadUnseen(tx: Tx, shopId: string, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.all<{ variant_id: string; location_id: string; delta: number }>(
    `select variant_id, location_id, cast(sum(delta) as bigint) as delta from sandbox_change
     where shop_id = ? and visible_at > ? and outcome = 'applied' group by variant_id, location_id`,
    [shopId, nowMs],
  );
  return new Map(rows.map((row) => [levelKey(row.variant_id, row.location_id), row.delta]));
}

interface ReadLevel extends SandboxLevel {
  readonly variantId: string;
}

async function loadLevels(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, ReadLevel>> {
  const unseen = await loadUnseen(tx, shopId, nowMs);
  const rows = await selectIn<LevelRow>(
    tx,
    `select variant_id, location_id, on_hand, incoming from sandbox_level
     where shop_id = ? and variant_id in (?) order by variant_id, location_id`,
    shopId,
    variantIds,
  );
  return new Map(
    rows.map((row) => {
      const key = levelKey(row.variant_id, row.location_id);
      return [
        key,
        {
          variantId: row.variant_id,
          locationId: row.location_id,
          onHand: asQuantity(row.on_hand - (unseen.get(key) ?? 0)),
          incoming: asQuantity(row.incoming),
        },
      ];
    }),
  );
}

async function loadState(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[] | null,
  nowMs: number,
): Promise<readonly SandboxVariant[]> {
  const rows =
    variantIds === null
      ? await tx.all<VariantRow>(
          "select variant_id, product_id, status, unit_cost from sandbox_variant where shop_id = ? order by variant_id",
          [shopId],
        )
      : [...(await loadVariants(tx, shopId, variantIds)).values()];
  const tags = await loadTags(tx, shopId, rows);
  const levels = Map.groupBy(
    (await loadLevels(tx, shopId, idsOf(rows.map((row) => ({ variantId: row.variant_id }))), nowMs)).values(),
    (level) => level.variantId,
  );
  return rows.map((row) => ({
    variantId: row.variant_id,
    status: row.status,
    unitCost: row.unit_cost === null ? null : asMoney(row.unit_cost),
    tags: tags.get(row.product_id) ?? [],
    levels: (levels.get(row.variant_id) ?? []).map(({ locationId, onHand, incoming }) => ({
      locationId,
      onHand,
      incoming,
    })),
  }));
}

const statusStatement = (shopId: string, variantId: string, status: VariantState): Statement => ({
  sql: "update sandbox_variant set status = ? where shop_id = ? and variant_id = ?",
  params: [status, shopId, variantId],
});

const costStatement = (shopId: string, variantId: string, unitCost: Money | null): Statement => ({
  sql: "update sandbox_variant set unit_cost = ? where shop_id = ? and variant_id = ?",
  params: [unitCost, shopId, variantId],
});

const tagStatement = (shopId: string, productId: string, tag: string, present: boolean): Statement => ({
  sql: present
    ? "insert into sandbox_tag (shop_id, product_id, tag) values (?, ?, ?) on conflict (shop_id, product_id, tag) do nothing"
    : "delete from sandbox_tag where shop_id = ? and product_id = ? and tag = ?",
  params: [shopId, productId, tag],
});

/** Sets the figures given; a level that is not there begins at 0. */
const setLevel = (
  shopId: string,
  variantId: string,
  locationId: string,
  figures: { readonly onHand?: Quantity; readonly incoming?: Quantity },
): Statement => {
  const set = [
    ...(figures.onHand === undefined ? [] : ["on_hand = excluded.on_hand"]),
    ...(figures.incoming === undefined ? [] : ["incoming = excluded.incoming"]),
  ];
  return {
    sql: `insert into sandbox_level (shop_id, variant_id, location_id, on_hand, incoming) values (?, ?, ?, ?, ?)
          on conflict (shop_id, variant_id, location_id) do ${set.length === 0 ? "nothing" : `update set ${set.join(", ")}`}`,
    params: [shopId, variantId, locationId, figures.onHand ?? 0, figures.incoming ?? 0],
  };
};

const addOnHand = (shopId: string, change: OnHandChange): Statement => ({
  sql: `insert into sandbox_level (shop_id, variant_id, location_id, on_hand, incoming) values (?, ?, ?, ?, 0)
        on conflict (shop_id, variant_id, location_id) do update set on_hand = sandbox_level.on_hand + excluded.on_hand`,
  params: [shopId, change.variantId, change.locationId, change.delta],
});

const keepChange = (
  shopId: string,
  reference: string,
  position: number,
  change: OnHandChange,
  result: ItemResult,
  visibleAtMs: number,
): Statement => ({
  sql: `insert into sandbox_change
          (shop_id, reference, position, variant_id, location_id, delta, outcome, reason, message, visible_at)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  params: [
    shopId,
    reference,
    position,
    change.variantId,
    change.locationId,
    change.delta,
    result.outcome,
    result.outcome === "rejected" ? result.reason : null,
    result.outcome === "rejected" ? result.message : null,
    visibleAtMs,
  ],
});
