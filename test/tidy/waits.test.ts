/**
 * No test waits by the clock of the wall: support/until.ts has what waits. `until` waits for the condition itself, `quiet` gives time to what must not
 * happen, `pause` is a pause of what is played. What sets a timer besides is listed, with its reason.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
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
  "is sent to a browser": ["console/load.browser.test.ts", "console/places/looks.ts"],
};

/** The tests' own sources. */
const files = (): readonly string[] =>
  globSync("**/*.ts", { cwd: "test", exclude: ["node_modules/**", "generators/**", "tidy/**"] }).toSorted();

const timer = /(?<![.\w])(?:sleep|setTimeout|setInterval)\(|setTimeout as \w+/;

test("timers are set by support/until.ts, and where a reason is listed", () => {
  const found = files().filter((file) => timer.test(readFileSync(path.join("test", file), "utf8")));
  assert.deepEqual(found, Object.values(reasons).flat().sort());
});

/**
 * Looks of a fixed length that nothing happens, by file. A slow machine makes each weaker and none of them fail: what it is for would come later. Their
 * number only falls: a later event that must come after, or a clock of the test, says more.
 */
const quietLooks: Readonly<Record<string, readonly [looks: number, forWhat: string]>> = {
  "audit/journal.test.ts": [2, "rows below the bounds stay in the journal"],
  "audit/rows.test.ts": [1, "an answer does not leave before its row, whose own timer would fire first"],
  "events/reminders.crash.test.ts": [1, "nobody is reminded twice"],
  "events/unread-streams.slow.test.ts": [1, "15 s without an event begin with the last one, by a clock of the test"],
  "http/bounds.test.ts": [2, "streams look no more often than they may; an export reads nothing ahead"],
  "mail/bounds.slow.test.ts": [1, "no mail is sent twice"],
  "mail/nodes.slow.test.ts": [1, "a frozen node that goes on sends nothing again"],
  "nodes/dead.crash.test.ts": [
    4,
    "claims of a node that lives stay its own, and nobody is judged by one that was away",
  ],
  "nodes/take-over.crash.test.ts": [1, "a frozen node that goes on pushes nothing again"],
  "order-list/broad-reads.slow.test.ts": [1, "reads in threads wait for a snapshot that is not there"],
  "outbox/nodes.test.ts": [2, "what came too late leaves the order, or what is incoming, as it is"],
  "store/loop-share-shops.test.ts": [1, "work of a shop waits for the requests of others, by a clock that stands"],
  "storefront/sandbox.test.ts": [1, "a call that its caller gave up is not made later"],
  "webhooks/receivers.slow.test.ts": [3, "no more is sent at a time, tried again or counted than is to be"],
  "webhooks/webhooks.slow.test.ts": [2, "nothing more is sent of a shop that was deleted"],
};

test("looks that nothing happens are listed with what for, and grow no more", () => {
  const found = files().flatMap((file) => {
    const source = readFileSync(path.join("test", file), "utf8");
    const looks = /\bquiet\b[^;]*support\/until\.ts/.test(source)
      ? [...source.matchAll(/(?<![.\w])quiet\(/g)].length
      : 0;
    return looks === 0 ? [] : [[file, looks] as const];
  });
  const listed = Object.entries(quietLooks).map(([file, [looks]]) => [file, looks]);
  assert.deepEqual(found, listed);
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

/** What a test reads of how long something took. */
const reading =
  /performance\.now\(\)|Date\.now\(\)|systemClock\.now\(\)|[cC]puUsage\(|hrtime|resourceUsage\(|monitorEventLoopDelay\(|eventLoopUtilization\(|PerformanceObserver|getEntriesBy/;

/** Names under which a figure of time comes from elsewhere. */
const figures =
  /\b(?:took|elapsed|duration|passed|least|most|longest|slowest|fastest|median)\w*Ms\b|\bp9\d\w*|\.ms\b|\.durationMs\b|\bslowdown\w*\b|\.percentile\(/;

const namesIn = (part: string): readonly string[] =>
  [...part.replaceAll("...", " ").matchAll(/(?<![.\w])\w+/g)].map(([name]) => name);

/** Names of a source that hold how long something took: differences of readings, and what is made of them. */
function spansIn(code: string): ReadonlySet<string> {
  const [moments, spans] = [new Set<string>(), new Set<string>()];
  const isSpan = (value: string): boolean =>
    namesIn(value).some((name) => spans.has(name)) ||
    ((reading.test(value) || namesIn(value).some((name) => moments.has(name))) && / - |[cC]puUsage\(\w/.test(value));
  const made =
    /(?:(?:const|let)\s+(\w+|\{[^}=]*\}|\[[^\]=]*\])(?::[^=]+)?\s*=|(\w+)(?:\.get\(\w+\))?\??\.push\(|(?<![.\w])(\w+)\s*=(?=\s*Math\.))\s*([^;]+);/g;
  for (let before = -1; before < moments.size + spans.size;) {
    before = moments.size + spans.size;
    for (const [, declared = "", pushed = "", assigned = "", value = ""] of code.matchAll(made)) {
      if (/=>|function/.test(value)) continue;
      const kind = isSpan(value) ? spans : reading.test(value) ? moments : null;
      for (const name of namesIn(declared + pushed + assigned)) kind?.add(name);
    }
  }
  return spans;
}

/** Where a source holds a time that something took to a bound from above. One from below is kept by a slow machine. */
function timesBounded(source: string): readonly string[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "").replaceAll("=>", "  ");
  const spans = spansIn(code);
  const isTime = (value: string): boolean =>
    figures.test(value) || (reading.test(value) && / - /.test(value)) || namesIn(value).some((name) => spans.has(name));
  const operand = String.raw`(?:[^;,{}?=&|<>()\n]|\([^()\n]*\)|\((?:[^()\n]|\([^()\n]*\))*\))+`;
  const compared = new RegExp(String.raw`(${operand}) (<=?|>=?) (${operand})`, "g");
  return [...code.matchAll(compared)].flatMap(([whole, left = "", sign = "", right = ""]) =>
    isTime(sign.startsWith("<") ? left : right) ? [whole.trim()] : [],
  );
}

/** It has sources of a program that is given faults. */
const plants = "faults/planted.ts";

test("no test says how long something may take: what a machine does beside it is in every such figure", () => {
  const found = files().flatMap((file) => {
    const bounded = timesBounded(readFileSync(path.join("test", file), "utf8"));
    return bounded.length === 0 || file === plants ? [] : [[file, bounded] as const];
  });
  assert.deepEqual(found, []);
});

test("a bound on time is found, whatever the figure is called", () => {
  for (const wrong of [
    "const startedAtMs = performance.now();\nawait run();\nassert.ok(performance.now() - startedAtMs < 1_000);",
    "const from = Date.now();\nawait run();\nconst took = Date.now() - from;\nassert.ok(took <= 300, `${took}`);",
    "const before = process.cpuUsage();\nconst { user, system } = process.cpuUsage(before);\nassert.ok((user + system) / 5 < 60_000, `x`);",
    "const from = performance.now();\ntimes.push(performance.now() - from);\nassert.ok(Math.min(...times) <= 300 * slow, told);",
    "const from = performance.now();\nleast = Math.min(least, performance.now() - from);\nreturn isDone && least < 5;",
    "const from = performance.now();\nconst ratio = (performance.now() - from) / 2;\nassert.ok(ratio > 0.5 && ratio < 2);",
    "assert.ok(result.ms < 10_000);",
  ])
    assert.equal(timesBounded(wrong).length, 1, wrong);
  for (const right of [
    "const from = performance.now();\nawait run();\nassert.ok(performance.now() - from >= 35);",
    "const untilMs = performance.now() + 5;\nwhile (performance.now() < untilMs);",
    "const from = performance.now();\nassert.ok(count < 5);\nt.diagnostic(`${performance.now() - from} ms`);",
    "// assert.ok(performance.now() - from < 5);",
  ])
    assert.deepEqual(timesBounded(right), []);
});
