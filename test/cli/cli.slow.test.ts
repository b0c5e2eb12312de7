/**
 * The command `openpo` as a person and a script run it, beside a running server and without one. What a process adds, its streams and its status, has a
 * test of its own; the others run in this one.
 */
// Only on sqlite: its subject is the command and what it prints; cli/nodes.slow.test.ts has the command beside nodes.
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import {
  type RunningProgram,
  onStore,
  runCommand,
  runProgram,
  serveProgram,
  withDirectory,
} from "../support/process.ts";
import { type Finished, startProgram } from "../support/programs/program.ts";
import { onPostgres } from "../support/store.ts";

const adminToken = "an-admin-token-for-tests";
/** Nothing listens there. */
const nobody = "http://127.0.0.1:9";
/** What a store leaves in a directory: nothing when it is in a database. */
const made = onPostgres ? [] : ["data"];
/** Methods, paths of the admin API and JSON pointers. A command has options and commands instead. */
const wordsOfRest = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/admin\/v1|(?:^|[\s;])(?:\/\w+)+: |details|Authorization/m;
const onDatabase = /^Working directly on postgres:\/\/\S+, beside the nodes that run on it\.$/m;

interface Place {
  readonly directory: string;
  /** Runs the command; `args` as typed. */
  readonly openpo: (args: readonly string[], stdin?: string) => Promise<Finished>;
  /** Runs it with --json and reads what it says. @throws when it did not end well. */
  readonly json: (args: readonly string[], stdin?: string) => Promise<unknown>;
}

const placeAt = (directory: string, env: Readonly<Record<string, string>>): Place => {
  const openpo = async (args: readonly string[], stdin?: string): Promise<Finished> => {
    const where = { OPENPO_DATA_DIR: path.join(directory, "data"), PORT: "9", ...env };
    const finished = await runCommand(args, where, stdin ?? null);
    assert.doesNotMatch(finished.stderr, wordsOfRest);
    return finished;
  };
  return {
    directory,
    openpo,
    async json(args, stdin) {
      const { code, stdout, stderr } = await openpo([...args, "--json"], stdin);
      assert.equal(code, 0, stderr);
      assert.equal(stdout.trim().split("\n").length, 1, "one line of JSON and nothing else");
      const value: unknown = JSON.parse(stdout);
      return value;
    },
  };
};

/** A store that no server has. */
const withStopped = (use: (place: Place) => Promise<void>): Promise<void> =>
  withDirectory((directory) => use(placeAt(directory, {})));

/** A store with a running server; commands find it by its data directory and port, or share its database. */
const withServer = (use: (place: Place, program: RunningProgram) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const program = await serveProgram({ OPENPO_DATA_DIR: path.join(directory, "data"), OPENPO_DEMO: "0" });
    try {
      await use(placeAt(directory, { PORT: new URL(program.url).port }), program);
    } finally {
      await program.end("SIGTERM");
    }
  });

/** Steps into parsed JSON. */
function at(value: unknown, ...steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  return found;
}

const records = [
  { type: "location", locationId: "loc", name: "Warehouse" },
  { type: "variant", variantId: "v1", productId: "p1", productName: "Kettle", sku: "K-1", unitCost: 19.99 },
  { type: "inventoryLevel", variantId: "v1", locationId: "loc", onHand: 3 },
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_1",
    poNumber: "PO-2000",
    status: "Sent",
    locationId: "loc",
    lineItems: [{ poLineItemId: "l1", variantId: "v1", quantityOrdered: 3, unitCost: 19.99 }],
  },
]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join("");

/** One shop's life, the same wherever it is. @param here  what the command says about where it works. */
async function lifeOfAShop({ openpo, json, directory }: Place, here: RegExp): Promise<void> {
  const acme = await json([
    "shop",
    "create",
    "acme",
    "--name",
    "Acme",
    "--currency",
    "EUR",
    "--setting",
    "onOrderTag=po",
  ]);
  assert.equal(at(acme, "shop", "currencyCode"), "EUR");
  assert.equal(at(acme, "shop", "settings", "onOrderTag"), "po");
  const again = await openpo(["shop", "create", "acme", "--json"]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /shop acme exists already/);
  assert.match(String(at(JSON.parse(again.stdout), "error", "message")), /already/);
  const updated = await json(["shop", "create", "acme", "--update", "--setting", 'fxRates={"USD":0.9}']);
  assert.equal(at(updated, "shop", "name"), "Acme");
  assert.equal(at(updated, "shop", "settings", "onOrderTag"), "po");
  assert.equal(at(updated, "shop", "settings", "fxRates", "USD"), 0.9);

  const said = await openpo(["shop", "list"]);
  assert.match(said.stderr, here);
  assert.match(said.stdout, /^acme +Acme +EUR +0 +0 +0$/m);

  const key = await json(["key", "create", "--shop", "acme", "--name", "till", "--scope", "write"]);
  assert.match(String(at(key, "apiKey")), /^opo_acme_/);
  const keyId = String(at(key, "keyId"));
  const listed = await openpo(["key", "list", "--shop", "acme"]);
  assert.match(listed.stdout, new RegExp(`^${keyId} +till +write `, "m"));
  assert.ok(!listed.stdout.includes(String(at(key, "apiKey"))));
  assert.equal(typeof at(await json(["key", "revoke", "--shop", "acme", keyId]), "key", "revokedAt"), "string");
  const bare = await openpo(["key", "create", "--shop", "acme", "--name", "reader"]);
  assert.match(bare.stdout, /^opo_acme_\w+\n$/, "only the key, to be put into a variable");

  const file = path.join(directory, "records.ndjson");
  await writeFile(file, records);
  assert.deepEqual(at(await json(["import", "--shop", "acme", file]), "imported"), {
    location: 1,
    variant: 1,
    inventoryLevel: 1,
    purchaseOrder: 1,
  });
  assert.deepEqual(at(await json(["import", "--shop", "acme", "-"], records), "imported", "variant"), 1);
  const exported = await openpo(["export", "--shop", "acme"]);
  const copy = path.join(directory, "copy.ndjson");
  const written = await json(["export", "--shop", "acme", "--output", copy]);
  assert.equal(await readFile(copy, "utf8"), exported.stdout);
  assert.equal(at(written, "records"), exported.stdout.trim().split("\n").length);
  await json(["shop", "create", "twin", "--currency", "EUR"]);
  await json(["import", "--shop", "twin", copy]);
  assert.equal((await openpo(["export", "--shop", "twin"])).stdout, exported.stdout);

  const bad = path.join(directory, "bad.ndjson");
  await writeFile(bad, `${records}{"type":"variant","variantId":"v2","productId":"p"}\n`);
  const refused = await openpo(["import", "--shop", "twin", bad, "--json"]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /bad\.ndjson: line 5: productName: .*\n {2}Nothing was imported\. Correct the line and import the whole file again\.$/m,
  );
  assert.equal(at(JSON.parse(refused.stdout), "error", "details", 0, "path"), "/productName");
  assert.equal((await openpo(["export", "--shop", "twin"])).stdout, exported.stdout);

  const unconfirmed = await openpo(["shop", "delete", "twin", "--confirm", "acme"]);
  assert.equal(unconfirmed.code, 2);
  assert.deepEqual(await json(["shop", "delete", "twin", "--confirm", "twin"]), { shopId: "twin", deleted: true });
  const unknown = await openpo(["key", "list", "--shop", "twin"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /There is no shop twin/);

  const demo = await json(["demo"]);
  assert.match(String(at(demo, "writeKey")), /^opo_demo_/);
  assert.equal((await openpo(["demo"])).code, 1);
  assert.deepEqual(await json(["audit", "--shop", "acme", "--status", "404"]), { auditLog: [], totalCount: 0 });
}

test("shops, keys, records and the demo, on a store that no server has", async () => {
  await withStopped(async (place) => {
    await lifeOfAShop(place, onPostgres ? onDatabase : /^Working directly on \S+data; no server runs on it\.$/m);
    const files = ["bad.ndjson", "copy.ndjson", ...made, "records.ndjson"];
    assert.deepEqual((await readdir(place.directory)).sort(), files);
    // A server started later finds all of it, and makes no demo shop of its own.
    const program = await serveProgram({ OPENPO_DATA_DIR: path.join(place.directory, "data"), OPENPO_DEMO: "1" });
    const shops = await program.ask("GET", "/admin/v1/shops", program.adminToken);
    assert.equal(shops.at("data", "totalCount"), 2);
    await program.end("SIGTERM");
  });
});

test("the same beside a running server: through its admin API, or on the database that they share", async () => {
  await withServer(async (place, program) => {
    await lifeOfAShop(
      place,
      onPostgres ? onDatabase : new RegExp(`^Asking the server at ${program.url}, which runs on \\S+data\\.$`, "m"),
    );
  });
});

test("a refusal names options and commands, not members and paths", async () => {
  await withServer(async ({ openpo, json }, program) => {
    await json(["shop", "create", "acme"]);
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        ["shop", "create", "No_Id", "--currency", "euro", "--setting", "fxRates.x=1"],
        1,
        /^openpo: SHOP_ID: must be .*; --currency: must be .*; --setting fxRates\.x: unknown field; known here: followOnWaitMs, [^\n]*\n {2}See openpo shop create --help\.$/m,
      ],
      [
        ["shop", "create", "a", "--setting", 'fxRates={"USD":1}'],
        1,
        /--setting fxRates\.USD: is the shop's own currency/,
      ],
      [["key", "create", "--shop", "acme", "--name", "k", "--scope", "all"], 1, /--scope: must be one of/],
      [["key", "revoke", "--shop", "acme", "key_x"], 1, /no key key_x\.\n.*openpo key list --shop acme/],
      [["key", "list", "--shop", "nobody"], 1, /no shop nobody\.\n {2}openpo shop list shows the shops\./],
      [["audit", "--shop", "acme", "--status", "9"], 1, /--status: must be 100 or more/],
    ];
    for (const [args, expected, message] of cases) {
      const { code, stderr } = await openpo(args);
      assert.equal(code, expected, stderr);
      assert.match(stderr, message);
    }
    const wrong = await openpo(["shop", "list", "--url", program.url, "--token", "a-wrong-admin-token", "--json"]);
    assert.equal(wrong.code, 4);
    assert.match(wrong.stderr, /The admin token is missing or wrong\.\n {2}Give .*--token or OPENPO_ADMIN_TOKEN/);
    assert.doesNotMatch(wrong.stdout, wordsOfRest);
  });
});

test("audit pages through what was asked, newest first, and filters it", async () => {
  await withServer(async ({ openpo, json }, program) => {
    await json(["shop", "create", "acme"]);
    const key = String(at(await json(["key", "create", "--shop", "acme", "--name", "k", "--scope", "read"]), "apiKey"));
    for (let call = 0; call < 3; call += 1) await program.ask("GET", "/api/v1/purchase-orders", key);
    await program.ask("POST", "/api/v1/purchase-orders", key, {});
    const all = await json(["audit", "--shop", "acme", "--limit", "0"]);
    // The shop and the key, made by the operator, and what was asked with the key (§7).
    assert.equal(at(all, "totalCount"), 6);
    assert.equal(at(all, "auditLog", 0, "errorCode"), "FORBIDDEN_SCOPE");
    const two = await json(["audit", "--shop", "acme", "--limit", "2", "--operation", "purchase_order_list"]);
    assert.equal(at(two, "totalCount"), 3);
    assert.equal(at(two, "auditLog", "length"), 2);
    assert.match((await openpo(["audit", "--shop", "acme", "--status", "403"])).stdout, /FORBIDDEN_SCOPE/);
    const refused = await json(["audit", "--shop", "acme", "--surface", "rest,mcp", "--outcome", "refused"]);
    assert.equal(at(refused, "totalCount"), 1);
    assert.equal(at(await json(["audit", "--shop", "acme", "--surface", "console"]), "totalCount"), 2);
  });
});

test("a server elsewhere is asked with --url, by its token alone", async () => {
  await withServer(async ({ directory, json }, program) => {
    await json(["shop", "create", "acme"]);
    const token = program.adminToken;
    // Another database in the environment would have to be that server's.
    const elsewhere = placeAt(path.join(directory, "elsewhere"), { OPENPO_DATABASE_URL: "" });
    const there = ["shop", "list", "--url", program.url];
    assert.equal(at(await elsewhere.json([...there, "--token", token]), "totalCount"), 1);
    const gone = await runCommand(["shop", "list"], { OPENPO_URL: program.url, OPENPO_ADMIN_TOKEN: token });
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /OPENPO_URL: is gone: commands take the server's address by --url/);
    const none = await elsewhere.openpo(there);
    assert.equal(none.code, 4);
    assert.match(none.stderr, /OPENPO_ADMIN_TOKEN/);
    const wrong = await elsewhere.openpo([...there, "--token", adminToken, "--json"]);
    assert.equal(wrong.code, 4);
    assert.equal(at(JSON.parse(wrong.stdout), "error", "code"), "UNAUTHORIZED");
    assert.deepEqual(await readdir(directory), made, "asking made no data directory");
  });
});

test("where nobody answers, it is said, and nothing is made", async () => {
  await withStopped(async ({ openpo, directory }) => {
    const down = await openpo(["shop", "list", "--url", nobody, "--token", adminToken, "--json"]);
    assert.equal(down.code, 3);
    assert.match(down.stderr, /no server answers at http:\/\/127\.0\.0\.1:9/);
    assert.match(String(at(JSON.parse(down.stdout), "error", "message")), /no server answers/);
    const file = path.join(directory, "records.ndjson");
    await writeFile(file, records);
    assert.equal((await openpo(["import", "--shop", "a", file, "--url", nobody, "--token", adminToken])).code, 3);
    const empty = await openpo(["shop", "list"]);
    assert.equal(empty.code, 3);
    assert.match(empty.stderr, onPostgres ? /there is no data in postgres:/ : /there is no data in \S+data/);
    assert.deepEqual(await readdir(directory), ["records.ndjson"]);
  });
});

test("a file that cannot be read or written is named", async () => {
  await withStopped(async ({ openpo, json, directory }) => {
    await json(["shop", "create", "acme"]);
    const folder = path.join(directory, "folder");
    await mkdir(folder);
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [["import", "--shop", "acme", path.join(directory, "absent")], /absent cannot be read: ENOENT/],
      [["import", "--shop", "acme", folder], /folder is a directory/],
      [["export", "--shop", "acme", "--output", path.join(directory, "absent", "x")], /cannot be written: ENOENT/],
      [["export", "--shop", "nobody", "--output", path.join(directory, "x")], /There is no shop nobody/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await openpo(args);
      assert.equal(code, 1, stderr);
      assert.match(stderr, message);
    }
    assert.deepEqual((await readdir(directory)).sort(), [...made, "folder"]);
  });
});

test("progress is told on request, and only on stderr", async () => {
  await withStopped(async ({ openpo, json, directory }) => {
    await json(["shop", "create", "acme"]);
    const file = path.join(directory, "records.ndjson");
    await writeFile(file, records);
    const { stdout, stderr } = await openpo(["import", "--shop", "acme", file, "--progress", "--json"]);
    assert.match(stderr, /^All \d+ B are read/m);
    assert.equal(at(JSON.parse(stdout), "imported", "variant"), 1);
    assert.doesNotMatch((await openpo(["import", "--shop", "acme", file])).stderr, /are read/);
  });
});

test("a process reads what is piped into it, says the same on its streams and ends with the status; who reads no further ends it", async () => {
  await withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: path.join(directory, "data"), PORT: "9" };
    const create = ["shop", "create", "acme", "--json"];
    assert.equal((await runProgram(create, env)).code, 0);
    const again = await runProgram(create, env);
    assert.deepEqual(again, await runCommand(create, env));
    assert.equal(again.code, 1);
    const piped = await runProgram(["import", "--shop", "acme", "-", "--json"], env, records);
    assert.equal(at(JSON.parse(piped.stdout), "imported", "variant"), 1, piped.stderr);
    const exporting = startProgram(["export", "--shop", "acme"], await onStore(env));
    exporting.child.stdout?.destroy();
    const { code, stderr } = await exporting.finished;
    assert.equal(code, 1);
    assert.doesNotMatch(stderr, /EPIPE/);
  });
});

test("serving tells as JSON where it is and what it made", async () => {
  await withDirectory(async (directory) => {
    const program = await serveProgram({ OPENPO_DATA_DIR: directory }, ["serve", "--json"]);
    const [line = ""] = program.stdout.split("\n");
    const said: unknown = JSON.parse(line);
    assert.equal(at(said, "url"), program.url);
    assert.match(String(at(said, "demo", "readKey")), /^opo_demo_/);
    assert.equal(at(said, "adminToken"), program.adminToken);
    assert.match(program.adminToken, onPostgres ? /./ : /^opa_/);
    const { code, stdout } = await program.end("SIGTERM");
    assert.equal(code, 0);
    assert.equal(stdout.trim(), line);
  });
});
