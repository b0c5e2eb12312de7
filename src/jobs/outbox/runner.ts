/**
 * The outbox's runner: effects are applied outside the shop's turn, each once, whatever crashes in between (S3, S5,
 * C38), by one node or by many.
 *
 * Owns: start, stop, and the work of its parts together. They are the loop of a shop (shop-loop.ts), one run of a lane
 * (lane.ts), and the storefront's time limit (storefront-call.ts). Waiting for outcomes (settle.ts) is one more. Does
 * not own: when a shop is looked at (../runner.ts), what an effect does (work.ts), its rows
 * (shop/storefront/effects.ts).
 *
 * Glossary. lane: effects that must run one after another (one order's pushes, one location's incoming). run: a lane's
 * due effects, claimed together, and settled or put off together.
 *
 * Invariants:
 * - O1. An effect is claimed by a lease in its row; of a lane, one runner at a time has effects. It is renewed while
 *       the storefront is called. A runner that dies loses them when the lease ends, or at the next start when this is
 *       the only process on the store. One that stops gives them back.
 * - O2. No transaction is open while the storefront is called, and no call is waited for longer than `callTimeLimitMs`.
 *       A call begins only while its lease holds, and is given up when that is lost.
 * - O3. A lane that hangs or fails delays no other lane, except by the limits on lanes that run at a time.
 * - O4. An effect ends as applied, skipped or failed after at most `attemptsMax` attempts; one that a crash cut short
 *   does not count.
 * - O5. `settle` reports nothing that is not durable.
 * - O6. A step is kept only while its runner holds all of its effects. So nothing is counted twice when a step is
 *       repeated although it had been kept, or when it comes after another runner has taken over.
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import type { Spans } from "../../base/spans.ts";
import {
  type QueuedEffect,
  type DueLanes,
  dueNowStatement,
  findDueLanes,
  hasLeaseAhead,
  leaseAheadMsMax,
  releaseOwnStatement,
  releaseOthersStatement,
  runMax,
  shortenLeases,
} from "../../shop/storefront/effects.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Engine, Tx } from "../../store/store.ts";
import type { Storefront, StorefrontOf } from "../../storefront/storefront.ts";
import { JobRunner, type JobsOptions, storePauseMs } from "../runner.ts";
import { contextOf, createLaneRunner } from "./lane.ts";
import { dueAheadMsMax, type OutboxLimits, outboxLimits } from "./limits.ts";
import { rehearse } from "./rehearsal.ts";
import { AttemptReports, settle } from "./settle.ts";
import { ShopLoops } from "./shop-loop.ts";
import { sleep, withinMs } from "../../base/time/waiting.ts";

interface OutboxOptions extends JobsOptions {
  readonly engine: Engine;
  readonly storefrontOf: StorefrontOf;
  readonly ids: Ids;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  /** Limits that differ from `outboxLimits`. */
  readonly limits?: Partial<OutboxLimits>;
  /** Among other nodes: other work that a node which died has left. */
  readonly recover?: {
    /** The table of its rows. */
    readonly table: string;
    /** Finishes what is left in the shop, until the signal is aborted. */
    readonly finish: (shopId: string, signal: AbortSignal) => Promise<void>;
  };
}

/** Backlog of the outbox, for the metrics. */
interface OutboxBacklog {
  /** Shops with effects that are not settled, of those at which this process is at work. */
  readonly shops: number;
  /** When the oldest of these effects was added; null when there is none. */
  readonly oldestAtMs: number | null;
  /** Effects that this process has given up. */
  readonly failedTotal: number;
}

export interface Outbox {
  /**
   * Starts what is due in the shop and waits until each of these effects has had an attempt or is settled, at most
   * `waitMs`.
   *
   * @param added those of them that this process has just stored, so that nobody has attempted them. Their lanes start
   *              without a search for what is due.
   * @returns an outcome for every id; `pending` where there was none in time, or the effect is tried again.
   */
  settle(
    shopId: string,
    effectIds: readonly string[],
    waitMs: number,
    added?: readonly QueuedEffect[],
  ): Promise<ReadonlyMap<string, EffectOutcome>>;
  /**
   * Makes first attempts of these effects inside a transaction that is rolled back (C81), with a storefront that only
   * notes what it is told.
   *
   * @returns an outcome for every id.
   */
  rehearse(
    tx: Tx,
    shopId: string,
    effectIds: readonly string[],
    storefront: Storefront,
  ): Promise<ReadonlyMap<string, EffectOutcome>>;
  /**
   * Resumes the pending effects of every shop, one shop after another. Resolves when each has been checked. Among other
   * nodes, it goes on searching for what they leave.
   */
  start(): Promise<void>;
  /** Reads no shop. */
  backlog(): OutboxBacklog;
  /**
   * Begins nothing more and waits for what runs; calls are given up after `closeWaitMs`. The next start resumes what is
   * left.
   */
  close(): Promise<void>;
}

/** Recoveries at a time: a long import of one shop keeps no other waiting (C38). */
const recoveriesMax = 4;

/**
 * The lanes with effects that are due. What is due more than a day ahead is from before the clock was set back: it is
 * made due now. A lease that ends later than any can is from before that too (D98): it ends when one that begins now
 * would.
 */
async function findDue(
  {
    engine,
    clock,
    log,
    owner,
    leaseMs,
    search,
  }: Pick<OutboxOptions, "engine" | "clock" | "log" | "search"> & { readonly owner: string; readonly leaseMs: number },
  shopId: string,
  running: readonly string[],
): Promise<DueLanes> {
  const find = () => engine.peek(shopId, (tx) => findDueLanes(tx, shopId, owner, running, clock.now()));
  const due = await find();
  const nowMs = clock.now();
  const aheadMs = (due.nextDueAtMs ?? 0) - nowMs;
  if (aheadMs <= dueAheadMsMax) {
    // On a store that one process has alone, its next start ends the leases of those before it.
    const mayBeAhead = search !== null && (due.isHeldUp || aheadMs > leaseAheadMsMax);
    if (!mayBeAhead || !(await engine.peek(shopId, (tx) => hasLeaseAhead(tx, shopId, nowMs)))) return due;
    log.warn({ shopId }, "follow-on work was claimed before the clock was set back; the claim is shortened");
    await engine.write(shopId, (tx) => shortenLeases(tx, shopId, nowMs, nowMs + leaseMs));
    return await find();
  }
  log.warn({ shopId, aheadMs }, "follow-on work is due only after the clock was set back; it is done now");
  await engine.write(shopId, (tx) => tx.batch([dueNowStatement(shopId, nowMs + dueAheadMsMax, nowMs)]));
  return await find();
}

/** Lets other nodes continue at once, instead of when the leases end. */
async function giveBack(
  { engine, clock, log, owner }: Pick<OutboxOptions, "engine" | "clock" | "log"> & { readonly owner: string },
  shopId: string,
): Promise<void> {
  try {
    await engine.write(shopId, (tx) => tx.batch([releaseOwnStatement(shopId, owner, clock.now())]));
  } catch (error) {
    if (!isNotFound(error))
      log.warn({ shopId, err: error }, "claims could not be given back; they end with their leases");
  }
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { engine, clock, log, search } = options;
  const alone = search === null;
  const limits: OutboxLimits = { ...outboxLimits, ...options.limits };
  const owner = options.ids.claimant();
  const startedAtMs = clock.now();
  const abort = new AbortController();
  const shared = { ...options, limits, owner, aborting: abort.signal };
  const reports = new AttemptReports();
  /** Shops in which a run has failed, and may have left claims. */
  const claimsLeft = new Set<string>();

  const loops = new ShopLoops({
    ...shared,
    release: (shopId) => releaseOthersStatement(shopId, owner, startedAtMs, clock.now()),
    findDue: (shopId, running) => findDue({ ...options, owner, leaseMs: limits.leaseMs }, shopId, running),
    async runLane(shopId, lane, listener) {
      try {
        const outcomes = await runLane(shopId, lane, listener);
        reports.report(shopId, outcomes);
        const states = [...outcomes.values()].map(({ state }) => state);
        return states.length === 0 || states.length >= runMax || states.includes("pending");
      } catch (error) {
        if (isNotFound(error)) return true;
        claimsLeft.add(shopId);
        log.error({ shopId, lane, err: error }, "a run of the outbox has failed; it is tried again");
        // What it has claimed is due when its lease ends, everything else is due now.
        if (!loops.stopping.aborted) await sleep(storePauseMs);
        return true;
      }
    },
  });
  const runLane = createLaneRunner({ ...shared, stopping: loops.stopping });
  const { recover } = options;
  const recoveries =
    alone || recover === undefined
      ? null
      : new JobRunner(options, {
          what: "work that another node has left",
          runningMax: recoveriesMax,
          table: recover.table,
          async run(shopId) {
            await recover.finish(shopId, abort.signal);
            return null;
          },
        });

  const start = (shopId: string, lanes: readonly string[] | null): void => loops.start(shopId, lanes);
  return {
    settle: (shopId, effectIds, waitMs, added) =>
      settle({ engine, reports, alone, start, isAtWork: (id) => loops.runs(id) }, shopId, effectIds, waitMs, added),
    rehearse: (tx, shopId, effectIds, storefront) => rehearse(tx, contextOf(shared, shopId), effectIds, storefront),
    async start() {
      await Promise.all([loops.begin(), recoveries?.start()]);
    },
    backlog: () => ({ ...loops.pending, failedTotal: reports.failedTotal }),
    async close() {
      const stopped = [loops.stop(), recoveries?.close()];
      await withinMs(Promise.all(loops.running), limits.closeWaitMs);
      abort.abort();
      await Promise.all([...loops.running, ...stopped]);
      for (const shopId of claimsLeft) await giveBack({ engine, clock, log, owner }, shopId);
    },
  };
}
