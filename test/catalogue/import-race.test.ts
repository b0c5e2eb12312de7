/** Imports and edits of the same records at once: no change under a version is lost, histories are whole, no state is a mix (C85, T2). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { fileFormat } from "../../src/exchange/csv-formats.ts";
import { importRecords } from "../../src/exchange/import.ts";
import { loadShop } from "../../src/shop/access/accounts.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs } from "../support/people.ts";

const supplierOf = async (server: GoodsServer) => {
  const answer = await askAdmin(server, "GET", `/shops/${server.shopId}/suppliers/mill`);
  const supplier = answer.at("data", "supplier");
  assert.ok(supplier !== undefined && isJsonObject(supplier), answer.text);
  return { supplier, etag: String(answer.headers["etag"]) };
};

/** The supplier's own history, without that of its prices, oldest first. */
async function historyOf(server: GoodsServer): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = [];
  for (let cursor = ""; ;) {
    const target = `/shops/${server.shopId}/history?kind=supplier&id=mill&limit=50${cursor}`;
    const page = await askAdmin(server, "GET", target);
    const rows = page.at("data", "history");
    assert.ok(rows !== undefined && isJsonArray(rows), page.text);
    entries.push(...rows.filter(isJsonObject).filter(({ variantId }) => variantId === null));
    const next = page.at("data", "cursor");
    if (typeof next !== "string") return entries.toReversed();
    cursor = `&cursor=${next}`;
  }
}

const changesOf = ({ changes = null }: JsonObject): readonly JsonObject[] =>
  isJsonArray(changes) ? changes.filter(isJsonObject) : [];

const nameOf = (field: Json | undefined): string => (typeof field === "string" ? field : "");

/** What one writer writes: each field says whose it is. */
const written = (tag: string) => ({
  email: `${tag}@mill.example`,
  phone: tag,
  address: { address1: tag, city: tag, zip: tag },
});

/** The writer of every field of a state. */
function writerOf(state: Readonly<Record<string, Json | undefined>>): string {
  const { email = null, phone = null, address = null } = state;
  const parts = address !== null && isJsonObject(address) ? address : {};
  const tags = [
    nameOf(email).replace("@mill.example", ""),
    phone,
    ...["address1", "city", "zip"].map((name) => parts[name]),
  ];
  assert.equal(new Set(tags).size, 1, `a mix that nobody wrote: ${JSON.stringify(state)}`);
  return nameOf(tags[0]);
}

test("of imports and edits that race for a supplier each is whole, and its history tells each with what it replaced", async () => {
  await using server = await startGoodsServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const key = await (await signInAs(server, "owner", "Olga")).bearer();
  const begun = { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" };
  const bring = async (tag: string): Promise<void> => {
    const record = { ...begun, ...written(tag) };
    const answer = await askAdmin(server, "POST", `${shop}/import`, `${JSON.stringify(record)}\n`, { key });
    assert.equal(answer.status, 200, answer.text);
  };
  await bring("first");
  const rounds = 8;
  /** What an editor had read, by what it wrote in its place. */
  const replaced = new Map<string, string>();
  const importer = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await bring(`import-${round}`);
  };
  const editor = async (name: string): Promise<void> => {
    for (let round = 0; round < rounds; round += 1)
      for (;;) {
        const { supplier, etag } = await supplierOf(server);
        const tag = `${name}-${round}`;
        const answer = await askAdmin(server, "PATCH", `${shop}/suppliers/mill`, written(tag), {
          headers: { "If-Match": etag },
        });
        if (answer.status === 412) continue;
        assert.equal(answer.status, 200, answer.text);
        replaced.set(tag, writerOf(supplier));
        break;
      }
  };
  await Promise.all([importer(), editor("ana"), editor("ben")]);
  assert.equal(replaced.size, 2 * rounds);
  const [made = {}, begin = {}, ...entries] = await historyOf(server);
  const state: Record<string, Json | undefined> = {};
  for (const { field, after = null } of [...changesOf(made), ...changesOf(begin)]) state[nameOf(field)] = after;
  let writer = writerOf(state);
  assert.equal(writer, "first");
  const writers: string[] = [];
  for (const entry of entries) {
    for (const { field, before = null, after = null } of changesOf(entry)) {
      assert.deepEqual(before, state[nameOf(field)] ?? null, `${nameOf(field)} before ${JSON.stringify(entry)}`);
      state[nameOf(field)] = after;
    }
    const previous: string = writer;
    writer = writerOf(state);
    writers.push(writer);
    const seen = replaced.get(writer);
    if (seen !== undefined) assert.equal(seen, previous, `${writer} has replaced what it had not seen`);
  }
  const all = [...replaced.keys(), ...Array.from({ length: rounds }, (_, round) => `import-${round}`)];
  assert.deepEqual(writers.toSorted(), all.toSorted());
  assert.equal(writerOf((await supplierOf(server)).supplier), writer);
});

/** A file that is longer than what is read at once. While it comes, `meanwhile` runs. */
async function* slowFile(head: string, row: string, more: (nth: number) => string, meanwhile: () => Promise<void>) {
  const rest = Array.from({ length: 250 }, (_, nth) => more(nth));
  yield Buffer.from([head, row, ...rest, ""].join("\n"));
  await meanwhile();
  yield Buffer.from(`${more(250)}\n`);
}

test("what is edited while a file comes stays, where the file has no column for it; its history tells the rest", async () => {
  await using server = await startGoodsServer({ console: true });
  const { engine, clock, ids, shopId } = server;
  const shop = await engine.read(shopId, (tx) => loadShop(tx, shopId));
  assert.ok(shop !== null);
  const bring = (name: "suppliers" | "supplier-prices" | "shopify-products", file: AsyncGenerator<Uint8Array>) =>
    importRecords(
      { engine, clock, ids, loop: new LoopShare(), seedStorefront: async () => {} },
      shop,
      file,
      "req_test",
      fileFormat(name, { engine, shop, supplierId: null }),
    );
  const edit = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await askAdmin(server, method, `/shops/${shopId}${path}`, body);
    assert.equal(answer.status, 200, answer.text);
  };
  await bring(
    "suppliers",
    slowFile(
      "Supplier ID,Name,E-mail,City",
      "mill,Mill & Sons,new@mill.example,Rotterdam",
      (nth) => `s${nth},Supplier ${nth},,`,
      () =>
        edit("PATCH", "/suppliers/mill", {
          phone: "+31 10 1",
          contactName: "Bea",
          address: { city: "Delft", zip: "1" },
        }),
    ),
  );
  const { supplier } = await supplierOf(server);
  assert.deepEqual(
    [supplier["name"], supplier["email"], supplier["phone"], supplier["contactName"]],
    ["Mill & Sons", "new@mill.example", "+31 10 1", "Bea"],
  );
  const { address = null } = supplier;
  assert.ok(address !== null && isJsonObject(address));
  assert.deepEqual([address["city"], address["zip"]], ["Rotterdam", "1"]);
  const last = (await historyOf(server)).at(-1) ?? {};
  assert.deepEqual(changesOf(last), [
    { field: "name", before: "The Mill", after: "Mill & Sons" },
    { field: "email", before: null, after: "new@mill.example" },
    { field: "address", before: { ...address, city: "Delft" }, after: address },
  ]);

  await bring(
    "supplier-prices",
    slowFile(
      "Supplier ID,Variant ID,Unit cost",
      "mill,red,7",
      (nth) => `mill,v${nth},1`,
      () => edit("PUT", "/suppliers/mill/variants/red", { unitCost: 3, moq: 12, supplierSku: "R-1" }),
    ),
  );
  const listed = await askAdmin(server, "GET", `/shops/${shopId}/suppliers/mill/variants?limit=1`);
  const entry = listed.at("data", "supplierVariants", 0);
  assert.ok(entry !== undefined && isJsonObject(entry), listed.text);
  assert.deepEqual([entry["variantId"], entry["unitCost"], entry["moq"], entry["supplierSku"]], ["red", 7, 12, "R-1"]);

  await bring(
    "shopify-products",
    slowFile(
      "Handle,Title,Variant ID,Variant Price",
      "shirt,Shirt,red,9.50",
      (nth) => `h${nth},Title ${nth},v${nth},1`,
      () => edit("PATCH", "/variants/red", { sku: "RED-1", price: 5, reorder: { minimum: 4 } }),
    ),
  );
  const variant = (await askAdmin(server, "GET", `/shops/${shopId}/variants/red`)).at("data", "variant");
  assert.ok(variant !== undefined && isJsonObject(variant));
  const reorder = variant["reorder"] ?? null;
  assert.deepEqual(
    [variant["productName"], variant["price"], variant["sku"], isJsonObject(reorder) && reorder["minimum"]],
    ["Shirt", 9.5, "RED-1", 4],
  );
});
