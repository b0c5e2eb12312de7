/**
 * Which node a command asks when the shops are in a database.
 *
 * Only on postgres: with a data directory the command finds its server by that; servers.slow.test.ts has that.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { onStore, runCommand, serveProgram, withDirectory } from "../support/process.ts";

test("with --url the node must be one of the database; without, the command works on the database", async () => {
  await withDirectory(async (directory) => {
    const [one, other] = [path.join(directory, "one"), path.join(directory, "other")];
    const nodeOf = (place: string) => serveProgram({ OPENPO_DATA_DIR: place, OPENPO_DEMO: "0" });
    const [first, second, elsewhere] = [await nodeOf(one), await nodeOf(one), await nodeOf(other)];
    const { OPENPO_DATABASE_URL = "" } = await onStore({ OPENPO_DATA_DIR: one });
    const env = { OPENPO_DATABASE_URL, OPENPO_ADMIN_TOKEN: first.adminToken };
    const create = (shopId: string, url: string) => runCommand(["shop", "create", shopId, "--url", url], env);
    for (const [index, { url }] of [first, second].entries()) {
      const made = await create(`shop-${index}`, url);
      assert.equal(made.code, 0, made.stderr);
      assert.match(made.stderr, new RegExp(`^Asking the server at ${url}\\.$`, "m"));
    }
    const refused = await create("stray", elsewhere.url);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /does not run on postgres:\S+, which OPENPO_DATABASE_URL names\.\n {2}Unset OPENPO_DATABASE_URL/,
    );
    const stray = await elsewhere.ask("GET", "/admin/v1/shops", elsewhere.adminToken);
    assert.equal(stray.at("data", "totalCount"), 0);
    const beside = await runCommand(["shop", "list"], { ...env, PORT: new URL(elsewhere.url).port });
    assert.match(beside.stdout, /^shop-0 .*\nshop-1 /m);
    for (const node of [first, second, elsewhere]) assert.equal((await node.end("SIGTERM")).code, 0);
  });
});
