/** Counts on an order beside its present totals, and the arithmetic of both. Quantities have three decimals. */
import { codeKey } from "../../src/core/goods/codes.ts";

/** A line as counting sees it. */
export interface CountedLine {
  readonly lineId: string;
  readonly variantId: string;
  /** Barcode, supplier's barcode, SKU, supplier's SKU: the most certain first. */
  readonly codes: readonly (string | null)[];
  /** Pieces of one pack; null: nobody knows. */
  readonly packSize?: number | null;
  /** Most goods that may come: confirmed, or ordered if never confirmed. */
  readonly base: number;
  /** Totals of the order. */
  readonly totals: Amounts;
}

export type QuantityKind = "received" | "rejected" | "cancelled";

type Amounts = Readonly<Record<QuantityKind, number>>;

export interface Change {
  readonly lineId: string;
  readonly part: QuantityKind;
  readonly amount: number;
}

/** Counts on an order that are not recorded yet. */
export interface Counts {
  /** By line. */
  readonly added: Readonly<Record<string, Amounts>>;
  /** The part of `added` that a save is sending. */
  readonly sent: Readonly<Record<string, Amounts>>;
  /** Amount by which a person let a line go beyond its base. */
  readonly allowedOver: Readonly<Record<string, number>>;
  /** Steps that can be undone, the latest last. */
  readonly steps: readonly (readonly Change[])[];
  /** Change that was refused as too much and is counted when a person says so. */
  readonly question: Change | null;
}

export const noCounts: Counts = { added: {}, sent: {}, allowedOver: {}, steps: [], question: null };

export const none: Amounts = { received: 0, rejected: 0, cancelled: 0 };
export const quantityKinds = ["received", "rejected", "cancelled"] as const;

/** Quantities have three decimals. */
export const plus = (one: number, other: number): number => Math.round((one + other) * 1_000) / 1_000;
export const whole = (amounts: Amounts): number => plus(plus(amounts.received, amounts.rejected), amounts.cancelled);
export const added = (one: Amounts, other: Amounts, sign: 1 | -1 = 1): Amounts => ({
  received: plus(one.received, sign * other.received),
  rejected: plus(one.rejected, sign * other.rejected),
  cancelled: plus(one.cancelled, sign * other.cancelled),
});

/** Counts together with those of somebody else. What went beyond a line is asked for again. */
export const joined = (mine: Counts, others: Counts): Counts => ({
  ...mine,
  added: Object.fromEntries(
    [...new Set([...Object.keys(mine.added), ...Object.keys(others.added)])].map((lineId) => [
      lineId,
      added(addedOf(mine, lineId), addedOf(others, lineId)),
    ]),
  ),
  steps: [],
});

export const addedOf = (counts: Counts, lineId: string): Amounts => counts.added[lineId] ?? none;

/** The line's total with what was counted. */
export const totalOf = (line: CountedLine, counts: Counts, part: QuantityKind): number =>
  plus(line.totals[part], addedOf(counts, line.lineId)[part]);

/** Returns the amount that may still come. */
export const roomOf = (line: CountedLine, counts: Counts): number =>
  Math.max(0, plus(line.base, -plus(whole(line.totals), whole(addedOf(counts, line.lineId)))));

/** Returns the amount by which my counts take the line beyond its base, or further beyond it. */
export const overBy = (line: CountedLine, counts: Counts): number => {
  const before = whole(line.totals);
  return Math.max(0, plus(plus(before, whole(addedOf(counts, line.lineId))), -Math.max(line.base, before)));
};

/** Lines that a person has not let go that far: others have received in the meantime. */
export const linesToAllow = (lines: readonly CountedLine[], counts: Counts): readonly CountedLine[] =>
  lines.filter((line) => overBy(line, counts) > (counts.allowedOver[line.lineId] ?? 0));

/** Lines that were counted, or rejected, or cut short. */
export const changedLines = (lines: readonly CountedLine[], counts: Counts): readonly CountedLine[] =>
  lines.filter((line) => quantityKinds.some((part) => addedOf(counts, line.lineId)[part] !== 0));

/** A quantity has at most seven digits before its point; a barcode has more. */
const quantityPattern = /^\d{1,7}(?:[.,]\d{1,3})?$/;
const codeLengthMin = 6;

/** The quantity that a person typed; null when it is none, or may be a code of the order. */
export function quantityIn(text: string, lines: readonly CountedLine[]): number | null {
  const key = codeKey(text);
  const isCode =
    text.length >= codeLengthMin &&
    lines.some(({ codes }) => codes.some((code) => code !== null && codeKey(code) === key));
  return isCode || !quantityPattern.test(text) ? null : Number(text.replace(",", "."));
}

/** The counts after their sent part was recorded; the lines have the new totals. */
export function withoutSent(lines: ReadonlyMap<string, CountedLine>, counts: Counts): Counts {
  const rest = Object.entries(counts.added).flatMap(([lineId, amounts]) => {
    const left = added(amounts, counts.sent[lineId] ?? none, -1);
    return quantityKinds.every((part) => left[part] === 0) ? [] : [[lineId, left] as const];
  });
  const next = { ...counts, added: Object.fromEntries(rest), sent: {} };
  const over = rest.flatMap(([lineId]) => {
    const line = lines.get(lineId);
    return line === undefined ? [] : [[lineId, Math.min(counts.allowedOver[lineId] ?? 0, overBy(line, next))] as const];
  });
  return { ...next, allowedOver: Object.fromEntries(over) };
}
