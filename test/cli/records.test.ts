/** The commands on what a shop keeps, on approvals and on comments, against a server in this process. */
// Only on sqlite: its subject is the command and what it prints.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { recordOperations } from "../../src/admin/catalogue/records.ts";
import { readArguments } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/commands.ts";
import { CommandError, commandErrorOf } from "../../src/cli/errors.ts";
import { openOutput } from "../../src/cli/output.ts";
import { inWordsOf } from "../../src/cli/words.ts";
import { readConfig } from "../../src/service/config.ts";
import { type GoodsServer, lineA, startGoodsServer } from "../support/goods-server.ts";
import { adminToken } from "../support/server.ts";

/** Runs a command as the program does, and returns what it prints. @throws CommandError as the program would show it. */
async function openpo(server: GoodsServer, line: readonly string[], isJson = false): Promise<string> {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => word === line[index]));
  assert.ok(command !== undefined, line.join(" "));
  const args = readArguments(command, [...line.slice(command.name.split(" ").length), "--shop", server.shopId]);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const url = `http://127.0.0.1:${server.port}`;
  try {
    await command.run(args, {
      config: readConfig({ OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DATA_DIR: "/nonexistent/openpo" }),
      url,
      named: { port: false, dataDir: null },
      output: openOutput({ stdout, stderr, json: isJson, progress: false }),
      stdin: () => new PassThrough(),
      nowMs: 0,
    });
  } catch (thrown) {
    const error = commandErrorOf(thrown);
    throw error === null ? thrown : inWordsOf(command, args, error);
  }
  stdout.end();
  return await text(stdout);
}

test("each operation on records has a command", () => {
  const asked = new Set(commands.flatMap(({ operation }) => operation ?? []));
  // A file of prices does what the paste of a sheet does: openpo import --format supplier-prices.
  const without = ["supplier_variant_update"];
  assert.deepEqual(
    recordOperations.map(({ name }) => name).filter((name) => !asked.has(name)),
    without,
  );
});

for (const [noun, fields] of Object.entries({
  supplier: ["name=Nordwind", "leadTimeDays=7", 'address={"city":"Rotterdam"}', "email=a@nord.example"],
  variant: ["productName=Mug", "sku=M-1", 'reorder={"minimum":4}'],
  location: ["name=Pier", 'address={"city":"Delft"}'],
}))
  test(`a ${noun} is added, shown, listed, changed, archived and deleted, and its history tells of it`, async () => {
    await using server = await startGoodsServer({ console: true });
    const sets = (values: readonly string[]): readonly string[] => values.flatMap((value) => ["--set", value]);
    const id = `new_${noun}`;
    const create = [noun, "create", ...sets([`${noun}Id=${id}`, ...fields])];
    assert.equal(await openpo(server, create), `The ${noun} ${id} is added.\n`);
    const shown = await openpo(server, [noun, "show", id]);
    for (const field of fields) {
      const [name = "", value = ""] = field.split("=");
      assert.match(shown, new RegExp(`^${name} +.*${value.replace(/[{}"]/g, "").split(":").at(-1) ?? ""}`, "m"));
    }
    assert.ok((await openpo(server, [noun, "list", "--limit", "50"])).includes(id));
    const name = noun === "variant" ? "productName" : "name";
    await openpo(server, [noun, "edit", id, ...sets([`${name}=Other`])]);
    assert.match(await openpo(server, [noun, "list", "--search", "other"]), new RegExp(`^${id} +Other`, "m"));
    assert.equal(await openpo(server, [noun, "archive", id]), `The ${noun} ${id} is archived.\n`);
    const history: { history: { action: string; operation: string }[] } = JSON.parse(
      await openpo(server, [noun, "history", id], true),
    );
    assert.deepEqual(
      history.history.map(({ action }) => action),
      ["changed", "changed", "created"],
    );
    assert.match(await openpo(server, [noun, "history", id]), new RegExp(`operator .*${name}: \\S+ → Other`));
    assert.equal(await openpo(server, [noun, "delete", id]), `The ${noun} ${id} is deleted.\n`);
    await assert.rejects(openpo(server, [noun, "show", id]), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(String(error.action), new RegExp(`^openpo ${noun} list --shop `));
      return true;
    });
  });

test("prices are set, listed and removed; stock is set with a reason; a supplier is merged into another one", async () => {
  await using server = await startGoodsServer({ console: true });
  await openpo(server, ["supplier", "create", "--set", "supplierId=loom", "--set", "name=Loom"]);
  await openpo(server, ["supplier", "price", "loom", "blue", "--set", "unitCost=4.25", "--set", "supplierSku=007"]);
  assert.match(await openpo(server, ["supplier", "prices", "loom"]), /^blue +Shirt, blue +- +4\.25 /m);
  const set = ["variant", "stock", "blue", "warehouse", "12.5", "--reason", "Counted."];
  assert.equal(await openpo(server, set), "On hand now: 12.5.\n");
  await assert.rejects(openpo(server, ["variant", "stock", "blue", "warehouse", "many"]), /ON_HAND: /);
  await assert.rejects(openpo(server, ["supplier", "edit", "loom", "--set", "email"]), /must be NAME=VALUE/);
  assert.match(await openpo(server, ["supplier", "merge", "loom", "mill"]), /^loom is merged into mill: 0 orders\.$/m);
  assert.match(await openpo(server, ["supplier", "prices", "mill"]), /^blue /m);
  const removed = await openpo(server, ["supplier", "unlist", "mill", "blue"]);
  assert.equal(removed, "The price of blue of mill is removed.\n");
});

test("what waits for a decision is listed, approved and rejected, and an order is commented on", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Draft", [lineA]);
  const { apiKey } = await server.addKey("propose");
  const proposed = async (note: string): Promise<string> => {
    const answered = await server.patch(server.order(), { note }, { key: apiKey });
    assert.equal(answered.status, 202, answered.text);
    return answered.textAt("data", "approvalRequest", "approvalRequestId");
  };
  const [first, second] = [await proposed("one"), await proposed("two")];
  const waiting = await openpo(server, ["approval", "list", "--status", "pending", "--order", "po_1"]);
  for (const each of [first, second]) assert.match(waiting, new RegExp(`${each} +pending .* the propose key`));
  assert.match(await openpo(server, ["approval", "list", "--limit", "1"]), /There are more: --cursor \S+/);
  const approve = ["approval", "approve", first, "--comment", "Go on."];
  assert.equal((await openpo(server, approve)).trim(), `Request ${first} is approved.`);
  assert.equal((await openpo(server, ["approval", "reject", second])).trim(), `Request ${second} is rejected.`);
  assert.match(await openpo(server, ["approval", "list", "--status", "pending"]), /There are none\./);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "note"), "one");
  assert.match(await openpo(server, ["order", "comment", "po_1", "They call on Monday."]), /^Comment \S+ is added\./);
  assert.match(await openpo(server, ["order", "comments", "po_1"]), /They call on Monday\./);
});
