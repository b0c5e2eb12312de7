/**
 * The runner of work that shops have queued: which shop gets a piece of it done when, by one process or by many (C38).
 *
 * Owns: turns of shops, pieces that run at a time, the times at which shops come back, the start. Does not own: what a
 * piece does, its claim, and when more is due (each kind); the search for what other nodes leave (due-search.ts).
 *
 * Invariants:
 * - U2. Shops take turns: one that has had a piece comes after all that wait. At most `runningMax` pieces run at a
 *       time, of a shop `perShopMax`. So a shop that hangs or cannot be written delays no other.
 * - U3. A process that is alone on its store remembers when each shop comes back. A node among others remembers what is
 *       near; its search finds the rest by an index, and what nodes that died have left.
 */
import { Fault } from "../base/fault.ts";
import { sleep, withinMs } from "../base/time/waiting.ts";
import type { Clock } from "../base/time/clock.ts";
import type { DueSearch } from "./due-search.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Engine, Log, Statement, Tx } from "../store/store.ts";

/** A shop, and when its work is due. */
export interface ShopDue {
  readonly shopId: string;
  readonly dueAtMs: number;
}

/** A kind of work. */
interface JobKind {
  /** Name of the work in the log, in the plural. */
  readonly what: string;
  /** Pieces of a shop that run at a time. Default: 1. */
  readonly perShopMax?: number;
  /** Pieces of all shops that run at a time. */
  readonly runningMax: number;
  /** The table of its rows, by which a node among others finds shops that have any. */
  readonly table: string;
  /** Pause after a piece that has failed. Default: `storePauseMs`. */
  readonly retryMs?: number;
  /** Time for which `close` waits before it aborts the pieces that run. Default: none. */
  readonly closeWaitMs?: number;
  /** Gives back the shop's rows that earlier processes have claimed; absent: it claims none. */
  readonly release?: (shopId: string) => Statement;
  /** When the shop's next piece is due; null: it has none. Absent: the piece finds out. */
  readonly nextDueAtMs?: (tx: Tx, shopId: string) => Promise<number | null>;
  /** Does a piece of the shop's work. @returns when the shop comes back; null: it has no more. */
  readonly run: (shopId: string) => Promise<number | null>;
}

/** Dependencies of every kind of work. */
export interface JobsOptions {
  readonly engine: Pick<Engine, "list" | "peek" | "write">;
  readonly clock: Clock;
  readonly log: Log;
  /** Search for what other nodes leave, one for all kinds of work; null: this is the only process on the store. */
  readonly search: DueSearch | null;
  /** The shops that have such work, until the signal is aborted. Default: all shops are asked. */
  readonly shopsToResume?: (signal: AbortSignal) => AsyncIterable<string | ShopDue>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Between two tries of a store that refuses. */
export const storePauseMs = 500;

/**
 * Longest wait for a remembered time, because the clock may be set forward. A node among others remembers no time that
 * is further ahead.
 */
const rememberedMsMax = 60_000;

export class JobRunner {
  readonly #options: JobsOptions;
  readonly #kind: JobKind;
  /** Shops that get a piece as soon as the bounds allow, in the order in which they came. */
  readonly #waiting = new Set<string>();
  /** Number of pieces that run, by shop. */
  readonly #runningOf = new Map<string, number>();
  readonly #pieces = new Set<Promise<void>>();
  /** When each shop comes back. */
  readonly #dueAtMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #timerAtMs = 0;

  constructor(options: JobsOptions, kind: JobKind) {
    this.#options = options;
    this.#kind = kind;
  }

  /** Aborted when nothing more begins. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when pieces that run are to end. */
  get aborting(): AbortSignal {
    return this.#aborting.signal;
  }

  /** The shop gets a piece of its work done, as soon as the bounds allow. */
  wake(shopId: string): void {
    if (this.stopping.aborted) return;
    this.#dueAtMs.delete(shopId);
    this.#waiting.add(shopId);
    this.#begin();
  }

  /** The shop has work that is due then. */
  note({ shopId, dueAtMs }: ShopDue): void {
    if (this.stopping.aborted) return;
    const inMs = dueAtMs - this.#options.clock.now();
    if (inMs <= 0) this.wake(shopId);
    else if (this.#options.search === null || inMs <= rememberedMsMax) this.#remember(shopId, dueAtMs);
  }

  /** Returns true if the shop comes back at a time that is remembered. */
  remembers(shopId: string): boolean {
    return this.#dueAtMs.has(shopId);
  }

  /** Goes on with what earlier processes have left. Among other nodes, goes on searching for what they leave. */
  async start(): Promise<void> {
    const { engine, clock, search, log, shopsToResume } = this.#options;
    const { what, table, retryMs = storePauseMs, release } = this.#kind;
    if (search !== null) {
      const found = (shopIds: readonly string[]): Promise<void> => this.#noteFound(shopIds);
      return await search.begin({ what, table, stopping: this.stopping, found });
    }
    for await (const found of shopsToResume?.(this.stopping) ?? (await engine.list())) {
      if (this.stopping.aborted) return;
      const due = typeof found === "string" ? { shopId: found, dueAtMs: 0 } : found;
      try {
        if (release !== undefined)
          await engine.write(due.shopId, (tx) => tx.batch([release(due.shopId)]), { durable: false });
        this.note(due);
      } catch (error) {
        if (isNotFound(error)) continue;
        log.error({ shopId: due.shopId, err: error }, `the shop's ${what} could not be resumed; it is tried again`);
        this.note({ shopId: due.shopId, dueAtMs: clock.now() + retryMs });
      }
    }
  }

  /** Begins nothing more, and waits for what runs. */
  async close(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { closeWaitMs } = this.#kind;
    if (closeWaitMs !== undefined) await withinMs(Promise.all(this.#pieces), closeWaitMs);
    this.#aborting.abort();
    await Promise.all(this.#pieces);
  }

  /** Shops that may have work of this kind which is due. */
  async #noteFound(shopIds: readonly string[]): Promise<void> {
    const { nextDueAtMs } = this.#kind;
    for (const shopId of shopIds) {
      if (this.stopping.aborted) return;
      const dueAtMs =
        nextDueAtMs === undefined
          ? 0
          : await this.#options.engine.peek(shopId, (tx) => nextDueAtMs(tx, shopId)).catch(nullOfGone);
      if (dueAtMs !== null) this.note({ shopId, dueAtMs });
    }
  }

  #remember(shopId: string, dueAtMs: number): void {
    if (this.#waiting.has(shopId) || dueAtMs >= (this.#dueAtMs.get(shopId) ?? Number.POSITIVE_INFINITY)) return;
    this.#dueAtMs.set(shopId, dueAtMs);
    this.#wakeAt(dueAtMs);
  }

  #wakeAt(dueAtMs: number): void {
    if (this.#timer !== null && this.#timerAtMs <= dueAtMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const nowMs = this.#options.clock.now();
    const inMs = Math.min(Math.max(0, dueAtMs - nowMs), rememberedMsMax);
    this.#timerAtMs = nowMs + inMs;
    this.#timer = setTimeout(() => this.#wakeRemembered(), inMs);
    this.#timer.unref();
  }

  #wakeRemembered(): void {
    this.#timer = null;
    // The timer may end a moment before its time by the clock.
    const untilMs = Math.max(this.#timerAtMs, this.#options.clock.now());
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const [shopId, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs > untilMs) nextAtMs = Math.min(nextAtMs, dueAtMs);
      else {
        this.#dueAtMs.delete(shopId);
        this.#waiting.add(shopId);
      }
    }
    if (nextAtMs !== Number.POSITIVE_INFINITY) this.#wakeAt(nextAtMs);
    this.#begin();
  }

  /** Begins pieces as far as the bounds allow, one for each waiting shop in turn (U2). */
  #begin(): void {
    const { runningMax, perShopMax = 1 } = this.#kind;
    for (const shopId of this.#waiting) {
      if (this.stopping.aborted || this.#pieces.size >= runningMax) return;
      const running = this.#runningOf.get(shopId) ?? 0;
      if (running >= perShopMax) continue;
      this.#waiting.delete(shopId);
      this.#runningOf.set(shopId, running + 1);
      const piece = this.#run(shopId).finally(() => {
        this.#pieces.delete(piece);
        const left = (this.#runningOf.get(shopId) ?? 1) - 1;
        if (left === 0) this.#runningOf.delete(shopId);
        else this.#runningOf.set(shopId, left);
        this.#begin();
      });
      this.#pieces.add(piece);
    }
  }

  /** Never rejects. */
  async #run(shopId: string): Promise<void> {
    const { clock, log } = this.#options;
    const { what, retryMs = storePauseMs, run } = this.#kind;
    try {
      const dueAtMs = await run(shopId);
      if (dueAtMs !== null) this.note({ shopId, dueAtMs });
    } catch (error) {
      if (isNotFound(error)) return;
      log.warn({ shopId, err: error }, `${what} could not go on; it is tried again`);
      this.note({ shopId, dueAtMs: clock.now() + retryMs });
    }
  }
}

/** A shop that was deleted meanwhile has no work. */
function nullOfGone(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
}

/** Writes what came of a piece, again while the store refuses for now: lost, the piece would be done twice. */
export async function writeResult<T>(
  { clock, stopping }: Pick<JobsOptions, "clock"> & { readonly stopping: AbortSignal },
  untilMs: number,
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const mayPass = error instanceof Fault && error.retryable && !stopping.aborted && clock.now() < untilMs;
      if (!mayPass) throw error;
      await sleep(Math.min(error.retryAfterMs ?? storePauseMs, storePauseMs));
    }
  }
}
