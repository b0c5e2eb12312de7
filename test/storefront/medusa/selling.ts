/**
 * What customers and the merchant do with orders in a Medusa. On a real one it goes through its Admin API; the fake has only orders as they
 * are listed, so there they are changed as the real one was seen to change them.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Order } from "./fake.ts";
import type { MedusaPlace } from "./place.ts";

interface Made {
  readonly id: string;
}

/** What a real one needs before something can be sold from a location. */
interface Market {
  readonly region: string;
  readonly channel: string;
  readonly profile: string;
  readonly option: string;
}

export class Selling {
  readonly #medusa: MedusaPlace;
  readonly #locationId: string;
  #market: Promise<Market> | null = null;

  /** @param locationId  from where everything is sold and sent. */
  constructor(medusa: MedusaPlace, locationId: string) {
    this.#medusa = medusa;
    this.#locationId = locationId;
  }

  /** Sells so many of a variant of which there are enough, now. @returns the order's id. */
  async sell(variantId: string, quantity: number): Promise<string> {
    const { fake } = this.#medusa;
    if (fake !== null) return fake.addOrder(Date.now(), [{ variantId, quantity }]).id;
    const { region, channel, profile } = await (this.#market ??= this.#opened());
    const { id: productId } = await this.#medusa.productOf(variantId);
    await this.#medusa.ask("POST", `/admin/products/${productId}`, { shipping_profile_id: profile });
    const draft = {
      region_id: region,
      sales_channel_id: channel,
      email: "customer@example.com",
      items: [{ variant_id: variantId, quantity, unit_price: 10 }],
      shipping_methods: [],
    };
    const made = await this.#medusa.ask<{ draft_order: Made }>("POST", "/admin/draft-orders", draft);
    await this.#medusa.ask("POST", `/admin/draft-orders/${made.draft_order.id}/convert-to-order`, {});
    return made.draft_order.id;
  }

  /** Sends all of an order. */
  async send(orderId: string, quantity: number): Promise<void> {
    if (
      this.#changed(orderId, (order) => order.fulfillments.push({ locationId: this.#locationId, canceledAtMs: null }))
    )
      return;
    const { option } = await (this.#market ??= this.#opened());
    const items = [{ id: await this.#itemOf(orderId), quantity }];
    const body = { items, location_id: this.#locationId, shipping_option_id: option };
    await this.#medusa.ask("POST", `/admin/orders/${orderId}/fulfillments`, body);
  }

  /** Calls back what was to be sent. */
  async callBack(orderId: string): Promise<void> {
    const isFake = this.#changed(orderId, ({ fulfillments }) => {
      for (const fulfillment of fulfillments) fulfillment.canceledAtMs = Date.now();
    });
    if (isFake) return;
    const path = `/admin/orders/${orderId}`;
    const { order } = await this.#medusa.ask<{ order: { fulfillments: readonly Made[] } }>(
      "GET",
      `${path}?fields=id,fulfillments.id`,
    );
    await this.#medusa.ask("POST", `${path}/fulfillments/${order.fulfillments[0]?.id}/cancel`, {});
  }

  /** Takes back of what was sent: so many into stock, and so many that are good for nothing. */
  async takeBack(orderId: string, received: number, dismissed: number): Promise<void> {
    const isFake = this.#changed(orderId, ({ items: [item] }) => {
      assert.ok(item !== undefined);
      item.received += received;
      item.dismissed += dismissed;
    });
    if (isFake) return;
    const begin = { order_id: orderId, location_id: this.#locationId };
    const begun = await this.#medusa.ask<{ return: Made }>("POST", "/admin/returns", begin);
    const id = await this.#itemOf(orderId);
    for (const [step, body] of [
      ["request-items", { items: [{ id, quantity: received + dismissed }] }],
      ["request", {}],
      ["receive", {}],
      ["receive-items", { items: [{ id, quantity: received }] }],
      ["dismiss-items", { items: [{ id, quantity: dismissed }] }],
      ["receive/confirm", {}],
    ] as const)
      await this.#medusa.ask("POST", `/admin/returns/${begun.return.id}/${step}`, body);
  }

  /** Edits an order: so many are ordered now. */
  async edit(orderId: string, quantity: number): Promise<void> {
    const isFake = this.#changed(orderId, ({ items: [item] }) => {
      assert.ok(item !== undefined);
      item.quantity = quantity;
    });
    if (isFake) return;
    await this.#medusa.ask("POST", "/admin/order-edits", { order_id: orderId });
    const edit = `/admin/order-edits/${orderId}`;
    await this.#medusa.ask("POST", `${edit}/items/item/${await this.#itemOf(orderId)}`, { quantity });
    await this.#medusa.ask("POST", `${edit}/request`, {});
    await this.#medusa.ask("POST", `${edit}/confirm`, {});
  }

  async cancel(orderId: string): Promise<void> {
    const isFake = this.#changed(orderId, (order) => {
      order.canceledAtMs = Date.now();
    });
    if (!isFake) await this.#medusa.ask("POST", `/admin/orders/${orderId}/cancel`, {});
  }

  /** @returns whether it is the fake's, and changed. */
  #changed(orderId: string, change: (order: Order) => void): boolean {
    const { fake } = this.#medusa;
    if (fake === null) return false;
    fake.changeOrder(orderId, change);
    return true;
  }

  async #itemOf(orderId: string): Promise<string> {
    const path = `/admin/orders/${orderId}?fields=id,items.id`;
    const { order } = await this.#medusa.ask<{ order: { items: readonly Made[] } }>("GET", path);
    return order.items[0]?.id ?? assert.fail(`${orderId} has no line`);
  }

  async #opened(): Promise<Market> {
    const post = <Answer>(path: string, body: object) => this.#medusa.ask<Answer>("POST", `/admin/${path}`, body);
    const location = `stock-locations/${this.#locationId}`;
    const name = randomUUID();
    const { sales_channel: channel } = await post<{ sales_channel: Made }>("sales-channels", { name });
    await post(`${location}/sales-channels`, { add: [channel.id] });
    const { region } = await post<{ region: Made }>("regions", { name, currency_code: "usd", countries: [] });
    const ofProfile = { name, type: "default" };
    const { shipping_profile: profile } = await post<{ shipping_profile: Made }>("shipping-profiles", ofProfile);
    await post(`${location}/fulfillment-sets`, { name, type: "shipping" });
    await post(`${location}/fulfillment-providers`, { add: ["manual_manual"] });
    const { stock_location: place } = await this.#medusa.ask<{
      stock_location: { fulfillment_sets: readonly Made[] };
    }>("GET", `/admin/${location}?fields=fulfillment_sets.id`);
    const zone = { name, geo_zones: [{ type: "country", country_code: "us" }] };
    const { fulfillment_set: set } = await post<{ fulfillment_set: { service_zones: readonly Made[] } }>(
      `fulfillment-sets/${place.fulfillment_sets[0]?.id}/service-zones`,
      zone,
    );
    const { shipping_option: option } = await post<{ shipping_option: Made }>("shipping-options", {
      name,
      service_zone_id: set.service_zones[0]?.id,
      shipping_profile_id: profile.id,
      provider_id: "manual_manual",
      price_type: "flat",
      type: { label: name, description: name, code: name },
      prices: [{ currency_code: "usd", amount: 1 }],
      rules: [],
    });
    return { region: region.id, channel: channel.id, profile: profile.id, option: option.id };
  }
}
