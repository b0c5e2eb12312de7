/**
 * Which server a command asks: the one that runs on the data directory, and no other.
 *
 * Only on sqlite: beside a node a command works on the database; nodes.slow.test.ts has that.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { test } from "node:test";
import { type RunningProgram, runCommand, serveProgram, withDirectory } from "../support/process.ts";
import type { Finished } from "../support/programs/program.ts";
import { listenOnPort } from "../support/peers/serving.ts";

interface Served {
  readonly dataDir: string;
  readonly program: RunningProgram;
  readonly port: string;
}

async function serveOn(dataDir: string): Promise<Served> {
  const program = await serveProgram({ OPENPO_DATA_DIR: dataDir, OPENPO_DEMO: "0" });
  return { dataDir, program, port: new URL(program.url).port };
}

/** Two servers, each on a directory of its own. */
const withTwo = (use: (one: Served, other: Served, directory: string) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const one = await serveOn(path.join(directory, "one"));
    const other = await serveOn(path.join(directory, "other"));
    await use(one, other, directory);
    for (const { program } of [one, other]) assert.equal((await program.end("SIGTERM")).code, 0);
  });

const shopsOf = async ({ program }: Served): Promise<unknown> =>
  (await program.ask("GET", "/admin/v1/shops", program.adminToken)).at("data", "shops", 0, "shopId");

function assertRefused({ code, stderr, stdout }: Finished, expected: number, message: RegExp): void {
  assert.equal(code, expected, stderr);
  assert.match(stderr, message);
  assert.equal(stdout, "");
}

test("with two servers each command finds the one that runs on its data directory, whatever its port", async () => {
  await withTwo(async (one, other) => {
    for (const [served, shopId] of [
      [one, "ina"],
      [other, "inb"],
    ] as const) {
      const made = await runCommand(["shop", "create", shopId], { OPENPO_DATA_DIR: served.dataDir });
      assert.equal(made.code, 0, made.stderr);
      assert.match(
        made.stderr,
        new RegExp(`^Asking the server at ${served.program.url}, which runs on ${served.dataDir}\\.$`, "m"),
      );
    }
    assert.deepEqual([await shopsOf(one), await shopsOf(other)], ["ina", "inb"]);
  });
});

test("PORT that names another server than the one of the directory is refused, with the way to each", async () => {
  await withTwo(async (one, other, directory) => {
    const create = ["shop", "create", "acme"];
    assertRefused(
      await runCommand(create, { OPENPO_DATA_DIR: one.dataDir, PORT: other.port }),
      2,
      new RegExp(
        `PORT is ${other.port}, but the server .*${one.program.url}\\.\\n.*--data-dir ${one.dataDir}\\..*--url ${other.program.url}\\.`,
      ),
    );
    const unused = path.join(directory, "unused");
    assertRefused(
      await runCommand(create, { OPENPO_DATA_DIR: unused, PORT: one.port }),
      2,
      new RegExp(
        `${one.program.url} does not run on ${unused}; no server does\\.\\n.*--url ${one.program.url}\\..*--data-dir ${unused}\\.`,
      ),
    );
    assert.ok(!existsSync(unused));
    assert.deepEqual([await shopsOf(one), await shopsOf(other)], [undefined, undefined]);
    // Both ways out lead on.
    assert.equal((await runCommand([...create, "--data-dir", one.dataDir], { PORT: other.port })).code, 0);
    const asked = ["--url", other.program.url, "--token", other.program.adminToken];
    assert.equal((await runCommand([...create, ...asked], { PORT: other.port })).code, 0);
    assert.deepEqual([await shopsOf(one), await shopsOf(other)], ["acme", "acme"]);
  });
});

test("--url and --data-dir together must name the same server, whose kept token is then used", async () => {
  await withTwo(async (one, other) => {
    const list = (url: string, dataDir: string) =>
      runCommand(["shop", "list", "--url", url, "--data-dir", dataDir], {});
    assert.equal((await list(one.program.url, one.dataDir)).code, 0);
    assertRefused(await list(other.program.url, one.dataDir), 2, /does not run on \S+one\.\n.*Leave out --data-dir/);
    // The token of one server is not sent to another.
    const elsewhere = await runCommand(["shop", "list", "--url", other.program.url], { OPENPO_DATA_DIR: one.dataDir });
    assertRefused(
      elsewhere,
      4,
      /admin token of \S+ is not known\.\n.*The one in \S+one is for another server\. .*--token/,
    );
  });
});

test("the record of a server is removed when it stops, and is nothing after a crash", async () => {
  await withTwo(async (one, other, directory) => {
    const record = path.join(one.dataDir, "server.json");
    const recorded: { url: string } = JSON.parse(await readFile(record, "utf8"));
    assert.equal(recorded.url, one.program.url);
    assert.equal((await one.program.end("SIGTERM")).code, 0);
    assert.ok(!existsSync(record));
    // As after a crash, with a server of another directory at the address meanwhile.
    await copyFile(path.join(other.dataDir, "server.json"), record);
    const made = await runCommand(["shop", "create", "acme"], { OPENPO_DATA_DIR: one.dataDir });
    assert.match(made.stderr, /^Working directly on \S+one; no server runs on it\.$/m);
    assert.ok(!existsSync(record));
    assert.equal(await shopsOf(other), undefined);
    // The other server goes on with a directory that has been recorded by somebody else.
    const others = path.join(other.dataDir, "server.json");
    await writeFile(others, JSON.stringify({ url: other.program.url, identity: "srv_before" }));
    const list = () => runCommand(["shop", "list"], { OPENPO_DATA_DIR: other.dataDir });
    assertRefused(
      await list(),
      1,
      new RegExp(`the server at ${other.program.url} is not the one that runs on .*\\n.*--url`),
    );
    await writeFile(others, JSON.stringify({ url: "http://127.0.0.1:9", identity: "srv_before" }));
    assertRefused(await list(), 3, /does not answer at http:\/\/127\.0\.0\.1:9, .*\n.*--url/);
    await writeFile(others, "{");
    assertRefused(await list(), 1, /is in use, but no server has recorded its address there\.\n.*--url/);
    assert.ok(directory !== "");
  });
});

test("what answers at an address without being OpenPO is no server, and gets no token", async () => {
  await withDirectory(async (directory) => {
    const seen: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end("hello");
    });
    const port = String(await listenOnPort(stranger));
    const { dataDir, program } = await serveOn(path.join(directory, "one"));
    await writeFile(
      path.join(dataDir, "server.json"),
      JSON.stringify({ url: `http://127.0.0.1:${port}`, identity: "srv_before" }),
    );
    assertRefused(await runCommand(["shop", "list"], { OPENPO_DATA_DIR: dataDir }), 3, /does not answer at/);
    assertRefused(
      await runCommand(["shop", "list", "--url", `http://127.0.0.1:${port}`], { OPENPO_DATA_DIR: dataDir }),
      3,
      /no server answers at/,
    );
    // A new directory is made although a stranger answers at PORT.
    const made = await runCommand(["shop", "create", "acme"], {
      OPENPO_DATA_DIR: path.join(directory, "new"),
      PORT: port,
    });
    assert.match(made.stderr, /^Working directly on \S+new, which is new; no server runs on it\.$/m);
    assert.deepEqual(new Set(seen), new Set([undefined]));
    stranger.close();
    await program.end("SIGTERM");
  });
});
