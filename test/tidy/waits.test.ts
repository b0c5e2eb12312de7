/**
 * No test waits by the clock of the wall: support/until.ts has what waits. `until` waits for the condition itself, `quiet` gives time to what must not
 * happen, `pause` is a pause of what is played. What sets a timer besides is listed, with its reason.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const reasons: Readonly<Record<string, readonly string[]>> = {
  "has the waits": ["support/until.ts"],
  "keeps a virtual time": ["world/client.ts", "simulator/time.ts"],
  "ends what hangs": [
    "mutation/score.ts",
    "releases/program.ts",
    "storefront/bounds.test.ts",
    "support/asserting.ts",
    "support/clients.ts",
    "support/postgres/postgres-keeper.ts",
    "support/process.ts",
  ],
  "plays a peer that is slow or ends": [
    "http/connections.test.ts",
    "storefront/medusa/place.ts",
    "support/postgres/proxy.ts",
  ],
  "counts or drives turns of the event loop": [
    "contract/engine-suite.ts",
    "soak/watch.ts",
    "store/sqlite/gate.test.ts",
    "store/sqlite/turns.test.ts",
  ],
  "is sent to a browser": [
    "console/axe.browser.test.ts",
    "console/load.browser.test.ts",
    "console/orders/work.browser.test.ts",
  ],
};

const timer = /(?<![.\w])(?:sleep|setTimeout|setInterval)\(|setTimeout as \w+/;

test("timers are set by support/until.ts, and where a reason is listed", () => {
  const found = globSync("test/**/*.ts", { exclude: ["test/node_modules/**", "test/generators/**"] })
    .filter((file) => !file.startsWith("test/tidy/") && timer.test(readFileSync(file, "utf8")))
    .map((file) => file.slice("test/".length));
  assert.deepEqual(found.sort(), Object.values(reasons).flat().sort());
});

test("there is one until(): pages of the console have it as untilOnPage()", () => {
  const own = /function until\b|const until = (?:async )?\(/;
  assert.deepEqual(
    globSync("test/**/*.ts", { exclude: ["test/node_modules/**", "test/tidy/**"] }).filter((file) =>
      own.test(readFileSync(file, "utf8")),
    ),
    ["test/support/until.ts"],
  );
});

test("no run tries a test again", () => {
  const again = /\bretries?\s*:|--test-rerun|flaky/i;
  assert.doesNotMatch(readFileSync("test/run.ts", "utf8"), again);
  assert.doesNotMatch(readFileSync(".ci/run", "utf8"), again);
});
