import assert from "node:assert/strict";
import { test } from "node:test";
// It names the operations in texts.
import "../../../src/operations/registry.ts";
import type { Effect, EffectOutcome } from "../../../src/core/order/effect.ts";
import { worded } from "../../../src/requests/wording.ts";
import type { QueuedEffect } from "../../../src/shop/storefront/effects.ts";
import {
  renderSideEffects,
  type SideEffectOptions,
  type SupplierUpdate,
} from "../../../src/operations/purchase-orders/side-effects.ts";

const plain: SideEffectOptions = { order: { purchaseOrderId: "po_1", status: "Partially Received" } };
const pushing: SideEffectOptions = {
  ...plain,
  storefrontSync: { unpushed: { status: "disabled" }, lineItemCount: 3 },
};
const failed = (detail: string): EffectOutcome => ({ state: "failed", detail, itemCount: 1 });
const applied: EffectOutcome = { state: "applied", itemCount: 2 };

/** Effects of these kinds with these outcomes; undefined: not known yet. */
function rendered(
  asked: readonly (readonly [Effect["kind"], EffectOutcome | undefined])[],
  options: SideEffectOptions = plain,
) {
  const effects: readonly QueuedEffect[] = asked.map(([kind], index) => ({
    effectId: `e${index}`,
    kind,
    lane: kind,
  }));
  const outcomes = new Map<string, EffectOutcome>();
  for (const [index, [, outcome]] of asked.entries()) if (outcome !== undefined) outcomes.set(`e${index}`, outcome);
  const { sideEffects, recovery } = renderSideEffects(effects, outcomes, options);
  return recovery === undefined ? { sideEffects } : { sideEffects, recovery: worded(recovery, "rest") };
}

test("only slots that ran appear, and without a failure there is no recovery", () => {
  assert.deepEqual(rendered([]), { sideEffects: {} });
  assert.deepEqual(rendered([["settle-costs", failed("late")]]), { sideEffects: {} });
  assert.deepEqual(rendered([["mirror-incoming", applied]]), { sideEffects: { incoming: { outcome: "applied" } } });
});

test("an operation that may push reports what it did, even if it did not push", () => {
  for (const [outcome, slot] of [
    [undefined, { status: "queued", syncedLineItemCount: 3 }],
    [applied, { status: "queued", syncedLineItemCount: 2 }],
    [{ state: "skipped" }, { status: "skipped", syncedLineItemCount: 0 }],
    [failed("no"), { status: "failed", syncedLineItemCount: 1, detail: "no" }],
  ] as const)
    assert.deepEqual(rendered([["push-stock", outcome]], pushing).sideEffects.storefrontSync, slot);
  assert.deepEqual(rendered([], pushing).sideEffects.storefrontSync, { status: "disabled", syncedLineItemCount: 0 });
});

test("queued follow-on work is reported as applied where the local ledger has it", () => {
  assert.deepEqual(
    rendered([
      ["mirror-incoming", undefined],
      ["sync-tags", { state: "pending" }],
    ]),
    { sideEffects: { incoming: { outcome: "applied" }, tagSync: { outcome: "applied" } } },
  );
  assert.deepEqual(rendered([["sync-tags", { state: "skipped" }]]).sideEffects.tagSync, { outcome: "skipped" });
});

test("one failed effect makes its slot failed, and each detail appears once", () => {
  const { sideEffects, recovery } = rendered([
    ["mirror-incoming", applied],
    ["mirror-incoming", failed("Location gone.")],
    ["mirror-incoming", failed("Location gone.")],
    ["mirror-incoming", undefined],
  ]);
  assert.deepEqual(sideEffects, { incoming: { outcome: "failed", detail: "Location gone." } });
  assert.match(recovery ?? "", /POST .*po_1\/storefront-sync\/reset, then POST .*po_1\/storefront-sync\./);
});

test("recovery names every failed slot and what to do", () => {
  const { recovery } = rendered(
    [
      ["push-stock", failed("x")],
      ["sync-tags", failed("y")],
    ],
    { ...pushing, supplierUpdate: { outcome: "failed", lines: [] } },
  );
  assert.match(recovery ?? "", /stock was not pushed/);
  assert.match(recovery ?? "", /tags were not updated/);
  assert.match(recovery ?? "", /updateSupplier: true/);
  const update: SupplierUpdate = { outcome: "applied", lines: [] };
  assert.deepEqual(rendered([], { ...plain, supplierUpdate: update }), { sideEffects: { supplierUpdate: update } });
});

test("recovery never suggests a storefront-sync that would be refused", () => {
  for (const [status, synced] of [
    ["Sent", true],
    ["Received", true],
    ["Draft", false],
    ["Completed", false],
    ["Cancelled", false],
  ] as const) {
    const { recovery } = rendered([["mirror-incoming", failed("x")]], { order: { purchaseOrderId: "po_1", status } });
    assert.equal(/\/storefront-sync/.test(recovery ?? ""), synced, status);
    assert.match(recovery ?? "", /incoming quantities were not updated/);
  }
});
