/**
 * Tells a scan that was made into a quantity box from typing, by the time between its keys. The scan field needs none of it: this is the
 * net below. A person's keys come 60 ms apart and more, a scanner's within 35.
 */

const keyGapMsMax = 35;
const codeLengthMin = 3;

/** Keys that came as fast as a scanner's so far. */
export interface Burst {
  /** What stood in the box before the first of them. */
  readonly before: string;
  readonly text: string;
  readonly lastAtMs: number;
}

/** A key that went down in a box, before the box has taken it. */
export interface Pressed {
  readonly key: string;
  readonly atMs: number;
  /** What stands in the box. */
  readonly value: string;
}

/** The burst after a key; null when the key is no character. A scanner holds Shift for capitals. */
export function burstAfter(burst: Burst | null, { key, atMs, value }: Pressed): Burst | null {
  if (key === "Shift") return burst;
  if (key.length !== 1) return null;
  if (burst !== null && atMs - burst.lastAtMs <= keyGapMsMax)
    return { before: burst.before, text: burst.text + key, lastAtMs: atMs };
  return { before: value, text: key, lastAtMs: atMs };
}

/** The code of a burst that Enter or Tab ended at this time; null when a person typed. */
export const codeOf = (burst: Burst | null, atMs: number): string | null =>
  burst !== null && burst.text.length >= codeLengthMin && atMs - burst.lastAtMs <= keyGapMsMax ? burst.text : null;
