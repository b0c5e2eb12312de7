/**
 * A map of bounded size: beyond its limit a new entry takes the place of the one that was set longest ago. Setting an
 * entry again renews it.
 */
export class RecentMap<Value> extends Map<string, Value> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    if (this.size >= this.#sizeMax) {
      const [oldest] = this.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    return super.set(key, value);
  }
}
