import assert from "node:assert/strict";
import { test } from "node:test";
import type { EffectOutcome } from "../../src/core/order/effect.ts";
import {
  confirmationStatus,
  lineConfirmation,
  type LineProgress,
  waitBegun,
  waitEnded,
} from "../../src/core/storefront/sync.ts";
import { failureReasons } from "../../src/operations/purchase-orders/goods/stock-sync.ts";
import { line, order, quantity } from "../support/goods.ts";

const nothingYet: LineProgress = { hasLanded: false, isReadBack: false, refusal: null, push: { state: "pending" } };
const failed: EffectOutcome = { state: "failed", detail: "given up", itemCount: 0 };
const applied: EffectOutcome = { state: "applied", itemCount: 1 };

test("a line is verified only once it is read back, pending until the push has an outcome, else failed with the reason", () => {
  const cases: readonly (readonly [Partial<LineProgress>, string, RegExp | null])[] = [
    [{}, "pending", /not taken the change yet/],
    [{ hasLanded: true }, "pending", /cannot be read there yet/],
    [{ hasLanded: true, push: failed }, "pending", /cannot be read there yet/],
    [{ hasLanded: true, isReadBack: true }, "verified", null],
    [{ push: failed }, "failed", /^given up$/],
    [{ push: failed, refusal: "no such item" }, "failed", /^no such item$/],
    [{ push: applied }, "failed", /did not take the change/],
    [{ push: applied, refusal: "no such item" }, "failed", /^no such item$/],
    [{ push: { state: "skipped" } }, "failed", /did not take the change/],
  ];
  for (const [known, status, reason] of cases) {
    const told = lineConfirmation({ ...nothingYet, ...known });
    assert.equal(told.status, status, JSON.stringify(known));
    if (reason === null) assert.equal(told.reason, null);
    else assert.match(told.reason ?? "", reason);
  }
});

test("a push is timed-out while a line is pending, else verified, failed or partial by its lines", () => {
  const status = (...statuses: readonly ("verified" | "failed" | "pending")[]) =>
    confirmationStatus(statuses.map((each) => ({ status: each })));
  assert.equal(status(), "verified");
  assert.equal(status("verified", "verified"), "verified");
  assert.equal(status("verified", "failed"), "partial");
  assert.equal(status("failed", "failed"), "failed");
  assert.equal(status("verified", "failed", "pending"), "timed-out");
});

test("reasons of several lines are told apart, each once", () => {
  const told = (...reasons: readonly string[]): string => failureReasons(reasons.map((reason) => ({ reason })));
  assert.equal(told("No such item.", "No such item."), "No such item.");
  assert.equal(told("No such item.", "No such place."), "No such item; No such place");
});

test("an order is in flight while a call waits, and then as its lines and its pushes are (C43)", () => {
  const received = order("Received", [line("a", { received: 4 })], { storefrontSyncState: "failed" });
  const waiting = waitBegun(received, 5_000).next;
  assert.deepEqual([waiting.storefrontSyncState, waiting.version, waiting.updatedAtMs], ["in-flight", 2, 5_000]);
  assert.equal(waitBegun(waiting, 6_000).next, waiting, "it is in flight already");
  const ended = (attempts: Parameters<typeof waitEnded>[1]) => waitEnded(waiting, attempts, 6_000).next;
  assert.equal(ended({ inFlight: true, failed: false }), waiting, "a push still has no known outcome");
  assert.equal(ended({ inFlight: false, failed: true }).storefrontSyncState, "failed");
  assert.equal(ended({ inFlight: false, failed: false }).storefrontSyncState, "never-synced");
  const landed = { ...waiting, lineItems: [{ ...line("a", { received: 4 }), quantitySynced: quantity(4) }] };
  assert.equal(waitEnded(landed, { inFlight: false, failed: false }, 6_000).next.version, 3);
});
