/**
 * Changes of on-hand as new figures of Medusa's `stocked_quantity` (F1). What customers have ordered is
 * `reserved_quantity` and stays.
 *
 * Medusa is told what a level is to be, so two that add to one level would undo each other. Within OpenPO one call of a
 * shop at a time sets stock, on any node (shop/storefront/storefront-turns.ts). Changes from outside are noticed by
 * comparing (levels.ts), and the sum is made anew.
 *
 * Every call is stored with the figures that it starts from and leads to before it is sent. When its answer is lost,
 * the levels say what became of it: all of a call's levels change or none. When they cannot say, since others have
 * changed them meanwhile, its items stay unknown until somebody clears them (C43).
 */
import { Fault } from "../../base/fault.ts";
import { asQuantity, type Quantity, quantityToNumber } from "../../core/money/money.ts";
import { endLockStatement, hasLock, keepLockStatement, takeLock } from "../../shop/storefront/storefront-turns.ts";
import {
  insertWriteStatement,
  loadWrite,
  type StorefrontWrite,
  updateWriteStatement,
  type WrittenBatch,
  type WrittenResult,
} from "../../shop/storefront/storefront-writes.ts";
import { chunksOf } from "../../store/in-lists.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine } from "../../store/store.ts";
import { pauseFor } from "../pause.ts";
import {
  type ItemResult,
  type OnHandChange,
  StorefrontError,
  type WriteContext,
  notThere,
  itemsText,
} from "../storefront.ts";
import type { SerialCalls } from "../serial-calls.ts";
import type { MedusaClient } from "./client.ts";
import { type Level, levelName, levelsPerCallMax, type LevelWrite, type MedusaLevels, tidy } from "./levels.ts";
import { MedusaFailed } from "./transport.ts";
import { type MedusaVariants, notALocation, notTracked } from "./variants.ts";

/** Dependencies of the calls of one shop's Medusa. */
export interface StoreDependencies {
  readonly shopId: string;
  readonly currencyCode: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly client: MedusaClient;
  readonly variants: MedusaVariants;
  readonly levels: MedusaLevels;
  /** By shop: calls of this process that set stock wait here for each other. */
  readonly serialCalls: SerialCalls;
}

/** Lease of a turn that is not renewed: longer than a request may take, with its answer. */
const lockMs = 20_000;

/**
 * Time that a turn must still hold when a request is sent in it: it was renewed 3 s ago at most. A process that stood
 * still for longer may count as gone (D473), and another has its turn.
 */
const lockLeftMsMin = 17_000;

/** Longest wait of a call for its turn while another node has it, and the interval of its polls. */
const lockWaitMsMax = 6_000;
const lockPollMs = 100;

/** Times that the sum of a level is made again because the level has changed from outside. */
export const replansMax = 10;

/** A level that a call sets. `before` and what follows are as it was seen when the call was planned; absent before. */
interface PlannedLevel {
  readonly itemId: string;
  readonly locationId: string;
  /** Difference, in units. */
  readonly delta: number;
  readonly seen?: {
    /** Null: there was no level. */
    readonly before: number | null;
    readonly after: number;
    readonly reserved: number;
    readonly incoming: number;
    readonly updatedAtMs: number;
  };
}

/** The input of a batch. One that was sent has `seen` in every level. */
interface BatchInput {
  readonly wasSent: boolean;
  readonly levels: readonly PlannedLevel[];
}

const inputOf = (batch: WrittenBatch): BatchInput => {
  const input: BatchInput = JSON.parse(batch.input);
  return input;
};

/** Verdict of the levels on a call without an answer. */
type Verdict = "landed" | "not-landed" | "unclear";

/**
 * Returns the verdict on a call, by the present levels.
 *
 * @param isReverted Medusa said that the call has failed: it then sets the levels back.
 */
function verdictOn(levels: readonly PlannedLevel[], now: ReadonlyMap<string, Level>, isReverted: boolean): Verdict {
  const votes = levels.map(({ itemId, locationId, seen }): Verdict | "surely-not" => {
    const level = now.get(levelName(itemId, locationId));
    if (seen === undefined) return "surely-not";
    if (level === undefined) return seen.before === null ? "surely-not" : "unclear";
    if (level.stocked_quantity === seen.after) return "landed";
    if (level.stocked_quantity !== seen.before) return "unclear";
    if (level.updatedAtMs === seen.updatedAtMs) return "surely-not";
    // Something has changed: a sale that is only reserved, or what is incoming. Or ours has landed and as much was
    // taken away.
    const isExplained = level.reserved_quantity > seen.reserved || level.incoming_quantity !== seen.incoming;
    return isExplained || isReverted ? "not-landed" : "unclear";
  });
  if (votes.includes("surely-not")) return "not-landed";
  if (votes.includes("landed")) return "landed";
  return votes.includes("not-landed") ? "not-landed" : "unclear";
}

const unclearText = (batch: WrittenBatch): string =>
  `it is not known whether an earlier call landed, and Medusa's levels have changed since: it went from ${inputOf(batch)
    .levels.slice(0, 3)
    .map(({ itemId, locationId, seen }) => `${seen?.before ?? 0} to ${seen?.after ?? 0} (${itemId} at ${locationId})`)
    .join(", ")}; compare the stock at Medusa, then clear it with storefront-sync/reset`;

export class MedusaOnHand {
  readonly #parts: StoreDependencies;

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async change(changes: readonly OnHandChange[], context: WriteContext): Promise<ItemResult[]> {
    if (changes.length === 0) return [];
    const known = await this.#known(changes, context.reference);
    if (known !== null && known.results.every((result) => result !== null))
      return known.results.filter((each) => each !== null);
    const { serialCalls, shopId } = this.#parts;
    return await serialCalls.run(shopId, async () => {
      // Planned before the turn is taken: others need not wait for it.
      const write = await this.#stored(changes, context);
      if (!write.batches.some(({ state }) => state === "open" || state === "unclear")) return resultsOf(write, null);
      return await this.#locked(context.signal, (lock) => this.#advance(lock, changes, context));
    });
  }

  async #advance(
    lock: StockLock,
    changes: readonly OnHandChange[],
    { reference, signal }: WriteContext,
  ): Promise<ItemResult[]> {
    // Whoever had the turn before may have advanced it.
    const stored = await this.#load(reference);
    if (stored === null) throw new StorefrontError("error", "the shop has left its storefront", { landed: "no" });
    let write = await this.#reopened(lock, stored);
    let problem: StorefrontError | null = null;
    try {
      for (;;) {
        const batch = write.batches.find(({ state }) => state === "open");
        if (batch === undefined) break;
        write = await this.#settleBatch(lock, write, batch, changes, signal);
      }
      const unclear = write.batches.find(({ state }) => state === "unclear");
      if (unclear !== undefined) problem = new StorefrontError("error", unclearText(unclear), { landed: "maybe" });
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      problem = error;
      // What was stored before the failure counts.
      write = (await this.#load(reference)) ?? write;
    }
    return resultsOf(write, problem);
  }

  async #load(reference: string): Promise<StorefrontWrite | null> {
    const { engine, shopId } = this.#parts;
    return await engine.read(shopId, (tx) => loadWrite(tx, shopId, reference));
  }

  /** The write under this reference. @throws StorefrontError when the reference was used with other items. */
  async #known(changes: readonly OnHandChange[], reference: string): Promise<StorefrontWrite | null> {
    const write = await this.#load(reference);
    if (write === null || write.items === itemsText(changes)) return write;
    throw new StorefrontError("error", `reference ${reference} was used with other items`, { landed: "no" });
  }

  /** The write under this reference, stored when it is new. */
  async #stored(changes: readonly OnHandChange[], { reference, signal }: WriteContext): Promise<StorefrontWrite> {
    const { engine, shopId } = this.#parts;
    const known = await this.#known(changes, reference);
    if (known !== null) return known;
    const made = await this.#planned(changes, reference, signal);
    await engine.write(shopId, async (tx) => {
      if ((await loadWrite(tx, shopId, reference)) === null) await tx.batch([insertWriteStatement(shopId, made)]);
    });
    return (await this.#known(changes, reference)) ?? made;
  }

  /**
   * Returns the changes to send. Items that Medusa cannot take are rejected here, and those of one level are one
   * change.
   */
  async #planned(
    changes: readonly OnHandChange[],
    reference: string,
    signal: AbortSignal | undefined,
  ): Promise<StorefrontWrite> {
    const { variants, clock } = this.#parts;
    const [found, locations] = await Promise.all([
      variants.find(
        changes.map(({ variantId }) => variantId),
        signal,
      ),
      variants.locations(
        changes.map(({ locationId }) => locationId),
        signal,
      ),
    ]);
    const sums = new Map<string, PlannedLevel & { readonly places: readonly number[] }>();
    const results = changes.map(({ variantId, locationId, delta }, place): WrittenResult | null => {
      const variant = found.get(variantId);
      if (variant === undefined) return notThere(variantId);
      if (variant.itemId === null) return notTracked(variantId);
      if (!locations.has(locationId)) return notALocation(locationId);
      if (delta === 0) return { outcome: "unchanged" };
      const { itemId } = variant;
      const name = levelName(itemId, locationId);
      const before = sums.get(name);
      const sum = tidy((before?.delta ?? 0) + quantityToNumber(delta));
      sums.set(name, { itemId, locationId, delta: sum, places: [...(before?.places ?? []), place] });
      return null;
    });
    for (const { delta, places } of sums.values())
      if (delta === 0) for (const place of places) results[place] = { outcome: "unchanged" };
    const nowMs = clock.now();
    const batches = this.#batchesOf([...sums.values()].filter(({ delta }) => delta !== 0));
    return { reference, items: itemsText(changes), results, batches, createdAtMs: nowMs, clearedAtMs: null };
  }

  /** Calls that have not been sent, and whose figures are not known yet. */
  #batchesOf(
    levels: readonly (PlannedLevel & { readonly places: readonly number[] })[],
    size = levelsPerCallMax,
  ): readonly WrittenBatch[] {
    const { ids, clock } = this.#parts;
    return chunksOf(levels, size).map((chunk) => ({
      key: ids.next("sfb"),
      input: inputText(
        false,
        chunk.map(({ itemId, locationId, delta }) => ({ itemId, locationId, delta })),
      ),
      places: chunk.map(({ places }) => places),
      createdAtMs: clock.now(),
      state: "open",
      changedAtMs: null,
      landedAtMs: null,
    }));
  }

  /** With calls whose outcome is unclear planned anew, if somebody has cleared them since. */
  async #reopened(lock: StockLock, write: StorefrontWrite): Promise<StorefrontWrite> {
    const cleared = write.batches.filter(
      ({ state, createdAtMs }) => state === "unclear" && (write.clearedAtMs ?? 0) > createdAtMs,
    );
    if (cleared.length === 0) return write;
    const rebuilt = cleared.flatMap((batch) => this.#batchesOf(withPlaces(inputOf(batch).levels, batch)));
    const keys = new Set(cleared.map(({ key }) => key));
    return await lock.settled({
      ...write,
      batches: [
        ...write.batches.map((each): WrittenBatch => (keys.has(each.key) ? { ...each, state: "replaced" } : each)),
        ...rebuilt,
      ],
    });
  }

  /** Finds out what became of a call that was sent, or sends it. Stores what is known then. */
  async #settleBatch(
    lock: StockLock,
    write: StorefrontWrite,
    batch: WrittenBatch,
    changes: readonly OnHandChange[],
    signal: AbortSignal | undefined,
  ): Promise<StorefrontWrite> {
    const { levels: store } = this.#parts;
    const { wasSent, levels } = inputOf(batch);
    if (wasSent) return await lock.settled(await this.#lookedUp(write, batch, false, signal));
    for (let plans = 0; plans < replansMax; plans += 1) {
      const now = await store.read(
        levels.map(({ itemId }) => itemId),
        signal,
      );
      const planned = levels.map((level) => planOf(level, now.get(levelName(level.itemId, level.locationId))));
      const parted = this.#parted(write, batch, planned, changes);
      if (parted !== null) return await lock.settled(parted);
      const sent = replaced(write, batch, { ...batch, input: inputText(true, planned) });
      await lock.sending(sent);
      const outcome = await this.#send(lock, sent, batch.key, planned.map(writeOf), signal);
      if (outcome === "moved") await lock.settled(replaced(sent, batch, batch));
      else if (outcome.kind === "stored") return outcome.write;
      else return await lock.settled(this.#refused(sent, batch, outcome.message, changes));
    }
    throw new StorefrontError("throttled", "Medusa's stock levels kept changing while they were compared", {
      landed: "no",
      retryAfterMs: 500,
    });
  }

  /** Sends a planned call. A failure that Medusa has undone is told as such. */
  async #send(
    lock: StockLock,
    sent: StorefrontWrite,
    key: string,
    writes: readonly LevelWrite[],
    signal: AbortSignal | undefined,
  ): Promise<
    | "moved"
    | { readonly kind: "refused"; readonly message: string }
    | { readonly kind: "stored"; readonly write: StorefrontWrite }
  > {
    const { levels: store, clock } = this.#parts;
    const batch = sent.batches.find((each) => each.key === key);
    if (batch === undefined) throw new Error(`the call ${key} is not of the write`);
    try {
      lock.assertHeld();
      const outcome = await store.write("stocked_quantity", writes, signal);
      if (outcome.kind === "moved") return "moved";
      if (outcome.kind === "refused") return outcome;
      const { levels } = inputOf(batch);
      // What was changed from outside between the look and the write is added again.
      const corrections = [...outcome.overwritten].flatMap(([index, was]) => {
        const [level, places] = [levels[index], batch.places[index]];
        if (level?.seen === undefined || places === undefined) return [];
        return [{ ...level, delta: tidy(was - (level.seen.before ?? 0)), places }];
      });
      const landed = { ...batch, state: "landed", changedAtMs: outcome.changedAtMs, landedAtMs: clock.now() } as const;
      const write = withOutcome(sent, landed, this.#batchesOf(corrections));
      return { kind: "stored", write: await lock.settled(write) };
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      if (error.landed === "no") await lock.settled(replaced(sent, batch, unsent(batch)));
      else if (error instanceof MedusaFailed) await this.#afterFailure(lock, sent, batch, signal);
      throw error;
    }
  }

  /** Medusa undoes a call that fails. Stores what its levels say; when they cannot be read now, a later call asks. */
  async #afterFailure(
    lock: StockLock,
    sent: StorefrontWrite,
    batch: WrittenBatch,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await lock.settled(await this.#lookedUp(sent, batch, true, signal));
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
    }
  }

  /** The write with what the levels say about a call that was sent. */
  async #lookedUp(
    write: StorefrontWrite,
    batch: WrittenBatch,
    isReverted: boolean,
    signal: AbortSignal | undefined,
  ): Promise<StorefrontWrite> {
    const { levels } = inputOf(batch);
    const now = await this.#parts.levels.read(
      levels.map(({ itemId }) => itemId),
      signal,
    );
    switch (verdictOn(levels, now, isReverted)) {
      case "landed": {
        const times = levels.map(({ itemId, locationId }) => now.get(levelName(itemId, locationId))?.updatedAtMs ?? 0);
        const landedAtMs = this.#parts.clock.now();
        return withOutcome(write, { ...batch, state: "landed", changedAtMs: Math.min(...times), landedAtMs }, []);
      }
      case "not-landed":
        return replaced(write, batch, unsent(batch));
      case "unclear":
        return replaced(write, batch, { ...batch, state: "unclear" });
    }
  }

  /**
   * Returns the write with this call in parts, when it cannot be sent as it is. Levels that would fall below nothing
   * are rejected, and those that are missing are made by a call of their own. Null: it can be sent.
   */
  #parted(
    write: StorefrontWrite,
    batch: WrittenBatch,
    planned: readonly PlannedLevel[],
    changes: readonly OnHandChange[],
  ): StorefrontWrite | null {
    const isShort = ({ seen }: PlannedLevel): boolean => (seen?.after ?? 0) < 0;
    const isNew = ({ seen }: PlannedLevel): boolean => seen?.before === null;
    const isMixed = planned.some(isNew) && !planned.every(isNew);
    if (!planned.some(isShort) && !isMixed) return null;
    const results = [...write.results];
    for (const [index, level] of planned.entries())
      if (isShort(level))
        for (const place of batch.places[index] ?? []) {
          const change = changes[place];
          if (change !== undefined) results[place] = tooLow(change, level.seen?.before ?? 0);
        }
    const left = withPlaces(planned, batch).filter((level) => !isShort(level));
    return {
      ...write,
      results,
      batches: [
        ...write.batches.map((each): WrittenBatch => (each.key === batch.key ? { ...each, state: "replaced" } : each)),
        ...this.#batchesOf(left.filter((level) => !isNew(level))),
        ...this.#batchesOf(left.filter(isNew)),
      ],
    };
  }

  /** The write after a refusal: of several levels each half is tried alone, a single one is rejected. */
  #refused(
    write: StorefrontWrite,
    batch: WrittenBatch,
    message: string,
    changes: readonly OnHandChange[],
  ): StorefrontWrite {
    const levels = withPlaces(inputOf(batch).levels, batch);
    const results = [...write.results];
    if (levels.length === 1)
      for (const place of batch.places.flat()) {
        const change = changes[place];
        if (change !== undefined)
          results[place] = {
            outcome: "rejected",
            reason: "refused",
            message: `Medusa refuses the change of variant ${change.variantId}: ${message}`,
          };
      }
    const halves = levels.length === 1 ? [] : this.#batchesOf(levels, Math.ceil(levels.length / 2));
    return {
      ...write,
      results,
      batches: [
        ...write.batches.map((each): WrittenBatch => (each.key === batch.key ? { ...each, state: "replaced" } : each)),
        ...halves,
      ],
    };
  }

  /** Runs `work` in the shop's turn, after what an earlier holder has left open is settled. */
  async #locked<T>(signal: AbortSignal | undefined, work: (lock: StockLock) => Promise<T>): Promise<T> {
    const owner = this.#parts.ids.claimant();
    const lock = new StockLock(this.#parts, owner);
    const interrupted = await this.#take(lock, owner, signal);
    try {
      if (interrupted !== null) await this.#settleInterrupted(lock, interrupted, signal);
      return await work(lock);
    } finally {
      await this.#end(owner);
    }
  }

  async #end(owner: string): Promise<void> {
    const { engine, shopId } = this.#parts;
    try {
      await engine.write(shopId, (tx) => tx.batch([endLockStatement(shopId, owner)]));
    } catch (error) {
      // It ends by itself.
      if (!(error instanceof Fault)) throw error;
    }
  }

  /** Waits for the turn. @throws StorefrontError when another node keeps it. */
  async #take(lock: StockLock, owner: string, signal: AbortSignal | undefined): Promise<string | null> {
    const { engine, shopId, clock } = this.#parts;
    // The looks are counted: by a clock that is set back meanwhile it would wait for too long.
    for (let polls = 0; ; polls += 1) {
      const nowMs = clock.now();
      const taken = await engine.write(shopId, (tx) =>
        // One process alone has its turns in `serialCalls`; what is left in the row is from before it was started.
        takeLock(tx, shopId, owner, { nowMs, untilMs: nowMs + lockMs, takesOver: engine.embedded }),
      );
      if (taken !== null) {
        lock.heldUntilMs = nowMs + lockMs;
        return taken.interrupted;
      }
      if (polls * lockPollMs >= lockWaitMsMax)
        throw new StorefrontError("throttled", "another node is setting stock at Medusa for this shop", {
          landed: "no",
          retryAfterMs: 1_000,
        });
      await pauseFor(lockPollMs, signal, "Medusa");
    }
  }

  /** Settles the calls of a write whose holder has ended, so that no figure is computed on top of a doubtful one. */
  async #settleInterrupted(lock: StockLock, reference: string, signal: AbortSignal | undefined): Promise<void> {
    let write = await this.#load(reference);
    for (const batch of write?.batches ?? [])
      if (write !== null && batch.state === "open" && inputOf(batch).wasSent)
        write = await this.#lookedUp(write, batch, false, signal);
    if (write !== null) await lock.settled(write);
  }

  /** Reads the levels back. A change is verified when Medusa shows the level as changed since then. */
  async read(
    changes: readonly OnHandChange[],
    { reference, signal }: WriteContext,
  ): Promise<{ readonly verified: boolean; readonly onHand: Quantity | null }[]> {
    if (changes.length === 0) return [];
    const { variants, levels } = this.#parts;
    const write = await this.#load(reference);
    const found = await variants.find(
      changes.map(({ variantId }) => variantId),
      signal,
    );
    const now = await levels.read(
      [...found.values()].flatMap(({ itemId }) => itemId ?? []),
      signal,
    );
    const isSame = write?.items === itemsText(changes);
    return changes.map(({ variantId, locationId }, place) => {
      const level = now.get(levelName(found.get(variantId)?.itemId ?? "", locationId));
      if (level === undefined) return { verified: false, onHand: null };
      const landed = isSame ? landedOf(write, place) : null;
      const onHand = asQuantity(Math.round(level.stocked_quantity * 1_000));
      return { verified: landed !== null && level.updatedAtMs >= (landed.changedAtMs ?? 0), onHand };
    });
  }
}

/** A turn that is held. Everything that is stored in it renews it. */
class StockLock {
  readonly #parts: StoreDependencies;
  readonly #owner: string;
  heldUntilMs = 0;

  constructor(parts: StoreDependencies, owner: string) {
    this.#parts = parts;
    this.#owner = owner;
  }

  /** @throws StorefrontError when what is sent now could arrive after the turn's end. */
  assertHeld(): void {
    if (this.#parts.clock.now() + lockLeftMsMin <= this.heldUntilMs) return;
    throw lost();
  }

  /** Stores a write of which a call is about to be sent. */
  async sending(write: StorefrontWrite): Promise<void> {
    await this.#store(write, write.reference);
  }

  /** Stores a write as it is known now. */
  async settled(write: StorefrontWrite): Promise<StorefrontWrite> {
    const isInDoubt = write.batches.some((batch) => batch.state === "open" && inputOf(batch).wasSent);
    await this.#store(write, isInDoubt ? write.reference : null);
    return write;
  }

  async #store(write: StorefrontWrite, reference: string | null): Promise<void> {
    const { engine, shopId, clock } = this.#parts;
    const untilMs = clock.now() + lockMs;
    await engine.write(shopId, async (tx) => {
      if (!(await hasLock(tx, shopId, this.#owner))) throw lost();
      await tx.batch([
        updateWriteStatement(shopId, write),
        keepLockStatement(shopId, this.#owner, { untilMs, reference }),
      ]);
    });
    this.heldUntilMs = untilMs;
  }
}

const lost = (): StorefrontError =>
  new StorefrontError("throttled", "the process was held up and another has gone on setting stock at Medusa", {
    landed: "maybe",
    retryAfterMs: 500,
  });

/** The results as the port has them. @throws StorefrontError when nothing of the write is known. */
function resultsOf(write: StorefrontWrite, problem: StorefrontError | null): ItemResult[] {
  if (problem !== null && write.results.every((result) => result === null)) throw problem;
  const message = problem?.message ?? "Medusa has not answered for it";
  return write.results.map((result) => result ?? { outcome: "unknown", message });
}

const inputText = (wasSent: boolean, levels: readonly PlannedLevel[]): string =>
  JSON.stringify({ wasSent, levels } satisfies BatchInput);

/** The level as the call is to set it. */
function planOf({ itemId, locationId, delta }: PlannedLevel, level: Level | undefined): PlannedLevel {
  const before = level?.stocked_quantity ?? null;
  return {
    itemId,
    locationId,
    delta,
    seen: {
      before,
      after: tidy((before ?? 0) + delta),
      reserved: level?.reserved_quantity ?? 0,
      incoming: level?.incoming_quantity ?? 0,
      updatedAtMs: level?.updatedAtMs ?? 0,
    },
  };
}

const writeOf = ({ itemId, locationId, seen }: PlannedLevel): LevelWrite => ({
  itemId,
  locationId,
  before: seen?.before ?? null,
  after: seen?.after ?? 0,
});

const withPlaces = (
  levels: readonly PlannedLevel[],
  { places }: WrittenBatch,
): readonly (PlannedLevel & { readonly places: readonly number[] })[] =>
  levels.map((level, index) => ({ ...level, places: places[index] ?? [] }));

/** The call as one that was never sent. */
const unsent = (batch: WrittenBatch): WrittenBatch => ({
  ...batch,
  input: inputText(
    false,
    inputOf(batch).levels.map(({ itemId, locationId, delta }) => ({ itemId, locationId, delta })),
  ),
});

const replaced = (write: StorefrontWrite, batch: WrittenBatch, by: WrittenBatch): StorefrontWrite => ({
  ...write,
  batches: write.batches.map((each) => (each.key === batch.key ? by : each)),
});

/** The write with a call that has landed, and what has to be sent after it. */
function withOutcome(write: StorefrontWrite, landed: WrittenBatch, after: readonly WrittenBatch[]): StorefrontWrite {
  const waiting = new Set(after.flatMap(({ places }) => places.flat()));
  const results = [...write.results];
  for (const place of landed.places.flat()) if (!waiting.has(place)) results[place] = { outcome: "applied" };
  return {
    ...replaced(write, landed, landed),
    results,
    batches: [...replaced(write, landed, landed).batches, ...after],
  };
}

const tooLow = ({ variantId, locationId, delta }: OnHandChange, has: number): WrittenResult => ({
  outcome: "rejected",
  reason: "negative",
  message: `Medusa keeps no negative stock: variant ${variantId} has ${has} at location ${locationId}, so ${-quantityToNumber(delta)} cannot be taken away. Correct the stock at Medusa, then sync again`,
});

/** The latest call with which the item landed; null when it did not. */
const landedOf = (write: StorefrontWrite | null, place: number): WrittenBatch | null =>
  write?.batches.findLast(({ state, places }) => state === "landed" && places.some((each) => each.includes(place))) ??
  null;
