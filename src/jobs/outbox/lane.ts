/**
 * One run of a lane: claims its due effects and takes them from step to step until they are settled or put off (O1, O4,
 * O6).
 *
 * Owns: the claim, its renewal by steps, retries of a store that refuses, sweeping of old effects. Does not own: when a
 * lane runs (shop-loop.ts), what a step does (work.ts), the storefront's time limit (storefront-call.ts).
 */
import { hourMs } from "../../base/time/calendar.ts";
import type { EffectOutcome } from "../../core/order/effect.ts";
import { noSpans, type SpanParent, type Spans } from "../../base/spans.ts";
import type { ConnectedShop } from "../../core/storefront/storefront-config.ts";
import { loadConnectedShop } from "../../shop/access/accounts.ts";
import {
  type ClaimedEffect,
  claimLane,
  hasClaimed,
  loadStandings,
  renewClaims,
  sweepEffectsStatement,
} from "../../shop/storefront/effects.ts";
import { sweepPushesStatement } from "../../shop/storefront/stock-pushes.ts";
import { sweepWritesStatement } from "../../shop/storefront/storefront-writes.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine, Log, Tx } from "../../store/store.ts";
import type { StorefrontOf } from "../../storefront/storefront.ts";
import { writeResult } from "../runner.ts";
import { HeldLease } from "./held-lease.ts";
import { JoinedSteps } from "./joined-steps.ts";
import { type OutboxLimits, retryDelayMs } from "./limits.ts";
import type { ClaimListener } from "./shop-loop.ts";
import type { CallStep, Step, Work, WorkContext } from "./step.ts";
import { callStorefront } from "./storefront-call.ts";
import { TracedAttempt } from "./traced-attempt.ts";
import { begin } from "./work.ts";

/** Interval at which settled effects and pushes of a busy shop are swept. */
const sweepEveryMs = hourMs;

interface LaneOptions {
  readonly engine: Engine;
  readonly storefrontOf: StorefrontOf;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  readonly limits: OutboxLimits;
  /** Names this runner in the claims. */
  readonly owner: string;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Nothing more begins: the store is not tried again. */
  readonly stopping: AbortSignal;
  /** Calls that are under way are given up. */
  readonly aborting: AbortSignal;
}

/**
 * Runs the lane once.
 *
 * @param listener hears how far its claim is.
 * @returns what became of its effects; `pending` for those that were put off.
 */
type RunLane = (shopId: string, lane: string, listener: ClaimListener) => Promise<ReadonlyMap<string, EffectOutcome>>;

export function createLaneRunner(options: LaneOptions): RunLane {
  const { clock, limits, owner, spans = noSpans } = options;
  const steps = new JoinedSteps(options.engine);
  const sweptAtMs = new Map<string, number>();

  async function sweep(tx: Tx, shopId: string): Promise<void> {
    const nowMs = clock.now();
    if ((sweptAtMs.get(shopId) ?? 0) + sweepEveryMs > nowMs) return;
    sweptAtMs.set(shopId, nowMs);
    const untilMs = nowMs - limits.keptMs;
    await tx.batch([
      sweepEffectsStatement(shopId, untilMs),
      sweepPushesStatement(shopId, untilMs),
      sweepWritesStatement(shopId, untilMs),
    ]);
  }

  return async (shopId, lane, listener) => {
    const context = contextOf(options, shopId);
    const claimed = new Set<string>();
    let heldFromMs = clock.now();
    let run: readonly ClaimedEffect[] = [];
    let shop: ConnectedShop | null = null;
    /** The step, and in its round trip the storefront that it is for. */
    const withShop =
      (step: Work): Work =>
      async (tx) => {
        const [made, loaded] = await Promise.allSettled([step(tx), loadConnectedShop(tx, shopId)]);
        if (made.status === "rejected") throw made.reason;
        if (loaded.status === "rejected") throw loaded.reason;
        shop = loaded.value;
        return made.value;
      };
    let work: Work = async (tx) => {
      heldFromMs = clock.now();
      await sweep(tx, shopId);
      listener.claiming();
      const times = { nowMs: clock.now(), leasedUntilMs: context.leasedUntilMs() };
      const found = await claimLane(tx, shopId, lane, owner, times);
      // An earlier try of this write was kept, and left nothing to do.
      if (found.length === 0 && claimed.size > 0) return await endWithout(tx, shopId, claimed);
      run = found;
      claimed.clear();
      for (const { effectId } of run) claimed.add(effectId);
      return await begin(tx, context, run);
    };
    const attempt = new TracedAttempt(spans, shopId);
    try {
      for (;;) {
        const step = await writeStep(options, () => steps.write(shopId, lane, withShop(work)));
        if (claimed.size > 0) listener.claimed();
        attempt.begin(run);
        if (step.kind === "ended") {
          attempt.end(step.outcomes);
          return step.outcomes;
        }
        if (shop === null) throw new Error(`the shop ${shopId} has effects but no row`);
        const lease = leaseOf(options, shopId, [...claimed], heldFromMs);
        const next = await steps.called(shopId, callWhileHeld(options, lease, shop, step, attempt.parent));
        work = async (tx) => {
          heldFromMs = clock.now();
          return (
            (await whileHeld(tx, hasClaimed(tx, shopId, owner, [...claimed]), next)) ??
            (await endWithout(tx, shopId, claimed))
          );
        };
      }
    } catch (error) {
      attempt.fail(error);
      throw error;
    }
  };
}

/** The lease of claimed effects while the storefront is called. */
const leaseOf = (
  { engine, clock, limits, owner, aborting }: LaneOptions,
  shopId: string,
  effectIds: readonly string[],
  heldFromMs: number,
): HeldLease =>
  new HeldLease({
    clock,
    leaseMs: limits.leaseMs,
    heldFromMs,
    aborting,
    renew: (untilMs) =>
      engine.write(shopId, (tx) => renewClaims(tx, shopId, owner, effectIds, untilMs), { durable: false }),
  });

/** Makes the step's call, which is given up when the lease is lost. */
async function callWhileHeld(
  options: LaneOptions,
  lease: HeldLease,
  shop: ConnectedShop,
  step: CallStep,
  parent: SpanParent | null,
): Promise<Work> {
  const timeLimitMs = options.limits.callTimeLimitMs;
  const within = { timeLimitMs, beginByMs: () => lease.untilMs, parent, aborting: lease.lost };
  try {
    return await callStorefront({ ...options, ...within }, shop, step);
  } finally {
    lease.end();
  }
}

export const contextOf = (
  { clock, ids, limits, random }: Pick<LaneOptions, "clock" | "ids" | "limits" | "random">,
  shopId: string,
): WorkContext => ({
  shopId,
  ids,
  begunPushes: new Set(),
  now: () => clock.now(),
  leasedUntilMs: () => clock.now() + limits.leaseMs,
  retryAtMs(attempts, error) {
    const delayMs = retryDelayMs(limits, attempts, error, random());
    return delayMs === null ? null : clock.now() + delayMs;
  },
});

/** The runner does not hold the step's effects any more. */
class NotHeld extends Error {
  override readonly name = "NotHeld";
}

/**
 * Runs the step beside the look-up of its claims, so that both share a round trip. It changes nothing before it is
 * known that they hold.
 *
 * @returns null when they do not.
 */
async function whileHeld(tx: Tx, holding: Promise<boolean>, next: Work): Promise<Step | null> {
  const gated: Tx = {
    cache: tx.cache,
    all: (sql, params) => tx.all(sql, params),
    async batch(statements) {
      if (!(await holding)) throw new NotHeld();
      await tx.batch(statements);
    },
  };
  const [held, step] = await Promise.allSettled([holding, next(gated)]);
  if (held.status === "rejected") throw held.reason;
  if (!held.value) return null;
  if (step.status === "rejected") throw step.reason;
  return step.value;
}

/** Ends the run with the outcomes of effects that this runner no longer holds (O6). */
async function endWithout(tx: Tx, shopId: string, effectIds: ReadonlySet<string>): Promise<Step> {
  const standings = await loadStandings(tx, shopId, [...effectIds]);
  const released = [...standings].filter(([, standing]) => !standing.isClaimed);
  return { kind: "ended", outcomes: new Map(released.map(([effectId, { outcome }]) => [effectId, outcome])) };
}

/** Runs a step's change within the lease: the storefront's answer must not be lost to a full queue. */
const writeStep = (options: LaneOptions, write: () => Promise<Step>): Promise<Step> =>
  writeResult(options, options.clock.now() + options.limits.leaseMs, write);
