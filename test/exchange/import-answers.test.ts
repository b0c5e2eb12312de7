/** What the answer of an import says when nothing comes in, and when a file is only checked (§8). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAdmin } from "../support/people.ts";
import { startServer, type TestServer } from "../support/server.ts";

const importOf = (server: TestServer, query: string, file: string) =>
  askAdmin(server, "POST", `/shops/${server.shopId}/import?${query}`, file);

test("a file of which nothing comes in is told so in warnings, checked or imported", async () => {
  await using server = await startServer({ console: true });
  const header = "Handle,Title,Variant Price";
  for (const [query, file, message] of [
    ["", "", "The file has no records."],
    ["", "\n\n", "The file has no records."],
    ["format=shopify-products", `${header}\n`, "The file has no row with anything to import below its head."],
    ["format=shopify-products", header, "The file has no row with anything to import below its head."],
  ] as const)
    for (const dryRun of [false, true]) {
      const answer = await importOf(server, `${query}&dryRun=${String(dryRun)}`, file);
      assert.equal(answer.status, 200, answer.text);
      const warnings = [{ path: "", reason: "no-records", message }];
      assert.deepEqual(
        answer.at("data"),
        dryRun
          ? { imported: {}, wouldImport: {}, replaced: {}, preview: { isTruncated: false, types: [] }, warnings }
          : { imported: {}, warnings },
      );
    }
});

test("a file with CR line ends that names its separator is checked as it is imported, and checking leaves nothing", async () => {
  await using server = await startServer({ console: true });
  const file = ["sep=;", "Handle;Title;Variant Price", "mug;Mug;9,50", "pot;Pot;1,25"].join("\r");
  const format = "format=shopify-products";
  const checked = await importOf(server, `${format}&dryRun=true`, file);
  const variant = { type: "variant", created: 2, changed: 0, unchanged: 0, fields: [], rows: [] };
  const preview = { isTruncated: false, types: [variant] };
  assert.deepEqual(checked.at("data"), { imported: {}, wouldImport: { variant: 2 }, replaced: {}, preview });
  const variants = async () =>
    (await askAdmin(server, "GET", `/shops/${server.shopId}/variants`, undefined)).at("data", "totalCount");
  assert.equal(await variants(), 0);
  const bad = await importOf(server, `${format}&dryRun=true`, `${file}\rcup;Cup;1.234`);
  assert.equal(bad.status, 400, bad.text);
  assert.match(bad.textAt("error", "details", 0, "message"), /^line 5, column "Variant Price"/);
  const imported = await importOf(server, format, file);
  assert.deepEqual(imported.at("data"), { imported: { variant: 2 } });
  assert.equal(await variants(), 2);
  assert.deepEqual((await importOf(server, `${format}&dryRun=true`, file)).at("data", "replaced"), { variant: 2 });
});
