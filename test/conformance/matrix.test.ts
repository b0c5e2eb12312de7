import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { matrixOf } from "../support/openapi/matrix.ts";

const document = {
  paths: {
    "/crates": { get: { operationId: "crate_list", responses: { "200": {}, "500": {} } } },
    "/seal": { post: { operationId: "crate_seal", responses: { "200": {}, "409": {} } } },
  },
};

test("a documented status that no test saw is a fault unless excepted, and so is an unneeded exception", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-"));
  try {
    await writeFile(path.join(directory, "1.txt"), "crate_list 200\ncrate_seal 200\n");
    await writeFile(path.join(directory, "2.txt"), "crate_list 200\n");
    const bare = matrixOf(document, directory, []);
    assert.deepEqual(bare.faults, [
      "crate_list is documented to answer 500; no test has seen it",
      "crate_seal is documented to answer 409; no test has seen it",
    ]);
    assert.match(bare.text, /^crate_list +200 {5} \? $/m);
    const excused = matrixOf(document, directory, [
      { status: 500, reason: "needs a bug" },
      { status: 409, operations: /^crate_s/, reason: "for later" },
      { status: 404, reason: "nothing" },
    ]);
    assert.deepEqual(excused.faults, ["the hole 404 (nothing) is none any more: take it off the list"]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
