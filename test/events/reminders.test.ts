/**
 * Reminders of orders that their supplier is late with (C57): each is told once, at its time, in its transaction, to the log and as an event; never to the
 * supplier (U1, U2, E1).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DueSearch } from "../../src/jobs/due-search.ts";
import { dateOf, dayIn, dayMs, dayStart } from "../../src/base/time/calendar.ts";
import type { EventType } from "../../src/core/events/events.ts";
import { Fault } from "../../src/base/fault.ts";
import { statementsOf } from "../../src/store/migrations.ts";
import { createReminders, type Reminders } from "../../src/jobs/reminders.ts";
import { eventsAfter } from "../../src/shop/events/events.ts";
import { announcing } from "../../src/shop/events/announcements.ts";
import { recheckStatement, nextReminderAtMs } from "../../src/shop/supplier/reminders.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { withProgram } from "../support/process.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";
const zone = "America/New_York";
const types: readonly EventType[] = ["purchase_order.overdue", "purchase_order.unconfirmed"];

interface Told {
  readonly type: string;
  readonly order: string;
  readonly sequence: number;
  readonly event: Record<string, unknown>;
}

interface World {
  readonly server: GoodsServer;
  /** Makes an order, with this expected date, and sends it. */
  readonly send: (expectedDeliveryDate?: string | null, lines?: readonly object[]) => Promise<string>;
  readonly status: (orderId: string, status: string) => Promise<void>;
  /** Everybody looks at the shop; resolves when nothing is due any more. */
  readonly look: () => Promise<void>;
  /** What was told so far, by type and order. */
  readonly told: () => Promise<readonly Told[]>;
  /** `days` after the shop's day now. */
  readonly date: (days: number) => string;
}

/** Two processes tell: on PostgreSQL as nodes that search, on SQLite as what is woken twice. */
async function withWorld(use: (world: World) => Promise<void>): Promise<void> {
  await using server = await startGoodsServer({ shop: { timezone: zone } });
  const { engine, clock, ids, shopId } = server;
  const failures: object[] = [];
  // A write that waits while the clock is set forward by days has waited for days.
  const hasWaited = (fields: object): boolean =>
    "err" in fields && fields.err instanceof Fault && fields.err.code === "DO_OVERLOADED";
  const log = {
    info: () => {},
    warn: (fields: object) => void (hasWaited(fields) || failures.push(fields)),
    error: () => {},
  };
  const runners = [1, 2].map((): Reminders =>
    createReminders({
      engine,
      clock,
      ids,
      log,
      search: onPostgres ? new DueSearch({ engine, clock, log, random: () => 0, everyMs: 20 }) : null,
      shopsToResume: async function* () {},
      random: () => 0,
    }),
  );
  await Promise.all(runners.map((runner) => runner.start()));
  const world: World = {
    server,
    async send(expectedDeliveryDate = null, lines = [{ variantId: "red", quantityOrdered: 5, unitCost: 1 }]) {
      const made = await server.post(orders, { expectedDeliveryDate, locationId: "warehouse", lineItems: lines });
      assert.equal(made.status, 201, made.text);
      const id = made.textAt("data", "purchaseOrder", "purchaseOrderId");
      await world.status(id, "Sent");
      return id;
    },
    async status(orderId, status) {
      const moved = await server.post(`${orders}/${orderId}/status`, { status });
      assert.equal(moved.status, 200, moved.text);
    },
    async look() {
      for (const runner of runners) runner.note({ shopId, dueAtMs: 0 });
      await until("nothing is due", async () => {
        for (const runner of runners) runner.note({ shopId, dueAtMs: 0 });
        const nextMs = await engine.read(shopId, (tx) => nextReminderAtMs(tx, shopId));
        return nextMs === null || nextMs > clock.now();
      });
    },
    async told() {
      const events = await engine.read(shopId, (tx) => eventsAfter(tx, shopId, 0, types, 500));
      return events.map(({ type, sequence, text }) => {
        const event: Record<string, unknown> & { data: { purchaseOrderId: string } } = JSON.parse(text);
        return { type: type.replace("purchase_order.", ""), order: event.data.purchaseOrderId, sequence, event };
      });
    },
    date: (days) => dateOf(dayIn(zone, clock.now()) + days),
  };
  try {
    await use(world);
    assert.deepEqual(failures, []);
  } finally {
    await Promise.all(runners.map((runner) => runner.close()));
  }
}

/** The record of an order that its supplier has confirmed. */
const record = (id: string, expectedDeliveryDate: string): object => ({
  type: "purchaseOrder",
  purchaseOrderId: id,
  poNumber: `N-${id}`,
  status: "Confirmed",
  previousStatus: "Sent",
  currencyCode: "EUR",
  locationId: "warehouse",
  expectedDeliveryDate,
  lineItems: [{ poLineItemId: `${id}-1`, variantId: "red", quantityOrdered: 3, unitCost: 1 }],
});

const short = (told: readonly Told[]): readonly string[] => told.map(({ type, order }) => `${type} ${order}`);

test("an order is overdue from the shop's midnight on, once, and again when another expected date has passed", async () => {
  await withWorld(async ({ server, send, look, told, date, status }) => {
    const { clock } = server;
    const expected = date(2);
    const id = await send(expected, [
      { variantId: "red", quantityOrdered: 5, unitCost: 1, expectedDeliveryDate: expected },
      { variantId: "blue", quantityOrdered: 2, unitCost: 1, expectedDeliveryDate: date(9) },
    ]);
    const midnightMs = dayStart(zone, dayIn(zone, Date.parse(`${expected}T18:00:00Z`)) + 1);
    clock.advance(midnightMs - 2_000 - clock.now());
    await look();
    assert.deepEqual(await told(), []);
    clock.advance(2_001);
    await look();
    await look();
    const [first, ...more] = await told();
    assert.deepEqual(more, []);
    assert.ok(first !== undefined);
    assert.deepEqual([first.type, first.order], ["overdue", id]);
    const read = await server.get(`${orders}/${id}`);
    const { data } = first.event as { data: Record<string, unknown> };
    assert.deepEqual(first.event["actor"], { type: "system", id: null, name: null });
    assert.equal(first.event["requestId"], null);
    assert.equal(data["version"], read.at("data", "purchaseOrder", "version"));
    assert.deepEqual(data["status"], { from: "Sent", to: "Sent" });
    const [line] = data["lines"] as readonly Record<string, unknown>[];
    assert.equal((data["lines"] as readonly unknown[]).length, 1, "a line that is expected later is not late");
    assert.deepEqual([line?.["variantId"], line?.["quantityDelta"], line?.["quantityPending"]], ["red", 0, 5]);
    const log = await server.get(`${orders}/${id}/log`);
    assert.equal(log.at("data", "log", 0, "action"), "overdue");
    assert.equal(log.at("data", "log", 0, "message"), `Overdue: expected by ${expected}, and 7 are still to come.`);
    const lineItemId = read.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
    const expect = async (expectedDeliveryDate: string): Promise<void> => {
      const moved = await server.patch(`${orders}/${id}/line-items`, { lines: [{ lineItemId, expectedDeliveryDate }] });
      assert.equal(moved.status, 200, moved.text);
    };
    // A hold and back, other edits and a repeated date are the same lateness.
    await status(id, "On Hold");
    await look();
    await status(id, "Sent");
    await server.patch(`${orders}/${id}`, { note: "Called them" });
    await expect(expected);
    await look();
    assert.deepEqual(short(await told()), [`overdue ${id}`]);
    // Another date is another one, when it has passed.
    await expect(date(1));
    await look();
    assert.equal((await told()).filter(({ type }) => type === "overdue").length, 1);
    clock.advance(2 * dayMs);
    await look();
    assert.equal((await told()).filter(({ type }) => type === "overdue").length, 2);
  });
});

test("an order that the supplier has not confirmed is told of after the shop's days, and again each time it was sent", async () => {
  await withWorld(async ({ server, send, look, told, status }) => {
    const { clock } = server;
    const id = await send();
    const answered = await send();
    const changed = await server.post(`${orders}/${answered}/confirm`, { confirmAll: true });
    assert.equal(changed.status, 200, changed.text);
    clock.advance(dayMs + 60_000);
    await look();
    clock.advance(2 * dayMs - 120_000);
    await look();
    assert.deepEqual(await told(), []);
    clock.advance(120_000);
    await look();
    await look();
    assert.deepEqual(short(await told()), [`unconfirmed ${id}`]);
    const attention = await server.get(`${orders}/${id}/log`);
    assert.match(attention.textAt("data", "log", 0, "message"), /^Unconfirmed: sent more than 3 days ago/);
    await status(id, "Draft");
    await look();
    await status(id, "Sent");
    await look();
    assert.equal((await told()).length, 1);
    clock.advance(3 * dayMs + 60_000);
    await look();
    assert.deepEqual(short(await told()), [`unconfirmed ${id}`, `unconfirmed ${id}`]);
  });
});

test("a clock that jumps ahead by a year and back tells each order once", async () => {
  await withWorld(async ({ server, send, look, told, date }) => {
    const { clock } = server;
    const id = await send(date(1));
    clock.advance(365 * dayMs);
    await look();
    const expected = [`overdue ${id}`, `unconfirmed ${id}`];
    assert.deepEqual(short(await told()).toSorted(), expected);
    clock.advance(-365 * dayMs);
    await look();
    clock.advance(30 * dayMs);
    await look();
    assert.deepEqual(short(await told()).toSorted(), expected);
  });
});

test("what is no longer expected is not told: received, cancelled, deleted, or a date taken off in time", async () => {
  await withWorld(async ({ server, send, look, told, date, status }) => {
    const { clock } = server;
    const [received, cancelled, deleted, undated] = [
      await send(date(1)),
      await send(date(1)),
      await send(date(1)),
      await send(date(1)),
    ];
    await server.patch(`${orders}/${undated}`, { expectedDeliveryDate: null });
    for (const id of [received, undated]) {
      const lines = (await server.get(`${orders}/${id}`)).at("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
      const confirmed = await server.post(`${orders}/${id}/confirm`, {
        lines: [{ lineItemId: lines, quantityConfirmed: 5 }],
      });
      assert.equal(confirmed.status, 200, confirmed.text);
    }
    const whole = (await server.get(`${orders}/${received}`)).at(
      "data",
      "purchaseOrder",
      "lineItems",
      0,
      "poLineItemId",
    );
    const gone = await server.patch(`${orders}/${received}/line-items`, {
      lines: [{ lineItemId: whole, quantityRejected: 5 }],
    });
    assert.equal(gone.status, 200, gone.text);
    await status(cancelled, "Cancelled");
    await status(deleted, "Cancelled");
    assert.equal((await server.delete(`${orders}/${deleted}`)).status, 200);
    clock.advance(40 * dayMs);
    await look();
    assert.deepEqual(await told(), []);
  });
});

test("the shop's time zone and days hold for orders that were sent before: all that is not told yet is looked at anew", async () => {
  await withWorld(async ({ server, send, look, told, date }) => {
    const { clock, shopId, engine } = server;
    await server.changeShop({ unconfirmedDays: 0 });
    const id = await send(date(0));
    await look();
    // Over the sea it is the next day already.
    await server.changeShop({ timezone: "Pacific/Kiritimati", unconfirmedDays: 0 });
    await engine.write(shopId, (tx) => tx.batch([recheckStatement(shopId)]));
    clock.advance(0);
    await look();
    const isNextDay = dayIn("Pacific/Kiritimati", clock.now()) > dayIn(zone, clock.now());
    assert.deepEqual(short(await told()), isNextDay ? [`overdue ${id}`] : []);
    clock.advance(100 * dayMs);
    await look();
    assert.deepEqual(short(await told()), [`overdue ${id}`]);
    await server.changeShop({ timezone: "Pacific/Kiritimati", unconfirmedDays: 365 });
    await engine.write(shopId, (tx) => tx.batch([recheckStatement(shopId)]));
    await look();
    assert.equal((await told()).length, 1);
    await server.changeShop({ timezone: "Pacific/Kiritimati", unconfirmedDays: 99 });
    await engine.write(shopId, (tx) => tx.batch([recheckStatement(shopId)]));
    await look();
    assert.deepEqual(short(await told()), [`overdue ${id}`, `unconfirmed ${id}`]);
  });
});

test("what was due before the order came by an import is not told; what falls due later is, and once however often it is imported", async () => {
  await withWorld(async ({ server, look, told, date }) => {
    const { clock } = server;
    const [past, coming] = [record("old", date(-30)), record("new", date(3))];
    const bring = (): Promise<void> => server.bring([past, coming]);
    await bring();
    await look();
    assert.deepEqual(await told(), []);
    clock.advance(5 * dayMs);
    await look();
    assert.deepEqual(short(await told()), ["overdue new"]);
    await bring();
    clock.advance(dayMs);
    await look();
    assert.deepEqual(short(await told()), ["overdue new"]);
  });
});

test("orders of a version that had no reminders get the rows that they would have, and what is due by then is not told", async () => {
  await withWorld(async ({ server, look, told, date, send }) => {
    const { engine, shopId, clock } = server;
    await server.bring([
      record("old", date(-30)),
      record("new", date(3)),
      { ...record("done", date(-5)), status: "Completed" },
      { ...record("hidden", date(-5)), deletedAt: new Date().toISOString() },
    ]);
    const waiting = await send(date(4));
    await look();
    const rows = (): Promise<unknown[]> =>
      engine.read(shopId, (tx) =>
        tx.all(
          `select purchase_order_id, cause, basis from purchase_order_reminder
           where shop_id = ? and basis is not null order by purchase_order_id, cause`,
          [shopId],
        ),
      );
    const made = await rows();
    assert.equal(made.length, 4);
    const migration = statementsOf(readFileSync("src/shop/schema/0033.sql", "utf8"));
    const fills = migration.filter((statement) => statement.startsWith("insert")).map((sql) => ({ sql, params: [] }));
    assert.equal(fills.length, 2);
    await engine.write(shopId, (tx) =>
      tx.batch([{ sql: "delete from purchase_order_reminder where shop_id = ?", params: [shopId] }, ...fills]),
    );
    assert.deepEqual(await rows(), made);
    await look();
    assert.deepEqual(await told(), []);
    clock.advance(7 * dayMs);
    await look();
    assert.deepEqual(short(await told()).toSorted(), ["overdue new", `overdue ${waiting}`, `unconfirmed ${waiting}`]);
  });
});

test("many that are due at once are told a part at a time, each once, and sequences have no gaps", async () => {
  await withWorld(async ({ server, look, told, date }) => {
    const made = Array.from({ length: 120 }, (_, index) => `po_${index}`);
    await server.bring(made.map((id) => record(id, date(1))));
    await look();
    assert.deepEqual(await told(), []);
    server.clock.advance(3 * dayMs);
    await look();
    const events = await told();
    assert.deepEqual(events.map(({ order }) => order).toSorted(), made.toSorted());
    const [first] = events;
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => (first?.sequence ?? 0) + index),
    );
  });
});

test("a write that makes reminders is announced with when the earliest is due; one that makes none is not", async () => {
  await using server = await startServer();
  const { shopId } = server;
  const { engine, onReminders, onEvents } = announcing(server.engine);
  const heard: number[] = [];
  onReminders(({ dueAtMs }) => void heard.push(dueAtMs));
  let events = 0;
  onEvents(() => (events += 1));
  await engine.write(shopId, (tx) => tx.batch([recheckStatement(shopId)]));
  await engine.write(shopId, (tx) => tx.all("select 1 as one"));
  assert.deepEqual([heard, events], [[0], 0]);
});

test("the service tells by itself, its webhooks too, and mails nobody", async () => {
  const receiver = await startReceiver();
  try {
    await withProgram(
      async (program, token) => {
        const shop = "/admin/v1/shops/shop";
        await program.ask("PUT", shop, token, { name: "Shop", currencyCode: "EUR" });
        const key = await program.ask("POST", `${shop}/keys`, token, { name: "bot", scope: "write" });
        const apiKey = String(key.at("data", "apiKey"));
        const endpoint = await program.ask("POST", `${shop}/webhook-endpoints`, token, {
          url: receiver.url,
          eventTypes: ["purchase_order.overdue"],
        });
        assert.equal(endpoint.status, 201, endpoint.text);
        const records = [
          { type: "location", locationId: "warehouse", name: "Warehouse" },
          { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt" },
        ];
        await program.ask("POST", `${shop}/import`, token, records.map((each) => JSON.stringify(each)).join("\n"));
        const made = await program.ask("POST", orders, apiKey, {
          expectedDeliveryDate: "2020-02-29",
          locationId: "warehouse",
          lineItems: [{ variantId: "red", quantityOrdered: 1, unitCost: 1 }],
        });
        const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
        await program.ask("POST", `${orders}/${id}/status`, apiKey, { status: "Sent" });
        await receiver.until(() => receiver.received.length === 1);
        assert.equal(receiver.received[0]?.type, "purchase_order.overdue");
        const mails = await program.ask("GET", `${shop}/purchase-orders/${id}/mails`, token);
        assert.equal(mails.at("data", "totalCount"), 0);
        const settings = await program.ask("PUT", shop, token, { settings: { unconfirmedDays: 366 } });
        assert.equal(settings.status, 400, settings.text);
      },
      { OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8", OPENPO_WEBHOOK_HTTP: "1" },
    );
  } finally {
    await receiver.close();
  }
});
