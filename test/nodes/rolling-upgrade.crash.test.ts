/**
 * Nodes of one release on one PostgreSQL, behind HAProxy with the shipped configuration and under mixed load, are replaced by nodes of the
 * next one after another, as docs/operating.md says. No acknowledged change is lost, each key has one effect, every answer is as a model says,
 * and there is service throughout (S1–S4, C17–C20). The nodes' clocks are minutes apart (D74).
 *
 * `npm run test:upgrade` has three nodes and a longer load.
 * `OPENPO_UPGRADE_SECONDS` is how long the load goes on before, between and after the replacements. `OPENPO_TEST_NODES_SEED` seeds the clients' steps.
 */
import assert from "node:assert/strict";
import { cpSync, globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test, type TestContext } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/time/system.ts";
import { operations } from "../../src/operations/registry.ts";
import { documentOf, migrationsOf, releasesWithProgram, unpackProgram } from "../releases/kept.ts";
import { withMachineClock } from "../releases/program.ts";
import { adminToken, hangUp, operate } from "../support/clients.ts";
import { contractOf, createContract, type Observed } from "../support/openapi/contract.ts";
import { type LoadBalancer, noHaproxy, startHaproxy } from "../support/postgres/haproxy.ts";
import { type ServiceNode, serviceNode } from "../support/programs/nodes.ts";
import { freePort } from "../support/programs/ports.ts";
import { freshDatabase } from "../support/postgres/postgres.ts";
import { startProbe } from "../support/programs/probe.ts";
import { startProgram, thisProgram } from "../support/programs/program.ts";
import { pause, until } from "../support/until.ts";
import { type LoadTold, NodesLoad, shownRepeats } from "../world/nodes.ts";

const longSeconds = process.env["OPENPO_UPGRADE_SECONDS"];
const seconds = Number(longSeconds ?? 0.5);
const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_124);
const nodeCount = longSeconds === undefined ? 2 : 3;
const clientCount = longSeconds === undefined ? 4 : 8;

/** The clocks of the nodes' machines, which must not matter (D74). */
const clocksAreWrongByMs = [300_000, -420_000, 0];

const root = path.join(import.meta.dirname, "../..");
const migrationsToday = globSync("src/shop/schema/*.sql", { cwd: root }).length;

type Contract = (observed: Observed) => void;

/** A program: what starts it, how many migrations it has, and the check of its answers against its own document. */
interface Program extends Disposable {
  readonly name: string;
  readonly main: string;
  readonly migrations: number;
  readonly contract: Contract;
}

/** Nodes with fewer migrations cannot run beside today's: migration 52 takes the place of tables that they write. */
const togetherFrom = 52;

/** The newest kept program that has fewer migrations than today's and can run beside it; undefined: none is kept yet. */
const keptBefore = releasesWithProgram
  .map((name) => ({ name, migrations: migrationsOf(name) }))
  .filter(({ migrations }) => migrations >= togetherFrom && migrations < migrationsToday)
  .sort((left, right) => right.migrations - left.migrations)[0];

const today = (): Program => ({
  name: "today's program",
  main: thisProgram,
  migrations: migrationsToday,
  contract: contractOf(operations),
  [Symbol.dispose]: () => {},
});

/** Today's program with a further migration, which changes tables that every request uses. */
function programAfter(): Program {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-next-"));
  for (const name of ["src", "package.json"])
    cpSync(path.join(root, name), path.join(directory, name), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(directory, "node_modules"));
  const migrations = migrationsToday + 1;
  writeFileSync(
    path.join(directory, `src/shop/schema/${String(migrations).padStart(4, "0")}.sql`),
    `alter table audit_log add column next_release text;
     alter table purchase_order add column next_release bigint;
     update purchase_order set next_release = 1;
     create index purchase_order_of_next_release on purchase_order (shop_id, next_release);\n`,
  );
  return {
    name: "one with a further migration",
    main: path.join(directory, "src/main.cjs"),
    migrations,
    contract: contractOf(operations),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/**
 * The check of answers that come through HAProxy: each against the document of the program that its node runs, and a replay against that of the program
 * that answered first, which may be either.
 */
const contractOfNodes =
  (serves: ReadonlyMap<string, Program>, programs: readonly Program[]): Contract =>
  (observed) => {
    const { "x-node": node, "idempotent-replayed": replayed } = observed.headers;
    // HAProxy's own answers are as today's program would give them.
    const program = serves.get(String(node)) ?? programs.at(-1);
    const others = replayed === "true" ? programs.filter((each) => each !== program) : [];
    const fits = others.some(({ contract }) => {
      try {
        contract(observed);
        return true;
      } catch {
        return false;
      }
    });
    if (!fits) program?.contract(observed);
  };

/** Replaces each node as docs/operating.md says: drained, so that no request is under way on a connection that is closed. */
async function replaceAll(
  nodes: readonly ServiceNode[],
  balancer: LoadBalancer,
  serves: Map<string, Program>,
  next: Program,
  afterFirst: () => Promise<void>,
): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const name = `node${index + 1}`;
    await balancer.control(`set server nodes/${name} state drain`);
    await until(`${name} is drained`, async () => (await balancer.running()).get(name) === 0);
    assert.equal(await node.end("SIGTERM"), 0);
    await node.start(next.main);
    serves.set(name, next);
    await balancer.control(`set server nodes/${name} state ready`);
    await until(`HAProxy uses ${name}`, async () => (await balancer.states()).get(name) === "UP");
    if (index === 0) await afterFirst();
    await pause(seconds * 1_000);
  }
}

const verification = z.object({
  data: z.object({
    rows: z.number(),
    findings: z.array(z.object({ kind: z.string(), message: z.string() })),
    cursor: z.string().nullable(),
  }),
});

/** What a verification of the shop's audit log finds, by kind and message. */
async function findingsOf(url: string, shopId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const answer = await operate(url, "GET", `/shops/${shopId}/audit-log/verification${query}`);
    const { data } = verification.parse(answer);
    found.push(...data.findings.map(({ kind, message }) => `${kind}: ${message}`));
    ({ cursor } = data);
  }
  return found;
}

/** Why clients had to repeat requests, but for what the test does to them: their own short timeouts, and the storefront's faults. */
const unmeant = ({ repeats }: LoadTold): readonly string[] =>
  [...repeats.keys()].filter((why) => /^5(?!02 UPSTREAM)|^E[A-Z]+/.test(why));

async function upgrade(context: TestContext, from: Program, to: Program): Promise<void> {
  const database = await freshDatabase({ empty: true });
  const ports = await Promise.all(Array.from({ length: nodeCount }, freePort));
  const nodes = ports.map((port, index) =>
    serviceNode(database.url, { PORT: String(port), ...withMachineClock(clocksAreWrongByMs[index] ?? 0) }),
  );
  try {
    await Promise.all(nodes.map((node) => node.start(from.main)));
    await using balancer = await startHaproxy(ports.map((port) => `127.0.0.1:${port}`));
    const addresses = [balancer];
    const serves = new Map(nodes.map((_, index) => [`node${index + 1}`, from]));
    const contract = contractOfNodes(serves, [from, to]);
    const load = await NodesLoad.open({
      nodes: addresses,
      databaseUrl: database.url,
      clients: clientCount,
      seconds: 0,
      seed,
      contract,
    });
    const probe = await startProbe(addresses, "probe");
    const beganMs = systemClock.now();
    const told = await load.run(async () => {
      await pause(seconds * 1_000);
      await replaceAll(nodes, balancer, serves, to, async () => {
        // A node of the release before that starts only now.
        const env = { OPENPO_DATABASE_URL: database.url, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
        const { code, stderr } = await startProgram([], env, null, from.main).finished;
        assert.equal(code, 1);
        assert.match(stderr, /^openpo: OPENPO_DATABASE_URL: .*newer/m);
      });
    });
    await probe.end();
    await load.prove();
    const findings = (await Promise.all(load.shopIds.map((shopId) => findingsOf(balancer.url, shopId)))).flat();
    context.diagnostic(
      `${from.name} to ${to.name}, ${nodeCount} nodes: ${Math.round(probe.longestGapMs(beganMs))} ms ` +
        `at most between two changes; ${findings.length} findings in audit logs; ${shownRepeats(told)}`,
    );
    // On a machine that stands still for seconds HAProxy takes a node out of service which it gets no answer from.
    const stoodStill = /Layer\d timeout/.test(balancer.log);
    if (stoodStill) context.diagnostic("the machine stood still: whether requests failed was not looked at");
    else assert.deepEqual(unmeant(told), [], balancer.log);
    assert.deepEqual(findings, []);
  } catch (error) {
    context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
    throw error;
  } finally {
    hangUp();
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
    await database.drop();
  }
}

suite("crash: rolling upgrade", { skip: noHaproxy }, () => {
  test("nodes of today's program are replaced one by one under load: nothing is lost or doubled, and there is service throughout", async (context) => {
    using after = programAfter();
    await upgrade(context, today(), after);
  });

  const skip = keptBefore === undefined && `no kept program has ${togetherFrom} migrations or more`;
  test("so are nodes of the kept release before", { skip }, async (context) => {
    assert.ok(keptBefore !== undefined);
    const { name } = keptBefore;
    using before: Program = { ...unpackProgram(name), ...keptBefore, contract: createContract(documentOf(name)) };
    await upgrade(context, before, today());
  });
});
