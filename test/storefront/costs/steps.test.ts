/** The steps of the cost sync of a completion, with a storefront that answers as the test says (C45). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { Fault } from "../../../src/base/fault.ts";
import type { PurchaseOrder } from "../../../src/core/order/purchase-order.ts";
import type { Call } from "../../../src/requests/operation.ts";
import {
  costSyncSchema,
  refuseUnlessPriced,
  type WrittenCosts,
  writeCosts,
} from "../../../src/operations/purchase-orders/goods/cost-sync.ts";
import { OrderClaim } from "../../../src/operations/purchase-orders/goods/order-claim.ts";
import { type Shop } from "../../../src/shop/access/accounts.ts";
import { eventsAfter } from "../../../src/shop/events/events.ts";
import { importOrder, loadOrder } from "../../../src/shop/order/purchase-orders.ts";
import type { Tx } from "../../../src/store/store.ts";
import {
  type ItemResult,
  type Storefront,
  StorefrontError,
  type VariantState,
  type WriteContext,
} from "../../../src/storefront/storefront.ts";
import { noMailing } from "../../../src/requests/operation.ts";
import { importedOrder, line, money, order } from "../../support/goods.ts";
import { makePlace, openStore, type Store, type StorePlace } from "../../support/store.ts";
import { plainShop } from "../../support/shops/plain-shop.ts";

const nowMs = 5_000;
const applied: ItemResult = { outcome: "applied" };
const unchanged: ItemResult = { outcome: "unchanged" };
const rejected: ItemResult = { outcome: "rejected", reason: "gone", message: "it is gone" };
const unknown: ItemResult = { outcome: "unknown", message: "nobody knows" };

let place: StorePlace;
let store: Store;
let shops = 0;
before(async () => {
  place = await makePlace();
  store = await openStore(place.directory);
});
after(async () => {
  await store.close();
  await place.remove();
});

/** What the storefront is asked and answers. */
interface Script {
  states?: Readonly<Record<string, VariantState>>;
  checks?: () => void;
  /** Answers one result for each cost. */
  writes?: (
    costs: readonly { readonly variantId: string; readonly unitCost: number }[],
  ) => readonly ItemResult[] | Promise<readonly ItemResult[]>;
}

interface Setting {
  readonly shopId: string;
  readonly script: Script;
  readonly asked: {
    readonly checked: (readonly string[])[];
    readonly written: { readonly costs: readonly (readonly [string, number])[]; readonly context: WriteContext }[];
  };
  readonly purchaseOrderId: string;
  readonly call: Call;
  change(sql: string, ...params: readonly (string | number | null)[]): Promise<void>;
  rows<Row>(sql: string): Promise<readonly Row[]>;
  /** Writes the costs of the order. Whether the claim was taken is in `isClaimed` then. */
  write(skipped?: ReadonlySet<string>): Promise<WrittenCosts>;
  readonly claims: boolean[];
  outcomes(): Promise<
    readonly (readonly [variantId: string, outcome: string, attempt: number, reason: string | null])[]
  >;
}

const fiveLines = [
  line("a", { variantId: "red", received: 2, unitCost: 3 }),
  line("b", { variantId: "blue", received: 1, unitCost: 4 }),
  line("c", { variantId: "CSTM-1", received: 1, unitCost: 4 }),
  line("d", { variantId: "green", received: 0, unitCost: 4 }),
];

async function setting(
  lineItems: PurchaseOrder["lineItems"] = fiveLines,
  { shop: facts = {}, order: orderFacts = {} }: { shop?: Partial<Shop>; order?: Partial<PurchaseOrder> } = {},
): Promise<Setting> {
  shops += 1;
  const shopId = `shop-${shops}`;
  const { engine } = store;
  const placed = order("Received", lineItems, orderFacts);
  const { purchaseOrderId } = placed;
  await engine.create(shopId);
  await engine.write(shopId, async (tx) => {
    await importOrder(tx, shopId, importedOrder(placed), true);
    await tx.batch(
      [...new Set(lineItems.map((each) => each.variantId))].flatMap((variantId) => [
        {
          sql: "insert into variant (shop_id, variant_id, product_id, product_name, unit_cost, status) values (?, ?, 'p', 'P', ?, 'active')",
          params: [shopId, variantId, money(1)],
        },
        {
          sql: "insert into supplier_variant (shop_id, supplier_id, variant_id, unit_cost) values (?, 'supplier', ?, ?)",
          params: [shopId, variantId, money(1)],
        },
      ]),
    );
  });
  const script: Script = {};
  const asked: Setting["asked"] = { checked: [], written: [] };
  const storefront = {
    checkVariants: (variantIds: readonly string[]) => {
      asked.checked.push(variantIds);
      script.checks?.();
      return Promise.resolve(variantIds.map((variantId) => script.states?.[variantId] ?? "active"));
    },
    writeCosts: async (costs: Parameters<Storefront["writeCosts"]>[0], context: WriteContext) => {
      asked.written.push({ costs: costs.map(({ variantId, unitCost }) => [variantId, unitCost]), context });
      return [...(await (script.writes?.(costs) ?? costs.map(() => applied)))];
    },
  } as unknown as Storefront;
  const shop = plainShop(shopId, { currencyCode: "USD", ...facts });
  let made = 0;
  const unasked = (): never => assert.fail("a cost sync does not ask for it");
  const call: Call = {
    shop,
    actor: { type: "user", id: "u", name: "Somebody" },
    limitedKeyId: null,
    approvedBy: null,
    operation: "purchase_order_complete",
    requestId: "req_1",
    traceparent: "00-trace",
    baseUrl: null,
    consoleOrigin: null,
    clock: { now: () => nowMs },
    ids: {
      next: (prefix) => `${prefix}_${String((made += 1)).padStart(4, "0")}`,
      processName: "node_1",
      claimant: () => assert.fail("nothing is claimed"),
    },
    storefront,
    mailing: noMailing,
    ifMatch: null,
    ahead: null,
    read: (work) => engine.read(shopId, work),
    readQuery: unasked,
    leaveLoop: unasked,
    afterwards: unasked,
    change: (work) => engine.write(shopId, work),
    needDecision: unasked,
    rehearse: unasked,
    commit: unasked,
    settle: unasked,
  };
  const claims: boolean[] = [];
  const rows: Setting["rows"] = (sql) => engine.read(shopId, (tx) => tx.all(sql, [shopId]));
  return {
    shopId,
    script,
    asked,
    purchaseOrderId,
    call,
    claims,
    rows,
    change: (sql, ...params) => engine.write(shopId, (tx) => tx.batch([{ sql, params }])),
    async write(skipped) {
      const claim = new OrderClaim(call);
      const load = async (tx: Tx) => (await loadOrder(tx, shopId, purchaseOrderId)) ?? assert.fail("no order");
      try {
        return await writeCosts(call, claim, load, skipped);
      } finally {
        claims.push(claim.isTaken);
        claim.stopRenewing();
      }
    },
    async outcomes() {
      const found = await rows<{ variant_id: string; outcome: string; attempt: number; reason: string | null }>(
        "select variant_id, outcome, attempt, reason from cost_sync where shop_id = ? order by cost_sync_id",
      );
      return found.map((row) => [row.variant_id, row.outcome, row.attempt, row.reason]);
    },
  };
}

async function refusalOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => assert.fail("it was not refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, String(error));
  return error;
}

const costsOf = async (world: Setting): Promise<Readonly<Record<string, number | null>>> =>
  Object.fromEntries(
    (
      await world.rows<{ variant_id: string; unit_cost: number | null }>(
        "select variant_id, unit_cost from variant where shop_id = ?",
      )
    ).map((row) => [row.variant_id, row.unit_cost]),
  );

test("costs are stored as proposed, given to the supplier's catalogue, written once, and are the catalogue's with the completion", async () => {
  const world = await setting();
  let before: readonly unknown[] = [];
  world.script.writes = async (costs) => {
    before = await world.outcomes();
    return costs.map(({ variantId }) => (variantId === "red" ? applied : unchanged));
  };
  const written = await world.write();
  assert.deepEqual(before, [
    ["red", "proposed", 1, null],
    ["blue", "proposed", 1, null],
  ]);
  assert.deepEqual(world.asked.checked, [["red", "blue"]]);
  const [call] = world.asked.written;
  assert.equal(world.asked.written.length, 1);
  assert.deepEqual(call?.costs, [
    ["red", money(3)],
    ["blue", money(4)],
  ]);
  const { signal, ...context } = call?.context ?? assert.fail("nothing was written");
  assert.ok(signal instanceof AbortSignal);
  assert.deepEqual(context, {
    reference: "costs:po_1:0:1",
    documentUri: `openpo://shops/${world.shopId}/purchase-orders/po_1`,
    traceparent: "00-trace",
  });
  assert.deepEqual(written.costSync, {
    mode: "unit-cost",
    syncedVariantCount: 2,
    skippedCustomItemCount: 1,
    warnings: [],
  });
  assert.equal(written.settle, true);
  assert.deepEqual(world.claims, [true]);
  const claims = await world.rows<{ kind: string; purchase_order_id: string }>(
    "select kind, purchase_order_id from effect where shop_id = ?",
  );
  assert.deepEqual(
    claims.map((each) => [each.kind, each.purchase_order_id]),
    [["end-cost-sync", "po_1"]],
  );
  const terms = await world.rows<{ variant_id: string; unit_cost: number; unit_cost_currency_code: string | null }>(
    "select variant_id, unit_cost, unit_cost_currency_code from supplier_variant where shop_id = ? order by variant_id",
  );
  assert.deepEqual(
    terms.map((each) => [each.variant_id, each.unit_cost, each.unit_cost_currency_code]),
    [
      ["CSTM-1", money(1), null],
      ["blue", money(4), "USD"],
      ["green", money(1), null],
      ["red", money(3), "USD"],
    ],
  );
  const untouched = { "CSTM-1": money(1), blue: money(1), green: money(1), red: money(1) };
  assert.deepEqual(await costsOf(world), untouched, "before the completion");
  await store.engine.write(world.shopId, async (tx) => tx.batch(await written.statements(tx)));
  assert.deepEqual(await costsOf(world), { ...untouched, blue: money(4), red: money(3) });
  const rows = await world.rows<Readonly<Record<string, unknown>>>(
    "select po_line_item_id, previous_unit_cost, proposed_unit_cost, completion, proposed_at, resolved_at, accepted_at from cost_sync where shop_id = ? order by cost_sync_id",
  );
  const times = { completion: 0, proposed_at: nowMs, resolved_at: null, accepted_at: nowMs };
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { po_line_item_id: "a", previous_unit_cost: money(1), proposed_unit_cost: money(3), ...times },
      { po_line_item_id: "b", previous_unit_cost: money(1), proposed_unit_cost: money(4), ...times },
    ],
  );
  const [row] = await world.rows<{ cost_sync_id: string }>("select cost_sync_id from cost_sync where shop_id = ?");
  assert.match(row?.cost_sync_id ?? "", /^cs_/);
});

test("costs are current as long as the order has what they were taken from", async () => {
  const world = await setting();
  const written = await world.write();
  const same = order("Received", fiveLines, { poName: "renamed" });
  assert.equal(written.isCurrent(same), true);
  assert.equal(written.isCurrent(order("Received", fiveLines.slice(1))), false);
});

test("what the storefront took is kept, what it refused has failed, what has no outcome stays proposed; the next attempt writes the rest", async () => {
  const four = ["red", "blue", "green", "grey", "pink"].map((variantId, index) =>
    line(`l${index}`, { variantId, received: 1, unitCost: 3 }),
  );
  const world = await setting(four);
  world.script.writes = () => [applied, rejected, unknown, unchanged];
  const fault = await refusalOf(world.write());
  assert.equal(fault.code, "UPSTREAM_STOREFRONT");
  assert.equal(
    fault.message,
    "The storefront did not take 3 of 5 unit costs (blue: it is gone; green: nobody knows; pink: the storefront did not answer for this variant). Costs that it took are kept. The order was not completed.",
  );
  assert.equal(
    fault.action,
    "Repeat the call; what was written already is skipped. cost-sync-history says what became of each variant.",
  );
  assert.equal(fault.cause, undefined);
  assert.equal(fault.retryAfterMs, null);
  const first = [
    ["red", "applied", 1, null],
    ["blue", "failed", 1, "it is gone"],
    ["green", "proposed", 1, "nobody knows"],
    ["grey", "applied", 1, null],
    ["pink", "proposed", 1, "the storefront did not answer for this variant"],
  ];
  assert.deepEqual(await world.outcomes(), first);
  const settled = await world.rows<{ resolved_at: number | null; accepted_at: number | null }>(
    "select resolved_at, accepted_at from cost_sync where shop_id = ? order by cost_sync_id",
  );
  assert.deepEqual(
    settled.map((each) => [each.resolved_at, each.accepted_at]),
    [
      [nowMs, nowMs],
      [nowMs, null],
      [null, null],
      [nowMs, nowMs],
      [null, null],
    ],
  );
  assert.deepEqual(await costsOf(world), {
    red: money(3),
    blue: money(1),
    green: money(1),
    grey: money(3),
    pink: money(1),
  });
  const events = await store.engine.read(world.shopId, (tx) => eventsAfter(tx, world.shopId, 0, null, 9));
  assert.deepEqual(
    events.map(({ text }) => {
      const { type, requestId, data } = JSON.parse(text) as {
        type: string;
        requestId: string;
        data: { lines: { variantId: string }[] };
      };
      return [type, requestId, data.lines.map(({ variantId }) => variantId)];
    }),
    [["cost_sync.failed", "req_1", ["blue", "green", "pink"]]],
  );

  world.script.writes = (costs) => costs.map(() => applied);
  const written = await world.write();
  assert.deepEqual(world.asked.checked[1], ["blue", "green", "pink"]);
  assert.deepEqual(
    world.asked.written[1]?.costs.map(([variantId]) => variantId),
    ["blue", "green", "pink"],
  );
  assert.equal(world.asked.written[1]?.context.reference, "costs:po_1:0:2");
  assert.equal(written.costSync.syncedVariantCount, 5);
  assert.deepEqual((await world.outcomes()).slice(0, 5), first);
  assert.deepEqual(
    (await world.outcomes()).slice(5).map(([variantId, outcome, attempt]) => [variantId, outcome, attempt]),
    ["blue", "green", "pink"].map((variantId) => [variantId, "proposed", 2]),
  );
});

for (const [count, more] of [
  [5, ""],
  [6, "; and 1 more"],
  [8, "; and 3 more"],
] as const)
  test(`a refusal of ${count} costs names five`, async () => {
    const world = await setting(
      Array.from({ length: count }, (_, index) => line(`l${index}`, { variantId: `v${index}`, received: 1 })),
    );
    world.script.writes = (costs) => costs.map(() => rejected);
    const { message } = await refusalOf(world.write());
    const named = [0, 1, 2, 3, 4].map((index) => `v${index}: it is gone`).join("; ");
    assert.ok(
      message.startsWith(`The storefront did not take ${count} of ${count} unit costs (${named}${more}).`),
      message,
    );
  });

for (const [landed, outcome] of [
  ["maybe", "proposed"],
  ["no", "failed"],
] as const)
  test(`a call that fails as a whole, and has ${landed === "no" ? "not landed" : "landed maybe"}, leaves its costs ${outcome}`, async () => {
    const world = await setting();
    const error = new StorefrontError("throttled", "too many calls", { landed, retryAfterMs: 7_000 });
    world.script.writes = () => Promise.reject(error);
    const fault = await refusalOf(world.write());
    assert.equal(fault.retryAfterMs, 7_000);
    assert.equal(fault.cause, error);
    assert.match(fault.message, /^The storefront did not take 2 of 2 unit costs \(red: too many calls; blue: too/);
    assert.deepEqual(await world.outcomes(), [
      ["red", outcome, 1, "too many calls"],
      ["blue", outcome, 1, "too many calls"],
    ]);
  });

test("what is no error of the storefront is not told as one, and nothing is settled", async () => {
  const world = await setting();
  const bug = new TypeError("a bug");
  world.script.writes = () => Promise.reject(bug);
  await assert.rejects(world.write(), bug);
  assert.deepEqual(
    (await world.outcomes()).map(([, outcome]) => outcome),
    ["proposed", "proposed"],
  );
  const looking = await setting();
  looking.script.checks = () => {
    throw bug;
  };
  await assert.rejects(looking.write(), bug);
});

test("variants that cannot be looked up stop the completion before anything is stored", async () => {
  const world = await setting();
  const error = new StorefrontError("error", "it is down", { landed: "no" });
  world.script.checks = () => {
    throw error;
  };
  const fault = await refusalOf(world.write());
  assert.equal(fault.code, "UPSTREAM_STOREFRONT");
  assert.equal(fault.message, "The storefront could not look variants up: it is down. The order was not completed.");
  assert.equal(fault.cause, error);
  assert.equal(fault.retryAfterMs, null);
  assert.deepEqual(await world.outcomes(), []);
  assert.deepEqual(world.claims, [false]);
});

test("variants that are gone are skipped once, each with a warning; what the caller skips is not looked up", async () => {
  const world = await setting();
  world.script.states = { red: "deleted" };
  world.script.writes = () => [rejected];
  await refusalOf(world.write());
  assert.deepEqual(await world.outcomes(), [
    ["red", "skipped", 1, "variant red is deleted on the storefront"],
    ["blue", "failed", 1, "it is gone"],
  ]);
  const [first] = await world.rows<{ proposed_at: number; resolved_at: number | null }>(
    "select proposed_at, resolved_at from cost_sync where shop_id = ? order by cost_sync_id",
  );
  assert.deepEqual({ ...first }, { proposed_at: nowMs, resolved_at: nowMs });
  world.asked.checked.length = 0;
  world.asked.written.length = 0;
  const written = await world.write(new Set(["blue"]));
  assert.deepEqual(world.asked, { checked: [["red"]], written: [] });
  assert.deepEqual((await world.outcomes()).slice(2), [
    ["blue", "skipped", 2, "variant blue was skipped by the caller"],
  ]);
  assert.deepEqual(written.costSync, {
    mode: "unit-cost",
    syncedVariantCount: 0,
    skippedCustomItemCount: 1,
    warnings: [
      "variant red is deleted on the storefront; its unit cost was not written",
      "variant blue was skipped by the caller; its unit cost was not written",
    ],
  });
  assert.equal(written.settle, false);
  assert.deepEqual(await store.engine.write(world.shopId, (tx) => written.statements(tx)), []);
  assert.deepEqual(world.claims, [true, false]);
});

test("when there is nothing to write the storefront is asked nothing, and no claim is taken", async () => {
  const world = await setting(fiveLines, { shop: { costSyncMode: "disabled" } });
  const written = await world.write();
  assert.deepEqual(world.asked, { checked: [], written: [] });
  assert.deepEqual(written.costSync, {
    mode: "disabled",
    syncedVariantCount: 0,
    skippedCustomItemCount: 0,
    warnings: [],
  });
  assert.deepEqual(world.claims, [false]);
  assert.deepEqual(await world.outcomes(), []);
});

test("an order without a supplier leaves suppliers' catalogues alone", async () => {
  const world = await setting(fiveLines, { order: { supplierId: null } });
  await world.write();
  const terms = await world.rows<{ unit_cost: number }>("select unit_cost from supplier_variant where shop_id = ?");
  assert.ok(terms.every((each) => each.unit_cost === money(1)));
});

test("an order that is completed again begins with its first attempt, under a reference of its own", async () => {
  const world = await setting();
  await world.write();
  await world.change(
    "update purchase_order set completed_at = ? where shop_id = ? and purchase_order_id = ?",
    4_000,
    world.shopId,
    "po_1",
  );
  const written = await world.write();
  assert.equal(world.asked.written[1]?.context.reference, "costs:po_1:4000:1");
  assert.equal(written.costSync.syncedVariantCount, 2);
});

test("a currency that cannot be converted is refused before the storefront is asked", async () => {
  const world = await setting([line("a", { variantId: "red", received: 1, currency: "EUR" })]);
  const load = async (tx: Tx) => (await loadOrder(tx, world.shopId, "po_1")) ?? assert.fail("no order");
  const fault = await refusalOf(
    store.engine.read(world.shopId, async (tx) => refuseUnlessPriced(tx, world.call, await load(tx))),
  );
  assert.equal(fault.code, "INVALID_INPUT");
  assert.equal((await refusalOf(world.write())).code, "INVALID_INPUT");
  assert.deepEqual(world.asked, { checked: [], written: [] });
  assert.deepEqual(await world.outcomes(), []);
});

test("the answer says what became of the costs, and its members say what they are", () => {
  const { properties, description } = z.toJSONSchema(costSyncSchema);
  assert.ok((description ?? "").length > 20);
  assert.deepEqual(Object.keys(properties ?? {}), ["mode", "syncedVariantCount", "skippedCustomItemCount", "warnings"]);
  for (const [name, member] of Object.entries(properties ?? {}))
    assert.ok(typeof member === "object" && (member.description ?? "").length > 10, name);
  for (const mode of ["unit-cost", "moving-average", "disabled"])
    assert.ok(
      costSyncSchema.safeParse({ mode, syncedVariantCount: 1, skippedCustomItemCount: 0, warnings: [] }).success,
      mode,
    );
  assert.equal(
    costSyncSchema.safeParse({ mode: "", syncedVariantCount: 1, skippedCustomItemCount: 0, warnings: [] }).success,
    false,
  );
});
