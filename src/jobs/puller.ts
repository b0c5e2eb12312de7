/**
 * The pull of what shops' storefronts hold, by one process or by many (C66): asks for a page, stores it in slices, and
 * goes on.
 *
 * Owns: which pull runs when, how many at a time, leases, what follows an attempt that fails. Does not own: what is
 * asked of a platform (its adapter), how a page is stored (shop/catalogue/pulled-records.ts), the row
 * (shop/storefront/storefront-pulls.ts).
 *
 * Invariants:
 * - Y1. Where a pull stands is stored with what it has stored, so that it goes on there after a crash, on any node. A
 *       page may be stored twice: that changes nothing.
 * - Y2. One process at a time stores pages of a shop: each slice holds the lease in its transaction.
 * - Y3. No transaction is open while the storefront is asked. A slice is one short turn of the shop; others come
 *   between two.
 * - Y4. A level that a push of stock is changing is left out and read again, so that neither the push nor sales are
 *   lost.
 */
import { doubledMs, shortenedMs } from "../base/time/backoff.ts";
import { limitedTo } from "../base/time/waiting.ts";
import { dateOf, dayIn, dayMs } from "../base/time/calendar.ts";
import { clocksApartMsMax } from "../core/access/rate-limit.ts";
import { platformName } from "../core/storefront/storefront-config.ts";
import { loadShop, type Shop } from "../shop/access/accounts.ts";
import type { RecordStamp } from "../shop/catalogue/record-log.ts";
import { settleSales } from "../shop/forecast/demand.ts";
import {
  applyLevels,
  applyLocations,
  applyProduct,
  applySales,
  applyVariants,
  type NamesOf,
  type StateChanges,
  sweepOldSales,
  sweepUnseen,
} from "../shop/catalogue/pulled-records.ts";
import {
  beganPull,
  duePulls,
  hintedDueAtMs,
  leaseAheadMsMax,
  loadPull,
  type Pull,
  pullClaims,
  type PullCounts,
  pullDueAtMs,
  type PullStep,
  pullSteps,
  renewPull,
  roundChangesSinceMs,
  savePullStatement,
} from "../shop/storefront/storefront-pulls.ts";
import { claimedBy, claimedByOthers, giveBackClaims } from "../store/claims.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Ids } from "../base/time/clock.ts";
import type { Engine, Tx } from "../store/store.ts";
import type { Pulled, PullPage, PullStage, StorefrontPull } from "../storefront/pull.ts";
import { StorefrontError, type StorefrontOf } from "../storefront/storefront.ts";
import { JobRunner, type JobsOptions, storePauseMs } from "./runner.ts";

interface PullLimits {
  /** Pulls that ask for or store a page at a time in this process. */
  readonly pullsMax: number;
  /** Time limit of the storefront for a page. */
  readonly pageMsMax: number;
  /** Lease of a claim; above `pageMsMax`. */
  readonly leaseMs: number;
  /** Attempts at one page, before the pull has failed. */
  readonly attemptsMax: number;
  /** The pause after the first attempt that fails; each further one doubles it. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** Rows that one slice stores: about 20 ms of the event loop. */
  readonly sliceRowsMax: number;
  /** Times that levels that were being changed are read again in one pull. */
  readonly roundsMax: number;
  /** Between two of these. */
  readonly roundWaitMs: number;
}

export const pullLimits: PullLimits = {
  pullsMax: 4,
  pageMsMax: 60_000,
  leaseMs: 120_000,
  attemptsMax: 8,
  backoffMs: 1_000,
  backoffMsMax: 60_000,
  sliceRowsMax: 200,
  roundsMax: 8,
  roundWaitMs: 15_000,
};

/** Names of variants that are told. */
export const namesListedMax = 5;

export const notesMax = 20;

/** Days of orders that are kept beyond the reach of sales. */
const soldDaysKept = 30;

interface PullerOptions extends JobsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly storefrontOf: StorefrontOf;
  /** Limits that differ from `pullLimits`. */
  readonly limits?: Partial<PullLimits>;
}

/** Counts of this process's pulls, for metrics. */
interface PullerWork {
  /** Pulls that this process is at, and when the oldest of them was begun; null: none. */
  readonly running: number;
  readonly oldestStartedAtMs: number | null;
  /** Pulls that this process has begun, and that it has ended. */
  readonly startedTotal: number;
  readonly doneTotal: number;
  readonly failedTotal: number;
  /** Time that completed pulls have taken. */
  readonly doneMsTotal: number;
  /** Records of pages that this process has stored: a page that is stored twice counts twice. */
  readonly recordsTotal: number;
  /** When this process has last ended one that was done. */
  readonly lastDoneAtMs: number | null;
}

export interface Puller {
  /** Goes on with the shop's pull, if it is due. */
  wake(shopId: string): void;
  /** Goes on with what earlier processes have left. Among other nodes, goes on searching for what they leave. */
  start(): Promise<void>;
  work(): PullerWork;
  /** Begins nothing more, waits for what runs and gives the rest back. */
  close(): Promise<void>;
}

export function createPuller(options: PullerOptions): Puller {
  return new LeasedPuller(options);
}

/** The pull is another process's by now, or is over. */
class LeaseLost extends Error {}

class LeasedPuller implements Puller {
  readonly #options: PullerOptions;
  readonly #limits: PullLimits;
  readonly #owner: string;
  readonly #runner: JobRunner;
  /** Shops whose pulls this process is at, with when these were begun. */
  readonly #startedAtMs = new Map<string, number>();
  readonly #total = { started: 0, done: 0, failed: 0, doneMs: 0, records: 0 };
  #lastDoneAtMs: number | null = null;

  constructor(options: PullerOptions) {
    this.#options = options;
    this.#limits = { ...pullLimits, ...options.limits };
    this.#owner = options.ids.claimant();
    this.#runner = new JobRunner(options, {
      what: "pulls of storefronts",
      runningMax: this.#limits.pullsMax,
      table: duePulls.table,
      release: (shopId) => giveBackClaims(pullClaims, shopId, claimedByOthers(this.#owner), options.clock.now()),
      nextDueAtMs: pullDueAtMs,
      run: (shopId) => this.#pageOf(shopId),
    });
  }

  wake(shopId: string): void {
    this.#runner.wake(shopId);
  }

  async start(): Promise<void> {
    await this.#runner.start();
  }

  work(): PullerWork {
    const { started, done, failed, doneMs, records } = this.#total;
    return {
      running: this.#startedAtMs.size,
      oldestStartedAtMs: this.#startedAtMs.size === 0 ? null : Math.min(...this.#startedAtMs.values()),
      startedTotal: started,
      doneTotal: done,
      failedTotal: failed,
      doneMsTotal: doneMs,
      recordsTotal: records,
      lastDoneAtMs: this.#lastDoneAtMs,
    };
  }

  async close(): Promise<void> {
    await this.#runner.close();
  }

  /** Claims the shop's pull and does one piece of it. @returns when it goes on; null: there is none. */
  async #pageOf(shopId: string): Promise<number | null> {
    const { engine, clock } = this.#options;
    try {
      const { claimed, dueAtMs } = await engine.write(shopId, (tx) => this.#claim(tx, shopId), { durable: false });
      if (claimed === null) {
        this.#startedAtMs.delete(shopId);
        return dueAtMs;
      }
      if (isNew(claimed.pull)) this.#total.started += 1;
      this.#startedAtMs.set(shopId, claimed.pull.startedAtMs);
      return await this.#goOn(claimed.shop, claimed.pull);
    } catch (error) {
      this.#startedAtMs.delete(shopId);
      if (isNotFound(error)) throw error;
      await this.#giveBack(shopId);
      if (error instanceof LeaseLost) return clock.now() + storePauseMs;
      throw error;
    }
  }

  async #giveBack(shopId: string): Promise<void> {
    const { engine, clock, log } = this.#options;
    const release = giveBackClaims(pullClaims, shopId, claimedBy(this.#owner), clock.now());
    await engine
      .write(shopId, (tx) => tx.batch([release]))
      .catch((error: unknown) => {
        if (!isNotFound(error)) log.warn({ shopId, err: error }, "a pull could not be given back; its lease ends");
      });
  }

  #lease(): { readonly owner: string; readonly untilMs: number } {
    return { owner: this.#owner, untilMs: this.#options.clock.now() + this.#limits.leaseMs };
  }

  /** Takes the pull when it is due. One that was hinted at begins now. */
  async #claim(
    tx: Tx,
    shopId: string,
  ): Promise<{
    readonly claimed: { readonly shop: Shop; readonly pull: Pull } | null;
    readonly dueAtMs: number | null;
  }> {
    const { clock, ids } = this.#options;
    const nowMs = clock.now();
    const found = await loadPull(tx, shopId);
    if (found === null || found.dueAtMs === null) return { claimed: null, dueAtMs: null };
    // A lease that ends later than any can is from before the clock was set back.
    const isDue = found.dueAtMs <= nowMs || found.dueAtMs > nowMs + leaseAheadMsMax;
    if (!isDue) return { claimed: null, dueAtMs: found.dueAtMs };
    const shop = await loadShop(tx, shopId);
    if (shop === null) return { claimed: null, dueAtMs: null };
    const pull = found.state === "running" ? found : beganPull(found, false, ids.next("pull"), nowMs);
    const { owner: leaseOwner, untilMs: dueAtMs } = this.#lease();
    const taken = { ...pull, leaseOwner, dueAtMs };
    await tx.batch([savePullStatement(shopId, taken)]);
    return { claimed: { shop, pull: taken }, dueAtMs };
  }

  /** Does one piece of the pull. @returns when it goes on; null: it is over. */
  async #goOn(shop: Shop, pull: Pull): Promise<number | null> {
    switch (pull.step) {
      case "sweep":
        return await this.#sweep(shop, pull);
      case "settle":
        return await this.#settle(shop, pull);
      case "locations":
      case "variants":
      case "levels":
      case "sales":
        return await this.#pull(shop, pull, pull.step);
    }
  }

  async #pull(shop: Shop, pull: Pull, stage: PullStage): Promise<number | null> {
    let fetched: { readonly from: StorefrontPull; readonly page: PullPage };
    try {
      fetched = await this.#ask(shop, pull, stage);
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      if (this.#runner.stopping.aborted) throw new LeaseLost("the service stops", { cause: error });
      return await this.#failed(shop, pull, error);
    }
    const { from, page } = fetched;
    const namesOf: NamesOf = (kind, id) => from.names(kind, id);
    let now: Pull = { ...pull, attempts: 0, error: null };
    for (const slice of slicesOf(page.records, this.#limits.sliceRowsMax)) {
      now = await this.#write(shop, now, async (tx) => await this.#applied(tx, shop, now, slice, namesOf));
      this.#total.records += slice.length;
    }
    const counts = counted(now.counts, page.records);
    const notes = (page.notes ?? []).reduce((all, note) => withNote({ notes: all }, note), now.notes);
    const progress = { ...now, counts, notes, total: page.total ?? now.total };
    if (page.cursor !== null)
      return await this.#store(shop, { ...progress, cursor: page.cursor }, Math.max(0, page.waitMs ?? 0));
    return await this.#nextStep(shop, progress);
  }

  async #ask(
    shop: Shop,
    pull: Pull,
    stage: PullStage,
  ): Promise<{ readonly from: StorefrontPull; readonly page: PullPage }> {
    const { pull: from } = await this.#options.storefrontOf(shop);
    if (from === undefined)
      throw new StorefrontError("auth", "the shop's storefront cannot be pulled", { landed: "no" });
    const changedSinceMs =
      pull.changedSinceMs ?? (pull.round > 0 && stage === "levels" ? roundChangesSinceMs(pull) : null);
    const signal = limitedTo(this.#limits.pageMsMax, this.#runner.stopping);
    const { cursor, soldSinceMs } = pull;
    return { from, page: await from.page({ stage, cursor, changedSinceMs, soldSinceMs }, { signal }) };
  }

  /** Stores a slice. @returns the pull with what has come of it. */
  async #applied(tx: Tx, shop: Shop, pull: Pull, slice: readonly Pulled[], namesOf: NamesOf): Promise<Pull> {
    const { shopId } = shop;
    const of = <Type extends Pulled["type"]>(type: Type) =>
      slice.filter((each): each is Extract<Pulled, { readonly type: Type }> => each.type === type);
    const locations = of("location");
    const stamp = this.#stamp(shop, pull);
    if (locations.length > 0) await applyLocations(tx, shopId, locations, namesOf, stamp);
    let now = pull;
    const variants = of("variant");
    if (variants.length > 0) now = changed(now, await applyVariants(tx, shopId, pull.pullId, variants, namesOf, stamp));
    for (const product of of("product")) now = changed(now, await applyProduct(tx, shopId, product, namesOf, stamp));
    const levels = of("level");
    if (levels.length > 0) {
      const readSinceMs = pull.stepStartedAtMs - (this.#options.search === null ? 0 : clocksApartMsMax);
      const { moving, unknown } = await applyLevels(tx, shopId, levels, readSinceMs, namesOf);
      now = { ...now, skipped: now.skipped + moving, notes: unknown === 0 ? now.notes : withNote(now, unknownNote) };
    }
    const sales = of("sale").filter(({ soldAtMs }) => soldAtMs >= pull.soldSinceMs);
    if (sales.length > 0) await applySales(tx, shopId, shop.timezone, sales, namesOf);
    return now;
  }

  /** Under which name histories tell of what a pull changes. */
  #stamp({ storefront }: Shop, { pullId }: Pull): RecordStamp {
    const { clock, ids } = this.#options;
    const actor = { type: "system", id: null, name: platformName(storefront) } as const;
    return { actor, operation: "storefront_pull", requestId: pullId, nowMs: clock.now(), ids };
  }

  async #sweep(shop: Shop, pull: Pull): Promise<number | null> {
    if (!pull.isFull) {
      const { pull: from } = await this.#options.storefrontOf(shop);
      if (from?.bringsAllVariants !== true) return await this.#nextStep(shop, pull);
    }
    const now = await this.#write(shop, pull, async (tx) => {
      const stamp = this.#stamp(shop, pull);
      const { next, changes } = await sweepUnseen(tx, shop.shopId, pull.pullId, pull.cursor, stamp);
      return { ...changed(pull, changes), cursor: next };
    });
    return now.cursor === null ? await this.#nextStep(shop, now) : await this.#store(shop, now, 0);
  }

  async #settle(shop: Shop, pull: Pull): Promise<number | null> {
    const { shopId, timezone } = shop;
    const before = dateOf(dayIn(timezone, pull.soldSinceMs - soldDaysKept * dayMs));
    for (;;) {
      let more = false;
      await this.#write(shop, pull, async (tx) => {
        const [unsettled, unswept] = [await settleSales(tx, shopId), await sweepOldSales(tx, shopId, before)];
        more = unsettled || unswept;
        return pull;
      });
      if (!more) break;
      if (this.#runner.stopping.aborted) throw new LeaseLost("the service stops");
    }
    const nowMs = this.#options.clock.now();
    return await this.#end(shop, {
      ...pull,
      state: "done",
      endedAtMs: nowMs,
      cursor: null,
      total: null,
      pulledUntilMs: pull.startedAtMs,
    });
  }

  /** Goes on with the step after this one, or with levels once more. */
  async #nextStep(shop: Shop, pull: Pull): Promise<number | null> {
    const begun = { ...pull, cursor: null, total: null, skipped: 0, stepStartedAtMs: this.#options.clock.now() };
    const { roundsMax, roundWaitMs } = this.#limits;
    if (pull.step === "levels" && pull.skipped > 0 && pull.round < roundsMax)
      return await this.#store(shop, { ...begun, round: pull.round + 1 }, roundWaitMs);
    const notes = pull.skipped === 0 ? pull.notes : withNote(pull, movingNote);
    const step: PullStep = pullSteps[pullSteps.indexOf(pull.step) + 1] ?? "settle";
    return await this.#store(shop, { ...begun, notes, step }, 0);
  }

  async #failed(shop: Shop, pull: Pull, error: StorefrontError): Promise<number | null> {
    const { attemptsMax, backoffMs, backoffMsMax } = this.#limits;
    const { clock, random, log } = this.#options;
    const attempts = pull.attempts + 1;
    const failed = { ...pull, attempts, error: error.message };
    if (error.kind !== "auth" && attempts < attemptsMax) {
      const delayMs = shortenedMs(doubledMs(attempts, backoffMs, backoffMsMax), random());
      return await this.#store(shop, failed, Math.max(delayMs, error.retryAfterMs ?? 0));
    }
    log.warn(
      { shopId: shop.shopId, step: pull.step, attempts },
      `the pull of a storefront has failed: ${error.message}`,
    );
    return await this.#end(shop, { ...failed, state: "failed", endedAtMs: clock.now() });
  }

  /** Stores where the pull stands and gives it back for as long as the storefront asks. */
  async #store(shop: Shop, pull: Pull, waitMs: number): Promise<number> {
    const dueAtMs = this.#options.clock.now() + waitMs;
    await this.#write(shop, pull, () => Promise.resolve({ ...pull, dueAtMs, leaseOwner: null }));
    return dueAtMs;
  }

  /** Ends the pull; one that was hinted at meanwhile follows. */
  async #end(shop: Shop, pull: Pull): Promise<number | null> {
    const { dueAtMs } = await this.#write(shop, pull, async (tx) => {
      const hintedAtMs = (await loadPull(tx, shop.shopId))?.hintedAtMs ?? null;
      const dueAtMs = hintedAtMs === null ? null : hintedDueAtMs(pull, hintedAtMs);
      return { ...pull, leaseOwner: null, hintedAtMs, dueAtMs };
    });
    this.#ended(shop, pull);
    return dueAtMs;
  }

  #ended({ shopId }: Shop, { state, startedAtMs, endedAtMs }: Pull): void {
    this.#startedAtMs.delete(shopId);
    if (state === "failed") this.#total.failed += 1;
    else {
      this.#total.done += 1;
      this.#total.doneMs += Math.max(0, (endedAtMs ?? startedAtMs) - startedAtMs);
      this.#lastDoneAtMs = endedAtMs;
    }
  }

  /** A turn of the shop in which the lease holds (Y2); stores what it makes of the pull. */
  async #write(shop: Shop, pull: Pull, work: (tx: Tx) => Promise<Pull>): Promise<Pull> {
    const { shopId } = shop;
    if (this.#runner.stopping.aborted) throw new LeaseLost("the service stops");
    return await this.#options.engine.write(shopId, async (tx) => {
      const lease = this.#lease();
      if (!(await renewPull(tx, shopId, pull.pullId, lease))) throw new LeaseLost(`pull ${pull.pullId} was taken over`);
      const next = await work(tx);
      const hintedAtMs =
        next.state === "running" ? ((await loadPull(tx, shopId))?.hintedAtMs ?? null) : next.hintedAtMs;
      const stored = next.leaseOwner === null ? next : { ...next, dueAtMs: lease.untilMs };
      await tx.batch([savePullStatement(shopId, { ...stored, hintedAtMs })]);
      return stored;
    });
  }
}

/** True if nothing was done of the pull yet. */
const isNew = ({ step, cursor, attempts, counts }: Pull): boolean =>
  step === "locations" && cursor === null && attempts === 0 && counts.locations === 0;

/** Note about levels that were changing in every round. */
const movingNote = "Some levels were left out, because they changed all the time. The next pull brings them.";

const unknownNote =
  "Some levels were left out, because a push of stock to them has no known outcome. Sync its order again, then pull everything again.";

const withNote = ({ notes }: Pick<Pull, "notes">, note: string): readonly string[] =>
  notes.includes(note) || notes.length >= notesMax ? notes : [...notes, note];

/** Rows that a record takes. */
const weightOf = (record: Pulled): number => {
  switch (record.type) {
    case "sale":
      return 1 + record.lines.length;
    case "product":
    case "variant":
      return 2;
    case "location":
      return 1;
    case "level":
      // Where a variant is not stocked there is hardly ever something to store.
      return record.onHand === null ? 0.1 : 1;
  }
};

/** The records in slices, each of at most so many rows. */
function slicesOf(records: readonly Pulled[], rowsMax: number): readonly (readonly Pulled[])[] {
  const slices: Pulled[][] = [];
  let rows = 0;
  for (const record of records) {
    const last = slices.at(-1);
    const weight = weightOf(record);
    if (last === undefined || rows + weight > rowsMax) {
      slices.push([record]);
      rows = weight;
    } else {
      last.push(record);
      rows += weight;
    }
  }
  return slices;
}

const ofType = (records: readonly Pulled[], type: Pulled["type"]): number =>
  records.filter((record) => record.type === type).length;

const counted = (counts: PullCounts, records: readonly Pulled[]): PullCounts => ({
  ...counts,
  locations: counts.locations + ofType(records, "location"),
  variants: counts.variants + ofType(records, "variant"),
  levels: counts.levels + records.filter((record) => record.type === "level" && record.onHand !== null).length,
  sales: counts.sales + ofType(records, "sale"),
});

/** The pull with the variants whose state has changed. */
function changed(pull: Pull, { deleted, inactive }: StateChanges): Pull {
  const { counts } = pull;
  return {
    ...pull,
    counts: {
      ...counts,
      deleted: counts.deleted + deleted.length,
      deletedNames: [...counts.deletedNames, ...deleted].slice(0, namesListedMax),
      inactive: counts.inactive + inactive.length,
      inactiveNames: [...counts.inactiveNames, ...inactive].slice(0, namesListedMax),
    },
  };
}
