/**
 * A day of a purchasing agent over MCP alone, on the demo shop of a running server: nine tasks, each with what the agent must find out
 * by itself and what must be true in the shop afterwards, read over REST.
 *
 * The agent knows what a person tells it (names, figures) and what answers say. It follows `nextStep`; no call is refused.
 *
 * Only on sqlite: its subject is what assistants are shown and answered; mcp/twins.slow.test.ts gives the same commands on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { dateOf, dayIn } from "../../src/base/time/calendar.ts";
import { type Agent, connectAgent, type ToolAnswer } from "../support/mcp.ts";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { tokensOf } from "../support/openapi/tokens.ts";

/** For all tasks together; tokens are those of the answers. */
const callsMax = 30;
const tokensMax = 9_000;

const lineSchema = z.looseObject({
  lineItemId: z.string(),
  productName: z.string(),
  quantityOrdered: z.number(),
  quantityPending: z.number(),
});
const stepSchema = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()), advice: z.string() });
const attentionSchema = z.array(
  z.looseObject({
    purchaseOrderId: z.string(),
    status: z.string(),
    supplierName: z.string(),
    nextExpectedDate: z.string().nullable(),
    reasons: z.array(z.object({ reason: z.string(), days: z.number() })),
    nextStep: stepSchema,
  }),
);
const locationSchema = z.array(z.looseObject({ locationId: z.string(), name: z.string() }));
const orderSchema = z.array(
  z.looseObject({
    purchaseOrderId: z.string(),
    poName: z.string().optional(),
    status: z.string(),
    previousStatus: z.string().optional(),
  }),
);
const draftSchema = z.object({
  supplierId: z.string(),
  supplierName: z.string(),
  purchaseOrderId: z.string().nullable(),
  currencyCode: z.string(),
  totalValue: z.number(),
  lines: z
    .array(z.object({ variantId: z.string(), quantity: z.number(), unitCost: z.number(), late: z.boolean() }))
    .min(1),
});
const reorderSchema = z.object({
  drafts: z.array(draftSchema).min(2),
  skipped: z.array(z.object({ variantId: z.string(), reason: z.string(), purchaseOrderId: z.string().optional() })),
});

/** The agent with what it has spent. */
class Day {
  readonly #agent: Agent;
  #attention: z.output<typeof attentionSchema> | null = null;
  #locations: z.output<typeof locationSchema> | null = null;
  #running: z.output<typeof orderSchema> | null = null;
  calls = 0;
  tokens = 0;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  async call(tool: string, input: object = {}): Promise<ToolAnswer> {
    const answer = await this.#agent.call(tool, input);
    this.calls += 1;
    this.tokens += tokensOf(answer.text);
    assert.ok(!answer.isError, `${tool} ${JSON.stringify(input)}: ${answer.text}`);
    return answer;
  }

  /** Calls what the answer before says comes next, with further arguments. */
  follow(step: unknown, more: object = {}): Promise<ToolAnswer> {
    const { tool, arguments: given } = stepSchema.parse(step);
    return this.call(tool, { ...given, ...more });
  }

  // What an agent reads once and then knows for the day.

  /** The orders that need attention for this reason. */
  async needing(reason: string): Promise<z.output<typeof attentionSchema>> {
    this.#attention ??= attentionSchema.parse((await this.call("orders_needing_attention")).at("orders"));
    return this.#attention.filter(({ reasons }) => reasons.some((each) => each.reason === reason));
  }

  /** The id of the location with this in its name. */
  async location(part: string): Promise<string> {
    this.#locations ??= locationSchema.parse((await this.call("location_list")).at("locations"));
    const location = this.#locations.find(({ name }) => name.toLowerCase().includes(part));
    assert.ok(location !== undefined, part);
    return location.locationId;
  }

  /** The order with this in its name, of those that goods are expected of or that are on hold. */
  async running(part: string): Promise<z.output<typeof orderSchema>[number]> {
    const status = ["In Progress", "Partially Received", "On Hold"];
    this.#running ??= orderSchema.parse((await this.call("purchase_order_list", { status })).at("purchaseOrders"));
    const found = this.#running.filter(({ poName, status }) => `${poName} ${status}`.includes(part));
    assert.equal(found.length, 1, part);
    return orderSchema.element.parse(found[0]);
  }

  async lines(purchaseOrderId: string): Promise<readonly z.output<typeof lineSchema>[]> {
    const list = await this.call("purchase_order_line_item_list", { purchaseOrderId });
    return z.array(lineSchema).parse(list.at("lineItems"));
  }
}

/** The shop as REST shows it. */
class Shop {
  readonly #program: RunningProgram;

  constructor(program: RunningProgram) {
    this.#program = program;
  }

  /** `data` of a read, below `/api/v1`. */
  async read(path: string) {
    const answer = await this.#program.ask("GET", `/api/v1${path}`, this.#program.word("read key"));
    assert.equal(answer.status, 200, answer.text);
    return (...steps: readonly (string | number)[]): unknown => answer.at("data", ...steps);
  }

  async order(purchaseOrderId: string): Promise<Record<string, unknown>> {
    const read = await this.read(`/purchase-orders/${purchaseOrderId}`);
    return z.record(z.string(), z.unknown()).parse(read("purchaseOrder"));
  }

  /** The lines of an order by product name. */
  async lines(purchaseOrderId: string): Promise<ReadonlyMap<string, Record<string, unknown>>> {
    const { lineItems } = await this.order(purchaseOrderId);
    const lines = z.array(z.looseObject({ productName: z.string() })).parse(lineItems);
    return new Map(lines.map((line) => [line.productName, line]));
  }
}

const today = dayIn("UTC", Date.now());

const named = <Line extends { readonly productName: string }>(lines: readonly Line[], part: string): Line => {
  const line = lines.find(({ productName }) => productName.includes(part));
  assert.ok(line !== undefined, `no line has ${part}: ${JSON.stringify(lines)}`);
  return line;
};

interface Task {
  readonly name: string;
  /** Does the task; returns what must be true in the shop afterwards. */
  run(day: Day): Promise<(shop: Shop) => Promise<void>>;
}

const tasks: readonly Task[] = [
  {
    // To find out: which order is late, since when, and that it is asked after by its expected date.
    name: "What is late? Its supplier now promises it in a week",
    async run(day) {
      const [late, ...others] = await day.needing("late");
      assert.ok(late !== undefined && others.length === 0);
      assert.ok(late.nextExpectedDate !== null && late.nextExpectedDate < dateOf(today));
      const promised = dateOf(today + 7);
      const moved = await day.follow(late.nextStep, { expectedDeliveryDate: promised });
      assert.equal(moved.at("purchaseOrder", "nextExpectedDate"), promised);
      return async (shop) => {
        const list = await shop.read(`/purchase-orders?expectedBefore=${dateOf(today)}&status=In%20Progress`);
        assert.equal(list("totalCount"), 0);
        assert.equal((await shop.order(late.purchaseOrderId))["expectedDeliveryDate"], promised);
      };
    },
  },
  {
    // To find out: the view, the warehouse's id, what stands on a draft already.
    name: "Reorder what the forecast suggests, for the warehouse, without the last line of the first supplier",
    async run(day) {
      const views = await day.call("forecast_view_list");
      const view = z
        .array(z.object({ viewId: z.string(), viewName: z.string() }))
        .parse(views.at("forecastViews"))
        .find(({ viewName }) => /order/i.test(viewName));
      const asked = { viewId: view?.viewId, locationId: await day.location("warehouse") };
      const dry = reorderSchema.parse((await day.call("reorder_from_view", asked)).at());
      assert.ok(dry.drafts.every(({ purchaseOrderId }) => purchaseOrderId === null));
      const onDraft = dry.skipped.filter(({ reason }) => reason === "on-draft");
      assert.ok(onDraft.length > 0 && onDraft.every(({ purchaseOrderId }) => purchaseOrderId !== undefined));
      const left = dry.drafts[0]?.lines.at(-1)?.variantId;
      const made = reorderSchema.parse(
        (
          await day.call("reorder_from_view", {
            ...asked,
            dryRun: false,
            lines: [{ variantId: left, quantity: 0 }],
            idempotencyKey: "reorder of today",
          })
        ).at(),
      );
      return async (shop) => {
        for (const draft of made.drafts) {
          const order = await shop.order(draft.purchaseOrderId ?? "");
          assert.partialDeepStrictEqual(order, {
            status: "Draft",
            supplierId: draft.supplierId,
            locationId: asked.locationId,
            totalValue: draft.totalValue,
          });
          const lines = z
            .array(z.looseObject({ variantId: z.string(), quantityOrdered: z.number() }))
            .parse(order["lineItems"]);
          assert.deepEqual(
            lines.map(({ variantId, quantityOrdered }) => [variantId, quantityOrdered]),
            draft.lines.map(({ variantId, quantity }) => [variantId, quantity]),
          );
          assert.ok(lines.every(({ variantId }) => variantId !== left));
          assert.ok(onDraft.every(({ variantId }) => !lines.some((line) => line.variantId === variantId)));
        }
      };
    },
  },
  {
    // To find out: ids of supplier, location and variant by what people call them, and the supplier's minimum and pack.
    name: "Order the smallest lot of Lighthouse filter coffee in 1 kg from the Maasbrand roastery for the Voorhaven shop",
    async run(day) {
      const supplierId = (await day.call("supplier_list", { search: "maasbrand" })).textAt(
        "suppliers",
        0,
        "supplierId",
      );
      const locationId = await day.location("voorhaven");
      const found = await day.call("variant_search", { supplierId, search: "lighthouse" });
      const variant = z
        .array(
          z.object({
            variantId: z.string(),
            variantName: z.string().nullable(),
            terms: z.object({ unitCost: z.number(), moq: z.number(), packSize: z.number() }),
          }),
        )
        .parse(found.at("variants"))
        .find(({ variantName }) => variantName === "1 kg");
      assert.ok(variant !== undefined, found.text);
      const { moq, packSize, unitCost } = variant.terms;
      const quantityOrdered = Math.ceil(moq / packSize) * packSize;
      const made = await day.call("purchase_order_create", {
        supplierId,
        locationId,
        lineItems: [{ variantId: variant.variantId, quantityOrdered, unitCost }],
        idempotencyKey: "lighthouse",
      });
      assert.equal(made.at("warnings"), undefined, made.text);
      return async (shop) => {
        const order = await shop.order(made.textAt("purchaseOrder", "purchaseOrderId"));
        assert.partialDeepStrictEqual(order, {
          status: "Draft",
          supplierName: "Maasbrand Roastery",
          locationName: "Shop Voorhaven",
          quantityOrdered,
          totalValue: Math.round(quantityOrdered * unitCost * 100) / 100,
        });
      };
    },
  },
  {
    // To find out: the order that waits for an answer, the lines' ids, and that a line confirmed short does not hold the order up.
    name: "The tea supplier confirms all Rooibos but only 24 of 48 Jasmine; the order goes on",
    async run(day) {
      const [waiting] = await day.needing("unconfirmed");
      assert.ok(waiting !== undefined && waiting.supplierName.includes("Tea"));
      const { purchaseOrderId } = waiting;
      const lines = await day.lines(purchaseOrderId);
      const [rooibos, jasmine] = [named(lines, "Rooibos"), named(lines, "Jasmine")];
      assert.equal(jasmine.quantityOrdered, 48);
      const confirmed = await day.follow(waiting.nextStep, {
        lines: [
          { lineItemId: rooibos.lineItemId, quantityConfirmed: rooibos.quantityOrdered },
          { lineItemId: jasmine.lineItemId, quantityConfirmed: 24 },
        ],
      });
      assert.deepEqual(confirmed.at("status", "after"), "Confirmed");
      const going = await day.follow(confirmed.at("nextStep"));
      assert.equal(going.at("purchaseOrder", "status"), "In Progress");
      return async (shop) => {
        const order = await shop.order(purchaseOrderId);
        const pending = rooibos.quantityOrdered + 24;
        assert.partialDeepStrictEqual(order, {
          status: "In Progress",
          quantityConfirmed: pending,
          quantityPending: pending,
        });
        const line = (await shop.lines(purchaseOrderId)).get(jasmine.productName);
        assert.partialDeepStrictEqual(line, { quantityOrdered: 48, quantityConfirmed: 24, quantityPending: 24 });
      };
    },
  },
  {
    // To find out: the order and its lines, how breakage is recorded, and that it can then be completed.
    name: "Ethiopia and Brazil came: of 48 Ethiopia 2 bags are torn. Close the order",
    async run(day) {
      const purchaseOrderId = (await day.running("Ethiopia and Brazil")).purchaseOrderId;
      const lines = await day.lines(purchaseOrderId);
      const [ethiopia, brazil] = [named(lines, "Ethiopia"), named(lines, "Brazil")];
      const received = await day.call("purchase_order_receive", {
        purchaseOrderId,
        lines: [
          { lineItemId: ethiopia.lineItemId, quantityReceived: ethiopia.quantityOrdered - 2, quantityRejected: 2 },
          { lineItemId: brazil.lineItemId, quantityReceived: brazil.quantityOrdered },
        ],
        idempotencyKey: "delivery note 7",
      });
      assert.equal(received.at("status", "after"), "Received");
      const completed = await day.follow(received.at("nextStep"));
      assert.match(completed.textAt("nextStep", "advice"), /^Nothing is left to do with this order/);
      return async (shop) => {
        assert.equal((await shop.order(purchaseOrderId))["status"], "Completed");
        const lines = await shop.lines(purchaseOrderId);
        assert.partialDeepStrictEqual(lines.get(ethiopia.productName), {
          quantityReceived: 46,
          quantityRejected: 2,
          quantityPending: 0,
          quantitySynced: 46,
        });
        assert.partialDeepStrictEqual(lines.get(brazil.productName), { quantityPending: 0, quantitySynced: 18 });
      };
    },
  },
  {
    // To find out: that goods taken back are pending again and what closes them, and that the storefront's stock was lowered.
    name: "Twelve Harbour Breakfast of the tea delivery turn out to be water-damaged: take them back, expect no others",
    async run(day) {
      const purchaseOrderId = (await day.running("Restock of tea")).purchaseOrderId;
      const breakfast = named(await day.lines(purchaseOrderId), "Breakfast");
      const { lineItemId } = breakfast;
      const back = await day.call("purchase_order_unreceive", {
        purchaseOrderId,
        lines: [{ lineItemId, quantity: 12 }],
        reason: "water damage",
        idempotencyKey: "water damage",
      });
      assert.equal(back.at("lineItems", 0, "quantityPending"), 12);
      // Which of the two is told depends on whether the storefront was as quick as the answer (more-tools.test.ts).
      assert.match(back.textAt("sideEffects", "storefrontSync", "status"), /^(?:applied|queued)$/);
      const closed = await day.call("purchase_order_line_item_update", {
        purchaseOrderId,
        lines: [{ lineItemId, quantityRejected: 12 }],
      });
      assert.equal(closed.at("lineItems", 0, "quantityPending"), 0);
      return async (shop) => {
        const line = (await shop.lines(purchaseOrderId)).get(breakfast.productName);
        assert.partialDeepStrictEqual(line, {
          quantityReceived: breakfast.quantityOrdered - 12,
          quantitySynced: breakfast.quantityOrdered - 12,
          quantityRejected: 12,
          quantityPending: 0,
        });
        const log = await shop.read(`/purchase-orders/${purchaseOrderId}/log`);
        assert.match(JSON.stringify(log("log")), /water damage/);
      };
    },
  },
  {
    // To find out: what is due longest, and what is owed for that order once credits count.
    name: "Which payment has been due longest, and what is left to pay for that order?",
    async run(day) {
      const due = await day.needing("payment-due");
      const [longest] = due.toSorted((a, b) => daysOf(b, "payment-due") - daysOf(a, "payment-due"));
      assert.ok(longest !== undefined);
      const { purchaseOrderId } = longest;
      const told = await day.call("purchase_order_payment_list", { purchaseOrderId });
      const outstanding = told.at("summary", "outstandingAmount");
      return async (shop) => {
        const payments = await shop.read(`/purchase-orders/${purchaseOrderId}/payments`);
        assert.equal(payments("summary", "outstandingAmount"), outstanding);
        assert.ok(Number(outstanding) > 0);
        const { grandTotal } = await shop.order(purchaseOrderId);
        const [paid, credit] = ["paidAmount", "creditAmount"].map((member) => Number(payments("summary", member)));
        assert.equal(Number(grandTotal).toFixed(2), (Number(outstanding) + Number(paid) + Number(credit)).toFixed(2));
      };
    },
  },
  {
    // To find out: which order it is, and that its goods are at the storefront afterwards.
    name: "The storefront is back: tell it what it missed of the roastery's delivery, and close that order",
    async run(day) {
      const missed = (await day.needing("unsynced")).find(({ supplierName }) => supplierName === "Maasbrand Roastery");
      assert.ok(missed !== undefined);
      const synced = await day.follow(missed.nextStep);
      assert.equal(synced.at("confirmation", "status"), "verified");
      const completed = await day.follow(synced.at("nextStep"));
      assert.equal(completed.at("status", "after"), "Completed");
      return async (shop) => {
        const { status, storefrontSyncState } = await shop.order(missed.purchaseOrderId);
        assert.deepEqual([status, storefrontSyncState], ["Completed", "synced"]);
      };
    },
  },
  {
    // To find out: where held orders go back to, how the rest of a line is given up, and that stock was never pushed.
    name: "The dispute about cups is settled and the price list is here: both orders go on. The missing filters will not come: close short",
    async run(day) {
      const [disputed] = await day.needing("disputed");
      assert.ok(disputed !== undefined);
      const settled = await day.follow(disputed.nextStep);
      const done = await day.follow(settled.at("nextStep"));
      assert.equal(done.at("status", "after"), "Completed");

      const onHold = await day.running("On Hold");
      const before = onHold.previousStatus;
      await day.call("purchase_order_status", { purchaseOrderId: onHold.purchaseOrderId, status: before });

      const short = (await day.needing("unsynced")).find(({ status }) => status === "Partially Received");
      assert.ok(short !== undefined);
      const { purchaseOrderId } = short;
      const [filters] = await day.lines(purchaseOrderId);
      assert.ok(filters !== undefined && filters.productName.includes("Filter"));
      const given = await day.call("purchase_order_line_item_update", {
        purchaseOrderId,
        lines: [{ lineItemId: filters.lineItemId, quantityCancelled: filters.quantityPending }],
      });
      const pushed = await day.follow(given.at("nextStep"));
      assert.equal(pushed.at("confirmation", "status"), "verified");
      const closed = await day.follow(pushed.at("nextStep"));
      assert.equal(closed.at("status", "after"), "Completed");
      return async (shop) => {
        assert.equal((await shop.order(disputed.purchaseOrderId))["status"], "Completed");
        assert.equal((await shop.order(onHold.purchaseOrderId))["status"], before);
        assert.partialDeepStrictEqual(await shop.order(purchaseOrderId), {
          status: "Completed",
          quantityPending: 0,
          storefrontSyncState: "synced",
        });
        const line = (await shop.lines(purchaseOrderId)).get(filters.productName);
        assert.partialDeepStrictEqual(line, { quantityCancelled: filters.quantityPending, quantityPending: 0 });
      };
    },
  },
];

const daysOf = (row: z.output<typeof attentionSchema>[number], reason: string): number =>
  row.reasons.find((each) => each.reason === reason)?.days ?? -1;

test(`a purchasing agent's day: nine tasks in at most ${callsMax} calls and ${tokensMax} tokens, none refused`, async (t) => {
  await withProgram(
    async (program) => {
      await using agent = await connectAgent({ url: program.url, writeKey: program.word("write key") });
      const day = new Day(agent);
      const shop = new Shop(program);
      for (const [index, task] of tasks.entries()) {
        const { calls, tokens } = day;
        const holds = await task.run(day);
        t.diagnostic(`${index + 1}. ${day.calls - calls} calls, ${day.tokens - tokens} tokens: ${task.name}`);
        await holds(shop);
      }
      t.diagnostic(`together ${day.calls} calls, ${day.tokens} tokens`);
      assert.equal(tasks.length, 9);
      assert.ok(day.calls <= callsMax, `${day.calls} calls`);
      assert.ok(day.tokens <= tokensMax, `${day.tokens} tokens`);
    },
    { OPENPO_DEMO: "1" },
  );
});
