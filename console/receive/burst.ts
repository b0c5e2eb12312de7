/**
 * Tells a scan that was made into a quantity box from typing, by the time between its keys. The scan field needs none
 * of it: this is the net below. A person's keys come 60 ms apart and more, a scanner's within 35.
 */

const keyGapMsMax = 35;
const codeLengthMin = 3;

/** A quantity box: what is being typed into it, null when it shows the line's total. */
export interface Box {
  readonly draft: string | null;
  readonly burst: Burst | null;
}

export const untouched: Box = { draft: null, burst: null };

/** Keys that came as fast as a scanner's so far. */
interface Burst {
  /** Text of the box before the first of them. */
  readonly before: string;
  readonly text: string;
  readonly lastAtMs: number;
}

/** A key that went down in a box, before the box has taken it. */
interface Pressed {
  readonly key: string;
  readonly atMs: number;
  /** Text of the box. */
  readonly value: string;
}

/** The burst after a key; null when the key is no character. A scanner holds Shift for capitals. */
function burstAfter(burst: Burst | null, { key, atMs, value }: Pressed): Burst | null {
  if (key === "Shift") return burst;
  if (key.length !== 1) return null;
  if (burst !== null && atMs - burst.lastAtMs <= keyGapMsMax)
    return { before: burst.before, text: burst.text + key, lastAtMs: atMs };
  return { before: value, text: key, lastAtMs: atMs };
}

/** The code of a burst that Enter or Tab ended at this time; null when a person typed. */
const codeOf = (burst: Burst | null, atMs: number): string | null =>
  burst !== null && burst.text.length >= codeLengthMin && atMs - burst.lastAtMs <= keyGapMsMax ? burst.text : null;

/** Effect of a key in a box; `leave`: back to the scan field with nothing to count. */
type Does =
  | { readonly kind: "scan"; readonly code: string }
  | { readonly kind: "typed"; readonly text: string }
  | { readonly kind: "leave" };

/** A box after a key went down in it. `total` is what it shows when nobody types. */
export function keyed(
  { draft, burst }: Box,
  pressed: Pressed,
  total: string,
): { readonly box: Box; readonly does: Does | null } {
  const { key, atMs } = pressed;
  const code = key === "Enter" || key === "Tab" ? codeOf(burst, atMs) : null;
  if (burst !== null && code !== null) {
    // The box gets back what stood in it; what a person had begun to type stays begun.
    const { before } = burst;
    return { box: { draft: before === total ? null : before, burst: null }, does: { kind: "scan", code } };
  }
  if (key === "Enter" && draft !== null && draft !== total)
    return { box: untouched, does: { kind: "typed", text: draft } };
  if (key === "Enter" || key === "Escape") return { box: untouched, does: { kind: "leave" } };
  return { box: { draft, burst: burstAfter(burst, pressed) }, does: null };
}
