/** A server with a small catalogue, also in the sandbox, and orders in the status that a test needs. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { importRecords } from "../../src/exchange/import.ts";
import { type Quantity, quantityToNumber } from "../../src/core/money/money.ts";
import type { Status } from "../../src/core/order/purchase-order.ts";
import { loadShop } from "../../src/shop/access/accounts.ts";
import { SandboxCalls } from "../../src/storefront/sandbox/calls.ts";
import type { SandboxFault, SandboxFaults } from "../../src/storefront/sandbox/faults.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import { startServer, type TestResponse, type TestServer, type TestServerOptions } from "./server.ts";
import { until } from "./until.ts";

export interface OrderLine {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityOrdered: number;
  readonly quantityConfirmed?: number;
  readonly quantityReceived?: number;
  readonly quantitySynced?: number;
  readonly unitCost?: number;
  readonly unitCostCurrencyCode?: string;
  readonly productName?: string;
  readonly expectedDeliveryDate?: string;
}

export interface GoodsServer extends TestServer {
  /** Imports an order with this status and these lines. */
  bringOrder(status: Status, lineItems: readonly OrderLine[], facts?: object): Promise<void>;
  bring(records: readonly object[]): Promise<void>;
  /** The path `/api/v1/purchase-orders/po_1`, with `below` appended. */
  order(below?: string): string;
  faults(faults: readonly Partial<SandboxFault>[], delays?: Partial<SandboxFaults>): Promise<void>;
  /** The sandbox's on-hand quantity of a variant at the warehouse. */
  onHand(variantId: string): Promise<number>;
  incoming(variantId: string): Promise<number>;
  /** Waits until the order has no push in flight, and reads it. */
  settled(): Promise<TestResponse>;
  /** Waits until the order's storefrontSyncState is this. */
  state(wanted: string): Promise<TestResponse>;
  calls(name: string): Promise<number>;
}

export const lineA: OrderLine = { poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4 };
export const lineB: OrderLine = { poLineItemId: "b", variantId: "blue", quantityOrdered: 5.5, unitCost: 2.5 };
export const customLine: OrderLine = {
  poLineItemId: "c",
  variantId: "CSTM-1",
  quantityOrdered: 3,
  unitCost: 1,
  productName: "Pallet",
};

const catalogue = [
  { type: "location", locationId: "warehouse", name: "Warehouse" },
  { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" },
  ...["red", "blue", "green"].map((variantId) => ({
    type: "variant",
    variantId,
    productId: `product of ${variantId}`,
    productName: `Shirt, ${variantId}`,
    unitCost: 1,
  })),
  { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 1, unitCostCurrencyCode: "EUR" },
  { type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 100 },
];

export async function startGoodsServer(options: TestServerOptions = {}): Promise<GoodsServer & AsyncDisposable> {
  const server = await startServer(options);
  const { engine, clock, ids, sandbox, shopId } = server;
  const bring: GoodsServer["bring"] = async (records) => {
    const shop = await engine.read(shopId, (tx) => loadShop(tx, shopId));
    assert.ok(shop !== null);
    const seedStorefront = async (
      _shopId: string,
      variants: Parameters<typeof sandbox.seedVariants>[0],
      levels: Parameters<typeof sandbox.seedLevels>[0],
    ): Promise<void> => {
      await sandbox.seedVariants(variants);
      await sandbox.seedLevels(levels);
    };
    const file = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    await importRecords(
      { engine, clock, ids, loop: new LoopShare(), seedStorefront },
      shop,
      (async function* () {
        yield Buffer.from(file);
      })(),
      "req_import",
    );
  };
  await bring(catalogue);
  const level = async (
    variantId: string,
  ): Promise<{ readonly onHand: Quantity; readonly incoming: Quantity } | null> => {
    const { variants } = await sandbox.state([variantId]);
    return variants[0]?.levels.find((each) => each.locationId === "warehouse") ?? null;
  };
  const order = (below = ""): string => `/api/v1/purchase-orders/po_1${below}`;
  const untilState = (reached: (state: string) => boolean): Promise<TestResponse> =>
    until("the order reaches the expected sync state", async () => {
      const read = await server.get(order());
      return reached(read.textAt("data", "purchaseOrder", "storefrontSyncState")) && read;
    });
  return {
    ...server,
    bring,
    order,
    bringOrder: (status, lineItems, facts = {}) =>
      bring([
        {
          type: "purchaseOrder",
          purchaseOrderId: "po_1",
          status,
          supplierId: "mill",
          locationId: "warehouse",
          lineItems,
          ...facts,
        },
      ]),
    faults: (faults, delays = {}) =>
      sandbox.replaceFaults({
        latencyMs: 0,
        applyDelayMs: 0,
        ...delays,
        faults: faults.map((fault) => ({ call: "*", outcome: "error", variantIds: null, times: null, ...fault })),
      }),
    onHand: async (variantId) => {
      const at = await level(variantId);
      return at === null ? 0 : quantityToNumber(at.onHand);
    },
    incoming: async (variantId) => {
      const at = await level(variantId);
      return at === null ? 0 : quantityToNumber(at.incoming);
    },
    settled: () => untilState((state) => state !== "in-flight"),
    state: (wanted) => untilState((state) => state === wanted),
    calls: async (name) => {
      const { calls } = await sandbox.state([]);
      return new Map(Object.entries(calls)).get(name) ?? 0;
    },
  };
}

/** Holds calls of the sandbox with these names until `goOn` is called. `begun`: there is one. */
export function holdCalls(
  t: TestContext,
  names: readonly string[],
): { readonly begun: Promise<void>; readonly goOn: () => void } {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // oxlint-disable-next-line typescript/unbound-method -- it is bound when it is called
  const { run } = SandboxCalls.prototype;
  t.mock.method(
    SandboxCalls.prototype,
    "run",
    async function (this: SandboxCalls, ...given: Parameters<SandboxCalls["run"]>) {
      if (names.includes(given[0].name)) {
        begun.resolve();
        await over.promise;
      }
      return await run.apply(this, given);
    },
  );
  return { begun: begun.promise, goOn: () => over.resolve() };
}
