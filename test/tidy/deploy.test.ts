/**
 * Checks the files that operators copy and our programs do not read: container files, proxy configurations, and the script that
 * distributes a database. Each is compared with the source code that it must match.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createMetrics } from "../../src/http/metrics.ts";
import { environmentHelp } from "../../src/cli/command.ts";
import { options, shownOptions } from "../../src/service/options.ts";
import { loadMigrations, statementsOf } from "../../src/store/migrations.ts";

const textOf = (file: string): string => readFileSync(file, "utf8");
const captures = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? "");

const none = (faults: readonly string[]): void => {
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
};

/** Finds the value of a limit in the source, as in `drainMs = 60_000` or `drainMs: 60_000`. */
function limit(name: string): number {
  const pattern = new RegExp(`\\b${name}(?: =|:) ([\\d_]+)[,; ]`, "g");
  const values = new Set(globSync("src/**/*.ts").flatMap((file) => captures(textOf(file), pattern)));
  const [digits] = values;
  assert.ok(digits !== undefined && values.size === 1, `${name} is ${values.size} numbers in src`);
  return Number(digits.replaceAll("_", ""));
}

// Environment.

const variables = shownOptions.map(({ name }) => name);
const readByOthers = ["Dockerfile", "compose.yaml", "docs/operating.md", ...globSync("deploy/*")];

test("the service reads every variable that is documented or set", () => {
  assert.ok(variables.length > 5);
  none(
    readByOthers.flatMap((file) =>
      captures(textOf(file), /\b(OPENPO_[A-Z_]+)\b/g)
        .filter((name) => !variables.includes(name))
        .map((name) => `${file}: nothing reads ${name}.`),
    ),
  );
});

test("there are at most 18 variables, each with its type, its sentence and its place in the help", () => {
  assert.equal(variables.length, Object.keys(options.shape).length, "an option is not described");
  assert.ok(variables.length <= 18, String(variables.length));
  const help = environmentHelp();
  none(
    shownOptions
      .filter(({ name, type, meaning }) => type === "" || meaning.length > 160 || !help.includes(`${name} `))
      .map(({ name }) => `${name}: say what a value is, and what it does in one sentence.`),
  );
});

// Files.

test("nothing in the documents and examples points outside a clone", () => {
  const files = ["*.md", "client/*.md", "deploy/*", "docs/**/*.md", "examples/*"].flatMap((pattern) =>
    globSync(pattern),
  );
  assert.ok(files.length > 25);
  none(
    files
      .filter((file) => /\.\.\/shared\b|shared\/data/.test(textOf(file)))
      .map((file) => `${file}: say where to get it, and take its path as an argument.`),
  );
});

/** The paths that the Dockerfile copies from the build context, not from another stage. */
const copied = captures(textOf("Dockerfile"), /^COPY (?!--from)(.+) \S+$/gm).flatMap((names) => names.split(" "));

test("files that the Dockerfile copies exist and are in the build context", () => {
  assert.ok(copied.length > 0);
  const letIn = captures(textOf(".dockerignore"), /^!(.+)$/gm);
  none(copied.filter((name) => !existsSync(name)).map((name) => `Dockerfile: there is no ${name}.`));
  assert.deepEqual([...new Set(copied)].sort(), [...letIn].sort());
});

test("files that the build reads are copied before it", () => {
  const build = textOf("build.ts");
  const read = [...captures(build, /from "\.\/(\w+)\//g), ...captures(build, /"(tsconfig[\w.]*\.json)"/g)];
  assert.ok(read.length > 1);
  none(
    read
      .filter((name) => !copied.includes(name))
      .map((name) => `Dockerfile: ${name} is not copied; build.ts reads it.`),
  );
});

test("the Dockerfile starts the program that package.json names", () => {
  const manifest: { bin: { openpo: string }; scripts: { start: string } } = JSON.parse(textOf("package.json"));
  const [options = ""] = captures(manifest.scripts.start, /^exec node (.+) src\/main\.ts$/g);
  const started = `ENTRYPOINT ["node", "${options}", "${manifest.bin.openpo}"]`;
  assert.ok(
    textOf("Dockerfile").split("\n").includes(started),
    `Dockerfile: ${started}, with the options of npm start`,
  );
});

test("files that compose.yaml mounts exist", () => {
  const mounted = captures(textOf("compose.yaml"), /^ +- (\.\/[^:]+):/gm);
  assert.ok(mounted.length > 0);
  none(mounted.filter((file) => !existsSync(file)).map((file) => `compose.yaml: there is no ${file}.`));
});

test("compose.yaml holds no password and no token", () => {
  const secrets = captures(textOf("compose.yaml"), /^ +(\w*(?:PASSWORD|TOKEN|DATABASE_URL)): .*$/gm);
  assert.ok(secrets.length > 3);
  const given = captures(textOf("compose.yaml"), /^ +\w*(?:PASSWORD|TOKEN|DATABASE_URL): (.*)$/gm);
  none(given.filter((value) => !/\$\{\w+:\?/.test(value)));
});

test("the proxy reads every variable that compose.yaml sets for it", () => {
  const told = captures(textOf("compose.yaml"), /^ +(LISTEN|NODE_\d): /gm);
  const read = captures(textOf("deploy/haproxy.cfg"), /"\$\{([A-Z_\d]+)-/g);
  assert.ok(told.length > 2);
  none(told.filter((name) => !read.includes(name)).map((name) => `deploy/haproxy.cfg: ${name} is not read.`));
});

// Limits.

test("proxies wait longer than the service takes, and allow the same sizes", () => {
  const seconds = (file: string, pattern: RegExp): number => Number(captures(textOf(file), pattern)[0]);
  const longestMs = Math.max(limit("drainMs"), limit("confirmationWaitMs"));
  const waits = {
    haproxy: seconds("deploy/haproxy.cfg", /timeout server (\d+)s$/gm),
    nginx: seconds("deploy/nginx.conf", /proxy_read_timeout (\d+)s;$/gm),
    compose: seconds("compose.yaml", /stop_grace_period: (7\d)s$/gm),
  };
  for (const [who, wait] of Object.entries(waits)) assert.ok(wait * 1_000 > longestMs, `${who} waits ${wait} s`);
  const headerBytesMax = limit("headerBytesMax");
  assert.ok(seconds("deploy/haproxy.cfg", /tune\.bufsize (\d+)$/gm) > headerBytesMax);
  assert.equal(seconds("deploy/nginx.conf", /large_client_header_buffers \d+ (\d+)k;$/gm) * 1_024, headerBytesMax);
  // The proxy must close an idle connection first, so that it never uses one that the service is closing.
  const idle = seconds("deploy/nginx.conf", /^ +keepalive_timeout (\d+)s;$/gm);
  assert.ok(idle * 1_000 < limit("keepAliveTimeoutMs"));
});

test("the metrics in docs/operating.md and in the alert rules exist", () => {
  const named = {
    "docs/operating.md": captures(textOf("docs/operating.md"), /`openpo_(?!sandbox\b|backup\b)(\w+)/g),
    "deploy/alerts.yaml": captures(textOf("deploy/alerts.yaml"), /\bopenpo_(\w+)/g),
    "deploy/alerts.test.yaml": captures(textOf("deploy/alerts.test.yaml"), /\bopenpo_(\w+)/g),
  };
  const gauges = [
    ...captures(textOf("src/http/metrics.ts"), /family\("(\w+)"/g),
    ...globSync("src/**/*.ts").flatMap((file) => captures(textOf(file), /name: "(\w+)"/g)),
  ];
  const told = createMetrics().text();
  none(
    Object.entries(named).flatMap(([file, names]) => {
      assert.ok(names.length > 0, file);
      return names
        .filter((name) => !gauges.includes(name) && !told.includes(`openpo_${name}`))
        .map((name) => `${file}: there is no openpo_${name}.`);
    }),
  );
});

test("every alert rule is seen to fire in deploy/alerts.test.yaml, and is told in docs/operating.md", () => {
  const rules = captures(textOf("deploy/alerts.yaml"), /^ +- alert: (\w+)$/gm);
  assert.ok(rules.length > 10);
  for (const file of ["deploy/alerts.test.yaml", "docs/operating.md"])
    none(rules.filter((name) => !textOf(file).includes(name)).map((name) => `${file}: ${name} is missing.`));
});

// Distribution.

interface Table {
  readonly schema: string;
  readonly name: string;
  readonly statement: string;
}

function tablesIn(schema: string, directory: string): readonly Table[] {
  const statements = loadMigrations(directory).flatMap(statementsOf);
  const dropped = new Set(statements.map((statement) => /^drop table (\w+)/.exec(statement)?.[1]));
  return statements.flatMap((statement) => {
    const name = /^create table (?:\{schema\}\.)?(\w+)/.exec(statement)?.[1];
    return name === undefined || dropped.has(name) ? [] : [{ schema, name, statement }];
  });
}

/** Every table of a database, from the schema directories that service/database.ts opens. */
const tables = [
  ...tablesIn("openpo", "src/shop/schema"),
  ...tablesIn("openpo", "src/store/postgres/schema/postgres"),
  ...tablesIn("openpo", "src/store/postgres/schema/nodes"),
  ...tablesIn("openpo_sandbox", "src/storefront/sandbox/schema"),
  ...tablesIn("openpo_sandbox", "src/store/postgres/schema/postgres"),
];
/** Tables of the whole database. */
const ofNoShop: ReadonlySet<string> = new Set(["first_start", "operator_session", "node", "shared_secret"]);
const ofShops = tables.filter(({ name }) => !ofNoShop.has(name));

/** Returns the first column of a table's primary key. */
const keyLeaderOf = (statement: string): string | undefined =>
  /\bprimary key \((\w+)/.exec(statement)?.[1] ?? /^\s*(\w+)[^,\n]*\bprimary key,?$/m.exec(statement)?.[1];

test("the shop id is first in the key and in every index of every table with data of a shop", () => {
  assert.ok(ofShops.length > 40);
  none(
    ofShops
      .filter(({ statement }) => keyLeaderOf(statement) !== "shop_id")
      .map(({ schema, name }) => `${schema}.${name}: shop_id is not the first of its key.`),
  );
  const indexes = globSync("src/{shop,storefront}/schema/*.sql").flatMap((file) => statementsOf(textOf(file)));
  none(indexes.filter((text) => /^create (?:unique )?index/.test(text) && !/^[^(]*\(shop_id\b/.test(text)));
});

test("a key in which the shop id is not first is found", () => {
  assert.equal(keyLeaderOf("create table x (\n  id text,\n  primary key (id, shop_id)\n)"), "id");
  assert.equal(keyLeaderOf("create table x (\n  id text not null primary key,\n  a text\n)"), "id");
});

test("docs/distribution.sql distributes exactly the tables with data of a shop", () => {
  const script = textOf("docs/distribution.sql");
  const distributed = [...script.matchAll(/^ +\('(\w+)', '(\w+)'\),?$/gm)].map((match) => `${match[1]}.${match[2]}`);
  assert.deepEqual(distributed.toSorted(), ofShops.map(({ schema, name }) => `${schema}.${name}`).sort());
});

test("the schemas checked here are those that the service opens", () => {
  const opened = captures(textOf("src/service/database.ts"), /^const \w+Schema = "(\w+)";$/gm);
  assert.deepEqual(opened.toSorted(), [...new Set(tables.map(({ schema }) => schema))].sort());
});
