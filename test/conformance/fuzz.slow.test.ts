/**
 * Random walks: sequences of requests over the whole API, generated from its document. No answer may be a 5xx or undocumented, and every
 * order in an answer must keep its invariants. The suite runs the same few walks each time. For new walks for a given time, run
 * `npm run test:fuzz`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { Status } from "../../src/core/order/purchase-order.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { fuzzer, type Pool, remember } from "../support/openapi/fuzz.ts";
import { type GoodsServer, lineA, lineB, type OrderLine, startGoodsServer } from "../support/goods-server.ts";
import { world } from "../support/shops/read-only.ts";
import { view } from "../support/openapi/ready.ts";

const seconds = Number(process.env["OPENPO_FUZZ_SECONDS"] ?? 0);
const suiteRuns = { numRuns: 15, seed: 7 };
const stepsMax = 60;
/** In walks of this length every operation succeeds at least once. */
const everythingDoneSeconds = 60;
const document = openApiDocument(restOperations);

/** Returns every order with lines in an answer, at any depth. */
function* ordersIn(value: Json | undefined): Generator<JsonObject> {
  if (value === undefined || typeof value !== "object" || value === null) return;
  if (isJsonObject(value) && value["poNumber"] !== undefined && value["lineItems"] !== undefined) yield value;
  for (const member of Object.values(value)) yield* ordersIn(member);
}

const figure = (line: JsonObject, name: string): number => Number(line[name]);
const thousandths = (value: number): number => Math.round(value * 1000);

/** Checks the invariants of an order in an answer (C29). */
function checkOrder(order: JsonObject): void {
  const lines = isJsonArray(order["lineItems"] ?? null) ? (order["lineItems"] as readonly JsonObject[]) : [];
  assert.equal(order["itemCount"], lines.length);
  assert.equal(new Set(lines.map((line) => line["poLineItemId"])).size, lines.length);
  for (const line of lines) {
    for (const [name, value] of Object.entries(line))
      if (name.startsWith("quantity")) assert.ok(Number(value) >= 0, `${name} is ${JSON.stringify(value)}`);
    const [ordered, confirmed] = [figure(line, "quantityOrdered"), figure(line, "quantityConfirmed")];
    assert.ok(confirmed <= ordered, "confirmed above ordered");
    const gone =
      figure(line, "quantityReceived") + figure(line, "quantityRejected") + figure(line, "quantityCancelled");
    const pending = Math.max(0, thousandths(confirmed > 0 ? confirmed : ordered) - thousandths(gone));
    assert.equal(thousandths(figure(line, "quantityPending")), pending, JSON.stringify(line));
  }
}

const confirmed = (line: OrderLine): OrderLine => ({ ...line, quantityConfirmed: line.quantityOrdered });
const partlyReceived = (line: OrderLine): OrderLine => ({ ...confirmed(line), quantityReceived: 3, quantitySynced: 3 });
const received = (line: OrderLine): OrderLine => {
  const { quantityOrdered } = line;
  return { ...confirmed(line), quantityReceived: quantityOrdered, quantitySynced: quantityOrdered };
};

/** Orders in various statuses, so that a walk need not reach each by itself: a status, and the quantities of a line in it. */
const onTheirWay: readonly (readonly [status: Status, (line: OrderLine) => OrderLine])[] = [
  ["Draft", (line) => line],
  ["Sent", (line) => line],
  ["Confirmed", confirmed],
  ["In Progress", confirmed],
  ["In Progress", confirmed],
  ["Partially Received", partlyReceived],
  ["Received", received],
  ["Completed", received],
];

async function furnish(server: GoodsServer, pool: Pool, walk: number): Promise<void> {
  const orders = onTheirWay.map(([status, state], index) => ({
    type: "purchaseOrder",
    purchaseOrderId: `po_${walk}_${index}`,
    status,
    supplierId: "mill",
    locationId: "warehouse",
    lineItems: [lineA, lineB].map((line) => ({
      ...state(line),
      poLineItemId: `${line.poLineItemId}_${walk}_${index}`,
    })),
  }));
  await server.bring(orders);
  for (const order of orders) remember(pool, order);
}

test("no random walk gets a 5xx, an undocumented answer or an order that breaks an invariant", async (t) => {
  await using server = await startGoodsServer({ shop: { confirmationWaitMs: 200, followOnWaitMs: 50 } });
  await server.bring([...world, view]);
  const seen = new Map<string, number>();
  const done = new Map<string, number>();
  let walks = 0;
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const pool: Pool = new Map([
        ["variantId", ["red", "blue", "green", "CSTM-1"]],
        ["supplierId", ["mill"]],
        ["locationId", ["warehouse"]],
        ["stockTakeId", ["st_1"]],
        ["stockAdjustmentId", ["sa_1"]],
        ["transferOrderId", ["to_1"]],
        ["manufacturingOrderId", ["mo_1"]],
        ["viewId", ["view_1"]],
      ]);
      walks += 1;
      await furnish(server, pool, walks);
      const source = fuzzer(document, pool, draw);
      const told: string[] = [];
      for (let step = 0; step < stepsMax; step += 1) {
        const { operation, method, target, body, headers } = source.next();
        told.push(`${method} ${target} ${JSON.stringify(body)}`);
        try {
          const answer = await server.request(method, target, { body: JSON.stringify(body), headers });
          assert.ok(
            answer.status < 500,
            `${answer.text}\n${server.logged.findLast((line) => line.includes(`"error"`))}`,
          );
          seen.set(`${method} ${answer.status}`, (seen.get(`${method} ${answer.status}`) ?? 0) + 1);
          const parsed: Json = answer.text === "" || target.endsWith("openapi.json") ? null : JSON.parse(answer.text);
          if (answer.status < 300) {
            remember(pool, parsed);
            done.set(operation, (done.get(operation) ?? 0) + 1);
          }
          for (const order of ordersIn(parsed)) checkOrder(order);
        } catch (error) {
          throw new Error(`after\n${told.slice(-8).join("\n")}`, { cause: error });
        }
      }
    }),
    seconds === 0
      ? { ...suiteRuns, endOnFailure: true }
      : {
          numRuns: 1_000_000,
          interruptAfterTimeLimit: seconds * 1000,
          markInterruptAsFailure: false,
          endOnFailure: true,
        },
  );
  t.diagnostic(
    `${walks} walks: ${[...seen]
      .map(([what, count]) => `${what} ×${count}`)
      .sort()
      .join(", ")}`,
  );
  t.diagnostic(
    `done: ${[...done]
      .map(([operation, count]) => `${operation} ×${count}`)
      .sort()
      .join(", ")}`,
  );
  assert.ok((seen.get("POST 200") ?? 0) > 0 && (seen.get("PATCH 200") ?? 0) > 0, "some writes succeed");
  if (seconds >= everythingDoneSeconds)
    assert.deepEqual(
      restOperations.map(({ name }) => name).filter((name) => !done.has(name)),
      [],
      "every operation succeeds at least once",
    );
});
