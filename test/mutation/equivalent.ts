/** Mutants that no test can kill, since nobody could see the change. */
interface Equivalent {
  readonly file: string;
  /** A part of the line. */
  readonly on: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const equivalent: readonly Equivalent[] = [];
