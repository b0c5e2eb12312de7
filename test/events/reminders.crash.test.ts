/**
 * The program is killed (-9) while it tells many reminders: each is told once, as an event and in the order's log, or not yet, and then by the next
 * process (U1, E1, E2, C57).
 *
 * `OPENPO_TEST_REMINDERS_KILLS` is the number of kills, `OPENPO_TEST_REMINDERS_SEED` seeds their times.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { dayMs } from "../../src/base/time/calendar.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres } from "../support/store.ts";
import { pause, quiet, until } from "../support/until.ts";
import { randomOf } from "../world/random.ts";

const killCount = Number(process.env["OPENPO_TEST_REMINDERS_KILLS"] ?? 2);
const seed = Number(process.env["OPENPO_TEST_REMINDERS_SEED"] ?? 20_261_123);

/** Told in several transactions. */
const orderCount = 200;
/** A kill comes so long after the reminders are due, at most. */
const killMsMax = onPostgres ? 400 : 80;

const pageSchema = z.object({
  data: z.object({
    events: z.array(
      z.object({ sequence: z.int(), type: z.string(), data: z.object({ purchaseOrderId: z.string().optional() }) }),
    ),
    totalCount: z.int(),
    cursor: z.string().nullable(),
  }),
});

type Event = z.output<typeof pageSchema>["data"]["events"][number];

const type = "purchase_order.unconfirmed";

async function eventsOf(program: RunningProgram, token: string, shopId: string): Promise<readonly Event[]> {
  const all: Event[] = [];
  for (let after = 0; ;) {
    const page = await program.ask("GET", `/admin/v1/shops/${shopId}/events?limit=500&after=${after}`, token);
    const { data } = pageSchema.parse(page.at());
    all.push(...data.events);
    if (data.cursor === null) return all;
    after = Number(data.cursor);
  }
}

/** Makes a shop with orders that will all be due as soon as the shop allows three days. */
async function makeShop(program: RunningProgram, token: string, shopId: string): Promise<readonly string[]> {
  const put = await program.ask("PUT", `/admin/v1/shops/${shopId}`, token, {
    name: shopId,
    settings: { unconfirmedDays: 300 },
  });
  assert.equal(put.status, 201, put.text);
  const ids = Array.from({ length: orderCount }, (_, index) => `${shopId}-${index}`);
  const sentAt = new Date(Date.now() - 10 * dayMs).toISOString();
  const records = [
    { type: "location", locationId: "dock", name: "Dock" },
    ...ids.map((purchaseOrderId) => ({
      type: "purchaseOrder",
      purchaseOrderId,
      status: "Sent",
      locationId: "dock",
      createdAt: sentAt,
      sentAt,
      lineItems: [{ poLineItemId: `${purchaseOrderId}-1`, variantId: "red", quantityOrdered: 3, unitCost: 1 }],
    })),
  ];
  const file = records.map((record) => JSON.stringify(record)).join("\n");
  const brought = await program.ask("POST", `/admin/v1/shops/${shopId}/import`, token, file);
  assert.equal(brought.status, 200, brought.text);
  // All are looked at once before the days are fewer, for what is due at the first look counts as told. What is overdue by a change comes after them.
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/keys`, token, { name: "k", scope: "write" });
  const overdue = { expectedDeliveryDate: sentAt.slice(0, 10) };
  const target = `/api/v1/purchase-orders/${ids.at(-1)}`;
  const changed = await program.ask("PATCH", target, String(made.at("data", "apiKey")), overdue);
  assert.equal(changed.status, 200, changed.text);
  const events = await until("all are looked at", async () => {
    const seen = await eventsOf(program, token, shopId);
    return seen.some((event) => event.type === "purchase_order.overdue") && seen;
  });
  assert.ok(events.every((event) => event.type !== type));
  return ids;
}

test("reminders that a killed process was telling are told once, by it or by the next one", async (context) => {
  const random = randomOf(String(seed));
  await withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", PORT: "0", OPENPO_LOG_LEVEL: "fatal" };
    let program = await serveProgram(env);
    const token = program.adminToken;
    const cuts: number[] = [];
    for (let kill = 0; kill < killCount; kill += 1) {
      const shopId = `shop-${kill}`;
      const ids = await makeShop(program, token, shopId);
      const answered = program.ask("PUT", `/admin/v1/shops/${shopId}`, token, { settings: { unconfirmedDays: 3 } });
      assert.equal((await answered).status, 200);
      await pause(random.next() * killMsMax);
      await program.end("SIGKILL");
      program = await serveProgram(env);
      const before = (await eventsOf(program, token, shopId)).filter((event) => event.type === type).length;
      cuts.push(before);
      await until(
        `${orderCount} told`,
        async () =>
          (await eventsOf(program, token, shopId)).filter((event) => event.type === type).length >= orderCount,
      );
      await quiet(300);
      const events = await eventsOf(program, token, shopId);
      const told = events.filter((event) => event.type === type);
      assert.deepEqual(told.map(({ data }) => data.purchaseOrderId ?? "").toSorted(), ids.toSorted());
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        events.map((_, index) => index + 1),
      );
      const exported = await program.ask("GET", `/admin/v1/shops/${shopId}/export`, token);
      const entries = exported.text
        .trim()
        .split("\n")
        .map((line) =>
          z
            .object({ type: z.string(), log: z.array(z.object({ action: z.string() })).optional() })
            .parse(JSON.parse(line)),
        )
        .filter((record) => record.type === "purchaseOrder")
        .map(({ log = [] }) => log.filter(({ action }) => action === "unconfirmed").length);
      assert.deepEqual(
        entries,
        ids.map(() => 1),
      );
    }
    context.diagnostic(`told at the first look after each kill: ${cuts.join(", ")} of ${orderCount}`);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
