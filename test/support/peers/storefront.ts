/** A shop with its sandbox and its outbox in a real store, for tests of follow-on work. */
import assert from "node:assert/strict";
import { DueSearch } from "../../../src/jobs/due-search.ts";
import { decideReceive, decideUnreceive } from "../../../src/core/goods/receive.ts";
import { type Quantity, quantityToNumber } from "../../../src/core/money/money.ts";
import type { Decision, LineItem, PurchaseOrder } from "../../../src/core/order/purchase-order.ts";
import { saveShop, type Shop } from "../../../src/shop/access/accounts.ts";
import type { OutboxLimits } from "../../../src/jobs/outbox/limits.ts";
import { createOutbox, type Outbox } from "../../../src/jobs/outbox/runner.ts";
import { incomingDeltas } from "../../../src/core/goods/incoming.ts";
import { importOrder, importedSums, loadOrder, saveDecision } from "../../../src/shop/order/purchase-orders.ts";
import type { Engine, Tx } from "../../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import type { SandboxControl } from "../../../src/storefront/sandbox/control.ts";
import { openSandbox } from "../../../src/storefront/sandbox/sandbox.ts";
import { type SandboxFault } from "../../../src/storefront/sandbox/faults.ts";
import type { StorefrontConnections } from "../../../src/storefront/connections.ts";
import type { AllowedHosts } from "../../../src/storefront/hosts.ts";
import type { Storefront } from "../../../src/storefront/storefront.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { createStorefronts } from "../../../src/service/storefronts.ts";
import { context, importedOrder, order, shop as shopFacts } from "../goods.ts";
import { inPlace, openStore } from "../store.ts";
import { until } from "../until.ts";
import { plainShop } from "../shops/plain-shop.ts";

export const shopId = "demo";
export const locationId = "warehouse";

export interface World {
  readonly engine: Engine;
  readonly sandbox: Storefront & SandboxControl;
  readonly outbox: Outbox;
  readonly storefronts: StorefrontConnections;
  /** The runner's warnings. */
  readonly complaints: readonly string[];
  /** Saves an order In Progress with these lines, and its variants in catalogue and sandbox. */
  place(purchaseOrderId: string, lineItems: readonly LineItem[], facts?: Partial<PurchaseOrder>): Promise<void>;
  /** Receives totals by line. Returns the ids of the effects. */
  receive(purchaseOrderId: string, totals: Readonly<Record<string, Quantity>>): Promise<readonly string[]>;
  unreceive(purchaseOrderId: string, deltas: Readonly<Record<string, Quantity>>): Promise<readonly string[]>;
  /** Commits the decision of `decide` about the order. */
  decide(
    purchaseOrderId: string,
    decide: (order: PurchaseOrder, tx: Tx) => Promise<Decision>,
  ): Promise<readonly string[]>;
  load(purchaseOrderId: string): Promise<PurchaseOrder>;
  onHand(variantId: string): Promise<number>;
  strike(faults: readonly SandboxFault[], delays?: { latencyMs?: number; applyDelayMs?: number }): Promise<void>;
  /** Waits until the shop has no pending effects. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

interface WorldOptions {
  readonly limits?: Partial<OutboxLimits>;
  readonly settings?: Partial<Shop>;
  /** Wraps the sandbox that the outbox calls. */
  readonly between?: (storefront: Storefront) => Storefront;
  /** With which secrets of storefronts are sealed, and where storefronts may be beside Shopify's own hosts. */
  readonly secretKey?: Uint8Array;
  readonly allowed?: AllowedHosts;
  /** Wraps the engine that the outbox uses. */
  readonly engineOf?: (engine: Engine) => Engine;
}

/** A short lease: with several nodes, effects of a dead one are free when its lease ends, and tests should not wait long. */
const shortLease: Partial<OutboxLimits> = { leaseMs: 2_000, callTimeLimitMs: 1_000 };

/** Opens or reopens the shop in a directory. */
export async function openWorld(directory: string, options: WorldOptions = {}): Promise<World> {
  const ids = timeOrderedIds(systemClock);
  const store = await openStore(directory);
  const { engine, sandboxEngine } = store;
  if (!(await engine.exists(shopId))) {
    await engine.create(shopId);
    await engine.write(shopId, (tx) =>
      saveShop(tx, plainShop(shopId, { name: "Demo", currencyCode: "USD", ...options.settings })),
    );
  }
  const sandbox = openSandbox({ engine: sandboxEngine, clock: systemClock, shopId, timeoutMs: 50 });
  const complaints: string[] = [];
  const complain = (_: object, message: string): void => void complaints.push(message);
  const storefronts = createStorefronts({
    engine,
    clock: systemClock,
    ids,
    log: { info: () => {}, warn: complain, error: complain },
    secrets: new SecretBox(options.secretKey ?? null),
    allowed: options.allowed ?? new Map(),
    sandboxOf: () => options.between?.(sandbox) ?? sandbox,
  });
  const outboxEngine = options.engineOf?.(engine) ?? engine;
  const log = { info: () => {}, warn: complain, error: complain };
  const searching = { engine: outboxEngine, clock: systemClock, log, random: () => 0.5, everyMs: 100 };
  const outbox = createOutbox({
    engine: outboxEngine,
    storefrontOf: async (shop) => storefronts.open(shop),
    clock: systemClock,
    ids,
    log,
    search: store.alone ? null : new DueSearch(searching),
    random: () => 0.5,
    limits: { backoffMs: 5, backoffMsMax: 40, closeWaitMs: 200, ...(store.alone ? {} : shortLease), ...options.limits },
  });
  const facts = shopFacts({ ...options.settings });

  const decide: World["decide"] = (purchaseOrderId, rule) =>
    engine.write(shopId, async (tx) => {
      const before = (await loadOrder(tx, shopId, purchaseOrderId)) ?? assert.fail("no such order");
      const decision = await rule(before, tx);
      const effects = await saveDecision(tx, shopId, before, decision, {
        actor: { type: "system", id: null, name: null },
        operation: "test",
        requestId: "req_test",
        nowMs: systemClock.now(),
        ids,
      });
      return effects.map((effect) => effect.effectId);
    });
  const goodsContext = () => context({ shop: facts, nowMs: systemClock.now() });

  return {
    engine,
    sandbox,
    outbox,
    storefronts,
    complaints,
    async place(purchaseOrderId, lineItems, headerFacts = {}) {
      const number = { purchaseOrderId, poNumber: `PO-${purchaseOrderId}`, locationId };
      await engine.write(shopId, async (tx) => {
        const placed = order("In Progress", lineItems, { ...number, ...headerFacts });
        const imported = importedOrder(placed);
        const before = await importOrder(tx, shopId, imported, false);
        await tx.batch(importedSums(shopId, [{ before, next: placed }], incomingDeltas(before, placed)));
        await tx.batch(
          lineItems.map((line) => ({
            sql: `insert into variant (shop_id, variant_id, product_id, product_name, status) values (?, ?, ?, ?, 'active')
                  on conflict (shop_id, variant_id) do nothing`,
            params: [shopId, line.variantId, `product of ${line.variantId}`, "A product"],
          })),
        );
      });
      await sandbox.seedVariants(
        lineItems.map(({ variantId }) => ({
          variantId,
          productId: `product of ${variantId}`,
          status: "active",
          unitCost: null,
        })),
      );
    },
    receive: (purchaseOrderId, totals) =>
      decide(purchaseOrderId, async (before) =>
        decideReceive(
          before,
          {
            lines: Object.entries(totals).map(([lineItemId, quantityReceived]) => ({ lineItemId, quantityReceived })),
            allowOverReceipt: true,
          },
          goodsContext(),
        ),
      ),
    unreceive: (purchaseOrderId, deltas) =>
      decide(purchaseOrderId, async (before) =>
        decideUnreceive(
          before,
          { lines: Object.entries(deltas).map(([lineItemId, quantity]) => ({ lineItemId, quantity })), reason: null },
          goodsContext(),
        ),
      ),
    decide,
    load: (purchaseOrderId) =>
      engine.read(shopId, async (tx) => (await loadOrder(tx, shopId, purchaseOrderId)) ?? assert.fail("no such order")),
    async onHand(variantId) {
      const { variants } = await sandbox.state([variantId]);
      const level = variants[0]?.levels.find((each) => each.locationId === locationId);
      return level === undefined ? 0 : quantityToNumber(level.onHand);
    },
    strike: (faults, delays = {}) => sandbox.replaceFaults({ latencyMs: 0, applyDelayMs: 0, ...delays, faults }),
    async quiet() {
      await until("the outbox has no pending effects", async () => {
        const rows = await engine.peek(shopId, (tx) =>
          tx.all<{ effect_id: string }>("select effect_id from effect where shop_id = ? and state = 'pending'", [
            shopId,
          ]),
        );
        return rows.length === 0;
      });
    },
    async close() {
      await outbox.close();
      await store.close();
    },
  };
}

/** Runs `use` with a new place, and removes it afterwards. */
export const inDirectory = inPlace;

export const withWorld = (use: (world: World) => Promise<void>, options: WorldOptions = {}): Promise<void> =>
  inDirectory(async (directory) => {
    const world = await openWorld(directory, options);
    try {
      await use(world);
    } finally {
      await world.close();
    }
  });
