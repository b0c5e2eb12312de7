/**
 * What is asked of a shop at the same time is answered as one.
 *
 * Owns: which of it is one. Does not own: how it is answered.
 *
 * - What comes in the same round of the event loop is one, and so is what comes while an answer is under way: it has the next one. So it is
 *   answered from what is read after it was asked.
 */
export class ReadBatcher<A extends { reject(error: unknown): void }> {
  readonly #max: number;
  readonly #answer: (shopId: string, together: readonly A[]) => Promise<unknown>;
  /** What no answer is under way for, by shop. A shop with no answer under way is not in it. */
  readonly #waiting = new Map<string, A[]>();

  /** @param answer settles each of at most `max` that are one. If it throws, those that it has not settled are rejected. */
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
