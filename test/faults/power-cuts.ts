/**
 * Records a service that is asked over HTTP, cuts its power at many places of the record (recording.ts), and opens what each cut leaves with the
 * program's own code: everything that was acknowledged before the cut must be there once.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isReplay } from "../../src/requests/envelope.ts";
import { operations } from "../../src/operations/registry.ts";
import { openService, pendingEffects, rowsOf, type Service, storefrontOf } from "../simulator/service.ts";
import { adminToken, hangUp, makeKey, makeShop } from "../support/clients.ts";
import { contractOf } from "../support/openapi/contract.ts";
import { type RunningProgram, serveProgram } from "../support/process.ts";
import { pause, until } from "../support/until.ts";
import { type Attempt, Client, type Key, type Seen } from "../world/client.ts";
import { catalogueRecords, type Deed, deedOn, newOrder } from "../world/deeds.ts";
import { judgeEnd } from "../world/end.ts";
import { judgeHistory } from "../world/history.ts";
import { overHttp, traceOf } from "../world/http.ts";
import { named, openingOnHand } from "../world/load.ts";
import { type Random, randomOf } from "../world/random.ts";
import { buildInterposer } from "./interposer.ts";
import { fewPages, mutantVariable } from "./planted.ts";
import { type Call, PlayedDisk, Recording } from "./recording.ts";

const shopIds = ["north", "south", "east"] as const;
const clientsPerShop = 3;
/** A request that a crash has cut off is sent again, and one that is refused for the time being. */
const triesMax = 100;
const triesPauseMs = 100;

export interface Recorded {
  /** The data directory that was recorded; it is gone by now. */
  readonly root: string;
  readonly calls: readonly Call[];
  readonly attempts: readonly Attempt[];
  /** Where in the record an answer began to be sent, by request id. */
  readonly answers: ReadonlyMap<string, number>;
  readonly keys: ReadonlyMap<string, readonly Key[]>;
  /** Where in the record all shops were made. */
  readonly madeAt: number;
  readonly kills: number;
}

interface RecordOptions {
  readonly seed: string;
  /** Requests of all clients. */
  readonly requests: number;
  /** How often the process is killed, wherever it is, and started again. */
  readonly kills: number;
  /** How many of 1,000 syncs are slow. */
  readonly slowSyncs: number;
  /** A fault of planted.ts that is planted in the program. */
  readonly mutant?: string;
}

/** What a client asks next. */
function deedOf(random: Random, seen: readonly Seen[]): Deed {
  const ask = random.next();
  const orders = seen.map(({ order }) => order);
  if (orders.length === 0 || ask < 0.3) return newOrder(random, 12);
  const order = random.pick(orders);
  const more =
    ask < 0.4
      ? deedOn(order, { op: "rename", name: `name ${random.int(1, 999)}` })
      : ask < 0.5
        ? deedOn(order, { op: "add-line", variant: random.int(0, 2), ordered: random.int(1, 8) })
        : ask < 0.65
          ? deedOn(order, { op: "receive", line: random.int(0, 3), share: random.pick([0.2, 0.5, 1]), over: false })
          : deedOn(order, { op: "forward", share: random.pick([0.5, 1, 1]) });
  return more ?? { op: "rename", orderId: order.purchaseOrderId, name: "again" };
}

/** The positions in the record at which answers began to be sent, by request id. */
function answersIn(calls: readonly Call[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [at, { type, bytes }] of calls.entries()) {
    const requestId = type === "A" ? /^x-request-id: (\S+)/im.exec(bytes.toString("latin1"))?.[1] : undefined;
    if (requestId !== undefined) found.set(requestId, at);
  }
  return found;
}

/** Runs a service under the interposer until so many requests are answered. */
export async function record({ seed, requests, kills, slowSyncs, mutant }: RecordOptions): Promise<Recorded> {
  const place = mkdtempSync(path.join(tmpdir(), "openpo-recorded-"));
  const root = path.join(place, "data");
  const file = path.join(place, "record");
  const interposer = buildInterposer(place, root, file);
  const hook = pathToFileURL(path.join(import.meta.dirname, "mutate.ts")).href;
  const start = (): Promise<RunningProgram> =>
    serveProgram({
      OPENPO_DATA_DIR: root,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
      NODE_OPTIONS: `--import=${hook}`,
      [mutantVariable]: [fewPages.name, ...(mutant === undefined ? [] : [mutant])].join(),
      ...interposer.env,
    });
  const recording = new Recording(file);
  const disk = new PlayedDisk(root);
  const calls: Call[] = [];
  /** What was recorded is all that was done to the files. */
  const prove = (): void => {
    for (const call of recording.more()) {
      disk.apply(call);
      calls.push(call);
    }
    assert.deepEqual(disk.differences(), []);
  };
  const random = randomOf(seed);
  const slow = `sync any slow ${slowSyncs}`;
  let program = await start();
  let killed = 0;
  let restarting: Promise<void> | null = null;
  /** The interposer has killed the process: starts another one, unless only a connection was lost. */
  const restart = async (): Promise<void> => {
    const lives = await fetch(`${program.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (lives) return;
    await program.end("SIGCONT");
    prove();
    killed += 1;
    interposer.set(slow);
    program = await start();
  };
  try {
    const keys = new Map<string, readonly Key[]>();
    for (const [index, shopId] of shopIds.entries()) {
      const settings = { costSyncMode: "disabled", autoSyncOnReceiving: index !== 1 };
      await makeShop(program.url, shopId, settings, catalogueRecords(openingOnHand));
      keys.set(shopId, [await makeKey(program.url, shopId)]);
    }
    for (const call of recording.more()) {
      disk.apply(call);
      calls.push(call);
    }
    const madeAt = calls.length;
    interposer.set(slow);

    const contract = contractOf(operations);
    const send = overHttp({
      urls: () => [program.url],
      random,
      cuts: { share: 0, withinMs: 0 },
      check: ({ method, target }, answer) => contract({ method, target, ...answer, body: answer.text }),
    });
    const client = new Client({
      keys,
      random: random.named("client"),
      sleep: pause,
      now: () => performance.now(),
      isNamedByService: true,
      lostPauseMs: triesPauseMs,
      waitMsMax: triesPauseMs,
      async send(sent) {
        const used = program;
        const reply = await send(sent);
        if (reply === null && used === program) restarting ??= restart().finally(() => (restarting = null));
        if (reply === null) await restarting;
        return reply;
      },
    });
    const dueKills = Array.from({ length: kills }, (_, index) => Math.round((requests * (index + 1)) / (kills + 1)));
    let done = 0;
    const work = async (shopId: string, number: number): Promise<void> => {
      const own = random.named(`${shopId} ${number}`);
      while (done < requests) {
        const request = client.request(shopId, deedOf(own, client.seen(shopId)), true);
        assert.ok((await client.persist(request, triesMax)) !== null, `no answer to ${JSON.stringify(request.deed)}`);
        done += 1;
        if (dueKills[0] !== undefined && done >= dueKills[0]) {
          dueKills.shift();
          interposer.set("write any die 50", "sync any die 50", slow);
        }
      }
    };
    await Promise.all(
      shopIds.flatMap((shopId) => Array.from({ length: clientsPerShop }, (_, index) => work(shopId, index))),
    );
    interposer.set();
    await program.end("SIGTERM");
    prove();
    return { root, calls, attempts: client.attempts, answers: answersIn(calls), keys, madeAt, kills: killed };
  } finally {
    hangUp();
    await program.end("SIGKILL").catch(() => {});
    rmSync(place, { recursive: true });
  }
}

interface CutsOptions {
  readonly seed: string;
  readonly images: number;
  /** Whether syncs of a file keep their promise. Default: all do. */
  readonly keepsPromise?: (place: string) => boolean;
  /** No more images after so many with findings. Default: all images. */
  readonly findingsMax?: number;
}

export interface CutsTold {
  readonly images: number;
  /** Images within a sync. */
  readonly withinSync: number;
  /** Acknowledged requests that were asked again, over all images. */
  readonly askedAgain: number;
  /** Each with the place of its cut. */
  readonly findings: readonly string[];
}

/** Where to cut: anywhere, just after an answer, when a sync has just begun, and around the syncs of database files. */
function placesOf(random: Random, { calls, madeAt }: Recorded, images: number): readonly number[] {
  const after = (type: string, isMeant: (call: Call) => boolean = () => true): readonly number[] =>
    calls.flatMap((call, at) => (call.type === type && at > madeAt && isMeant(call) ? [at + 1] : []));
  const mainSyncs = after("B", ({ place }) => place.endsWith(".db"));
  const kinds = [after("A"), after("B"), mainSyncs.map((at) => Math.min(at + random.int(0, 40), calls.length))];
  const places = Array.from({ length: images }, (_, index) => {
    if (index % 20 === 0) return random.int(0, madeAt);
    const kind = kinds[index % 4] ?? [];
    return kind.length > 0 ? random.pick(kind) : random.int(madeAt, calls.length);
  });
  return places.sort((one, other) => one - other);
}

/** Cuts the power at many places of a record and looks at what is left. */
export async function cutPower(recorded: Recorded, options: CutsOptions): Promise<CutsTold> {
  const { seed, images, keepsPromise, findingsMax = Number.POSITIVE_INFINITY } = options;
  const random = randomOf(seed);
  const disk = new PlayedDisk(recorded.root, keepsPromise);
  const place = mkdtempSync(path.join(tmpdir(), "openpo-cuts-"));
  const told = { images: 0, withinSync: 0, askedAgain: 0, failed: 0 };
  const findings: string[] = [];
  let played = 0;
  try {
    for (const [index, at] of placesOf(random, recorded, images).entries()) {
      if (told.failed >= findingsMax) break;
      for (const call of recorded.calls.slice(played, at)) disk.apply(call);
      played = at;
      const directory = path.join(place, String(index));
      mkdirSync(directory, { mode: 0o700 });
      disk.leave(random.named(`image ${index}`), directory);
      told.images += 1;
      if (disk.isSyncing) told.withinSync += 1;
      const wrong: string[] = [];
      told.askedAgain += await judge(recorded, at, directory, wrong);
      if (wrong.length > 0) told.failed += 1;
      findings.push(
        ...wrong.map((each) => `image ${index}, cut after call ${at} of ${recorded.calls.length}: ${each}`),
      );
      rmSync(directory, { recursive: true });
    }
  } finally {
    rmSync(place, { recursive: true });
  }
  return { ...told, findings };
}

/** Asks what was left at every place where it could show that something is missing. Adds what it finds. @returns how many answers it asked again. */
async function judge(recorded: Recorded, at: number, directory: string, wrong: string[]): Promise<number> {
  let service: Service;
  const errors: string[] = [];
  const told = (level: string) => (fields: object, message: string) =>
    void errors.push(`${level}: ${message} ${"err" in fields ? String(fields.err) : ""}`);
  try {
    service = await openService({
      directory,
      walPagesMax: 1_000,
      journal: {},
      log: { info: () => {}, warn: () => {}, error: told("error") },
      storefrontOf: null,
      random: Math.random,
    });
  } catch (error) {
    wrong.push(`the program does not start: ${String(error)}`);
    return 0;
  }
  let askedAgain = 0;
  try {
    if (at >= recorded.madeAt) askedAgain += await judgeShops(recorded, at, service, wrong);
  } catch (error) {
    wrong.push(`the program fails: ${String(error)}`);
  } finally {
    await service.close().catch((error: unknown) => wrong.push(`it does not close: ${String(error)}`));
  }
  wrong.push(...errors);
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const found = name.endsWith(".db") && name !== "lock.db" ? soundnessOf(path.join(directory, name)) : "ok";
    if (found !== "ok") wrong.push(`${name}: ${found}`);
  }
  return askedAgain;
}

function soundnessOf(file: string): string {
  const database = new DatabaseSync(file);
  try {
    return String(database.prepare("pragma integrity_check").get()?.["integrity_check"]);
  } catch (error) {
    return String(error);
  } finally {
    database.close();
  }
}

/** What was asked before the cut, as the clients know it then. */
function before({ attempts, answers, kills }: Recorded, at: number): readonly Attempt[] {
  const isTold = ({ requestId, reply }: Attempt): boolean => {
    const answeredAt = answers.get(requestId);
    assert.ok(reply === null || kills > 0 || answeredAt !== undefined, `the answer ${requestId} was not recorded`);
    return reply !== null && (answeredAt ?? Infinity) < at;
  };
  // What was sent after an answer that was not told yet is of later.
  const later = Math.min(...attempts.flatMap((each) => (isTold(each) || each.reply === null ? [] : each.answeredAt)));
  // A replay has the name of the request that it replays, and was sent after it.
  const nameOf = ({ requestId, reply }: Attempt): string =>
    reply !== null && isReplay(reply) ? "a replay that nobody was told" : requestId;
  return attempts
    .filter(({ sentAt }) => sentAt < later)
    .map((each) =>
      isTold(each) ? each : { ...each, requestId: nameOf(each), reply: null, answeredAt: Number.POSITIVE_INFINITY },
    );
}

/** Asks for everything again that was acknowledged or under way, and judges what is told and what is there. @returns how many answers it asked again. */
async function judgeShops(recorded: Recorded, at: number, service: Service, wrong: string[]): Promise<number> {
  const known = before(recorded, at);
  const client = new Client({
    keys: recorded.keys,
    random: randomOf("judge"),
    sleep: pause,
    now: () => performance.now(),
    isNamedByService: true,
    lostPauseMs: 5,
    waitMsMax: 1_000,
    before: known,
    send: (sent) => service.answer(sent),
  });
  const untilAtRest = async (): Promise<void> => {
    for (const shopId of shopIds)
      await until(`the end of follow-on work of ${shopId}`, async () => (await pendingEffects(service, shopId)) === 0);
  };
  await untilAtRest();
  await client.finish("unsynced");
  await untilAtRest();
  for (const shopId of shopIds) {
    const rows = await rowsOf(service, shopId);
    const storefront = await storefrontOf(service.sandboxOf(shopId));
    const { events } = rows;
    const idsByTrace = new Map(rows.tables["audit_log"]?.map((row) => [row["trace_id"], String(row["request_id"])]));
    const own = client.attempts.filter((attempt) => attempt.shopId === shopId);
    const attempts = named(own, ({ requestId }) => idsByTrace.get(traceOf(requestId)), events);
    const { findings, orders, approvals } = judgeHistory({ shopId, attempts, events });
    const tell = (finding: string): void => void wrong.push(`${shopId}: ${finding}`);
    findings.forEach(tell);
    const end = { shopId, ...rows, storefront };
    const opening = openingOnHand * 1_000;
    const options = { end, attempts, orders, approvals, openingOnHand: opening, mayMissRow: () => true };
    judgeEnd({ ...options, knowsAll: false }, tell);
  }
  return known.filter(({ reply, idempotencyKey }) => reply !== null && idempotencyKey !== null).length;
}
