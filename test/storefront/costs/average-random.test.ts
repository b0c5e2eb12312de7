/**
 * The moving average of a variant over random lives of an order, beside a plain ledger: what is in the average, at which cost it came in, and what
 * the average is (C45). Attempts fail, and answers are lost, in between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { asMoney, asQuantity, type Money } from "../../../src/core/money/money.ts";
import type { LineItem } from "../../../src/core/order/purchase-order.ts";
import type { GoodsMove } from "../../../src/core/storefront/cost-lots.ts";
import {
  type CostFacts,
  type CostHistory,
  type CostProposal,
  type CostRow,
  costAttempt,
  dueCosts,
  takenBackCosts,
} from "../../../src/core/storefront/cost-sync.ts";
import { line, money, order, shop } from "../../support/goods.ts";

/** Whole units and cents, so that the ledger can be read: it counts in thousandths and ten-thousandths all the same. */
type Step =
  | { readonly do: "receive"; readonly line: number; readonly units: number; readonly isSynced: boolean }
  | { readonly do: "take-back"; readonly line: number; readonly units: number; readonly troubles: readonly Trouble[] }
  | { readonly do: "sell" | "adjust"; readonly units: number }
  | { readonly do: "price"; readonly line: number; readonly cents: number }
  | { readonly do: "complete"; readonly troubles: readonly Trouble[] };

/** What becomes of an attempt before the one that goes through. */
type Trouble = "refused" | "lost before" | "lost after" | "lost after, pulled" | "kept";

const trouble = fc.constantFrom<Trouble[]>("refused", "lost before", "lost after", "lost after, pulled", "kept");
const lineIndex = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("receive" as const),
    line: lineIndex,
    units: fc.integer({ min: 1, max: 12 }),
    isSynced: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("take-back" as const),
    line: lineIndex,
    units: fc.integer({ min: 1, max: 12 }),
    // One that was kept is the last.
    troubles: fc.array(
      trouble.filter((each) => each !== "kept"),
      { maxLength: 2 },
    ),
  }),
  fc.record({ do: fc.constantFrom("sell" as const, "adjust" as const), units: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant("price" as const), line: lineIndex, cents: fc.constantFrom(0, 199, 400, 650, 1_000) }),
  fc.record({ do: fc.constant("complete" as const), troubles: fc.array(trouble, { maxLength: 2 }) }),
);

const halfUp = (numerator: number, denominator: number): number =>
  Math.floor((2 * numerator + denominator) / (2 * denominator));

/** The plain ledger. Costs in ten-thousandths. */
class Ledger {
  /** Units in the average. */
  pool: number;
  cost: number;
  readonly fresh = [0, 0];
  readonly entered: { units: number; readonly cost: number }[][] = [[], []];

  constructor(pool: number, cost: number) {
    this.pool = pool;
    this.cost = cost;
  }

  takeBack(of: number, units: number): void {
    const fresh = Math.min(units, this.fresh[of] ?? 0);
    this.fresh[of] = (this.fresh[of] ?? 0) - fresh;
    let left = units - fresh;
    if (left === 0) return;
    let value = this.pool * this.cost;
    this.pool -= left;
    const lots = this.entered[of] ?? [];
    while (left > 0) {
      const last = lots.at(-1) ?? assert.fail("more is taken back than was received");
      const part = Math.min(left, last.units);
      last.units -= part;
      if (last.units === 0) lots.pop();
      value -= part * last.cost;
      left -= part;
    }
    // Without stock, or without worth, there is nothing to average: the cost stays. An average of 0 replaces no cost.
    if (this.pool <= 0 || value < 0) return;
    this.cost = halfUp(value, this.pool) || this.cost;
  }

  complete(costs: readonly number[]): void {
    const units = this.fresh.reduce((sum, each) => sum + each, 0);
    if (units === 0) return;
    const stock = this.pool > 0 ? this.pool : 0;
    const cost = halfUp(
      stock * this.cost + this.fresh.reduce((sum, each, at) => sum + each * (costs[at] ?? 0), 0),
      stock + units,
    );
    // A cost of 0 replaces no known one, and its goods wait for a cost.
    if (cost === 0) return;
    this.cost = cost;
    this.pool += units;
    for (const at of [0, 1]) {
      if ((this.fresh[at] ?? 0) > 0) this.entered[at]?.push({ units: this.fresh[at] ?? 0, cost: costs[at] ?? 0 });
      this.fresh[at] = 0;
    }
  }
}

/** The order as the service has it, with what the shop's catalogue and its stock say. */
class Service {
  lines: LineItem[] = ["a", "b"].map((id) => line(id, { variantId: "v", ordered: 1_000, unitCost: 4 }));
  readonly receipts: GoodsMove[] = [];
  rows: CostRow[] = [];
  completedAtMs: number | null = null;
  cost: Money;
  onHand: number;
  #nowMs = 1;

  constructor(onHand: number, cost: Money) {
    this.onHand = onHand;
    this.cost = cost;
  }

  get #order() {
    return order("Received", this.lines, { completedAtMs: this.completedAtMs });
  }

  get #history(): CostHistory {
    return { rows: this.rows, receipts: this.receipts };
  }

  get #facts(): ReadonlyMap<string, CostFacts> {
    return new Map([["v", { unitCost: this.cost, onHand: asQuantity(this.onHand * 1_000) }]]);
  }

  #next(): number {
    this.#nowMs += 1;
    return this.#nowMs;
  }

  change(of: number, units: number, isSynced: boolean): void {
    const before = this.lines[of] ?? assert.fail();
    const quantityReceived = asQuantity(before.quantityReceived + units * 1_000);
    const quantitySynced =
      isSynced || before.quantitySynced > quantityReceived ? quantityReceived : before.quantitySynced;
    this.onHand += (quantitySynced - before.quantitySynced) / 1_000;
    this.lines = this.lines.with(of, { ...before, quantityReceived, quantitySynced });
    const { poLineItemId, variantId } = before;
    this.receipts.push({
      receiptId: `rc_${this.#next()}`,
      receivedAtMs: this.#nowMs,
      lines: [
        { poLineItemId, variantId, quantityDelta: asQuantity(units * 1_000), quantityReceivedAfter: quantityReceived },
      ],
    });
  }

  price(of: number, cents: number): void {
    const before = this.lines[of] ?? assert.fail();
    this.lines = this.lines.with(of, { ...before, unitCost: money(cents / 100) });
  }

  #store(proposal: CostProposal, outcome: CostRow["outcome"], isAccepted: boolean): void {
    const costSyncId = `cs_${this.#next()}`;
    const completion = this.completedAtMs ?? 0;
    const attempt = this.rows.length + 1;
    this.rows.push({ ...proposal, costSyncId, outcome, attempt, completion, proposedAtMs: this.#nowMs, isAccepted });
  }

  /** One attempt to tell what leaves. */
  takeBack(trouble: Trouble | null): void {
    const averages = shop({ costSyncMode: "moving-average" });
    for (const proposal of takenBackCosts(this.#order, averages, this.#history, this.#facts)) {
      const isTaken = proposal.kept === null && trouble === null;
      const unknown = trouble === "refused" ? "failed" : "proposed";
      this.#store(proposal, proposal.kept !== null ? "skipped" : isTaken ? "applied" : unknown, isTaken);
      if (isTaken || (proposal.kept === null && trouble === "lost after, pulled"))
        this.cost = proposal.proposedUnitCost;
    }
  }

  /** One attempt at a completion. */
  attempt(trouble: Trouble | null): void {
    const { proposals } = dueCosts(this.#order, shop({ costSyncMode: "moving-average" }), this.#history, this.#facts);
    const { writes, skipped } = costAttempt(proposals, [], new Map(), new Set());
    for (const { proposal } of skipped) this.#store(proposal, "skipped", false);
    for (const proposal of writes) {
      const isTaken = trouble === null || trouble === "kept";
      this.#store(proposal, trouble === "refused" ? "failed" : "proposed", isTaken);
      if (isTaken || trouble === "lost after, pulled") this.cost = proposal.proposedUnitCost;
    }
    if (trouble !== null) return;
    // What was never answered counts no more.
    this.rows = this.rows.map((row) =>
      row.outcome === "proposed" && !row.isAccepted && row.completion === (this.completedAtMs ?? 0)
        ? { ...row, lots: [] }
        : row,
    );
    this.completedAtMs = this.#next();
  }

  get received(): readonly number[] {
    return this.lines.map((each) => each.quantityReceived / 1_000);
  }
}

test("an order's units enter the average once and leave it at the cost at which they came in, whatever happens in between", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      fc.constantFrom(100, 200, 333),
      fc.array(step, { minLength: 1, maxLength: 25 }),
      (onHand, cents, steps) => {
        const ledger = new Ledger(onHand, cents * 100);
        const service = new Service(onHand, asMoney(cents * 100));
        for (const each of steps) {
          switch (each.do) {
            case "receive":
              ledger.fresh[each.line] = (ledger.fresh[each.line] ?? 0) + each.units;
              service.change(each.line, each.units, each.isSynced);
              break;
            case "take-back": {
              const units = Math.min(each.units, service.received[each.line] ?? 0);
              if (units === 0) break;
              ledger.takeBack(each.line, units);
              service.change(each.line, -units, false);
              for (const failed of each.troubles) service.takeBack(failed);
              service.takeBack(null);
              break;
            }
            case "sell":
            case "adjust": {
              const units = each.do === "sell" ? -each.units : each.units;
              ledger.pool += units;
              service.onHand += units;
              break;
            }
            case "price":
              service.price(each.line, each.cents);
              break;
            case "complete":
              for (const failed of each.troubles) service.attempt(failed);
              service.attempt(null);
              ledger.complete(service.lines.map((of) => of.unitCost));
              break;
          }
          assert.equal(service.cost / 10_000, ledger.cost / 10_000, JSON.stringify(each));
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
