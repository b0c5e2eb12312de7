/**
 * Peeks at a shop that begin at the same time, as one (D406). On a network engine each takes a connection and a round
 * trip of its own otherwise.
 *
 * Does not own: which peeks are one (joined-questions.ts), what they read.
 *
 * - Each is told its own result or fault as soon as it has it. Any other error is thrown out of the peek, since only
 *   the engine knows what an error of its database means to a caller. All that have no result get what the engine
 *   throws then.
 */
import { Fault } from "../../base/fault.ts";
import type { Engine, Tx } from "../../store/store.ts";
import { ReadBatcher } from "./joined-questions.ts";

/** Peeks that are one: it stays short. */
export const peekedTogetherMax = 32;

interface Peek {
  /** Gives its result or fault to who has asked. Rejects with any other error. */
  readonly work: (tx: Tx) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

export class SharedPeeks {
  readonly #batcher: ReadBatcher<Peek>;

  constructor(engine: Pick<Engine, "peek">) {
    this.#batcher = new ReadBatcher(peekedTogetherMax, (shopId, together) =>
      engine.peek(shopId, async (tx) => {
        const ended = await Promise.allSettled(together.map(({ work }) => work(tx)));
        for (const each of ended) if (each.status === "rejected") throw each.reason;
      }),
    );
  }

  /** Like `Engine.peek`. @throws the same faults. */
  peek<T>(shopId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const rejectFault = (error: unknown): void => {
        if (!(error instanceof Fault)) throw error;
        reject(error);
      };
      this.#batcher.add(shopId, { work: (tx) => work(tx).then(resolve, rejectFault), reject });
    });
  }
}
