/**
 * The outbox as rows: effects are put in with the change that asks for them (S3), claimed, put off and settled.
 *
 * Owns: the SQL of `effect`. Does not own: when an effect runs (outbox.ts), what it does (effect-work.ts).
 */
import type { Effect, EffectOutcome } from "../core/effect.ts";
import { inChunks, placeholders } from "../store/in-lists.ts";
import type { DueRows, Ids, Statement, Tx } from "../store/store.ts";

/** Effects to attempt now, and claimed ones whose lease has ended: by these a node finds the shops that have any. */
export const dueEffects: DueRows = { table: "effect", condition: "state = 'pending' and due_at <= ?" };

const insertEffect = `
insert into effect
  (shop_id, effect_id, kind, lane, purchase_order_id, payload, state, attempts, due_at, detail, item_count, lease_owner,
   created_at, settled_at)
values (?, ?, ?, ?, ?, ?, 'pending', 0, ?, null, 0, null, ?, null)`;

/**
 * Effects of one lane run one at a time: an order has one push in flight, and the storefront's incoming figures of a location and its
 * tags are set by one call after another, so that the last one told is the ledger's last.
 */
export function laneOf(effect: Effect): string {
  switch (effect.kind) {
    case "push-stock":
    case "settle-costs":
      return `${effect.kind} ${effect.purchaseOrderId}`;
    case "mirror-incoming":
      return `${effect.kind} ${effect.locationId}`;
    case "sync-tags":
      return effect.kind;
  }
}

/** The statements that keep these effects, each due at once, and the ids they get. */
export function effectStatements(
  shopId: string,
  effects: readonly Effect[],
  ids: Ids,
  nowMs: number,
): {
  readonly effects: readonly { readonly effectId: string; readonly kind: Effect["kind"] }[];
  readonly statements: readonly Statement[];
} {
  const entries = effects.map((effect) => ({ effectId: ids.next("eff"), effect }));
  return {
    effects: entries.map(({ effectId, effect }) => ({ effectId, kind: effect.kind })),
    statements: entries.map(({ effectId, effect }) => ({
      sql: insertEffect,
      params: [
        shopId,
        effectId,
        effect.kind,
        laneOf(effect),
        "purchaseOrderId" in effect ? effect.purchaseOrderId : null,
        JSON.stringify(effect),
        nowMs,
        nowMs,
      ],
    })),
  };
}

/** An effect that a runner has claimed. `attempts` counts the one that begins. */
export interface ClaimedEffect {
  readonly effectId: string;
  readonly effect: Effect;
  readonly attempts: number;
}

/** Which lanes have an effect that is due, and when the next one will be. */
export interface DueLanes {
  /** Those that nobody else has. */
  readonly lanes: readonly string[];
  /** Another runner has a lane with an effect that is due. */
  readonly isHeldUp: boolean;
  /** Null when nothing is pending beyond what is due. */
  readonly nextDueAtMs: number | null;
}

/** Due effects that one look at the outbox takes in. */
const lookMax = 64;

/** @param running lanes to leave out; they are looked at again when they are through. */
export async function findDueLanes(
  tx: Tx,
  shopId: string,
  owner: string,
  running: readonly string[],
  nowMs: number,
): Promise<DueLanes> {
  const others = running.length === 0 ? "" : ` and e.lane not in (${running.map(() => "?").join(", ")})`;
  const [due, held, next] = await Promise.all([
    tx.all<{ lane: string }>(
      `select e.lane from effect e
       where e.shop_id = ? and e.state = 'pending' and e.due_at <= ?${others}
         and not exists (
           select 1 from effect h where h.shop_id = e.shop_id and h.lane = e.lane and h.state = 'pending'
             and h.lease_owner is not null and h.lease_owner <> ? and h.due_at > ?)
       order by e.due_at, e.effect_id limit ?`,
      [shopId, nowMs, ...running, owner, nowMs, lookMax],
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
  ]);
  return {
    lanes: [...new Set(due.map((row) => row.lane))],
    isHeldUp: held.length > 0,
    nextDueAtMs: next[0]?.due_at ?? null,
  };
}

/** Effects of a lane that one run takes together. */
const runMax = 50;

/**
 * Takes the lane's due effects, oldest first, until `leasedUntilMs`; none when another runner has the lane. What this owner has already is
 * taken too: of that an earlier try was kept, or broke off. An attempt that was begun and not finished is not counted twice.
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
       where shop_id = ? and lane = ? and state = 'pending' and lease_owner <> ? and due_at > ? limit 1`,
      [shopId, lane, owner, times.nowMs],
    ),
    tx.all<{ effect_id: string; payload: string; attempts: number; lease_owner: string | null }>(
      `select effect_id, payload, attempts, lease_owner from effect
       where shop_id = ? and lane = ? and state = 'pending' and (due_at <= ? or lease_owner = ?)
       order by effect_id limit ?`,
      [shopId, lane, times.nowMs, owner, runMax],
    ),
  ]);
  if (taken.length > 0) return [];
  const claimed = rows.map((row): ClaimedEffect => {
    const effect: Effect = JSON.parse(row.payload);
    return { effectId: row.effect_id, effect, attempts: row.attempts + (row.lease_owner === null ? 1 : 0) };
  });
  await tx.batch(
    claimed.map(({ effectId, attempts }) => ({
      sql: "update effect set attempts = ?, due_at = ?, lease_owner = ? where shop_id = ? and effect_id = ?",
      params: [attempts, times.leasedUntilMs, owner, shopId, effectId],
    })),
  );
  return claimed;
}

/** Whether the owner still has every one of these effects, at most a run of them. */
export async function hasClaimed(
  tx: Tx,
  shopId: string,
  owner: string,
  effectIds: readonly string[],
): Promise<boolean> {
  const rows = await tx.all<{ effect_id: string }>(
    `select effect_id from effect
     where shop_id = ? and state = 'pending' and lease_owner = ? and effect_id in (${effectIds.map(() => "?").join(", ")})`,
    [shopId, owner, ...effectIds],
  );
  return rows.length === effectIds.length;
}

/** Keeps a claim for longer. */
export const renewStatement = (shopId: string, effectId: string, leasedUntilMs: number): Statement => ({
  sql: "update effect set due_at = ? where shop_id = ? and effect_id = ? and state = 'pending'",
  params: [leasedUntilMs, shopId, effectId],
});

/** Puts a claimed effect off until it is tried again. */
export const putOffStatement = (shopId: string, effectId: string, dueAtMs: number, detail: string): Statement => ({
  sql: `update effect set due_at = ?, lease_owner = null, detail = ?
        where shop_id = ? and effect_id = ? and state = 'pending'`,
  params: [dueAtMs, detail, shopId, effectId],
});

export const settleEffectStatement = (
  shopId: string,
  effectId: string,
  outcome: Exclude<EffectOutcome, { readonly state: "pending" }>,
  nowMs: number,
): Statement => ({
  sql: `update effect set state = ?, detail = ?, item_count = ?, lease_owner = null, settled_at = ?
        where shop_id = ? and effect_id = ? and state = 'pending'`,
  params: [
    outcome.state,
    outcome.state === "failed" ? outcome.detail : null,
    outcome.state === "skipped" ? 0 : outcome.itemCount,
    nowMs,
    shopId,
    effectId,
  ],
});

/** Effects that one call makes due again. */
const reviveMax = 50;

/**
 * Makes due again what was given up of telling the storefront these variants' incoming quantities at the location, and their tags:
 * each is told as the ledger stands by then.
 *
 * @returns the effects that are told again.
 */
export async function retryFailedMirrors(
  tx: Tx,
  shopId: string,
  locationId: string | null,
  variantIds: ReadonlySet<string>,
  nowMs: number,
): Promise<readonly { readonly effectId: string; readonly kind: Effect["kind"] }[]> {
  const rows = await tx.all<{ effect_id: string; payload: string }>(
    `select effect_id, payload from effect where shop_id = ? and lane in (?, ?) and state = 'failed'
     order by effect_id desc limit ?`,
    [
      shopId,
      laneOf({ kind: "sync-tags", variantIds: [] }),
      locationId === null ? "" : laneOf({ kind: "mirror-incoming", locationId, variantIds: [] }),
      reviveMax,
    ],
  );
  const revived = rows.flatMap((row) => {
    const effect: Effect = JSON.parse(row.payload);
    const concerns = "variantIds" in effect && effect.variantIds.some((variantId) => variantIds.has(variantId));
    return concerns ? [{ effectId: row.effect_id, kind: effect.kind }] : [];
  });
  await tx.batch(
    revived.map(({ effectId }) => ({
      sql: `update effect set state = 'pending', attempts = 0, due_at = ?, detail = null, item_count = 0, settled_at = null
            where shop_id = ? and effect_id = ?`,
      params: [nowMs, shopId, effectId],
    })),
  );
  return revived;
}

/** Makes everything due that other runners have claimed; the attempts that they did not finish do not count. */
export const releaseStatement = (shopId: string, owner: string, nowMs: number): Statement => ({
  sql: `update effect set due_at = ?, lease_owner = null, attempts = attempts - 1
        where shop_id = ? and state = 'pending' and lease_owner <> ?`,
  params: [nowMs, shopId, owner],
});

/** Makes everything due that this runner has claimed; the attempts that it did not finish do not count. */
export const giveBackStatement = (shopId: string, owner: string, nowMs: number): Statement => ({
  sql: `update effect set due_at = ?, lease_owner = null, attempts = attempts - 1
        where shop_id = ? and state = 'pending' and lease_owner = ?`,
  params: [nowMs, shopId, owner],
});

/** Deletes effects that were settled at `untilMs` or before. */
export const sweepEffectsStatement = (shopId: string, untilMs: number): Statement => ({
  sql: "delete from effect where shop_id = ? and settled_at <= ?",
  params: [shopId, untilMs],
});

interface StandingRow {
  readonly effect_id: string;
  readonly state: EffectOutcome["state"];
  readonly attempts: number;
  readonly detail: string | null;
  readonly item_count: number;
  readonly lease_owner: string | null;
}

/** How an effect stands. */
export interface Standing {
  readonly outcome: EffectOutcome;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** A runner has it. */
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

/** How these effects stand; one that is not there any more is left out. */
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
