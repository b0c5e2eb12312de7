/**
 * Counting a delivery: scans and typed totals become counts, beside the totals that the order has already.
 *
 * Owns: the counts, what may be undone, over-receipt that waits for a person's word. Does not own: keys (burst.ts),
 * saving (counting.ts). Invariants: (N1) a count is the amount added to the order's totals, so it stays right when
 * those change. (N2) An unknown, ambiguous or too large scan counts nothing. (N3) A step undoes exactly what it added.
 * (N4) Counts that are being sent are not undone.
 */
import { type CarriedCodes, codeMatch, scannedCode } from "../../src/core/goods/codes.ts";
import {
  added,
  addedOf,
  type Change,
  changedLines,
  type CountedLine,
  type Counts,
  none,
  overBy,
  type QuantityKind,
  quantityKinds,
  plus,
  quantityIn,
  roomOf,
  totalOf,
  whole,
  withoutSent,
} from "./amounts.ts";
import type { CountEvent, Outcome } from "./events.ts";

/** Steps that can be undone. */
const stepsMax = 500;

interface Counted {
  readonly counts: Counts;
  readonly outcome: Outcome;
}

type Lines = ReadonlyMap<string, CountedLine>;

/** Adds changes; `grant` lets them go beyond the base. */
function withChanges(lines: Lines, counts: Counts, changes: readonly Change[], grant: boolean): Counts {
  const next = { ...counts, added: { ...counts.added }, allowedOver: { ...counts.allowedOver }, question: null };
  for (const { lineId, part, amount } of changes) {
    const line = lines.get(lineId);
    if (line === undefined) continue;
    const before = addedOf(next, lineId);
    next.added[lineId] = { ...before, [part]: plus(before[part], amount) };
    const over = overBy(line, next);
    next.allowedOver[lineId] = grant ? over : Math.min(next.allowedOver[lineId] ?? 0, over);
  }
  return next;
}

const withStep = (lines: Lines, counts: Counts, changes: readonly Change[], grant = false): Counts => ({
  ...withChanges(lines, counts, changes, grant),
  steps: [...counts.steps, changes].slice(-stepsMax),
});

/** Counts an amount on a line, or asks first when that is too much. */
function count(lines: Lines, counts: Counts, line: CountedLine, change: Change): Counted {
  const { lineId, amount, part } = change;
  const room = roomOf(line, counts);
  if (amount > room) {
    const wasComplete = room === 0 && whole(addedOf(counts, lineId)) === 0;
    const kind = wasComplete ? "complete" : "over";
    return { counts: { ...counts, question: change }, outcome: { kind, lineId, amount } };
  }
  const next = withStep(lines, counts, [change]);
  return { counts: next, outcome: { kind: "counted", lineId, amount, total: totalOf(line, next, part) } };
}

function scanned(lines: Lines, before: Counts, code: string): Counted {
  const counts = { ...before, question: null };
  const scan = scannedCode(code);
  const matches = [...lines.values()].flatMap((line) => {
    const match = codeMatch(scan, carriedBy(line));
    return match === null ? [] : { line, match };
  });
  const rank = Math.min(...matches.map(({ match }) => match.rank));
  const found = matches.filter(({ match }) => match.rank === rank);
  const [first] = found;
  if (first === undefined) return { counts, outcome: { kind: "unknown", text: code } };
  // A code of two products is no answer to which of them this is.
  if (found.some(({ line }) => line.variantId !== first.line.variantId))
    return { counts, outcome: { kind: "ambiguous", text: code } };
  const { line, match } = found.find((each) => roomOf(each.line, counts) >= each.match.countsAs) ?? first;
  const next = count(lines, counts, line, { lineId: line.lineId, part: "received", amount: match.countsAs });
  const { outcome } = next;
  return outcome.kind === "counted" ? { ...next, outcome: { ...outcome, countsAs: match.countsAsReason } } : next;
}

const carriedBy = ({
  codes: [barcode = null, supplierBarcode = null, sku = null, supplierSku = null],
  packSize = null,
}: CountedLine): CarriedCodes => ({ barcode, supplierBarcode, sku, supplierSku, packSize });

function typed(lines: Lines, before: Counts, event: Extract<CountEvent, { kind: "typed" }>): Counted {
  const counts = { ...before, question: null };
  const { lineId, part } = event;
  const text = event.text.trim();
  const line = lines.get(lineId);
  const total = quantityIn(text, [...lines.values()]);
  if (line === undefined || total === null) return { counts, outcome: { kind: "unreadable", text } };
  const least = plus(line.totals[part], (counts.sent[lineId] ?? none)[part]);
  if (total < least) return { counts, outcome: { kind: "below", lineId, least } };
  const amount = plus(total, -totalOf(line, counts, part));
  if (amount === 0) return { counts, outcome: { kind: "nothing" } };
  return count(lines, counts, line, { lineId, part, amount });
}

function undone(lines: Lines, counts: Counts): Counted {
  const step = counts.steps.at(-1);
  const [first] = step ?? [];
  if (step === undefined || first === undefined)
    return { counts: { ...counts, question: null }, outcome: { kind: "nothing" } };
  const back = step.map((change) => ({ ...change, amount: -change.amount }));
  const next = { ...withChanges(lines, counts, back, false), steps: counts.steps.slice(0, -1) };
  return { counts: next, outcome: { kind: "undone", lineId: first.lineId, lines: step.length } };
}

function allowed(lines: Lines, counts: Counts): Counted {
  const change = counts.question;
  const line = change === null ? undefined : lines.get(change.lineId);
  if (change === null || line === undefined) return { counts, outcome: { kind: "nothing" } };
  const next = withStep(lines, counts, [change], true);
  const { lineId, amount, part } = change;
  return { counts: next, outcome: { kind: "counted", lineId, amount, total: totalOf(line, next, part) } };
}

/** Fills the room of lines in one step. */
function filled(lines: Lines, counts: Counts, chosen: readonly CountedLine[], part: QuantityKind): Counted {
  const changes = chosen
    .map((line) => ({ lineId: line.lineId, part, amount: roomOf(line, counts) }))
    .filter(({ amount }) => amount > 0);
  if (changes.length === 0) return { counts: { ...counts, question: null }, outcome: { kind: "nothing" } };
  return {
    counts: withStep(lines, counts, changes),
    outcome: { kind: "counted-all", lines: changes.length },
  };
}

/** Takes everything back that no save is sending. */
function discarded(lines: Lines, counts: Counts): Counted {
  const changes = Object.entries(counts.added).flatMap(([lineId, amounts]) => {
    const left = added(amounts, counts.sent[lineId] ?? none, -1);
    return quantityKinds.filter((part) => left[part] !== 0).map((part) => ({ lineId, part, amount: -left[part] }));
  });
  const [first] = changes;
  if (first === undefined) return { counts, outcome: { kind: "nothing" } };
  const outcome = { kind: "undone", lineId: first.lineId, lines: changes.length } as const;
  return { counts: withStep(lines, counts, changes), outcome };
}

/** The counts after an event, and what to tell. */
export function counted(all: readonly CountedLine[], counts: Counts, event: CountEvent): Counted {
  const lines: Lines = new Map(all.map((line) => [line.lineId, line]));
  const silent = (next: Counts): Counted => ({ counts: next, outcome: { kind: "nothing" } });
  switch (event.kind) {
    case "scan":
      return scanned(lines, counts, event.code.trim());
    case "typed":
      return typed(lines, counts, event);
    case "allow":
      return allowed(lines, counts);
    case "allow-all":
      return silent({
        ...counts,
        allowedOver: Object.fromEntries(changedLines(all, counts).map((line) => [line.lineId, overBy(line, counts)])),
      });
    case "undo":
      return undone(lines, counts);
    case "discard":
      return discarded(lines, counts);
    case "all-remaining":
      return filled(lines, counts, all, "received");
    case "short":
      return filled(
        lines,
        counts,
        all.filter(({ lineId }) => lineId === event.lineId),
        "cancelled",
      );
    case "sending":
      return silent({ ...counts, sent: counts.added, steps: [] });
    case "saved":
      return silent(withoutSent(lines, counts));
    case "not-saved":
      return silent({ ...counts, sent: {} });
  }
}
