/**
 * Peeks at a shop that begin at the same time, as one (D386). On a network engine each takes a connection and a round trip of its own otherwise.
 *
 * Does not own: which peeks are one (asked-together.ts), what they read.
 *
 * - Each is told its own result or error as soon as it has it. An error of the database reaches all that it has undone.
 */
import type { Engine, Tx } from "../store/store.ts";
import { AskedTogether } from "./asked-together.ts";

/** Peeks that are one: it stays short. */
export const peekedTogetherMax = 32;

interface Asked {
  /** Never rejects. */
  readonly work: (tx: Tx) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

export class SharedPeeks {
  readonly #asked: AskedTogether<Asked>;

  constructor(engine: Pick<Engine, "peek">) {
    this.#asked = new AskedTogether(peekedTogetherMax, (shopId, together) =>
      engine.peek(shopId, (tx) => Promise.all(together.map(({ work }) => work(tx)))),
    );
  }

  /** Like `Engine.peek`. @throws the same faults. */
  peek<T>(shopId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#asked.add(shopId, { work: (tx) => work(tx).then(resolve, reject), reject });
    });
  }
}
