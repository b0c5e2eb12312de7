/**
 * The program is killed (-9) while a supplier with many orders, prices and credits is merged: all of them go over or none, and the same call
 * again ends in one merge (C86). Requests of another shop come meanwhile, so that the merge gives way between its parts.
 *
 * `OPENPO_TEST_MERGE_KILLS` is the number of kills, `OPENPO_TEST_MERGE_SEED` seeds their times.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject, type JsonObject, parseJson } from "../../src/base/json.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { pause } from "../support/until.ts";
import { randomOf } from "../world/random.ts";

const killCount = Number(process.env["OPENPO_TEST_MERGE_KILLS"] ?? 4);
const seed = Number(process.env["OPENPO_TEST_MERGE_SEED"] ?? 20_261_129);
const [orderCount, creditCount, priceCount] = [240, 20, 200];
const shop = "/admin/v1/shops/shop";
const other = "/admin/v1/shops/other";

const nameOf = (nth: number): string => `Supplier ${nth}.`;

const records = (): readonly object[] => [
  { type: "location", locationId: "dock", name: "Dock" },
  { type: "supplier", supplierId: "s0", name: nameOf(0), currencyCode: "EUR" },
  ...Array.from({ length: priceCount }, (_, nth) => ({
    type: "variant",
    variantId: `v${nth}`,
    productId: "shirt",
    productName: "Shirt",
  })),
  ...Array.from({ length: priceCount }, (_, nth) => ({
    type: "supplierVariant",
    supplierId: "s0",
    variantId: `v${nth}`,
    unitCost: 2,
  })),
  ...Array.from({ length: creditCount }, (_, nth) => ({
    type: "supplierCredit",
    creditId: `c${nth}`,
    supplierId: "s0",
    amount: 3,
    currencyCode: "EUR",
  })),
  ...Array.from({ length: orderCount }, (_, nth) => ({
    type: "purchaseOrder",
    purchaseOrderId: `o${nth}`,
    status: "Sent",
    supplierId: "s0",
    locationId: "dock",
    ...(nth % 4 === 0 ? { deletedAt: "2026-01-01T00:00:00.000Z" } : {}),
    lineItems: [{ poLineItemId: "a", variantId: `v${nth % priceCount}`, quantityOrdered: 2, unitCost: 2 }],
  })),
];

/** The records of the shop that name a supplier, in order. */
async function namingRecords(program: RunningProgram, token: string): Promise<readonly JsonObject[]> {
  const exported = await program.ask("GET", `${shop}/export`, token);
  assert.equal(exported.status, 200, exported.text);
  return exported.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parseJson(Buffer.from(line)))
    .filter(isJsonObject)
    .filter(({ supplierId }) => supplierId !== undefined);
}

async function eventCount(program: RunningProgram, token: string): Promise<unknown> {
  const told = await program.ask("GET", `${shop}/events?types=purchase_order.updated&limit=1`, token);
  assert.equal(told.status, 200, told.text);
  return told.at("data", "totalCount");
}

/** Asks for something of another shop all the time, until the program ends. */
async function readBeside(program: RunningProgram, token: string, over: AbortSignal): Promise<void> {
  for (; !over.aborted; await pause(5)) await program.ask("GET", `${other}/suppliers`, token).catch(() => null);
}

const begin = async (directory: string): Promise<RunningProgram> =>
  await serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", PORT: "0", OPENPO_LOG_LEVEL: "fatal" });

test("a kill while a supplier is merged leaves all of it merged or nothing; the same call again ends in one merge", async (context) => {
  const random = randomOf(String(seed));
  const found = { open: 0, merged: 0 };
  await withDirectory(async (directory) => {
    let program = await begin(directory);
    const token = program.adminToken;
    for (const path of [shop, other]) await program.ask("PUT", path, token, { name: "Shop", currencyCode: "EUR" });
    const file = records().map((record) => JSON.stringify(record));
    const brought = await program.ask("POST", `${shop}/import`, token, file.join("\n"));
    assert.equal(brought.status, 200, brought.text);
    let [tookMs, events] = [100, Number(await eventCount(program, token))];
    for (let kill = 0; kill <= killCount; kill += 1) {
      const [from, into] = [`s${kill}`, `s${kill + 1}`];
      const made = await program.ask("POST", `${shop}/suppliers`, token, {
        supplierId: into,
        name: nameOf(kill + 1),
        currencyCode: "EUR",
      });
      assert.equal(made.status, 201, made.text);
      const before = await namingRecords(program, token);
      const merge = (key: string) =>
        program.ask("POST", `${shop}/suppliers/${from}/merge`, token, { into }, { "Idempotency-Key": key });
      // On PostgreSQL the key of a request that was killed is in flight until its lease ends.
      let keyAgain = from;
      const over = new AbortController();
      const beside = readBeside(program, token, over.signal);
      const startedMs = performance.now();
      const merging = merge(from).catch(() => null);
      if (kill === 0) {
        assert.equal((await merging)?.status, 200);
        tookMs = performance.now() - startedMs;
        over.abort();
      } else {
        await pause(((kill - random.next()) / killCount) * tookMs);
        over.abort();
        await program.end("SIGKILL");
        const answered = await merging;
        program = await begin(directory);
        const after = await namingRecords(program, token);
        const isMerged = after.some(({ type, supplierId }) => type === "supplierMerge" && supplierId === from);
        found[isMerged ? "merged" : "open"] += 1;
        if (!isMerged) {
          assert.equal(answered, null, "what was answered is kept");
          keyAgain = `${from} again`;
          assert.deepEqual(after, before);
          assert.equal(await eventCount(program, token), events);
        }
      }
      await beside;
      const again = await merge(keyAgain);
      assert.equal(again.status, 200, again.text);
      assert.deepEqual(again.at("data", "moved"), {
        orders: (orderCount * 3) / 4,
        supplierVariants: priceCount,
        credits: creditCount,
      });
      const end = await namingRecords(program, token);
      const count = (kind: string): number =>
        end.filter(({ type, supplierId }) => type === kind && supplierId === into).length;
      assert.deepEqual(["purchaseOrder", "supplierVariant", "supplierCredit"].map(count), [
        orderCount,
        priceCount,
        creditCount,
      ]);
      const told = `Merged the supplier ${nameOf(kill)} into ${nameOf(kill + 1)}.`;
      for (const order of end.filter(({ type }) => type === "purchaseOrder"))
        assert.equal(
          JSON.stringify(order).split(told).length - 1,
          order["deletedAt"] === undefined || order["deletedAt"] === null ? 1 : 0,
          "each order's log tells of it once",
        );
      events += (orderCount * 3) / 4;
      assert.equal(await eventCount(program, token), events);
    }
    context.diagnostic(`after the kills ${found.open} were not merged and ${found.merged} were`);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
