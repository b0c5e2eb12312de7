/**
 * What 50 concurrent clients of five shops are told can have come about one request at a time (S1, S2, C17 to C20): on SQLite at one
 * process, on PostgreSQL at two nodes. world/history.ts says what that means, and world/history.test.ts that it finds what is not so.
 *
 * `OPENPO_LINEAR_SECONDS` is how long they ask; `npm run test:linear` asks for longer, kills processes meanwhile, and plants faults, each of which must
 * be found. `OPENPO_LINEAR_SEED` seeds the clients.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { systemClock } from "../../src/base/time/system.ts";
import { isOfLinear, mutants, mutantVariable } from "../faults/planted.ts";
import { adminToken, hangUp } from "../support/clients.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres } from "../support/store.ts";
import { pause } from "../support/until.ts";
import { type History, isOutside, judgeHistory } from "../world/history.ts";
import { Load } from "../world/load.ts";
import { randomOf } from "../world/random.ts";

const isLong = process.env["OPENPO_LINEAR_SECONDS"] !== undefined;
const seconds = Number(process.env["OPENPO_LINEAR_SECONDS"] ?? 3);
const seed = process.env["OPENPO_LINEAR_SEED"] ?? "1";
/** How long the clients ask a service with a planted fault. */
const plantedSeconds = 4;
const shops = 5;
const clients = 50;
const nodes = onPostgres ? 2 : 1;
/** Between two kills of a process, in the long form. */
const killPauseMs = 4_000;
/** The clients go on until so many requests are answered, on a machine that does other things too. */
const answeredMin = 500;

interface Played {
  readonly histories: readonly History[];
  readonly kills: number;
}

/** Lets the clients ask for a time. `mutant` names a planted fault. */
async function play(secondsMax: number, withKills: boolean, mutant: string | null = null): Promise<Played> {
  const hook = pathToFileURL(path.join(import.meta.dirname, "../faults/mutate.ts")).href;
  const planted = mutant === null ? {} : { [mutantVariable]: mutant, NODE_OPTIONS: `--import=${hook}` };
  let played: Played | null = null;
  await withDirectory(async (directory) => {
    const start = (): Promise<RunningProgram> =>
      serveProgram({
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_DEMO: "0",
        ...planted,
      });
    const programs: RunningProgram[] = [];
    // One after another: the first migrates the database.
    for (let node = 0; node < nodes; node += 1) programs.push(await start());
    let kills = 0;
    const untilMs = systemClock.now() + secondsMax * 1_000;
    const clock = { isOver: false };
    const begun = Promise.withResolvers<void>();
    const killing = async (): Promise<void> => {
      const random = randomOf(seed);
      await begun.promise;
      while (!clock.isOver) {
        await pause(killPauseMs);
        const node = random.int(0, nodes - 1);
        await programs[node]?.end("SIGKILL");
        programs[node] = await start();
        kills += 1;
      }
    };
    const killed = withKills ? killing() : Promise.resolve();
    const load = await Load.open({
      urls: () => programs.map(({ url }) => url),
      seed,
      shopIds: Array.from({ length: shops }, (_, index) => `shop-${index}`),
      settings: (index) => ({ costSyncMode: "disabled", autoSyncOnReceiving: index % 2 === 0 }),
      clients,
      inAHurry: true,
      withApprovals: true,
      isOver: (answered) => {
        begun.resolve();
        clock.isOver = systemClock.now() > untilMs && answered >= answeredMin;
        return clock.isOver;
      },
    });
    await load.run();
    await killed;
    const histories = await load.histories();
    hangUp();
    played = { histories, kills };
  });
  assert.ok(played !== null);
  return played;
}

const found = ({ histories }: Played): readonly string[] =>
  histories.flatMap((history) => judgeHistory(history).findings.map((each) => `${history.shopId}: ${each}`));

test(`what ${clients} clients of ${shops} shops are told within ${seconds} s is linearizable, at ${nodes} node(s)`, async (t) => {
  const played = await play(seconds, isLong);
  const asked = played.histories.flatMap((history) => history.attempts);
  const answered = asked.filter(({ reply }) => reply !== null);
  const events = played.histories.reduce((sum, history) => sum + history.events.length, 0);
  const told = (type: string): number =>
    played.histories.flatMap((history) => history.events).filter((event) => event.type === type).length;
  const [requested, decided] = [told("approval.requested"), told("approval.decided")];
  const withdrawn = answered.filter(({ deed, reply }) => deed.op === "withdraw" && reply?.status === 200).length;
  const replays = answered.filter(({ reply }) => reply?.headers["Idempotent-Replayed"] !== undefined).length;
  t.diagnostic(
    `${asked.length} requests, ${asked.length - answered.length} without an answer, ${replays} replays, ${answered.filter(isOutside).length} refused for the time being, ${events} events, ${requested} approvals asked for, ${decided} decided, ${withdrawn} of them withdrawn, ${played.kills} kills`,
  );
  assert.ok(replays > 0 && events > 0 && answered.length < asked.length, "there is a history, with unknown outcomes");
  assert.ok(requested > 0 && decided > 0, "some writes are decided about");
  assert.ok(answered.filter(isOutside).length < answered.length / 2, "most requests are answered by their order");
  const wrong = found(played);
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} findings with seed ${seed}`);
});

const engineHere = onPostgres ? "postgres" : "sqlite";

for (const { name, breaks } of isLong ? mutants.filter((mutant) => isOfLinear(mutant, engineHere)) : [])
  test(`the planted fault ${name} is found: ${breaks}`, async (t) => {
    const wrong = found(await play(plantedSeconds, false, name));
    t.diagnostic(`${wrong.length} findings, such as: ${wrong[0]?.slice(0, 300)}`);
    assert.ok(wrong.length > 0);
  });
