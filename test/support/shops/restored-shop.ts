/**
 * A shop with a story around a backup: what is restored, what stays, and where somebody has to look. The same on both engines.
 */
import assert from "node:assert/strict";
import { ndjson } from "../admin.ts";
import type { RunningProgram } from "../process.ts";
import { until } from "../until.ts";

export const shopId = "tideline";
export const otherShop = "other";
export const adminToken = "an-admin-token-for-restores";

const orders = "/api/v1/purchase-orders";

const records = [
  { type: "location", locationId: "dock", name: "Dock" },
  { type: "supplier", supplierId: "roastery", name: "Roastery" },
  { type: "variant", variantId: "beans", productId: "p1", productName: "Beans", unitCost: 4 },
  { type: "variant", variantId: "cups", productId: "p2", productName: "Cups", unitCost: 1 },
  { type: "inventoryLevel", variantId: "beans", locationId: "dock", onHand: 10 },
  { type: "inventoryLevel", variantId: "cups", locationId: "dock", onHand: 100 },
];

interface Order {
  readonly id: string;
  readonly lineItemId: string;
  readonly number: string;
}

/** A running server's shop, as its clients use it. */
export class ShopUse {
  readonly program: RunningProgram;
  readonly key: string;

  constructor(program: RunningProgram, key: string) {
    this.program = program;
    this.key = key;
  }

  /** Makes the shop with a catalogue and a key. */
  static async make(program: RunningProgram, id: string): Promise<ShopUse> {
    const made = await program.ask("PUT", `/admin/v1/shops/${id}`, adminToken, {
      name: id,
      settings: { rateLimit: { capacity: 100_000, refillPerSecond: 100_000 } },
    });
    assert.equal(made.status, 201, made.text);
    const imported = await program.ask("POST", `/admin/v1/shops/${id}/import`, adminToken, ndjson(records));
    assert.equal(imported.status, 200, imported.text);
    return new ShopUse(program, (await keyOf(program, id, "first")).apiKey);
  }

  on(program: RunningProgram): ShopUse {
    return new ShopUse(program, this.key);
  }

  async api(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    return await this.program.ask(method, path, this.key, body, headers);
  }

  /** An order of some of a variant, sent to its supplier. */
  async order(variantId: string, quantity: number, idempotencyKey?: string): Promise<Order> {
    const made = await this.api(
      "POST",
      orders,
      {
        supplierId: "roastery",
        locationId: "dock",
        lineItems: [{ variantId, quantityOrdered: quantity, unitCost: 4 }],
      },
      idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
    );
    assert.equal(made.status, 201, made.text);
    const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
    const sent = await this.api("POST", `${orders}/${id}/status`, { status: "Sent" });
    assert.equal(sent.status, 200, sent.text);
    const confirmed = await this.api("POST", `${orders}/${id}/confirm`, { confirmAll: true });
    assert.equal(confirmed.status, 200, confirmed.text);
    const detail = await this.detail(id);
    return {
      id,
      lineItemId: String(detail.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId")),
      number: String(detail.at("data", "purchaseOrder", "poNumber")),
    };
  }

  /** Sets how much of the order has arrived, and waits until its push is settled. */
  async receive({ id, lineItemId }: Order, quantityReceived: number): Promise<void> {
    const received = await this.api("POST", `${orders}/${id}/receive`, { lines: [{ lineItemId, quantityReceived }] });
    assert.equal(received.status, 200, received.text);
    const state = async () => (await this.detail(id)).at("data", "purchaseOrder", "storefrontSyncState");
    await until("the push is settled", async () => (await state()) !== "in-flight");
  }

  async detail(id: string) {
    return await this.api("GET", `${orders}/${id}`);
  }

  /** What has arrived of the order, what the storefront has of it, and its state there. */
  async standing({ id }: Order): Promise<readonly unknown[]> {
    const detail = await this.detail(id);
    assert.equal(detail.status, 200, detail.text);
    const line = ["data", "purchaseOrder", "lineItems", 0] as const;
    return [
      detail.at(...line, "quantityReceived"),
      detail.at(...line, "quantitySynced"),
      detail.at("data", "purchaseOrder", "storefrontSyncState"),
    ];
  }

  async version({ id }: Order): Promise<number> {
    return Number((await this.detail(id)).at("data", "purchaseOrder", "version"));
  }

  /** How much the storefront has of the variant, and how much is incoming there. */
  async stock(id: string, variantId: string): Promise<{ readonly onHand: number; readonly incoming: number }> {
    const state = await this.program.ask("GET", `/admin/v1/shops/${id}/sandbox?variantIds=${variantId}`, adminToken);
    return {
      onHand: Number(state.at("data", "variants", 0, "levels", 0, "onHand")),
      incoming: Number(state.at("data", "variants", 0, "levels", 0, "incoming")),
    };
  }
}

export async function keyOf(
  program: RunningProgram,
  id: string,
  name: string,
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const made = await program.ask("POST", `/admin/v1/shops/${id}/keys`, adminToken, { name, scope: "write" });
  assert.equal(made.status, 201, made.text);
  return { keyId: String(made.at("data", "keyId")), apiKey: String(made.at("data", "apiKey")) };
}

interface Event {
  readonly sequence: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** All events of the shop, in their order. */
export async function eventsOf(program: RunningProgram, id: string): Promise<readonly Event[]> {
  const page = await program.ask("GET", `/admin/v1/shops/${id}/events?limit=500`, adminToken);
  assert.equal(page.status, 200, page.text);
  const events = page.at("data", "events");
  assert.ok(Array.isArray(events));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape of events is held elsewhere
  return events as readonly Event[];
}
