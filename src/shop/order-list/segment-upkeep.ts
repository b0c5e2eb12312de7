/**
 * When orders are brought into segments: all of a shop that has none yet, before it is served, and recent ones when
 * there are many.
 *
 * The engine is wrapped, so that no reader and no writer has to think of it. Work on a shop finds its orders in
 * segments or in `order_recent` (R4).
 */
import { Fault } from "../../base/fault.ts";
import { inTime } from "../../base/time/waiting.ts";
import { delegated, NoticingTx } from "../../store/delegated.ts";
import { isChange } from "../../store/change.ts";
import type { Engine, Log, Tx, Work } from "../../store/store.ts";
import { fillSegments, isBehind, isUnfilled, recentMax, sealRecent } from "./sealing.ts";

/** Changes of orders after which it is looked whether there are many recent ones. */
const looksAfter = recentMax / 2;

/** A request waits no longer than this for the segments of its shop. */
const fillWaitMs = 2_000;
const retryAfterMs = 5_000;

const stillFilling = (): Fault =>
  new Fault("DO_UNAVAILABLE", "The shop's orders are being brought into the form of this version.", {
    action: "Send the same request again later.",
    retryAfterMs,
  });

/** Thrown out of work on a shop that has orders in no segment. */
class Unfilled extends Error {}

class Upkeep {
  readonly #engine: Engine;
  readonly #log: Pick<Log, "error">;
  /** Shops that have been seen to be filled. */
  readonly #filled = new Set<string>();
  readonly #filling = new Map<string, Promise<void>>();
  /** Changes of orders since it was last looked. */
  readonly #changes = new Map<string, number>();
  readonly #sealing = new Set<string>();

  constructor(engine: Engine, log: Pick<Log, "error">) {
    this.#engine = engine;
    this.#log = log;
  }

  forget(shopId: string): void {
    this.#filled.delete(shopId);
    this.#changes.delete(shopId);
  }

  /** The work, which throws `Unfilled` if the shop is to be filled first: then it is run again. */
  guarded<T>(shopId: string, work: Work<T>): Work<T> {
    if (this.#filled.has(shopId)) return work;
    return async (tx) => {
      const [done] = await Promise.allSettled([work(tx)]);
      // Asked last: the work may have to send something before its transaction. What fails may have ended that.
      const [unfilled] = await Promise.allSettled([isUnfilled(tx, shopId)]);
      if (unfilled.status === "fulfilled" && unfilled.value) throw new Unfilled();
      if (done.status === "rejected") throw done.reason;
      if (unfilled.status === "rejected") throw unfilled.reason;
      this.#filled.add(shopId);
      return done.value;
    };
  }

  /** Runs this, and runs it again when the shop was filled. */
  async run<T>(shopId: string, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unfilled)) throw error;
    }
    await this.#fill(shopId);
    return await attempt();
  }

  async #fill(shopId: string): Promise<void> {
    const filling = this.#filling.get(shopId) ?? this.#fillAll(shopId);
    this.#filling.set(shopId, filling);
    await inTime(fillWaitMs, () => filling, stillFilling);
  }

  async #fillAll(shopId: string): Promise<void> {
    try {
      while (await this.#engine.write(shopId, (tx) => fillSegments(tx, shopId), { durable: false }));
    } finally {
      this.#filling.delete(shopId);
    }
  }

  /** Notes changes of orders that have committed. */
  changed(shopId: string, count: number): void {
    const changes = (this.#changes.get(shopId) ?? 0) + count;
    this.#changes.set(shopId, changes < looksAfter ? changes : 0);
    if (changes >= looksAfter) void this.#seal(shopId);
  }

  async #seal(shopId: string): Promise<void> {
    if (this.#sealing.has(shopId)) return;
    this.#sealing.add(shopId);
    try {
      if (await this.#engine.peek(shopId, (tx) => isBehind(tx, shopId)))
        while (await this.#engine.write(shopId, (tx) => sealRecent(tx, shopId), { durable: false }));
    } catch (error) {
      // A store that is busy, closed or removed: later changes ask again.
      if (!(error instanceof Fault)) this.#log.error({ shopId, err: error }, "sealing of orders failed");
    } finally {
      this.#sealing.delete(shopId);
    }
  }
}

/** The engine, bringing orders into segments. */
export function keepingSegments(engine: Engine, log: Pick<Log, "error">): Engine {
  const upkeep = new Upkeep(engine, log);
  return {
    ...delegated(engine),
    remove: async (shopId) => {
      await engine.remove(shopId);
      upkeep.forget(shopId);
    },
    read: (shopId, work, onSeen) => upkeep.run(shopId, () => engine.read(shopId, upkeep.guarded(shopId, work), onSeen)),
    peek: (shopId, work, credential) =>
      upkeep.run(shopId, () => engine.peek(shopId, upkeep.guarded(shopId, work), credential)),
    write: async (shopId, work, options) => {
      let changes = 0;
      const noticing = (tx: Tx) =>
        work(
          new NoticingTx(tx, (statement) => {
            if (isChange(statement) && statement.form.table === "order_recent") changes += 1;
          }),
        );
      const result = await upkeep.run(shopId, () => {
        changes = 0;
        // What only adds rows of its own reads nothing.
        return engine.write(shopId, options?.append === true ? noticing : upkeep.guarded(shopId, noticing), options);
      });
      if (changes > 0) upkeep.changed(shopId, changes);
      return result;
    },
  };
}
