/** Time and ids, as arguments of what needs them. */

/** The source of time. Only the wiring's own clock reads the machine's. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

/** The source of ids: opaque, time-ordered, unique across processes. */
export interface Ids {
  /** The next id: the prefix, `_` and 26 characters (`po_…`). */
  next(prefix: string): string;
  /** Names this process. */
  readonly processName: string;
  /** A name under which this process claims something, the next one each time; it begins with `processName`. */
  claimant(): string;
}
