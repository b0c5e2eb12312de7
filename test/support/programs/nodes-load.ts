/**
 * Mixed load on one or several addresses of the service, with a model of every answer, and the proof afterwards: each acknowledged change is
 * kept, each key has one effect, and the stock is right (S1–S4, H2, O1, O6, C17–C20, C34, C38–C41).
 *
 * Each client keeps a model of the answers it got. It has its own orders, of which it knows every figure. All clients of a shop also change
 * shared orders: they add lines, un-receive goods, and raise a counter by compare-and-swap.
 */
import assert from "node:assert/strict";
import { z } from "zod";
import { operations } from "../../../src/operations/registry.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { type Asked, type Client, createClient, type Definite, makeShop, operate, seeded } from "../clients.ts";
import { contractOf } from "../openapi/contract.ts";
import { rowsOf } from "./nodes.ts";
import { pause } from "../until.ts";

/** An address of the service: a node, or a load balancer. */
interface Address {
  readonly url: string;
}

const patienceMs = 120_000;
const drainMsMax = 120_000;
/** A client that sends a write twice begins at one of so many addresses. */
const addressesMax = 3;

/** Half of all clients work on the first shop. */
export const shopIds = ["hot", "mild", "cool", "cold"] as const;
const variantIds = ["v0", "v1", "v2", "v3", "v4", "v5"] as const;
const onHandAtStart = 1_000;
const takenBackFrom = 100_000;
// Schemas of the answers.

const lineSchema = z.object({
  poLineItemId: z.string(),
  variantId: z.string(),
  quantityOrdered: z.number(),
  quantityConfirmed: z.number(),
  quantityReceived: z.number(),
  quantityPending: z.number(),
  quantitySynced: z.number(),
  note: z.string().nullable(),
});
const orderSchema = z.object({
  purchaseOrderId: z.string(),
  poNumber: z.string(),
  status: z.string(),
  version: z.number(),
  note: z.string().nullable(),
  storefrontSyncState: z.string(),
  lineItems: z.array(lineSchema),
});
type Order = z.output<typeof orderSchema>;
const orderAnswer = z.object({ data: z.object({ purchaseOrder: orderSchema }) });
const syncAnswer = z.object({ data: z.object({ confirmation: z.object({ status: z.string() }) }) });
const listAnswer = z.object({
  data: z.object({
    purchaseOrders: z.array(z.object({ purchaseOrderId: z.string(), poNumber: z.string() })),
    totalCount: z.number(),
    cursor: z.string().nullable(),
  }),
});
const logAnswer = z.object({
  data: z.object({ log: z.array(z.object({ logId: z.string(), requestId: z.string().nullable() })) }),
});
const scheduleAnswer = z.object({
  data: z.object({
    receipts: z.array(
      z.object({
        requestId: z.string().nullable(),
        source: z.string(),
        lines: z.array(z.object({ poLineItemId: z.string(), quantityDelta: z.number() })),
      }),
    ),
  }),
});
const auditAnswer = z.object({
  data: z.object({
    auditLog: z.array(z.object({ requestId: z.string(), status: z.number(), replayed: z.boolean() })),
    cursor: z.string().nullable(),
  }),
});
const sandboxAnswer = z.object({
  data: z.object({
    variants: z.array(
      z.object({ variantId: z.string(), levels: z.array(z.object({ onHand: z.number(), incoming: z.number() })) }),
    ),
  }),
});

const orderOf = (answer: Definite): Order => orderAnswer.parse(JSON.parse(answer.text)).data.purchaseOrder;
const orders = "/api/v1/purchase-orders";

// The model.

/** An order that only one client changes, as in its latest answer. */
interface OwnOrder {
  order: Order;
}

export interface Shop {
  readonly shopId: string;
  readonly token: string;
  readonly client: Client;
  /** All order numbers seen in answers, including those of deleted orders. */
  readonly numbers: Set<string>;
  readonly own: Map<string, OwnOrder>;
  readonly deleted: Set<string>;
  /** The orders that all clients change. */
  readonly shared: { readonly lines: string; readonly counter: string; readonly goods: Order };
  linesAdded: Set<string>;
  counted: number;
  takenBack: number;
}

/** One client of one shop, with a model of its orders. */
class SimulatedClient {
  readonly #shop: Shop;
  readonly #random: () => number;
  readonly #name: string;
  #keys = 0;
  readonly #mine: OwnOrder[] = [];

  constructor(shop: Shop, name: string, random: () => number) {
    this.#shop = shop;
    this.#name = name;
    this.#random = random;
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.#random() * values.length)];
    assert.ok(value !== undefined);
    return value;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #upTo(max: number): number {
    return 1 + Math.floor(this.#random() * max);
  }

  /** Sends a write with a new key: sometimes to two nodes at once, sometimes with a short timeout. */
  async #write(method: string, target: string, body?: unknown, ifMatch?: string): Promise<Definite> {
    const idempotencyKey = `${this.#name}-${(this.#keys += 1)}`;
    const asked: Asked = {
      method,
      target,
      token: this.#shop.token,
      idempotencyKey,
      ...(body === undefined ? {} : { body }),
      ...(ifMatch === undefined ? {} : { ifMatch }),
      ...(this.#chance(0.1) ? { waitMsMax: 20 + this.#random() * 300 } : {}),
    };
    const { client } = this.#shop;
    if (!this.#chance(0.15)) return client.insist(asked);
    const first = Math.floor(this.#random() * addressesMax);
    const [one] = await Promise.all([client.insist(asked, first), client.insist(asked, first + 1)]);
    return one;
  }

  async #read(target: string): Promise<Definite> {
    const answer = await this.#shop.client.insist({ method: "GET", target, token: this.#shop.token });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  }

  async step(): Promise<void> {
    const roll = this.#random();
    if (this.#mine.length < 2 || roll < 0.12) return this.#create();
    if (roll < 0.2) return this.#changeShared();
    if (roll < 0.3) return this.#readBack();
    if (roll < 0.34) return this.#replay();
    return this.#advance(this.#pick(this.#mine));
  }

  async #create(): Promise<void> {
    const lineItems = Array.from({ length: this.#upTo(4) }, () => ({
      variantId: this.#pick(variantIds),
      quantityOrdered: this.#upTo(40),
      unitCost: this.#upTo(1_000) / 100,
    }));
    const answer = await this.#write("POST", orders, { supplierId: "mill", locationId: "loc", lineItems });
    assert.equal(answer.status, 201, answer.text);
    const order = orderOf(answer);
    assert.equal(order.version, 1);
    assert.ok(!this.#shop.numbers.has(order.poNumber), `${order.poNumber} was assigned twice`);
    this.#shop.numbers.add(order.poNumber);
    const own = { order };
    this.#shop.own.set(order.purchaseOrderId, own);
    this.#mine.push(own);
  }

  /** Reads an own order from any node and checks that every acknowledged change is in it. */
  async #readBack(): Promise<void> {
    const { order } = this.#pick(this.#mine);
    const known = figuresOf(order);
    const read = orderOf(await this.#read(`${orders}/${order.purchaseOrderId}`));
    assert.deepEqual(figuresOf(read), known, `order ${order.purchaseOrderId} is not as it was acknowledged`);
    assert.ok(read.version >= order.version, `order ${order.purchaseOrderId} went down to version ${read.version}`);
    if (this.#chance(0.3)) await this.#read(`${orders}?limit=20&variantId=${this.#pick(variantIds)}`);
  }

  /** Repeats an answered request of the shop; `insist` checks that the answer is the same. */
  async #replay(): Promise<void> {
    const { client } = this.#shop;
    const told = [...client.told.values()];
    if (told.length === 0) return;
    const { replayed } = await client.insist(this.#pick(told).asked);
    assert.ok(replayed);
  }

  /** Changes an order that other clients change too. */
  async #changeShared(): Promise<void> {
    const { shared } = this.#shop;
    const what = this.#random();
    if (what < 0.4) {
      const lineItems = [{ variantId: this.#pick(variantIds), quantityOrdered: 1 }];
      const answer = await this.#write("POST", `${orders}/${shared.lines}/line-items`, { lineItems });
      assert.equal(answer.status, 201, answer.text);
      const added = z.object({ data: z.object({ lineItems: z.array(lineSchema) }) }).parse(JSON.parse(answer.text))
        .data.lineItems;
      assert.equal(added.length, 1);
      for (const { poLineItemId } of added) {
        assert.ok(!this.#shop.linesAdded.has(poLineItemId));
        this.#shop.linesAdded.add(poLineItemId);
      }
    } else if (what < 0.8) {
      const before = orderOf(await this.#read(`${orders}/${shared.counter}`));
      const note = String(Number(before.note ?? 0) + 1);
      const answer = await this.#write("PATCH", `${orders}/${shared.counter}`, { note }, `"${before.version}"`);
      if (answer.status !== 412) {
        assert.equal(answer.status, 200, answer.text);
        assert.equal(orderOf(answer).version, before.version + 1);
        this.#shop.counted += 1;
      }
    } else {
      const { poLineItemId } = this.#pick(shared.goods.lineItems);
      const quantity = this.#upTo(3);
      const lines = [{ lineItemId: poLineItemId, quantity }];
      const answer = await this.#write("POST", `${orders}/${shared.goods.purchaseOrderId}/unreceive`, { lines });
      assert.equal(answer.status, 200, answer.text);
      this.#shop.takenBack += quantity;
    }
  }

  /** Takes an own order to its next step. */
  async #advance(own: OwnOrder): Promise<void> {
    const { order } = own;
    const at = `${orders}/${order.purchaseOrderId}`;
    switch (order.status) {
      case "Draft":
        return this.#draft(own, at);
      case "Sent":
        if (this.#chance(0.7)) return this.#act(own, `${at}/confirm`, { confirmAll: true }, confirmed);
        return this.#act(own, `${at}/confirm`, { lines: order.lineItems.map(confirmation) }, confirmed);
      case "Confirmed":
        return this.#act(own, `${at}/status`, { status: "In Progress" }, (lines) => lines);
      case "In Progress":
        if (this.#chance(0.15)) return this.#finish(own, `${at}/quick-complete`);
        return this.#receive(own, at);
      case "Partially Received":
        if (this.#chance(0.1)) return this.#finish(own, `${at}/complete`);
        if (this.#chance(0.2)) return this.#sync(at);
        if (this.#chance(0.15)) return this.#takeBack(own, at);
        return this.#receive(own, at);
      case "Received":
        if (this.#chance(0.2)) return this.#takeBack(own, at);
        if (this.#chance(0.2)) return this.#sync(at);
        return this.#finish(own, `${at}/complete`);
      default:
        return assert.fail(`order ${order.purchaseOrderId} is ${order.status}`);
    }
  }

  async #draft(own: OwnOrder, at: string): Promise<void> {
    const { order } = own;
    const what = this.#random();
    if (what < 0.2) {
      const note = `${this.#name} ${this.#keys}`;
      await this.#keep(own, await this.#write("PATCH", at, { note }), { ...order, note });
    } else if (what < 0.35) {
      const lineItems = [{ variantId: this.#pick(variantIds), quantityOrdered: this.#upTo(9) }];
      const answer = await this.#write("POST", `${at}/line-items`, { lineItems });
      assert.equal(answer.status, 201, answer.text);
      const { lineItems: now } = orderOf(answer);
      assert.deepEqual(figuresOf({ ...order, lineItems: now.slice(0, -1) }), figuresOf(order));
      assert.equal(now.length, order.lineItems.length + 1);
      own.order = orderOf(answer);
    } else if (what < 0.45) {
      const line = this.#pick(order.lineItems);
      const changed = { ...line, quantityOrdered: line.quantityOrdered + this.#upTo(5) };
      const lines = [{ lineItemId: line.poLineItemId, quantityOrdered: changed.quantityOrdered }];
      const answer = await this.#write("PATCH", `${at}/line-items`, { lines });
      const lineItems = order.lineItems.map((each) => (each === line ? changed : each));
      await this.#keep(own, answer, { ...order, lineItems });
    } else if (what < 0.55 && order.lineItems.length > 1) {
      const line = this.#pick(order.lineItems);
      const answer = await this.#write("DELETE", `${at}/line-items?lineItemIds=${line.poLineItemId}`);
      await this.#keep(own, answer, { ...order, lineItems: order.lineItems.filter((each) => each !== line) });
    } else if (what < 0.6) {
      const answer = await this.#write("DELETE", at);
      assert.equal(answer.status, 200, answer.text);
      this.#shop.own.delete(order.purchaseOrderId);
      this.#shop.deleted.add(order.purchaseOrderId);
      this.#mine.splice(this.#mine.indexOf(own), 1);
    } else await this.#act(own, `${at}/status`, { status: "Sent" }, (lines) => lines);
  }

  /** Sends a POST that must succeed, and checks that the lines are then as `change` makes them. */
  async #act(
    own: OwnOrder,
    target: string,
    body: unknown,
    change: (lines: Order["lineItems"]) => Order["lineItems"],
  ): Promise<void> {
    const { order } = own;
    await this.#keep(own, await this.#write("POST", target, body), { ...order, lineItems: change(order.lineItems) });
  }

  async #keep(own: OwnOrder, answer: Definite, expected: Order): Promise<void> {
    assert.equal(answer.status, 200, answer.text);
    const told = orderOf(answer);
    assert.deepEqual(
      figuresOf(told),
      { ...figuresOf(expected), status: told.status },
      "the answer shows a different change",
    );
    assert.ok(told.version >= own.order.version, "the order's version went down");
    own.order = told;
  }

  async #receive(own: OwnOrder, at: string): Promise<void> {
    const open = own.order.lineItems.filter((line) => line.quantityPending > 0);
    const totals = new Map(
      open
        .filter((_, index) => index === 0 || this.#chance(0.6))
        .map((line) => [
          line.poLineItemId,
          line.quantityReceived + (this.#chance(0.5) ? line.quantityPending : this.#upTo(line.quantityPending)),
        ]),
    );
    const lines = [...totals].map(([lineItemId, quantityReceived]) => ({ lineItemId, quantityReceived }));
    await this.#act(own, `${at}/receive`, { lines }, (before) =>
      before.map((line) => ({ ...line, quantityReceived: totals.get(line.poLineItemId) ?? line.quantityReceived })),
    );
  }

  async #takeBack(own: OwnOrder, at: string): Promise<void> {
    const line = this.#pick(own.order.lineItems.filter((each) => each.quantityReceived > 0));
    const quantity = this.#upTo(line.quantityReceived);
    const body = { lines: [{ lineItemId: line.poLineItemId, quantity }], reason: "damaged" };
    await this.#act(own, `${at}/unreceive`, body, (before) =>
      before.map((each) => (each === line ? { ...each, quantityReceived: each.quantityReceived - quantity } : each)),
    );
  }

  async #sync(at: string): Promise<void> {
    const answer = await this.#write("POST", `${at}/storefront-sync`, { awaitConfirmation: this.#chance(0.7) });
    assert.equal(answer.status, 200, answer.text);
  }

  /** Completes the order. The client does not change it afterwards. */
  async #finish(own: OwnOrder, target: string): Promise<void> {
    const all = target.endsWith("/quick-complete");
    await this.#act(own, target, {}, (lines) =>
      lines.map((line) => (all ? { ...line, quantityReceived: line.quantityConfirmed } : line)),
    );
    assert.equal(own.order.status, "Completed");
    this.#mine.splice(this.#mine.indexOf(own), 1);
  }
}

const confirmation = ({ poLineItemId, quantityOrdered }: Order["lineItems"][number]) => ({
  lineItemId: poLineItemId,
  quantityConfirmed: quantityOrdered,
});
const confirmed = (lines: Order["lineItems"]): Order["lineItems"] =>
  lines.map((line) => ({ ...line, quantityConfirmed: line.quantityOrdered }));

/** The members of an order that only its own client changes. */
const figuresOf = ({ status, note, lineItems }: Order) => ({
  status,
  note,
  lines: lineItems.map((line) => [
    line.poLineItemId,
    line.variantId,
    line.quantityOrdered,
    line.quantityConfirmed,
    line.quantityReceived,
  ]),
});
// Faults of the storefront.

/** Faults of the sandbox, for calls or for the items of a push. The last one is slow. */
const faults = [
  ...["changeOnHand", "changeOnHand", "setIncoming", "readOnHand", "writeCosts", "*"].flatMap((call) =>
    ["error", "throttled", "lost-response"].map((outcome) => ({ call, outcome })),
  ),
  { call: "changeOnHand", outcome: "refused" },
  { call: "changeOnHand", outcome: "refused" },
  { call: "changeOnHand", outcome: "timeout" },
];
export const anyOf = <T>(values: readonly T[], random: () => number): T => {
  const value = values[Math.floor(random() * values.length)];
  assert.ok(value !== undefined);
  return value;
};
/** Makes the storefront of a shop slow, and some of its next calls fail. */
async function changeFaults(shopId: string, nodes: readonly Address[], random: () => number): Promise<void> {
  const settings = {
    latencyMs: Math.floor(random() * 120),
    applyDelayMs: Math.floor(random() * 200),
    faults: Array.from({ length: Math.floor(random() * 3) }, () => ({
      ...anyOf(faults, random),
      times: 1 + Math.floor(random() * 3),
    })),
  };
  // If the node or the database is down, the faults stay unchanged.
  await operate(anyOf(nodes, random).url, "PUT", `/shops/${shopId}/sandbox/faults`, settings).catch(() => null);
}
// Setup.

/** Makes a shop, with a client that holds every answer against `contract`. */
export async function openShop(
  shopId: string,
  nodes: readonly Address[],
  random: () => number,
  signal: AbortSignal,
  contract = contractOf(operations),
): Promise<Shop> {
  const url = nodes[0]?.url ?? "";
  const records = [
    { type: "location", locationId: "loc", name: "Warehouse" },
    { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" },
    ...variantIds.map((variantId) => ({ type: "variant", variantId, productId: variantId, productName: variantId })),
    ...variantIds.map((variantId) => ({
      type: "inventoryLevel",
      variantId,
      locationId: "loc",
      onHand: onHandAtStart,
    })),
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_goods",
      poNumber: "GOODS",
      status: "Received",
      supplierId: "mill",
      locationId: "loc",
      lineItems: variantIds.map((variantId) => ({
        poLineItemId: `line of ${variantId}`,
        variantId,
        quantityOrdered: takenBackFrom,
        quantityConfirmed: takenBackFrom,
        quantityReceived: takenBackFrom,
        quantitySynced: takenBackFrom,
      })),
    },
  ];
  const settings = { followOnWaitMs: 500, confirmationWaitMs: 3_000 };
  const token = await makeShop(url, shopId, settings, records);
  const client = createClient({
    nodes,
    random,
    patienceMs,
    signal,
    check: ({ method, target }, answer) => contract({ method, target, ...answer, body: answer.text }),
  });
  const read = (target: string): Promise<Definite> => client.insist({ method: "GET", target, token });
  const drafts = await Promise.all(
    ["lines", "counter"].map((idempotencyKey) =>
      client.insist({ method: "POST", target: orders, token, idempotencyKey, body: {} }),
    ),
  );
  const [lines, counter] = drafts.map(orderOf);
  assert.ok(lines !== undefined && counter !== undefined);
  return {
    shopId,
    token,
    client,
    numbers: new Set([lines.poNumber, counter.poNumber]),
    own: new Map(),
    deleted: new Set(),
    shared: {
      lines: lines.purchaseOrderId,
      counter: counter.purchaseOrderId,
      goods: orderOf(await read(`${orders}/po_goods`)),
    },
    linesAdded: new Set(),
    counted: 0,
    takenBack: 0,
  };
}

// Checks after the load.

const readerOf =
  ({ client, token }: Shop) =>
  async (target: string): Promise<unknown> => {
    const answer = await client.insist({ method: "GET", target, token });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  };

/** Waits until the shop has no pending effects. */
async function untilQuiet(url: string, shop: Shop): Promise<void> {
  const untilMs = systemClock.now() + drainMsMax;
  for (;;) {
    const left = await rowsOf(url, shop.shopId, "select * from openpo.effect where shop_id = $1 and state = 'pending'");
    if (left.length === 0) return;
    if (systemClock.now() > untilMs) assert.fail(`follow-on work does not end: ${JSON.stringify(left)}`);
    await pause(200);
  }
}

/** Repairs failed follow-on work of an order, as the `recovery` of an answer says. */
async function recover(shop: Shop, order: Order): Promise<void> {
  const at = `${orders}/${order.purchaseOrderId}`;
  const write = async (below: string, body: object): Promise<Definite> => {
    const idempotencyKey = `recovery of ${order.purchaseOrderId} ${below} ${JSON.stringify(body)}`;
    const asked = { method: "POST", target: at + below, token: shop.token, idempotencyKey, body };
    const answer = await shop.client.insist(asked);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const completed = order.status === "Completed";
  if (completed) await write("/status", { status: "Partially Received" });
  await write("/storefront-sync/reset", {});
  const sync = await write("/storefront-sync", {});
  assert.ok(
    ["verified", "timed-out"].includes(syncAnswer.parse(JSON.parse(sync.text)).data.confirmation.status),
    sync.text,
  );
  if (completed) await write("/complete", {});
}

const isSynced = (order: Order): boolean =>
  order.lineItems.every((line) => line.quantitySynced === line.quantityReceived);

/** Waits for all follow-on work, and repairs the failed one. */
async function settleFollowOnWork(url: string, shop: Shop, nodes: readonly Address[]): Promise<void> {
  const read = readerOf(shop);
  await operate(nodes[0]?.url ?? "", "PUT", `/shops/${shop.shopId}/sandbox/faults`, {});
  await untilQuiet(url, shop);
  for (const id of [...shop.own.keys(), shop.shared.goods.purchaseOrderId]) {
    const order = orderAnswer.parse(await read(`${orders}/${id}`)).data.purchaseOrder;
    if (!isSynced(order) || ["failed", "partial"].includes(order.storefrontSyncState)) await recover(shop, order);
  }
  // A sync of an order with every variant sends all incoming quantities to the storefront.
  const target = `${orders}/${shop.shared.goods.purchaseOrderId}/storefront-sync`;
  const idempotencyKey = "the last sync";
  await shop.client.insist({ method: "POST", target, token: shop.token, idempotencyKey, body: {} });
  await untilQuiet(url, shop);
}

const openStatuses: readonly string[] = [
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
];

/** Reads all pages of a list. */
async function allOf<Row>(
  read: (target: string) => Promise<unknown>,
  target: string,
  page: (json: unknown) => { readonly rows: readonly Row[]; readonly cursor: string | null },
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const next = page(await read(cursor === "" ? target : `${target}&cursor=${encodeURIComponent(cursor)}`));
    found.push(...next.rows);
    ({ cursor } = next);
  }
  return found;
}

/** Checks that each created order is listed once, no deleted order is, and no order number is missing or used twice. */
async function proveOrders(shop: Shop): Promise<void> {
  const listed = await allOf(readerOf(shop), `${orders}?limit=50`, (json) => {
    const { purchaseOrders, cursor } = listAnswer.parse(json).data;
    return { rows: purchaseOrders, cursor };
  });
  const { shared } = shop;
  assert.deepEqual(
    listed.map((order) => order.purchaseOrderId).sort(),
    [...shop.own.keys(), shared.lines, shared.counter, shared.goods.purchaseOrderId].sort(),
  );
  assert.deepEqual(
    [...shop.numbers].sort((a, b) => a.localeCompare(b, "en", { numeric: true })),
    Array.from({ length: shop.numbers.size }, (_, index) => `PO-${1_001 + index}`),
  );
  assert.equal(shop.numbers.size, shop.own.size + shop.deleted.size + 2);
}

/** Checks that each order matches its client's model and has each acknowledged change once in its history. */
async function proveHistories(shop: Shop): Promise<readonly Order[]> {
  const read = readerOf(shop);
  const { shared } = shop;
  const kept: Order[] = [];
  const written = Map.groupBy(
    [...shop.client.told.values()].filter(({ answer }) => answer.status < 300),
    ({ asked }) => asked.target.slice(orders.length + 1).split(/[/?]/)[0] ?? "",
  );
  for (const [id, known] of [
    ...shop.own,
    ...[shared.lines, shared.counter, "po_goods"].map((each) => [each] as const),
  ]) {
    const at = `${orders}/${id}`;
    const order = orderAnswer.parse(await read(at)).data.purchaseOrder;
    kept.push(order);
    if (known !== undefined) assert.deepEqual(figuresOf(order), figuresOf(known.order));
    const { log } = logAnswer.parse(await read(`${at}/log`)).data;
    assert.equal(new Set(log.map((entry) => entry.logId)).size, log.length);
    const logged = new Set(log.map((entry) => entry.requestId));
    const { receipts } = scheduleAnswer.parse(await read(`${at}/receipt-schedule`)).data;
    const counted = receipts.filter((each) => each.source !== "quick-complete").map((each) => String(each.requestId));
    const received = (written.get(id) ?? []).filter(({ asked }) => /\/(un)?receive$/.test(asked.target));
    assert.deepEqual(counted.sort(), received.map(({ answer }) => answer.requestId).sort(), `receipts of ${id}`);
    for (const { asked, answer } of written.get(id) ?? [])
      if (!/\/(storefront-sync(\/reset)?|quick-complete|complete)$/.test(asked.target))
        assert.ok(logged.has(answer.requestId), `${asked.method} ${asked.target} is not in the log`);
    for (const line of order.lineItems) {
      const delta = receipts
        .flatMap((each) => each.lines)
        .filter((each) => each.poLineItemId === line.poLineItemId)
        .reduce((sum, each) => sum + each.quantityDelta, 0);
      assert.equal(line.quantityReceived, delta + (id === "po_goods" ? takenBackFrom : 0), `receipts of ${id}`);
    }
  }
  const orderAt = (id: string): Order => kept.find((each) => each.purchaseOrderId === id) ?? assert.fail();
  assert.deepEqual(
    orderAt(shared.lines)
      .lineItems.map((line) => line.poLineItemId)
      .sort(),
    [...shop.linesAdded].sort(),
  );
  assert.equal(Number(orderAt(shared.counter).note ?? 0), shop.counted);
  assert.equal(orderAt(shared.counter).version, shop.counted + 1);
  assert.equal(orderAt(shared.lines).version, shop.linesAdded.size + 1);
  return kept;
}

/** Checks that the stock of storefront and shop matches the received quantities, and incoming the pending ones. */
async function proveStock(url: string, shop: Shop, nodes: readonly Address[], kept: readonly Order[]): Promise<void> {
  const sumBy = (figure: (order: Order, line: Order["lineItems"][number]) => number) => (variantId: string) =>
    kept
      .flatMap((order) =>
        order.lineItems.filter((line) => line.variantId === variantId).map((line) => figure(order, line)),
      )
      .reduce((sum, value) => sum + value, 0);
  const received = sumBy((_, line) => line.quantityReceived);
  const pending = sumBy((order, line) => (openStatuses.includes(order.status) ? line.quantityPending : 0));
  const expected = variantIds.map((variantId) => ({
    variantId,
    levels: [{ onHand: onHandAtStart - takenBackFrom + received(variantId), incoming: pending(variantId) }],
  }));
  for (const order of kept) assert.ok(isSynced(order), `${order.purchaseOrderId} is not synced with its storefront`);
  const sandbox = await operate(nodes[0]?.url ?? "", "GET", `/shops/${shop.shopId}/sandbox`);
  assert.deepEqual(sandboxAnswer.parse(sandbox).data.variants, expected, "the storefront's figures");
  const levels = await rowsOf<{ variant_id: string; on_hand: string; incoming: string }>(
    url,
    shop.shopId,
    `select l.variant_id, l.on_hand, coalesce(i.quantity, 0) as incoming
     from openpo.inventory_level as l
     left join openpo.incoming as i using (shop_id, variant_id, location_id)
     where l.shop_id = $1 order by l.variant_id`,
  );
  assert.deepEqual(
    levels.map((row) => ({
      variantId: row.variant_id,
      levels: [{ onHand: Number(row.on_hand) / 1_000, incoming: Number(row.incoming) / 1_000 }],
    })),
    expected,
    "the shop's own figures",
  );
  const taken = sharedGoods(kept).lineItems.reduce((sum, line) => sum + takenBackFrom - line.quantityReceived, 0);
  assert.equal(taken, shop.takenBack);
}

const sharedGoods = (kept: readonly Order[]): Order =>
  kept.find((order) => order.purchaseOrderId === "po_goods") ?? assert.fail();

/**
 * Checks that every key still has its first answer on every node, every answer has an audit row, and every change exactly one. Audit rows of
 * reads are not synced (D5), so a crash of the database may lose the last of them; those of refusals cannot be written while it is away.
 */
async function proveAnswers(shop: Shop, nodes: readonly Address[], crashedAtMs: readonly number[]): Promise<void> {
  for (const { asked } of shop.client.told.values()) assert.ok((await shop.client.insist(asked)).replayed);
  const url = nodes[0]?.url ?? "";
  const audit = await allOf(
    (below) => operate(url, "GET", below),
    `/shops/${shop.shopId}/audit-log?limit=500`,
    (json) => {
      const { auditLog, cursor } = auditAnswer.parse(json).data;
      return { rows: auditLog, cursor };
    },
  );
  const rowsByRequest = Map.groupBy(audit, (row) => row.requestId);
  for (const { asked, answer } of shop.client.told.values()) {
    const rows = rowsByRequest.get(answer.requestId)?.filter((row) => !row.replayed) ?? [];
    // A committed change that was later replayed may first have got a failure, if the database was lost after the commit.
    const kept = rows.filter((row) => row.status === answer.status || row.status >= 500);
    assert.deepEqual([rows.length, kept.length], [1, 1], `${asked.method} ${asked.target} in the audit log`);
  }
  const missing = shop.client.answers.filter(
    ({ answer, requestId }) =>
      answer.headers["idempotent-replayed"] === undefined && answer.status < 500 && !rowsByRequest.has(requestId),
  );
  for (const { asked, atMs } of missing)
    assert.ok(
      crashedAtMs.some((crashMs) => atMs <= crashMs + unsyncedMsMax && atMs >= crashMs - unsyncedMsMax),
      `${asked.method} ${asked.target} is not in the audit log, and the database did not crash near its time`,
    );
}
/** How long the database may take on a busy machine to sync rows that no answer waits for. */
const unsyncedMsMax = 5_000;

interface LoadOptions {
  readonly nodes: readonly Address[];
  readonly shops: readonly Shop[];
  readonly clientCount: number;
  readonly seconds: number;
  /** Seeds the clients' steps. */
  readonly seed: number;
  readonly random: () => number;
}

/**
 * Runs clients while `disrupting` does what it does, until the time is over and that has ended, or something fails. Half of all clients work on
 * the first shop.
 *
 * @returns how many steps the clients have taken.
 */
export async function runLoad(
  { nodes, shops, clientCount, seconds, seed, random }: LoadOptions,
  broken: AbortController,
  disrupting: (isOver: () => boolean) => Promise<void>,
): Promise<number> {
  const untilMs = systemClock.now() + seconds * 1_000;
  let disrupts = true;
  const isTimeOver = (): boolean => systemClock.now() >= untilMs || broken.signal.aborted;
  const isOver = (): boolean => broken.signal.aborted || (isTimeOver() && !disrupts);
  let steps = 0;
  const disruptingUntilOver = async (): Promise<void> => {
    await disrupting(isTimeOver);
    disrupts = false;
  };
  const changing = async (): Promise<void> => {
    while (!isOver()) {
      await changeFaults(anyOf(shopIds, random), nodes, random);
      await pause(700);
    }
  };
  const working = async (index: number): Promise<void> => {
    const shop = shops[index % 2 === 0 ? 0 : 1 + (((index - 1) / 2) % (shops.length - 1))];
    assert.ok(shop !== undefined);
    const client = new SimulatedClient(shop, `client ${index}`, seeded(seed + 1 + index));
    while (!isOver()) {
      await client.step();
      steps += 1;
    }
  };
  const all = [disruptingUntilOver(), changing(), ...Array.from({ length: clientCount }, (_, index) => working(index))];
  await Promise.allSettled(all.map((each) => each.catch((error: unknown) => broken.abort(error))));
  broken.signal.throwIfAborted();
  return steps;
}

/** How many answers the clients of the shops have got, and why they had to repeat requests. */
export function noteFactsOf(shops: readonly Shop[]): { readonly answers: number; readonly repeats: string } {
  const repeats = Map.groupBy(
    shops.flatMap((shop) => [...shop.client.repeats]),
    ([why]) => why,
  );
  return {
    answers: shops.reduce((sum, shop) => sum + shop.client.answers.length, 0),
    repeats: [...repeats].map(([why, all]) => `${why} ${all.reduce((sum, [, count]) => sum + count, 0)}`).join(", "),
  };
}

/** Waits for the follow-on work of each shop, and checks everything that clients were told. */
export async function prove(
  databaseUrl: string,
  shops: readonly Shop[],
  nodes: readonly Address[],
  crashedAtMs: readonly number[],
): Promise<void> {
  for (const shop of shops) {
    await settleFollowOnWork(databaseUrl, shop, nodes);
    await proveOrders(shop);
    await proveStock(databaseUrl, shop, nodes, await proveHistories(shop));
    await proveAnswers(shop, nodes, crashedAtMs);
  }
}
