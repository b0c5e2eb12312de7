/** A reader thread finds what it is asked for by its name, and loads no more than that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { broadQueries } from "../../src/operations/broad-queries.ts";

test("each broad query is listed under its own name, by which a thread is asked for it", async () => {
  const names = await Promise.all(Object.values(broadQueries).map(async (load) => (await load()).name));
  assert.deepEqual(names, Object.keys(broadQueries));
});
