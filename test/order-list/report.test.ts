/** The report of purchases (C70a): sums of orders by group, each at its own rates. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { fxRate } from "../support/goods.ts";
import { type Agent, connectAgent, type ToolAnswer } from "../support/mcp.ts";
import { randomOf } from "../world/random.ts";

const suppliers = ["mill", "forge", null];
const statuses = ["Draft", "Sent", "In Progress", "Partially Received", "Completed", "Cancelled"] as const;

/** An order of the test: what a report has to sum. */
interface Known {
  readonly status: string;
  readonly supplierId: string | null;
  readonly month: string;
  /** Of one of the order's currency in the shop's; null: there is none. */
  readonly rate: number | null;
  readonly ordered: number;
  readonly received: number;
  readonly isClosed: boolean;
  readonly shipping: number;
  readonly paid: number;
}

const unitCost = 2.5;

/** Imports orders of random status, supplier, age and currency, each of one line. */
async function bringOrders(server: GoodsServer, count: number): Promise<readonly Known[]> {
  const random = randomOf("report");
  await server.bring([{ type: "supplier", supplierId: "forge", name: "Forge & Sons", currencyCode: "USD" }]);
  const known: Known[] = [];
  const records: object[] = [];
  for (let index = 0; index < count; index += 1) {
    const status = random.pick(statuses);
    const supplierId = random.pick(suppliers);
    const [currencyCode, rate] = random.pick([
      ["EUR", 1],
      ["USD", 0.5],
      ["CAD", null],
    ] as const);
    const month = random.pick(["2026-01", "2026-02"]);
    const ordered = 1 + random.int(0, 19);
    const received = status === "Partially Received" || status === "Completed" ? random.int(0, ordered - 1) : 0;
    const [shipping, paid] = [random.int(0, 4), random.int(0, 8)];
    known.push({
      status,
      supplierId,
      month,
      rate,
      ordered,
      received,
      isClosed: status === "Completed" || status === "Cancelled",
      shipping,
      paid,
    });
    records.push({
      type: "purchaseOrder",
      purchaseOrderId: `po_${index}`,
      poNumber: `PO-${index}`,
      status,
      ...(status === "Cancelled" ? { previousStatus: "Sent" } : {}),
      supplierId,
      locationId: "warehouse",
      currencyCode,
      shippingCost: shipping,
      // In the shop's zone, Berlin, the month has begun an hour before.
      createdAt: month === "2026-01" ? "2025-12-31T23:30:00.000Z" : "2026-02-10T12:00:00.000Z",
      lineItems: [
        {
          poLineItemId: "a",
          variantId: "red",
          quantityOrdered: ordered,
          quantityReceived: received,
          quantitySynced: received,
          unitCost,
          unitCostCurrencyCode: currencyCode,
        },
      ],
      payments:
        paid === 0
          ? []
          : [
              {
                paymentId: "p",
                paymentType: "deposit",
                status: "Paid",
                amount: paid,
                currencyCode,
                createdAt: "2026-02-11T00:00:00.000Z",
              },
            ],
    });
  }
  await server.bring(records);
  return known;
}

/** What a report says of these orders. */
function sumsOf(orders: readonly Known[]) {
  const sum = (valueOf: (order: Known) => number): number =>
    orders.reduce((total, order) => total + valueOf(order) * (order.rate ?? 0), 0);
  const owed = (order: Known): number => (order.isClosed ? order.received : order.ordered) * unitCost + order.shipping;
  return {
    orderCount: orders.length,
    orderedValue: sum((order) => order.ordered * unitCost),
    receivedValue: sum((order) => order.received * unitCost),
    openValue: sum((order) => (order.isClosed ? 0 : order.ordered - order.received) * unitCost),
    owedValue: sum(owed),
    outstandingValue: sum((order) => owed(order) - order.paid),
    currencyCode: "EUR",
    unpricedOrderCount: orders.filter((order) => order.rate === null).length,
  };
}

async function reported(agent: Agent, input: object): Promise<ToolAnswer> {
  const answer = await agent.call("purchase_report", input);
  assert.ok(!answer.isError, answer.text);
  return answer;
}

const rowsOf = (answer: ToolAnswer): readonly Readonly<Record<string, unknown>>[] => {
  const rows: readonly Readonly<Record<string, unknown>>[] = JSON.parse(JSON.stringify(answer.at("rows")));
  return rows;
};

const isPlaced = ({ status }: Known): boolean => status !== "Draft" && status !== "Cancelled";

test("orders are summed by supplier, status, month and location, each at its own rates; the rows sum up to the total", async () => {
  await using server = await startGoodsServer({ shop: { timezone: "Europe/Berlin", fxRates: { USD: fxRate(0.5) } } });
  await using agent = await connectAgent(server, { key: server.readKey });
  const known = await bringOrders(server, 120);
  const keyOf = {
    supplier: (order: Known) => order.supplierId,
    status: (order: Known) => order.status,
    month: (order: Known) => order.month,
    location: () => "warehouse",
  } as const;
  for (const groupBy of ["supplier", "status", "month", "location"] as const) {
    const wanted = groupBy === "status" ? known : known.filter(isPlaced);
    const answer = await reported(agent, { groupBy });
    const expected = Map.groupBy(wanted, keyOf[groupBy]);
    const rows = rowsOf(answer);
    assert.equal(rows.length, expected.size, groupBy);
    for (const { key, name: _, ...sums } of rows)
      assert.deepEqual(sums, sumsOf(expected.get(key as string | null) ?? []), `${groupBy} ${String(key)}`);
    assert.deepEqual(answer.at("total"), sumsOf(wanted));
  }
  const names = rowsOf(await reported(agent, { groupBy: "supplier" })).map(({ key, name }) => [key, name]);
  assert.deepEqual(
    new Map(names as [string | null, string | null][]),
    new Map([
      ["mill", "The Mill"],
      ["forge", "Forge & Sons"],
      [null, null],
    ]),
  );
  const drafts = known.filter(({ status, month }) => status === "Draft" && month === "2026-02");
  const some = await reported(agent, { groupBy: "location", status: ["Draft"], from: "2026-02-01", to: "2026-02-28" });
  assert.deepEqual(some.at("total"), sumsOf(drafts));
});

for (const [timezone, createdAt, date, other] of [
  ["Pacific/Auckland", "2026-02-28T11:30:00.000Z", "2026-03-01", "2026-02-28"],
  ["America/Los_Angeles", "2026-03-01T07:30:00.000Z", "2026-02-28", "2026-03-01"],
  // The clock is put forward in this night, which has 23 hours.
  ["America/Los_Angeles", "2026-03-09T06:30:00.000Z", "2026-03-08", "2026-03-09"],
] as const)
  test(`days of a report are the shop's, as its months are: ${createdAt} in ${timezone}`, async () => {
    await using server = await startGoodsServer({ shop: { timezone } });
    await using agent = await connectAgent(server, { key: server.readKey });
    await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 1 }], { createdAt });
    const counted = async (range: object): Promise<unknown> =>
      (await reported(agent, { groupBy: "month", ...range })).at("total", "orderCount");
    assert.equal(await counted({ from: date, to: date }), 1);
    assert.equal(await counted({ from: other, to: other }), 0);
    assert.equal(await counted(date > other ? { to: other } : { from: other }), 0);
    assert.equal(await counted({ from: createdAt, to: createdAt }), 1, "an instant is one anywhere");
    assert.equal(await counted({ from: date, to: createdAt }), 1);
    const [month] = rowsOf(await reported(agent, { groupBy: "month", from: date, to: date }));
    assert.equal(month?.["key"], date.slice(0, 7));
    const refused = await agent.call("purchase_report", { groupBy: "month", from: createdAt, to: "2026-02-01" });
    assert.deepEqual(refused.at("error", "details"), [{ path: "/to", message: "must not be before from" }]);
  });

test("rows come by what was ordered, months by their age, page by page", async () => {
  await using server = await startGoodsServer({ shop: { timezone: "Europe/Berlin", fxRates: { USD: fxRate(0.5) } } });
  await using agent = await connectAgent(server, { key: server.readKey });
  await bringOrders(server, 60);
  const months = rowsOf(await reported(agent, { groupBy: "month" }));
  assert.deepEqual(
    months.map(({ key }) => key),
    ["2026-02", "2026-01"],
  );
  const whole = rowsOf(await reported(agent, { groupBy: "status" }));
  const values = whole.map((row) => Number(row["orderedValue"]));
  assert.deepEqual(
    values,
    values.toSorted((one, other) => other - one),
  );
  const paged: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await reported(agent, { groupBy: "status", limit: 4, ...(cursor === undefined ? {} : { cursor }) });
    assert.equal(page.at("totalCount"), whole.length);
    paged.push(...rowsOf(page));
    cursor = page.at("cursor");
  } while (cursor !== null);
  assert.deepEqual(paged, whole);
});
