/**
 * Merchants' files through the real command: beside a server and without one, in whole or not at all.
 */
// Only on sqlite: its subject is the reading of files; what they bring is imported as any other records.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { runCommand, serveProgram, withDirectory } from "../support/process.ts";

const files: Readonly<Record<string, string>> = {
  "shopify-products": "Handle,Title,Option1 Value,Variant SKU,Variant Price\nmug,Mug,Red,,12.50\nmug,,Blue,,12.50\n",
  "shopify-inventory": "Handle,Option1 Value,Location,On hand (current),On hand (new)\nmug,Red,Main,3,4\n",
  "supplier-prices": "Handle;Option1 Value;Unit cost;Currency\nmug;Red;3.25;USD\n",
  sales: "Date,Handle,Option1 Value,Quantity\n2026-03-01,mug,Red,2\n",
};
const imported: Readonly<Record<string, object>> = {
  "shopify-products": { variant: 2 },
  "shopify-inventory": { location: 1, inventoryLevel: 1 },
  "supplier-prices": { supplierVariant: 1 },
  sales: { sale: 1 },
};

/** Imports every file, then one with a bad row. @returns the shop's export. */
async function bringAll(directory: string, env: Readonly<Record<string, string>>): Promise<string> {
  const openpo = (...args: readonly string[]) => runCommand(args, env);
  assert.equal((await openpo("shop", "create", "acme", "--currency", "EUR")).code, 0);
  for (const [format, text] of Object.entries(files)) {
    const file = path.join(directory, `${format}.csv`);
    await writeFile(file, text);
    const supplier = format === "supplier-prices" ? ["--supplier", "s1"] : [];
    const { code, stdout, stderr } = await openpo(
      "import",
      "--shop",
      "acme",
      "--format",
      format,
      ...supplier,
      file,
      "--json",
    );
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { imported: imported[format] });
  }
  const before = (await openpo("export", "--shop", "acme")).stdout;
  const bad = path.join(directory, "bad.csv");
  const rows = Array.from({ length: 20_000 }, (_, index) => `p${index},Product,,,1.00\n`).join("");
  await writeFile(bad, `Handle,Title,Option1 Value,Variant SKU,Variant Price\n${rows}pot,Pot,,,"12,50"\n${rows}`);
  const refused = await openpo("import", "--shop", "acme", "--format", "shopify-products", bad, "--json");
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(
    refused.stderr,
    /^openpo: \S+bad\.csv: line 20002, column "Variant Price": must be a number like 1234\.50, not "12,50"$/m,
  );
  const said: { error: { code: string; details: { message: string }[] } } = JSON.parse(refused.stdout);
  assert.equal(said.error.code, "INVALID_INPUT");
  assert.match(said.error.details[0]?.message ?? "", /line 20002, column "Variant Price"/);
  assert.equal((await openpo("export", "--shop", "acme")).stdout, before, "nothing of it came in");
  const misplaced = await openpo("import", "--shop", "acme", "--supplier", "s1", bad);
  assert.equal(misplaced.code, 1);
  assert.match(misplaced.stderr, /--supplier: is for the format supplier-prices only/);
  const unknown = await openpo("import", "--shop", "acme", "--format", "excel", bad);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /--format must be one of ndjson, shopify-products,/);
  return before;
}

test("every format comes in the same beside a server and on a stopped directory", async () => {
  await withDirectory(async (directory) => {
    const stopped = await bringAll(directory, { OPENPO_DATA_DIR: path.join(directory, "stopped"), PORT: "9" });
    const data = path.join(directory, "served");
    const program = await serveProgram({ OPENPO_DATA_DIR: data, OPENPO_DEMO: "0" });
    const served = await bringAll(directory, { OPENPO_DATA_DIR: data, PORT: new URL(program.url).port });
    assert.equal(served, stopped);
    await program.end("SIGTERM");
  });
});
