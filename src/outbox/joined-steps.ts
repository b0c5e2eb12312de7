/**
 * Steps of a shop's lanes that wait for its turn at the same time are one change: their statements share round trips and one commit.
 *
 * Owns: which steps are joined. Does not own: what a step does, or when it is repeated (lane.ts).
 *
 * Each step reads and writes rows of its own lane and order, and adds to shared totals, so the order of their statements does not matter.
 * If one of them fails, nothing of the change is kept, and each is a change of its own.
 */
import { Fault } from "../core/fault.ts";
import type { Engine, Tx } from "../store/store.ts";
import type { Step, Work } from "./step.ts";

/** Steps of one change: with more, it would hold the shop's turn for longer. */
const stepsMax = 8;

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
    joined.done = this.#engine
      .write(shopId, async (tx) => {
        close();
        const made = await Promise.allSettled([...joined.steps.values()].map((step) => step(tx)));
        for (const each of made) if (each.status === "rejected") throw each.reason;
      })
      .finally(close);
    // Each step gets the error.
    joined.done.catch(() => {});
    return joined;
  }
}
