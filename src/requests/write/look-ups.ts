/**
 * Look-ups of a dry run (C81). They are made between two tries of the run and never inside its transaction (S5).
 */

/** A dry run needs look-ups that it does not have yet: it ends here, and begins again when they are made. */
export class LookUpsNeeded extends Error {
  override readonly name = "LookUpsNeeded";
}

type Result = { readonly value: unknown } | { readonly error: unknown };

export class LookUps {
  readonly #known = new Map<string, Result>();
  readonly #needed = new Map<string, () => Promise<unknown>>();

  /**
   * Returns what was looked up under the key, or throws what the look-up threw.
   *
   * @throws LookUpsNeeded until `make` has made it by `ask`.
   */
  of<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known === undefined) {
      this.#needed.set(key, ask);
      return Promise.reject(new LookUpsNeeded());
    }
    if ("error" in known) return Promise.reject(known.error);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same look-up has returned it
    return Promise.resolve(known.value as T);
  }

  /** Makes the look-ups that are needed. */
  async make(): Promise<void> {
    const needed = [...this.#needed];
    this.#needed.clear();
    await Promise.all(
      needed.map(async ([key, ask]) => {
        try {
          this.#known.set(key, { value: await ask() });
        } catch (error) {
          this.#known.set(key, { error });
        }
      }),
    );
  }
}
