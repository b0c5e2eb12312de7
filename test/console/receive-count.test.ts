import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  changedLines,
  type CountedLine,
  type Counts,
  linesToAllow,
  noCounts,
  totalOf,
} from "../../console/receive/amounts.ts";
import { type Box, keyed, untouched } from "../../console/receive/burst.ts";
import { counted } from "../../console/receive/count.ts";
import type { CountEvent, Outcome } from "../../console/receive/events.ts";

const line = (index: number, base: number, received: number): CountedLine => ({
  lineId: `line-${index}`,
  variantId: `variant-${index}`,
  codes: [`400638133393${index}`, null, `SKU-${index}`, `S${index}A`],
  base,
  totals: { received, rejected: 0, cancelled: 0 },
});

/** Counting as the page does it: a scan field, a quantity box for each line, keys with times. */
class Bench {
  lines: readonly CountedLine[];
  counts: Counts = noCounts;
  nowMs = 0;
  readonly boxes = new Map<string, Box>();

  constructor(lines: readonly CountedLine[]) {
    this.lines = lines;
  }

  happen(event: CountEvent): Outcome {
    const next = counted(this.lines, this.counts, event);
    this.counts = next.counts;
    return next.outcome;
  }

  total(index: number): number {
    const found = this.lines[index];
    assert.ok(found);
    return totalOf(found, this.counts, "received");
  }

  /** Types into a box, `gapMs` between keys. In a box that nobody types into, the first key replaces what stands there. */
  keys(index: number, keys: readonly string[], gapMs: number): void {
    const lineId = `line-${index}`;
    for (const key of keys) {
      this.nowMs += gapMs;
      const box = this.boxes.get(lineId) ?? untouched;
      const total = String(this.total(index));
      const { box: after, does } = keyed(box, { key, atMs: this.nowMs, value: box.draft ?? total }, total);
      if (does === null && key.length === 1) this.boxes.set(lineId, { ...after, draft: (box.draft ?? "") + key });
      else this.boxes.set(lineId, after);
      if (does?.kind === "scan") this.happen(does);
      if (does?.kind === "typed") this.happen({ kind: "typed", lineId, part: "received", text: does.text });
    }
    this.nowMs += 200;
  }
}

const index = fc.integer({ min: 0, max: 3 });
const rank = fc.constantFrom(0, 2, 3);
const handGapMs = fc.integer({ min: 60, max: 400 });
const scannerGapMs = fc.integer({ min: 1, max: 34 });
const action = fc.oneof(
  fc.record({ kind: fc.constant("scan" as const), of: index, rank }),
  fc.record({ kind: fc.constant("scan-in-box" as const), of: index, rank, box: index, gapMs: scannerGapMs }),
  fc.record({ kind: fc.constant("type" as const), box: index, total: fc.nat(40), gapMs: handGapMs }),
  fc.record({
    kind: fc.constant("type-around-a-scan" as const),
    box: index,
    total: fc.integer({ min: 10, max: 40 }),
    of: index,
    gapMs: scannerGapMs,
  }),
  fc.constant({ kind: "undo" as const }),
);

test("any interleaving of scans and typing, scans in quantity boxes among them, gives the right sums", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 5, max: 30 }), fc.nat(5)), { minLength: 4, maxLength: 4 }),
      fc.array(action, { maxLength: 60 }),
      (orders, actions) => {
        const bench = new Bench(orders.map(([base, received], at) => line(at, base, Math.min(base, received))));
        const sums = bench.lines.map(({ totals }) => totals.received);
        const steps: (readonly [at: number, amount: number])[] = [];
        const add = (at: number, amount: number): void => {
          if (amount === 0 || (sums[at] ?? 0) + amount > (bench.lines[at]?.base ?? 0)) return;
          sums[at] = (sums[at] ?? 0) + amount;
          steps.push([at, amount]);
        };
        const set = (at: number, total: number): void => {
          if (total >= (bench.lines[at]?.totals.received ?? 0)) add(at, total - (sums[at] ?? 0));
        };
        const codeOf = (at: number, rank: number): string => bench.lines[at]?.codes[rank] ?? "";
        for (const each of actions) {
          switch (each.kind) {
            case "scan":
              bench.happen({ kind: "scan", code: codeOf(each.of, each.rank) });
              add(each.of, 1);
              break;
            case "scan-in-box":
              bench.keys(each.box, [...Array.from(codeOf(each.of, each.rank)), "Enter"], each.gapMs);
              add(each.of, 1);
              break;
            case "type":
              bench.keys(each.box, [...Array.from(String(each.total)), "Enter"], each.gapMs);
              set(each.box, each.total);
              break;
            case "type-around-a-scan": {
              const [first = "", ...rest] = Array.from(String(each.total));
              bench.keys(each.box, [first], 100);
              bench.keys(each.box, [...Array.from(codeOf(each.of, 0)), "Enter"], each.gapMs);
              add(each.of, 1);
              // One digit that equals the total is no typing: the box shows the same, and the rest of the keys begins anew.
              if (bench.boxes.get(`line-${each.box}`)?.draft === null) bench.keys(each.box, [first], 100);
              bench.keys(each.box, [...rest, "Enter"], 100);
              set(each.box, each.total);
              break;
            }
            case "undo": {
              bench.happen({ kind: "undo" });
              const [at, amount] = steps.pop() ?? [0, 0];
              sums[at] = (sums[at] ?? 0) - amount;
            }
          }
          assert.deepEqual(
            bench.lines.map((_, at) => bench.total(at)),
            sums,
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("counts start from what was received; too much is asked for each time and counted only when allowed", () => {
  const bench = new Bench([line(0, 3, 2)]);
  const code = "4006381333930";
  assert.equal(bench.total(0), 2);
  assert.equal(bench.happen({ kind: "scan", code }).kind, "counted");
  for (const total of [4, 5]) {
    assert.equal(bench.happen({ kind: "scan", code }).kind, "over");
    assert.equal(bench.total(0), total - 1);
    bench.happen({ kind: "allow" });
    assert.equal(bench.total(0), total);
  }
  assert.deepEqual(linesToAllow(bench.lines, bench.counts), []);
  bench.happen({ kind: "undo" });
  assert.equal(bench.total(0), 4);
  assert.equal(new Bench([line(0, 3, 3)]).happen({ kind: "scan", code }).kind, "complete");
});

test("a code that is unknown, of two products, or typed as a quantity counts nothing", () => {
  const twin = { ...line(1, 5, 0), codes: ["4006381333930", null, null, null] };
  const bench = new Bench([line(0, 5, 0), twin]);
  const typed = (text: string): CountEvent => ({ kind: "typed", lineId: "line-0", part: "received", text });
  assert.equal(bench.happen({ kind: "scan", code: "nothing like it" }).kind, "unknown");
  assert.equal(bench.happen({ kind: "scan", code: "4006381333930" }).kind, "ambiguous");
  for (const text of ["4006381333930", "", "-1", "1e3", "SKU-0", "1.2345"])
    assert.equal(bench.happen(typed(text)).kind, "unreadable", text);
  assert.deepEqual(changedLines(bench.lines, bench.counts), []);
  assert.equal(bench.happen(typed("2,5")).kind, "counted");
  assert.equal(bench.total(0), 2.5);
});

test("what others receive in the meantime is added to, and asked for where it leaves too little room", () => {
  const bench = new Bench([line(0, 5, 0)]);
  for (let scans = 0; scans < 3; scans += 1) bench.happen({ kind: "scan", code: "SKU-0" });
  bench.lines = [line(0, 5, 2)];
  assert.equal(bench.total(0), 5);
  assert.deepEqual(linesToAllow(bench.lines, bench.counts), []);
  bench.lines = [line(0, 5, 4)];
  assert.equal(bench.total(0), 7);
  assert.equal(linesToAllow(bench.lines, bench.counts).length, 1);
  bench.happen({ kind: "allow-all" });
  assert.deepEqual(linesToAllow(bench.lines, bench.counts), []);
});

test("counts that are made while a save is on its way stay, and what it sends is not undone", () => {
  const bench = new Bench([line(0, 9, 0)]);
  const scan = (): Outcome => bench.happen({ kind: "scan", code: "SKU-0" });
  scan();
  scan();
  bench.happen({ kind: "sending" });
  assert.equal(bench.happen({ kind: "undo" }).kind, "nothing");
  assert.equal(bench.happen({ kind: "typed", lineId: "line-0", part: "received", text: "1" }).kind, "below");
  scan();
  bench.happen({ kind: "discard" });
  assert.equal(bench.total(0), 2);
  bench.happen({ kind: "undo" });
  bench.lines = [line(0, 9, 2)];
  bench.happen({ kind: "saved" });
  assert.equal(bench.total(0), 3);
  assert.equal(changedLines(bench.lines, bench.counts).length, 1);
});

test("all remaining, and the rest that does not come, are one step each", () => {
  const bench = new Bench([line(0, 5, 1), line(1, 2, 0), line(2, 3, 3)]);
  bench.happen({ kind: "short", lineId: "line-1" });
  assert.deepEqual(bench.happen({ kind: "all-remaining" }), { kind: "counted-all", lines: 1 });
  assert.deepEqual([bench.total(0), bench.total(1), bench.total(2)], [5, 0, 3]);
  bench.happen({ kind: "undo" });
  bench.happen({ kind: "undo" });
  assert.deepEqual(changedLines(bench.lines, bench.counts), []);
});

test("a scan of a pack counts its pieces, in whatever form its code comes, and asks when that is too much (C52)", () => {
  const lines = [{ ...line(1, 30, 0), codes: ["4006381333931", "8719001002013", "TEA-1", null], packSize: 12 }];
  let counts: Counts = noCounts;
  const scan = (code: string): Outcome => {
    const next = counted(lines, counts, { kind: "scan", code });
    counts = next.counts;
    return next.outcome;
  };
  const lineId = "line-1";
  assert.deepEqual(scan("04006381333931"), { kind: "counted", lineId, amount: 1, total: 1, countsAs: "piece" });
  assert.deepEqual(scan(" tea-1"), { kind: "counted", lineId, amount: 1, total: 2, countsAs: "piece" });
  assert.deepEqual(scan("8719001002013"), { kind: "counted", lineId, amount: 12, total: 14, countsAs: "pack" });
  assert.deepEqual(scan("0114006381333938"), { kind: "counted", lineId, amount: 12, total: 26, countsAs: "pack" });
  assert.deepEqual(scan("14006381333938"), { kind: "over", lineId, amount: 12 });
});
