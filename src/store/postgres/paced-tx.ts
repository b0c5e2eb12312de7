/**
 * The steps of `work` on a network engine. Work between two answers of the database holds the event loop, and counts as
 * the shop's (../loop-share.ts). The wait for an answer does not.
 */
import type { LoopShare } from "../loop-share.ts";
import type { Statement, Tx, Work } from "../store.ts";

class PacedTx implements Tx {
  readonly #tx: Tx;
  readonly #loop: LoopShare;
  readonly #shopId: string;
  /** Statements whose rows have not come yet. */
  #asked = 0;
  #stepBeganAtMs: number;

  constructor(tx: Tx, loop: LoopShare, shopId: string) {
    this.#tx = tx;
    this.#loop = loop;
    this.#shopId = shopId;
    this.#stepBeganAtMs = loop.now();
  }

  async all<R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> {
    this.endStep();
    this.#asked += 1;
    try {
      return await this.#tx.all<R>(sql, params);
    } finally {
      const turn = this.#loop.waitForShare(this.#shopId);
      if (turn !== null) await turn;
      this.#asked -= 1;
      this.#stepBeganAtMs = this.#loop.now();
    }
  }

  async giveWay(): Promise<void> {
    this.endStep();
    await this.#loop.waitForShare(this.#shopId);
    this.#stepBeganAtMs = this.#loop.now();
  }

  batch(statements: readonly Statement[]): Promise<void> {
    return this.#tx.batch(statements);
  }

  get inner(): Tx {
    return this.#tx;
  }

  endStep(): void {
    if (this.#asked > 0) return;
    const nowMs = this.#loop.now();
    this.#loop.held(this.#shopId, nowMs - this.#stepBeganAtMs);
    this.#stepBeganAtMs = nowMs;
  }
}

/** The transaction itself. */
export const unpaced = (tx: Tx): Tx => (tx instanceof PacedTx ? tx.inner : tx);

/** Runs `work`, which waits for its shop's turn after each answer of the database. */
export async function paced<T>(loop: LoopShare, shopId: string, tx: Tx, work: Work<T>): Promise<T> {
  const pacedTx = new PacedTx(tx, loop, shopId);
  try {
    return await work(pacedTx);
  } finally {
    pacedTx.endStep();
  }
}
