/**
 * The outbox's runner: effects are applied outside the shop's turn, each once, whatever crashes in between (S3, S5, C38), by one node or
 * by many.
 *
 * Owns: when a lane runs, leases, time limits, repeats with backoff and jitter, giving up, waiting for outcomes, resuming at start,
 * looking for what nodes that died have left.
 * Does not own: what an effect does (effect-work.ts), its rows (effects.ts).
 *
 * Glossary. lane: effects that must run one after another (one order's pushes, one location's incoming). run: the due effects of a
 * lane, claimed together and carried through or put off together.
 *
 * Invariants:
 * - O1. An effect is claimed by a lease in its row; of a lane, one runner at a time has effects. A runner that dies loses them when
 *       the lease ends, or at once when this is the only process on the store (`alone`). One that stops gives them back.
 * - O2. No transaction is open while the storefront is called, and no call is waited for longer than `callTimeLimitMs`.
 * - O3. A lane that hangs or fails delays no other lane, but for the named bounds of lanes at a time.
 * - O4. An effect ends as applied, skipped or failed after at most `attemptsMax` attempts; one that a crash cut short does not count.
 * - O5. `settle` tells nothing that is not durable.
 * - O6. A step is kept only while its runner has every one of its effects. So one that is tried again although it had been kept, or
 *       comes too late because another runner has taken over, counts nothing twice.
 */
import type { EffectOutcome } from "../core/effect.ts";
import { Fault } from "../core/fault.ts";
import {
  type DueLanes,
  type Standing,
  claimLane,
  findDueLanes,
  giveBackStatement,
  hasClaimed,
  loadStandings,
  releaseStatement,
  sweepEffectsStatement,
} from "../shop/effects.ts";
import { sweepPushesStatement } from "../shop/stock-pushes.ts";
import type { Clock, Engine, Ids, Log, Tx } from "../store/store.ts";
import { type Storefront, StorefrontError, type StorefrontOf } from "../storefront/storefront.ts";
import type { Step, Work, WorkContext } from "./step.ts";
import { begin } from "./work.ts";

export interface OutboxLimits {
  /** Attempts of one effect before it has failed. */
  readonly attemptsMax: number;
  /** Before the second attempt; doubled for each one after, less a random part of up to half. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** How long a call of the storefront is waited for. */
  readonly callTimeLimitMs: number;
  /** How long a claim holds without being renewed; above `callTimeLimitMs`. */
  readonly leaseMs: number;
  /** Lanes of one shop that run at a time. */
  readonly lanesPerShopMax: number;
  /** Lanes of all shops that run at a time. */
  readonly lanesMax: number;
  /** How long settled effects and pushes are kept. */
  readonly keptMs: number;
  /** How long `close` waits for calls that are out. */
  readonly closeWaitMs: number;
  /** How often a node among others looks for work of all shops, less or more a random part of up to half. */
  readonly pollMs: number;
}

export const outboxLimits: OutboxLimits = {
  attemptsMax: 7,
  backoffMs: 100,
  backoffMsMax: 5_000,
  callTimeLimitMs: 10_000,
  leaseMs: 30_000,
  lanesPerShopMax: 16,
  lanesMax: 256,
  keptMs: 7 * 24 * 60 * 60 * 1_000,
  closeWaitMs: 3_000,
  pollMs: 3_000,
};

/** Between two tries of a store that refuses. */
const pauseMs = 500;

/** Between two looks at what another node has: at its lanes, and at the outcomes that are waited for here. */
const othersLookMs = 100;

/** How often settled effects of a busy shop are swept. */
const sweepEveryMs = 60 * 60 * 1_000;

export interface OutboxOptions {
  readonly engine: Engine;
  readonly storefrontOf: StorefrontOf;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** What differs from `outboxLimits`. */
  readonly limits?: Partial<OutboxLimits>;
  /** This is the only process on the store: what an earlier one had claimed is free at once, and nobody else puts work in. */
  readonly alone: boolean;
  /** Among other nodes: brings to its end what else of the shop a node that died has left. Told to stop by the signal. */
  readonly recover?: (shopId: string, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface Outbox {
  /**
   * Starts what is due in the shop and waits until each of these effects has had an attempt, or is settled, at most `waitMs`.
   *
   * @returns an outcome for every id; `pending` for those still to come, or to be tried again.
   */
  settle(shopId: string, effectIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
  /**
   * Resumes the pending effects of every shop, one shop after another; resolves when all have been looked at. Among other nodes it goes
   * on looking for what they leave.
   */
  start(): Promise<void>;
  /** Begins nothing more and waits for what runs, but for calls beyond `closeWaitMs`; what is left is resumed by the next start. */
  close(): Promise<void>;
}

/** One shop's part of the runner; there while something runs or is due. */
interface ShopRuns {
  readonly running: Map<string, Promise<void>>;
  /** Work was put in or claimed here, so it is looked after here without waiting for the next poll. */
  isOurs: boolean;
  /** A look at the outbox is under way; another is wanted after it. */
  looking: boolean;
  lookAgain: boolean;
  timer: NodeJS.Timeout | null;
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { engine, storefrontOf, clock, ids, log, alone, random } = options;
  const limits: OutboxLimits = { ...outboxLimits, ...options.limits };
  const owner = ids.next("run");
  const shops = new Map<string, ShopRuns>();
  /** Shops that wait for a free lane, in the order in which they came. */
  const waitingShops = new Set<string>();
  /** Told once, when an effect has had an attempt. */
  const waiters = new Map<string, Set<(outcome: EffectOutcome) => void>>();
  const sweptAtMs = new Map<string, number>();
  /** Shops in which a lane broke off, and may have left claims. */
  const claimsLeft = new Set<string>();
  const closing = new AbortController();
  let pollTimer: NodeJS.Timeout | null = null;
  let recovering: Promise<void> | null = null;
  let closed = false;
  let lanesRunning = 0;

  const waiterKey = (shopId: string, effectId: string): string => `${shopId} ${effectId}`;

  function tell(shopId: string, outcomes: ReadonlyMap<string, EffectOutcome>): void {
    for (const [effectId, outcome] of outcomes)
      for (const waiter of waiters.get(waiterKey(shopId, effectId)) ?? []) waiter(outcome);
  }

  const contextOf = (shopId: string): WorkContext => ({
    shopId,
    ids,
    begunPushes: new Set(),
    now: () => clock.now(),
    leasedUntilMs: () => clock.now() + limits.leaseMs,
    retryAtMs: (attempts, error) => {
      if (error?.kind === "auth" || attempts >= limits.attemptsMax) return null;
      const backoffMs = Math.min(limits.backoffMsMax, limits.backoffMs * 2 ** (attempts - 1));
      return clock.now() + Math.max(Math.ceil(backoffMs * (1 - random() / 2)), error?.retryAfterMs ?? 0);
    },
  });

  const newRuns = (): ShopRuns => ({
    running: new Map(),
    isOurs: alone,
    looking: false,
    lookAgain: false,
    timer: null,
  });

  /** Looks at what is due and begins it, as far as the bounds allow. */
  function look(shopId: string, isOurs = false): void {
    if (closed) return;
    const shop = shops.get(shopId) ?? newRuns();
    shops.set(shopId, shop);
    if (isOurs) shop.isOurs = true;
    if (shop.looking) {
      shop.lookAgain = true;
      return;
    }
    shop.looking = true;
    void lookOnce(shopId, shop).finally(() => {
      shop.looking = false;
      const again = shop.lookAgain;
      shop.lookAgain = false;
      if (again) look(shopId);
      else forgetIfIdle(shopId, shop);
    });
  }

  async function lookOnce(shopId: string, shop: ShopRuns): Promise<void> {
    if (shop.timer !== null) clearTimeout(shop.timer);
    shop.timer = null;
    let due: DueLanes;
    try {
      due = await engine.peek(shopId, (tx) => findDueLanes(tx, shopId, owner, [...shop.running.keys()], clock.now()));
    } catch (error) {
      if (isGone(error)) return;
      log.warn({ shopId, err: error }, "the outbox could not be read; it is tried again");
      lookLater(shopId, shop, pauseMs);
      return;
    }
    if (closed) return;
    for (const lane of due.lanes) {
      if (shop.running.size >= limits.lanesPerShopMax) break;
      if (lanesRunning >= limits.lanesMax) {
        waitingShops.add(shopId);
        break;
      }
      lanesRunning += 1;
      shop.running.set(lane, runLane(shopId, shop, lane));
    }
    const nextInMs = due.nextDueAtMs === null ? Number.POSITIVE_INFINITY : Math.max(1, due.nextDueAtMs - clock.now());
    const laterMs = due.isHeldUp ? Math.min(othersLookMs, nextInMs) : nextInMs;
    if (Number.isFinite(laterMs)) lookLater(shopId, shop, laterMs);
  }

  function lookLater(shopId: string, shop: ShopRuns, afterMs: number): void {
    // What others look after is theirs until a poll finds that they do not.
    if (closed || !shop.isOurs) return;
    shop.timer = setTimeout(() => {
      shop.timer = null;
      look(shopId);
    }, afterMs);
    shop.timer.unref();
  }

  function forgetIfIdle(shopId: string, shop: ShopRuns): void {
    if (shop.running.size === 0 && shop.timer === null && !shop.looking && shops.get(shopId) === shop)
      shops.delete(shopId);
  }

  async function runLane(shopId: string, shop: ShopRuns, lane: string): Promise<void> {
    try {
      await carryThrough(shopId, shop, lane);
    } catch (error) {
      // What was claimed is due again when its lease ends, what was not is due now: hence the pause.
      if (!isGone(error)) {
        claimsLeft.add(shopId);
        log.error({ shopId, lane, err: error }, "a lane of the outbox broke off; it is resumed");
        if (!closed) await pause(pauseMs);
      }
    } finally {
      shop.running.delete(lane);
      lanesRunning -= 1;
      look(shopId);
      const [next] = waitingShops;
      if (next !== undefined) {
        waitingShops.delete(next);
        look(next);
      }
    }
  }

  /** Claims the lane's due effects and goes from step to step until they are settled or put off. */
  async function carryThrough(shopId: string, shop: ShopRuns, lane: string): Promise<void> {
    const context = contextOf(shopId);
    const claimed = new Set<string>();
    let work: Work = async (tx) => {
      const nowMs = clock.now();
      if ((sweptAtMs.get(shopId) ?? 0) + sweepEveryMs <= nowMs) {
        sweptAtMs.set(shopId, nowMs);
        await tx.batch([
          sweepEffectsStatement(shopId, nowMs - limits.keptMs),
          sweepPushesStatement(shopId, nowMs - limits.keptMs),
        ]);
      }
      const run = await claimLane(tx, shopId, lane, owner, { nowMs, leasedUntilMs: context.leasedUntilMs() });
      // An earlier try was kept, and there was nothing more to do.
      if (run.length === 0 && claimed.size > 0) return await leave(tx, shopId, claimed);
      claimed.clear();
      for (const { effectId } of run) claimed.add(effectId);
      return await begin(tx, context, run);
    };
    for (;;) {
      const step = await keep(shopId, work);
      if (claimed.size > 0) shop.isOurs = true;
      if (step.kind === "ended") {
        tell(shopId, step.outcomes);
        return;
      }
      const next = await callStorefront(shopId, step);
      work = async (tx) =>
        (await hasClaimed(tx, shopId, owner, [...claimed])) ? await next(tx) : await leave(tx, shopId, claimed);
    }
  }

  /** Ends with what has become of effects that this runner has no more (O6). */
  async function leave(tx: Tx, shopId: string, effectIds: ReadonlySet<string>): Promise<Step> {
    const standings = await loadStandings(tx, shopId, [...effectIds]);
    const over = [...standings].filter(([, standing]) => !standing.isClaimed);
    return { kind: "ended", outcomes: new Map(over.map(([effectId, { outcome }]) => [effectId, outcome])) };
  }

  /** Writes, again while the store refuses for now: what the storefront said is not to be lost to a full queue. */
  async function keep(shopId: string, work: Work): Promise<Step> {
    const untilMs = clock.now() + limits.leaseMs - limits.callTimeLimitMs;
    for (;;) {
      try {
        return await engine.write(shopId, work);
      } catch (error) {
        const mayPass = error instanceof Fault && error.retryable && !closed && clock.now() < untilMs;
        if (!mayPass) throw error;
        await pause(Math.min(error.retryAfterMs ?? pauseMs, pauseMs));
      }
    }
  }

  /** Calls the storefront within the time limit. A call that breaks the limit may have landed all the same. */
  async function callStorefront(shopId: string, step: Extract<Step, { readonly kind: "call" }>): Promise<Work> {
    if (closing.signal.aborted)
      return step.failed(new StorefrontError("timeout", "the service is stopping", { landed: "no" }));
    let storefront: Storefront;
    try {
      storefront = await storefrontOf(shopId);
    } catch (error) {
      return step.failed(storefrontErrorFrom(shopId, error, "no"));
    }
    const givenUp = new AbortController();
    const signal = AbortSignal.any([givenUp.signal, closing.signal]);
    const limit = new Promise<never>((_, reject) => {
      signal.addEventListener(
        "abort",
        () => reject(new StorefrontError("timeout", "the storefront did not answer in time", { landed: "maybe" })),
        { once: true },
      );
    });
    limit.catch(() => null);
    const timer = setTimeout(() => givenUp.abort(), limits.callTimeLimitMs);
    try {
      return await Promise.race([step.call(storefront, signal), limit]);
    } catch (error) {
      return step.failed(storefrontErrorFrom(shopId, error, "maybe"));
    } finally {
      clearTimeout(timer);
    }
  }

  /** A storefront that throws anything but its own error is broken, but breaks nobody's effect: it counts as failed. */
  function storefrontErrorFrom(shopId: string, error: unknown, landed: "no" | "maybe"): StorefrontError {
    if (error instanceof StorefrontError) return error;
    log.error({ shopId, err: error }, "the storefront failed in an unforeseen way");
    return new StorefrontError("error", "the storefront failed", { landed, cause: error });
  }

  /** Looks at every shop that has work due: what nodes that died have left, and what a command has put in. */
  async function poll(): Promise<void> {
    try {
      const shopIds = await engine.shopsWithDueRows(clock.now());
      for (const shopId of shopIds) look(shopId);
      recovering ??= recoverAll(shopIds).finally(() => (recovering = null));
    } catch (error) {
      if (!closed) log.warn({ err: error }, "work that is due could not be looked for; it is tried again");
    }
    if (closed) return;
    // Each node at a time of its own, so that they do not all come at once.
    pollTimer = setTimeout(() => void poll(), limits.pollMs * (0.5 + random()));
    pollTimer.unref();
  }

  async function recoverAll(shopIds: readonly string[]): Promise<void> {
    for (const shopId of shopIds) {
      if (closed) return;
      try {
        await options.recover?.(shopId, closing.signal);
      } catch (error) {
        if (isGone(error)) continue;
        log.error(
          { shopId, err: error },
          "what a node has left of the shop could not be brought to its end; it is tried again",
        );
      }
    }
  }

  /** Lets others go on at once, instead of when the leases end. */
  async function giveBack(shopId: string): Promise<void> {
    try {
      await engine.write(shopId, (tx) => tx.batch([giveBackStatement(shopId, owner, clock.now())]));
    } catch (error) {
      if (!isGone(error))
        log.warn({ shopId, err: error }, "claims could not be given back; they end with their leases");
    }
  }

  return {
    async settle(shopId, effectIds, waitMs) {
      const outcomes = new Map<string, EffectOutcome>();
      const missing = new Set(effectIds);
      const attempted = Promise.withResolvers<void>();
      const unregister = effectIds.map((effectId) => {
        const key = waiterKey(shopId, effectId);
        const set = waiters.get(key) ?? new Set();
        waiters.set(key, set);
        const waiter = (outcome: EffectOutcome): void => {
          outcomes.set(effectId, outcome);
          missing.delete(effectId);
          if (missing.size === 0) attempted.resolve();
        };
        set.add(waiter);
        return (): void => {
          set.delete(waiter);
          if (set.size === 0) waiters.delete(key);
        };
      });
      const take = (
        standings: ReadonlyMap<string, Standing>,
        isOver: (id: string, each: Standing) => boolean,
      ): void => {
        for (const [effectId, standing] of standings) {
          if (outcomes.has(effectId) || !isOver(effectId, standing)) continue;
          outcomes.set(effectId, standing.outcome);
          missing.delete(effectId);
        }
      };
      const isSettled = ({ outcome }: Standing): boolean => outcome.state !== "pending";
      try {
        look(shopId, true);
        const before = await engine.read(shopId, (tx) => loadStandings(tx, shopId, effectIds));
        take(before, (_, standing) => isSettled(standing));
        for (let leftMs = waitMs; missing.size > 0 && leftMs > 0; leftMs -= othersLookMs) {
          await withinMs(attempted.promise, alone ? leftMs : Math.min(leftMs, othersLookMs));
          if (alone || missing.size === 0) break;
          // Another node may have had the lane.
          const now = await engine.read(shopId, (tx) => loadStandings(tx, shopId, [...missing]));
          const isAttempted = (effectId: string, standing: Standing): boolean =>
            !standing.isClaimed && standing.attempts > (before.get(effectId)?.attempts ?? 0);
          take(now, (effectId, standing) => isSettled(standing) || isAttempted(effectId, standing));
        }
      } finally {
        for (const each of unregister) each();
      }
      return new Map(effectIds.map((effectId) => [effectId, outcomes.get(effectId) ?? { state: "pending" }]));
    },

    async start() {
      if (!alone) return await poll();
      for (const shopId of await engine.list()) {
        if (closed) return;
        try {
          await engine.write(shopId, (tx) => tx.batch([releaseStatement(shopId, owner, clock.now())]), {
            durable: false,
          });
        } catch (error) {
          log.error({ shopId, err: error }, "the shop's pending effects could not be resumed");
        }
        look(shopId);
      }
    },

    async close() {
      closed = true;
      if (pollTimer !== null) clearTimeout(pollTimer);
      for (const shop of shops.values()) if (shop.timer !== null) clearTimeout(shop.timer);
      const running = (): readonly Promise<void>[] => [...shops.values()].flatMap((shop) => [...shop.running.values()]);
      await withinMs(Promise.all(running()), limits.closeWaitMs);
      closing.abort();
      await Promise.all([...running(), recovering]);
      for (const shopId of claimsLeft) await giveBack(shopId);
    },
  };
}

/** The shop was deleted meanwhile, and its outbox with it. */
const isGone = (error: unknown): boolean => error instanceof Fault && error.code === "NOT_FOUND";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for the promise, at most so long. */
async function withinMs(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
