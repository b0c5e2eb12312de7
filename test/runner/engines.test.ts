import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Placement,
  placeOf,
  reasonForOwnProcess,
  reasonToComeFirst,
  reasonToRunAlone,
} from "../support/engines.ts";

const support: Readonly<Record<string, string>> = {
  "test/support/store.ts":
    'import { openPostgresEngine } from "../../src/store/postgres/engine.ts";\nimport { openSqliteEngine } from "../../src/store/sqlite/engine.ts";',
  "test/support/server.ts": 'import {\n  makePlace,\n  openStore,\n} from "./store.ts";',
  "test/support/goods-server.ts": 'export { startServer } from "./server.ts";',
  "test/support/goods.ts":
    'import type { Store } from "./store.ts";\nimport { money } from "../../src/core/money/money.ts";',
  "test/support/postgres/postgres.ts": 'import { openPostgresPool } from "../../src/store/postgres/connection.ts";',
  "test/support/programs/nodes.ts":
    'import { withClient } from "./postgres.ts";\nimport { startServer } from "./server.ts";',
  "test/crash/writer.ts": 'import { openStore } from "../support/store.ts";',
};

const file = "test/story/new.test.ts";
const placed = (source: string): Placement =>
  placeOf(file, (name) => (name === file ? source : (support[name] ?? assert.fail(`${name} is not to be read`))));

const dynamic = (module: string): string => `const { openStore } = await import("${module}");`;

test("a file that imports a server or a store, directly or not, runs on both engines", () => {
  const both = { engines: ["sqlite", "postgres"], reason: null, fault: null };
  assert.deepEqual(placed('import { startServer } from "../support/server.ts";'), both);
  assert.deepEqual(placed('import {\n  type Goods,\n  startGoods,\n} from "../support/goods-server.ts";'), both);
  assert.deepEqual(placed(dynamic("../support/store.ts")), both);
  assert.deepEqual(placed('import "../crash/writer.ts";'), both);
});

test("a file that imports modules of one engine only runs on that engine", () => {
  const on = (engine: string) => ({ engines: [engine], reason: null, fault: null });
  assert.deepEqual(placed('import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";'), on("sqlite"));
  assert.deepEqual(placed('import { openSqliteEngine } from "../../src/shop/sqlite-file.ts";'), on("sqlite"));
  assert.deepEqual(placed('import { postgresCoordination } from "../../src/store/postgres/x.ts";'), on("postgres"));
  assert.deepEqual(placed('import { freshDatabase } from "../support/postgres/postgres.ts";'), on("postgres"));
  assert.deepEqual(
    placed('import { startNode } from "../support/programs/nodes.ts";'),
    on("postgres"),
    "imports of an engine's own modules do not count",
  );
});

test("a file without an engine runs once; type imports do not count", () => {
  const none = { engines: [], reason: null, fault: null };
  assert.deepEqual(placed('import { money } from "../support/goods.ts";\nimport assert from "node:assert";'), none);
  assert.deepEqual(placed('import type { TestServer } from "../support/server.ts";'), none);
});

test("a file that imports both the choice and an engine's modules, or those of two engines, is reported", () => {
  const lock = 'import { lockDirectory } from "../../src/store/sqlite/engine.ts";';
  for (const other of ["../support/goods-server.ts", "../support/postgres/postgres.ts"]) {
    const { fault } = placed(`${lock}\nimport { x } from "${other}";`);
    assert.match(fault ?? "", /^test\/story\/new\.test\.ts reaches src\/store\/sqlite\/engine\.ts, for sqlite, and /);
  }
  const { fault } = placed(
    'import { startGoods } from "../support/goods-server.ts";\nimport "../support/programs/nodes.ts";',
  );
  assert.match(fault ?? "", /store\.ts \(by test\/support\/server\.ts\), for sqlite and postgres/);
});

test("a reason in the file limits it to one engine, and is shown", () => {
  const server = 'import { startServer } from "../support/server.ts";';
  assert.deepEqual(
    placed(`/**\n * Copies.\n *\n * Only on sqlite: a database has copies of its own.\n */\n${server}`),
    {
      engines: ["sqlite"],
      reason: "a database has copies of its own.",
      fault: null,
    },
  );
  const lock = 'import { lockDirectory } from "../../src/store/sqlite/engine.ts";';
  assert.equal(placed(`// Only on sqlite: files are locked.\n${server}\n${lock}`).fault, null);
  assert.equal(
    placed(`/** Only on postgres: a shop moves between both. */\n${server}`).reason,
    "a shop moves between both.",
  );
});

test("a reason that excludes nothing is reported", () => {
  const said = "// Only on sqlite: of no use.\n";
  assert.match(placed(said).fault ?? "", /is for no engine\. Take the words out\.$/);
  assert.match(placed(`${said}import "../../src/store/sqlite/engine.ts";`).fault ?? "", /is for sqlite\. Take/);
  assert.match(placed(`${said}import "../support/postgres/postgres.ts";`).fault ?? "", /is for postgres\. Take/);
});

test("a file that measures says why it runs alone", () => {
  const reason = "what other files do would be in its times.";
  assert.equal(reasonToRunAlone(`/**\n * Measures.\n *\n * Runs alone: ${reason}\n */\nimport "x";`), reason);
  assert.equal(reasonToRunAlone(`/** Runs alone: ${reason} */`), reason);
  assert.equal(reasonToRunAlone('test("Runs alone: no", () => {});'), null);
});

test("a file that shares no process and one that comes first say why", () => {
  assert.equal(reasonForOwnProcess("// Own process: it looks at its memory."), "it looks at its memory.");
  assert.equal(reasonToComeFirst("/** Comes first: it takes long. */"), "it takes long.");
  assert.equal(reasonToComeFirst("/** Runs alone: it takes long. */"), null);
});
