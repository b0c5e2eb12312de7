/**
 * The outbox as rows: effects are stored with the change that asks for them (S3), claimed under a lease, postponed and
 * settled.
 *
 * Owns: the SQL of `effect`. Does not own: when an effect runs (jobs/outbox/runner.ts), what it does
 * (jobs/outbox/work.ts).
 *
 * Statements about one lane write `due_at + 0 > ?`. sqlite would otherwise rather walk all effects that are due later,
 * of every lane.
 */
import type { Effect, EffectOutcome } from "../../core/order/effect.ts";
import { clocksApartMsMax } from "../../core/access/rate-limit.ts";
import { unattempted } from "../../store/claims.ts";
import { inChunks, placeholders } from "../../store/in-lists.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { DueRows, Tx } from "../../store/store.ts";
import {
  type Change,
  type Row,
  type Where,
  insert,
  update,
  remove,
  upTo,
  above,
  not,
  fixed,
  oneOf,
} from "../../store/change.ts";
import { tables } from "../tables.ts";

/**
 * A lease that ends later from now is from before the clock was set back. The longest is that of the outbox
 * (`outboxLimits.leaseMs`), and nodes' times differ a little (D74).
 */
export const leaseAheadMsMax = 30_000 + clocksApartMsMax;

/** Effects to attempt now, and claimed ones whose lease has ended: by these a node finds the shops that have any. */
export const dueEffects: DueRows = {
  table: "effect",
  condition: `state = 'pending' and (due_at <= ? or (lease_owner is not null and due_at > ? + ${leaseAheadMsMax}))`,
};

/** The row of an effect that is due at once. */
export const effectRow = (effectId: string, effect: Effect, lane: string, nowMs: number): Row => ({
  effect_id: effectId,
  kind: effect.kind,
  lane,
  purchase_order_id: "purchaseOrderId" in effect ? effect.purchaseOrderId : null,
  payload: JSON.stringify(effect),
  state: "pending",
  attempts: 0,
  due_at: nowMs,
  detail: null,
  item_count: 0,
  lease_owner: null,
  created_at: nowMs,
  settled_at: null,
  traceparent: null,
});

/**
 * The lane of an effect. Effects of one lane run one at a time. An order has one push in flight. A location's incoming
 * quantities at the storefront, and its tags, are set by one call after another. So the last call has the ledger's last
 * state.
 */
export function laneOf(effect: Effect): string {
  switch (effect.kind) {
    case "push-stock":
    case "settle-costs":
    case "take-back-costs":
    case "end-cost-sync":
    case "end-confirmation":
      return `${effect.kind} ${effect.purchaseOrderId}`;
    case "mirror-incoming":
      return `${effect.kind} ${effect.locationId}`;
    case "sync-tags":
      return effect.kind;
    // A level is changed after its variant is there.
    case "keep-variant":
    case "keep-level":
      return "own-stock";
  }
}

/** An effect that a change has asked for. */
export interface QueuedEffect {
  readonly effectId: string;
  readonly kind: Effect["kind"];
  readonly lane: string;
}

/** The statements that store these effects, each due at once, and the ids that they get. */
export function effectStatements(
  shopId: string,
  effects: readonly Effect[],
  ids: Ids,
  nowMs: number,
  traceparent: string | null = null,
): {
  readonly effects: readonly QueuedEffect[];
  readonly statements: readonly Change[];
} {
  const entries = effects.map((effect) => ({ effectId: ids.next("eff"), effect, lane: laneOf(effect) }));
  return {
    effects: entries.map(({ effectId, effect, lane }) => ({ effectId, kind: effect.kind, lane })),
    statements: entries.map(({ effectId, effect, lane }) =>
      insert(tables.effect, shopId, { ...effectRow(effectId, effect, lane, nowMs), traceparent }),
    ),
  };
}

/** An effect that a runner has claimed. `attempts` counts the attempt that begins. */
export interface ClaimedEffect {
  readonly effectId: string;
  readonly effect: Effect;
  readonly attempts: number;
  /** Of the request that asked for it; null when none did. */
  readonly traceparent: string | null;
}

/** Which lanes have an effect that is due, and when the next one will be. */
export interface DueLanes {
  /** Due lanes that no other runner has claimed. Of lanes that run, only those with further effects. */
  readonly lanes: readonly string[];
  /** There may be more of them. */
  readonly leavesOut: boolean;
  /** Another runner has claimed a lane with an effect that is due. */
  readonly isHeldUp: boolean;
  /** Null when no effect is pending beyond those that are due. */
  readonly nextDueAtMs: number | null;
  /** When the oldest effect was added that is not settled; null when there is none. */
  readonly oldestAtMs: number | null;
}

/** Due effects that one query reads. */
const dueMax = 64;

/**
 * Finds the lanes with effects that are due.
 *
 * @param running lanes that this runner is at work on. What waits in one of them, however much it is, hides no other
 *   lane.
 */
export async function findDueLanes(
  tx: Tx,
  shopId: string,
  owner: string,
  running: readonly string[],
  nowMs: number,
): Promise<DueLanes> {
  const others = running.length === 0 ? "" : ` and e.lane not in (${placeholders(running.length)})`;
  const [due, further, held, next, oldest] = await Promise.all([
    tx.all<{ lane: string }>(
      `select e.lane from effect e
       where e.shop_id = ? and e.state = 'pending' and e.due_at <= ?${others}
         and not exists (
           select 1 from effect h where h.shop_id = e.shop_id and h.lane = e.lane and h.state = 'pending'
             and h.lease_owner is not null and h.lease_owner <> ? and h.due_at + 0 > ?)
       order by e.due_at, e.effect_id limit ?`,
      [shopId, nowMs, ...running, owner, nowMs, dueMax],
    ),
    running.length === 0
      ? []
      : tx.all<{ lane: string }>(
          `select r.column1 as lane from (values ${running.map(() => "(?)").join(", ")}) as r
           where exists (
             select 1 from effect e
             where e.shop_id = ? and e.lane = r.column1 and e.state = 'pending' and e.due_at + 0 <= ?)`,
          [...running, shopId, nowMs],
        ),
    tx.all<{ lane: string }>(
      `select h.lane from effect h
       where h.shop_id = ? and h.state = 'pending' and h.lease_owner is not null and h.lease_owner <> ? and h.due_at > ?
         and exists (
           select 1 from effect e where e.shop_id = h.shop_id and e.lane = h.lane and e.state = 'pending' and e.due_at <= ?)
       limit 1`,
      [shopId, owner, nowMs, nowMs],
    ),
    tx.all<{ due_at: number | null }>(
      "select min(due_at) as due_at from effect where shop_id = ? and state = 'pending' and due_at > ?",
      [shopId, nowMs],
    ),
    tx.all<{ created_at: number | null }>(
      "select min(created_at) as created_at from effect where shop_id = ? and state = 'pending'",
      [shopId],
    ),
  ]);
  return {
    lanes: [...new Set([...due, ...further].map((row) => row.lane))],
    leavesOut: due.length >= dueMax,
    isHeldUp: held.length > 0,
    nextDueAtMs: next[0]?.due_at ?? null,
    oldestAtMs: oldest[0]?.created_at ?? null,
  };
}

/** True if the shop has an effect that is not settled. */
export async function hasPendingEffects(tx: Tx, shopId: string): Promise<boolean> {
  const rows = await tx.all("select 1 as found from effect where shop_id = ? and state = 'pending' limit 1", [shopId]);
  return rows.length > 0;
}

/** The lanes of those of these effects that are not settled. */
export async function pendingLanes(tx: Tx, shopId: string, effectIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await inChunks(effectIds, (chunk) =>
    tx.all<{ lane: string }>(
      `select lane from effect
       where shop_id = ? and state = 'pending' and effect_id in (${placeholders(chunk.length)}) order by effect_id`,
      [shopId, ...chunk],
    ),
  );
  return new Set(rows.map((row) => row.lane));
}

/** Effects of a lane that one run claims. */
export const runMax = 50;

/**
 * Claims the lane's due effects, oldest first, with a lease until `leasedUntilMs`; none when another runner has the
 * lane. Effects that this owner has claimed already are among them: an earlier claim was stored, or its run broke off.
 * An attempt that was begun and not finished is not counted twice.
 */
export async function claimLane(
  tx: Tx,
  shopId: string,
  lane: string,
  owner: string,
  times: { readonly nowMs: number; readonly leasedUntilMs: number },
): Promise<readonly ClaimedEffect[]> {
  const [taken, rows] = await Promise.all([
    tx.all<{ effect_id: string }>(
      `select effect_id from effect
       where shop_id = ? and lane = ? and state = 'pending' and lease_owner <> ? and due_at + 0 > ? limit 1`,
      [shopId, lane, owner, times.nowMs],
    ),
    tx.all<{
      effect_id: string;
      payload: string;
      attempts: number;
      lease_owner: string | null;
      traceparent: string | null;
    }>(
      `select effect_id, payload, attempts, lease_owner, traceparent from effect
       where shop_id = ? and lane = ? and state = 'pending' and (due_at <= ? or lease_owner = ?)
       order by effect_id limit ?`,
      [shopId, lane, times.nowMs, owner, runMax],
    ),
  ]);
  if (taken.length > 0) return [];
  const claimed = rows.map((row): ClaimedEffect => {
    const effect: Effect = JSON.parse(row.payload);
    const attempts = row.attempts + (row.lease_owner === null ? 1 : 0);
    return { effectId: row.effect_id, effect, attempts, traceparent: row.traceparent };
  });
  await tx.batch(
    claimed.map(({ effectId, attempts }) =>
      update(
        tables.effect,
        shopId,
        { effect_id: effectId },
        { attempts, due_at: times.leasedUntilMs, lease_owner: owner },
      ),
    ),
  );
  return claimed;
}

/** True if the owner still holds the lease of every one of these effects. At most as many as one run claims. */
export async function hasClaimed(
  tx: Tx,
  shopId: string,
  owner: string,
  effectIds: readonly string[],
): Promise<boolean> {
  const rows = await tx.all<{ effect_id: string }>(
    `select effect_id from effect
     where shop_id = ? and state = 'pending' and lease_owner = ? and effect_id in (${placeholders(effectIds.length)})`,
    [shopId, owner, ...effectIds],
  );
  return rows.length === effectIds.length;
}

/** Renews the leases of these effects. @returns false when the owner does not hold all of them. */
export async function renewClaims(
  tx: Tx,
  shopId: string,
  owner: string,
  effectIds: readonly string[],
  leasedUntilMs: number,
): Promise<boolean> {
  const holds = await hasClaimed(tx, shopId, owner, effectIds);
  await tx.batch([
    update(
      tables.effect,
      shopId,
      { state: fixed("pending"), lease_owner: owner, effect_id: oneOf(effectIds) },
      { due_at: leasedUntilMs },
    ),
  ]);
  return holds;
}

/** Renews the lease of an effect. */
export const renewStatement = (shopId: string, effectId: string, leasedUntilMs: number): Change =>
  update(tables.effect, shopId, pending(effectId), { due_at: leasedUntilMs });

/** One effect, as long as it is not settled. */
const pending = (effectId: string): Where => ({ effect_id: effectId, state: fixed("pending") });

/** Makes effects due now that would be due after `untilMs`, claimed ones too. */
export const dueNowStatement = (shopId: string, untilMs: number, nowMs: number): Change =>
  update(
    tables.effect,
    shopId,
    { state: fixed("pending"), due_at: above(untilMs) },
    { due_at: nowMs, lease_owner: null },
  );

/**
 * Has leases end at `untilMs` that would end more than `leaseAheadMsMax` from now: those of processes that are gone.
 * Others renew theirs.
 */
export async function shortenLeases(tx: Tx, shopId: string, nowMs: number, untilMs: number): Promise<void> {
  const ahead = { state: fixed("pending"), lease_owner: not(null), due_at: above(nowMs + leaseAheadMsMax) };
  await tx.batch([update(tables.effect, shopId, ahead, { due_at: untilMs })]);
}

/** True if the shop has a lease that ends more than `leaseAheadMsMax` from now. */
export async function hasLeaseAhead(tx: Tx, shopId: string, nowMs: number): Promise<boolean> {
  const rows = await tx.all(
    `select 1 as found from effect
     where shop_id = ? and state = 'pending' and lease_owner is not null and due_at > ? limit 1`,
    [shopId, nowMs + leaseAheadMsMax],
  );
  return rows.length > 0;
}

/** Ends the lease of an effect that is tried again at `dueAtMs`. */
export const postponeStatement = (shopId: string, effectId: string, dueAtMs: number, detail: string): Change =>
  update(tables.effect, shopId, pending(effectId), { due_at: dueAtMs, lease_owner: null, detail });

/** Settles an effect: it is not tried again. */
export const settleEffectStatement = (
  shopId: string,
  effectId: string,
  outcome: Exclude<EffectOutcome, { readonly state: "pending" }>,
  nowMs: number,
): Change =>
  update(tables.effect, shopId, pending(effectId), {
    state: outcome.state,
    detail: outcome.state === "failed" ? outcome.detail : null,
    item_count: outcome.state === "skipped" ? 0 : outcome.itemCount,
    lease_owner: null,
    settled_at: nowMs,
  });

/** Failed effects that one call retries. */
const retriedMax = 50;

/**
 * Makes failed effects due again that would have told the storefront these variants' incoming quantities at the
 * location, or their tags. Each then sends what the ledger has at that time.
 *
 * @returns the effects that are retried.
 */
export async function retryFailedMirrors(
  tx: Tx,
  shopId: string,
  locationId: string | null,
  variantIds: ReadonlySet<string>,
  nowMs: number,
): Promise<readonly QueuedEffect[]> {
  const rows = await tx.all<{ effect_id: string; lane: string; payload: string }>(
    `select effect_id, lane, payload from effect where shop_id = ? and lane in (?, ?) and state = 'failed'
     order by effect_id desc limit ?`,
    [
      shopId,
      laneOf({ kind: "sync-tags", variantIds: [] }),
      locationId === null ? "" : laneOf({ kind: "mirror-incoming", locationId, variantIds: [] }),
      retriedMax,
    ],
  );
  const retried = rows.flatMap((row) => {
    const effect: Effect = JSON.parse(row.payload);
    const concerns = "variantIds" in effect && effect.variantIds.some((variantId) => variantIds.has(variantId));
    return concerns ? [{ effectId: row.effect_id, kind: effect.kind, lane: row.lane }] : [];
  });
  await tx.batch(
    retried.map(({ effectId }) =>
      update(
        tables.effect,
        shopId,
        { effect_id: effectId },
        { state: "pending", attempts: 0, due_at: nowMs, detail: null, item_count: 0, settled_at: null },
      ),
    ),
  );
  return retried;
}

/**
 * Releases all leases of other runners on effects from `untilMs` or before; the attempts that they did not finish are
 * not counted. Claims of calls are such leases too (shop/order/order-claims.ts).
 */
export const releaseOthersStatement = (shopId: string, owner: string, untilMs: number, nowMs: number): Change =>
  update(
    tables.effect,
    shopId,
    { state: fixed("pending"), lease_owner: not(owner), created_at: upTo(untilMs) },
    unattempted(nowMs),
  );

/** Releases all leases of this runner; the attempts that it did not finish are not counted. */
export const releaseOwnStatement = (shopId: string, owner: string, nowMs: number): Change =>
  update(tables.effect, shopId, { state: fixed("pending"), lease_owner: owner }, unattempted(nowMs));

/** Deletes effects that were settled at `untilMs` or before. */
export const sweepEffectsStatement = (shopId: string, untilMs: number): Change =>
  remove(tables.effect, shopId, { settled_at: upTo(untilMs) });

interface StandingRow {
  readonly effect_id: string;
  readonly state: EffectOutcome["state"];
  readonly attempts: number;
  readonly detail: string | null;
  readonly item_count: number;
  readonly lease_owner: string | null;
}

/** State of an effect, and its lease. */
export interface Standing {
  readonly outcome: EffectOutcome;
  /** Attempts begun so far. */
  readonly attempts: number;
  /** True if a runner holds its lease. */
  readonly isClaimed: boolean;
}

function outcomeFrom(row: StandingRow): EffectOutcome {
  switch (row.state) {
    case "pending":
    case "skipped":
      return { state: row.state };
    case "applied":
      return { state: "applied", itemCount: row.item_count };
    case "failed":
      return { state: "failed", detail: row.detail ?? "", itemCount: row.item_count };
  }
}

/** Returns the states of these effects. One that was deleted is left out. */
export async function loadStandings(
  tx: Tx,
  shopId: string,
  effectIds: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  const rows = await inChunks(effectIds, (chunk) =>
    tx.all<StandingRow>(
      `select effect_id, state, attempts, detail, item_count, lease_owner from effect
       where shop_id = ? and effect_id in (${placeholders(chunk.length)})`,
      [shopId, ...chunk],
    ),
  );
  return new Map(
    rows.map((row) => [
      row.effect_id,
      { outcome: outcomeFrom(row), attempts: row.attempts, isClaimed: row.lease_owner !== null },
    ]),
  );
}
