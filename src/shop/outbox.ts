/**
 * The outbox's runner: effects are applied outside the shop's turn, each once, whatever crashes in between (S3, S5, C38).
 *
 * Owns: when a lane runs, leases, time limits, repeats with backoff and jitter, giving up, waiting for outcomes, resuming at start.
 * Does not own: what an effect does (effect-work.ts), its rows (effects.ts).
 *
 * Glossary. lane: effects that must run one after another (one order's pushes, one location's incoming). run: the due effects of a
 * lane, claimed together and carried through or put off together.
 *
 * Invariants:
 * - O1. An effect is claimed by a lease in its row; of a lane, one runner at a time has effects. A runner that dies loses them when
 *       the lease ends, or at once when this is the only process on the store (`alone`).
 * - O2. No transaction is open while the storefront is called, and no call is waited for longer than `callTimeLimitMs`.
 * - O3. A lane that hangs or fails delays no other lane, but for the named bounds of lanes at a time.
 * - O4. An effect ends as applied, skipped or failed after at most `attemptsMax` attempts; one that a crash cut short does not count.
 * - O5. `settle` tells nothing that is not durable.
 */
import type { EffectOutcome } from "../core/effect.ts";
import { Fault } from "../core/fault.ts";
import { type Storefront, StorefrontError, type StorefrontOf } from "../storefront/storefront.ts";
import { begin, type Step, type Work, type WorkContext } from "./effect-work.ts";
import {
  claimLane,
  type DueLanes,
  findDueLanes,
  loadOutcomes,
  releaseStatement,
  sweepEffectsStatement,
} from "./effects.ts";
import type { Clock, Engine, Ids } from "./shop.ts";
import { sweepPushesStatement } from "./stock-pushes.ts";

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
};

/** Between two tries of a store that refuses, and of a lane that another runner has. */
const pauseMs = 500;
/** How often settled effects of a busy shop are swept. */
const sweepEveryMs = 60 * 60 * 1_000;

export interface OutboxLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface OutboxOptions {
  readonly engine: Engine;
  readonly storefrontOf: StorefrontOf;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: OutboxLog;
  /** What differs from `outboxLimits`. */
  readonly limits?: Partial<OutboxLimits>;
  /** This is the only process on the store: what an earlier one had claimed is free at once. */
  readonly alone: boolean;
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
  /** Resumes the pending effects of every shop, one shop after another; resolves when all have been looked at. */
  start(): Promise<void>;
  /** Begins nothing more and waits for what runs, but for calls beyond `closeWaitMs`; what is left is resumed by the next start. */
  close(): Promise<void>;
}

/** One shop's part of the runner; there while something runs or is due. */
interface ShopRuns {
  readonly running: Map<string, Promise<void>>;
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
  const closing = new AbortController();
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
    now: () => clock.now(),
    leasedUntilMs: () => clock.now() + limits.leaseMs,
    retryAtMs: (attempts, error) => {
      if (error?.kind === "auth" || attempts >= limits.attemptsMax) return null;
      const backoffMs = Math.min(limits.backoffMsMax, limits.backoffMs * 2 ** (attempts - 1));
      return clock.now() + Math.max(Math.ceil(backoffMs * (1 - random() / 2)), error?.retryAfterMs ?? 0);
    },
  });

  /** Looks at what is due and begins it, as far as the bounds allow. */
  function look(shopId: string): void {
    if (closed) return;
    const shop = shops.get(shopId) ?? { running: new Map(), looking: false, lookAgain: false, timer: null };
    shops.set(shopId, shop);
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
      due = await engine.peek(shopId, (tx) => findDueLanes(tx, shopId, [...shop.running.keys()], clock.now()));
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
    if (due.nextDueAtMs !== null) lookLater(shopId, shop, Math.max(1, due.nextDueAtMs - clock.now()));
  }

  function lookLater(shopId: string, shop: ShopRuns, afterMs: number): void {
    if (closed) return;
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
      await carryThrough(shopId, lane);
    } catch (error) {
      // What was claimed is due again when its lease ends, what was not is due now: hence the pause.
      if (!isGone(error)) {
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
  async function carryThrough(shopId: string, lane: string): Promise<void> {
    const context = contextOf(shopId);
    let work: Work = async (tx) => {
      const nowMs = clock.now();
      const times = { nowMs, leasedUntilMs: context.leasedUntilMs(), retryAtMs: nowMs + pauseMs };
      if ((sweptAtMs.get(shopId) ?? 0) + sweepEveryMs <= nowMs) {
        sweptAtMs.set(shopId, nowMs);
        await tx.batch([
          sweepEffectsStatement(shopId, nowMs - limits.keptMs),
          sweepPushesStatement(shopId, nowMs - limits.keptMs),
        ]);
      }
      return await begin(tx, context, await claimLane(tx, shopId, lane, owner, times));
    };
    for (;;) {
      const step = await keep(shopId, work);
      if (step.kind === "ended") {
        tell(shopId, step.outcomes);
        return;
      }
      work = await callStorefront(shopId, step);
    }
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
      try {
        look(shopId);
        const stored = await engine.read(shopId, (tx) => loadOutcomes(tx, shopId, effectIds));
        for (const [effectId, outcome] of stored) {
          if (outcome.state === "pending" || outcomes.has(effectId)) continue;
          outcomes.set(effectId, outcome);
          missing.delete(effectId);
        }
        if (missing.size > 0) await withinMs(attempted.promise, waitMs);
      } finally {
        for (const each of unregister) each();
      }
      return new Map(effectIds.map((effectId) => [effectId, outcomes.get(effectId) ?? { state: "pending" }]));
    },

    async start() {
      for (const shopId of await engine.list()) {
        if (closed) return;
        try {
          if (alone)
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
      for (const shop of shops.values()) if (shop.timer !== null) clearTimeout(shop.timer);
      const running = (): readonly Promise<void>[] => [...shops.values()].flatMap((shop) => [...shop.running.values()]);
      await withinMs(Promise.all(running()), limits.closeWaitMs);
      closing.abort();
      await Promise.all(running());
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
