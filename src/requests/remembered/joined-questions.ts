/**
 * Batches of reads: questions of one shop at the same time are answered together.
 *
 * Owns: which of it is one. Does not own: how it is answered.
 *
 * - Items of one round of the event loop are one batch. Those that come while an answer is under way are the next. So
 *   it is answered from what is read after it was asked.
 */
export class ReadBatcher<A extends { reject(error: unknown): void }> {
  readonly #max: number;
  readonly #answer: (shopId: string, together: readonly A[]) => Promise<unknown>;
  /** Items by shop for which no answer is under way. A shop with no answer under way is not in it. */
  readonly #waiting = new Map<string, A[]>();

  /**
   * @param answer settles each of at most `max` that are one. If it throws, those that it has not settled are rejected.
   */
  constructor(max: number, answer: (shopId: string, together: readonly A[]) => Promise<unknown>) {
    this.#max = max;
    this.#answer = answer;
  }

  add(shopId: string, item: A): void {
    const waiting = this.#waiting.get(shopId);
    if (waiting !== undefined) {
      waiting.push(item);
      return;
    }
    this.#waiting.set(shopId, [item]);
    setImmediate(() => void this.#answerAll(shopId));
  }

  async #answerAll(shopId: string): Promise<void> {
    for (;;) {
      const together = this.#waiting.get(shopId)?.splice(0, this.#max) ?? [];
      if (together.length === 0) break;
      try {
        await this.#answer(shopId, together);
      } catch (error) {
        // What has been settled stays so.
        for (const item of together) item.reject(error);
      }
    }
    this.#waiting.delete(shopId);
  }
}
