/**
 * Steps of a shop's lanes that wait for its turn at the same time are one change: their statements share round trips
 * and one commit.
 *
 * Owns: which steps are joined. Does not own: what a step does, or when it is repeated (lane.ts).
 *
 * On a network engine a step that follows a call waits a moment for the shop's other calls that have just begun. Calls
 * of one request begin at the same time, and their ends would else be several changes.
 *
 * Each step reads and writes rows of its own lane and order, and adds to shared totals. So the order of their
 * statements does not matter. If one of them fails, nothing of the change is kept, and each is a change of its own.
 */
import { Fault } from "../../base/fault.ts";
import type { Engine, Tx } from "../../store/store.ts";
import type { Step, Work } from "./step.ts";
import { withinMs } from "../../base/time/waiting.ts";

/** Steps of one change: with more, it would hold the shop's turn for longer. */
const stepsMax = 8;

/** A call that has been under way for longer is not waited for (O3). */
const callAwaitedMsMax = 50;

/** Steps that are one change, whose turn has not begun yet. */
interface Joined {
  /** By the order that the lane is of; that of another lane by the lane. */
  readonly steps: Map<string, (tx: Tx) => Promise<void>>;
  done: Promise<void>;
}

/** An order's lanes (`push-stock po_1`) are of one order: their steps are not joined. */
const subjectOf = (lane: string): string => lane.slice(lane.indexOf(" ") + 1);

export class JoinedSteps {
  readonly #engine: Engine;
  readonly #waiting = new Map<string, Joined>();
  /**
   * The calls of each shop that have just begun: each promise settles when its call is over, or at `callAwaitedMsMax`.
   */
  readonly #calls = new Map<string, Set<Promise<void>>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Makes the step's change, joined with others of the shop. @throws what the step throws, and Faults of the store. */
  async write(shopId: string, lane: string, work: Work): Promise<Step> {
    const joined = this.#joinable(shopId, subjectOf(lane)) ?? this.#begin(shopId);
    let step: Step | null = null;
    joined.steps.set(subjectOf(lane), async (tx) => {
      step = await work(tx);
    });
    try {
      await joined.done;
    } catch (error) {
      if (joined.steps.size === 1 || error instanceof Fault) throw error;
      return await this.#engine.write(shopId, work);
    }
    if (step === null) throw new Error("a step of the outbox was not made");
    return step;
  }

  /**
   * Waits for a call of the storefront that has begun and never fails. Steps that follow other calls of the shop may
   * wait for it too.
   */
  async called<T>(shopId: string, calling: Promise<T>): Promise<T> {
    if (this.#engine.embedded) return await calling;
    const calls = this.#calls.get(shopId) ?? new Set();
    this.#calls.set(shopId, calls);
    const awaited = withinMs(calling, callAwaitedMsMax);
    calls.add(awaited);
    void awaited.finally(() => {
      calls.delete(awaited);
      if (calls.size === 0 && this.#calls.get(shopId) === calls) this.#calls.delete(shopId);
    });
    return await calling;
  }

  #joinable(shopId: string, subject: string): Joined | null {
    const joined = this.#waiting.get(shopId);
    return joined === undefined || joined.steps.has(subject) || joined.steps.size >= stepsMax ? null : joined;
  }

  #begin(shopId: string): Joined {
    const joined: Joined = { steps: new Map(), done: Promise.resolve() };
    const close = (): void => {
      if (this.#waiting.get(shopId) === joined) this.#waiting.delete(shopId);
    };
    this.#waiting.set(shopId, joined);
    const change = async (tx: Tx): Promise<void> => {
      close();
      const made = await Promise.allSettled([...joined.steps.values()].map((step) => step(tx)));
      for (const each of made) if (each.status === "rejected") throw each.reason;
    };
    const calls = this.#calls.get(shopId);
    const changing =
      calls === undefined
        ? this.#engine.write(shopId, change)
        : Promise.all(calls).then(() => this.#engine.write(shopId, change));
    joined.done = changing.finally(close);
    // Each step gets the error.
    joined.done.catch(() => {});
    return joined;
  }
}
