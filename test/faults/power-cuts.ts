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
import { auditRowsVerifiedMax } from "../../src/admin/access/audit-chain.ts";
import { isReplay, type Reply } from "../../src/requests/envelope.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { orderRecords } from "../linear/clients.ts";
import { type Deed, deedOn, newOrder, type OrderSeen, spell, logEntryOf } from "../simulator/client.ts";
import { fewPages, mutantVariable } from "./planted.ts";
import { type Random, randomOf } from "../simulator/random.ts";
import { openService, type Sent, type Service } from "../simulator/service.ts";
import { locationId } from "../simulator/story.ts";
import { verifyWhole } from "../support/audit.ts";
import { adminToken, makeShop } from "../support/clients.ts";
import { type RunningProgram, serveProgram } from "../support/process.ts";
import { buildInterposer } from "./interposer.ts";
import { type Call, PlayedDisk, Recording } from "./recording.ts";
import { pause } from "../support/until.ts";

const shopIds = ["north", "south", "east"] as const;
const clientsPerShop = 3;
/** On hand of each variant at the start. */
const openingOnHand = 100_000;
/** A request that a crash has cut off is sent again, and one that is refused for the time being. */
const triesMax = 100;
const triesPauseMs = 100;
/** How long follow-on work may take after a start. */
const restMsMax = 60_000;

/** A request under a key of its own, sent until it was answered for good. */
interface Asked {
  readonly shopId: string;
  readonly client: number;
  readonly key: string;
  readonly deed: Deed;
  readonly text: string;
  readonly status: number;
  /** Where in the record its answer began to be sent. */
  readonly answeredAt: number;
}

export interface Recorded {
  /** The data directory that was recorded; it is gone by now. */
  readonly root: string;
  readonly calls: readonly Call[];
  /** In the order in which each client has sent them. */
  readonly asked: readonly Asked[];
  readonly tokens: ReadonlyMap<string, string>;
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
function deedOf(random: Random, seen: ReadonlyMap<string, OrderSeen>): Deed {
  const ask = random.next();
  const orders = [...seen.values()];
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
    const tokens = new Map<string, string>();
    for (const [index, shopId] of shopIds.entries()) {
      const settings = { costSyncMode: "disabled", autoSyncOnReceiving: index !== 1 };
      tokens.set(shopId, await makeShop(program.url, shopId, settings, orderRecords));
    }
    for (const call of recording.more()) {
      disk.apply(call);
      calls.push(call);
    }
    const madeAt = calls.length;
    interposer.set(slow);

    const asked: (Omit<Asked, "answeredAt"> & { readonly requestId: string })[] = [];
    const dueKills = Array.from({ length: kills }, (_, index) => Math.round((requests * (index + 1)) / (kills + 1)));
    let keys = 0;
    const insist = async (
      shopId: string,
      deed: Deed,
      key: string,
    ): Promise<{ text: string; status: number; requestId: string }> => {
      const { method, path: below, search = "", body } = spell(deed);
      for (let tries = 0; tries < triesMax; tries += 1) {
        const target = `/api/v1${below}${search === "" ? "" : `?${search}`}`;
        const used = program;
        const answer = await used
          .ask(method, target, tokens.get(shopId) ?? "", body, { "Idempotency-Key": key })
          .catch((error: unknown) => {
            if (error instanceof assert.AssertionError) throw error;
            return null;
          });
        if (answer === null) {
          if (used === program) restarting ??= restart().finally(() => (restarting = null));
          await restarting;
        } else if (answer.status < 400 || answer.at("error", "retryable") !== true)
          return { text: answer.text, status: answer.status, requestId: answer.headers.get("X-Request-Id") ?? "" };
        else await pause(triesPauseMs);
      }
      throw new Error(`no answer to ${method} ${below}`);
    };
    const client = async (shopId: string, number: number, seen: Map<string, OrderSeen>): Promise<void> => {
      const own = random.named(`${shopId} ${number}`);
      while (asked.length < requests) {
        const deed = deedOf(own, seen);
        const key = `key-${(keys += 1)}`;
        const { text, status, requestId } = await insist(shopId, deed, key);
        asked.push({ shopId, client: number, key, deed, text, status, requestId });
        const order = status < 300 ? orderIn(text) : undefined;
        if (order !== undefined && order.version >= (seen.get(order.purchaseOrderId)?.version ?? 0))
          seen.set(order.purchaseOrderId, order);
        if (dueKills[0] !== undefined && asked.length >= dueKills[0]) {
          dueKills.shift();
          interposer.set("write any die 50", "sync any die 50", slow);
        }
      }
    };
    await Promise.all(
      shopIds.flatMap((shopId) => {
        const seen = new Map<string, OrderSeen>();
        return Array.from({ length: clientsPerShop }, (_, index) => client(shopId, index, seen));
      }),
    );
    interposer.set();
    await program.end("SIGTERM");
    prove();
    const answers = answersIn(calls);
    return {
      root,
      calls,
      asked: asked.map(({ requestId, ...each }) => {
        const answeredAt = answers.get(requestId);
        assert.ok(answeredAt !== undefined, `the answer ${requestId} was not recorded`);
        return { ...each, answeredAt };
      }),
      tokens,
      madeAt,
      kills: killed,
    };
  } finally {
    await program.end("SIGKILL").catch(() => {});
    rmSync(place, { recursive: true });
  }
}

const orderIn = (text: string): OrderSeen | undefined =>
  logEntryOf({ status: 200, headers: {}, body: text, errorCode: null }).data?.purchaseOrder;

export interface CutsOptions {
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

let requestIds = 0;

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
    if (at >= recorded.madeAt)
      for (const shopId of shopIds) askedAgain += await judgeShop(recorded, at, service, shopId, wrong);
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

async function judgeShop(
  { asked, tokens }: Recorded,
  at: number,
  service: Service,
  shopId: string,
  wrong: string[],
): Promise<number> {
  const send = async (deed: Deed, key: string | null): Promise<Reply> => {
    const { method, path: below, search = "", body } = spell(deed);
    const sent: Sent = {
      requestId: `req_of_judge_${(requestIds += 1)}`,
      method,
      path: `/api/v1${below}`,
      search,
      headers: {
        authorization: `Bearer ${tokens.get(shopId) ?? ""}`,
        ...(key === null ? {} : { "idempotency-key": key }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    return await service.answer(sent);
  };
  const own = asked.filter((each) => each.shopId === shopId);
  const acknowledged = own.filter(({ answeredAt, status }) => answeredAt < at && status < 300);
  for (const { deed, key, text } of acknowledged) {
    const again = await send(deed, key);
    if (again.body !== text || !isReplay(again))
      wrong.push(`${shopId}: the answer to ${deed.op} ${key} is lost: ${again.status} ${again.body.slice(0, 200)}`);
  }
  // Of each client one request may have been under way. It has had its effect or has it now, and one only.
  const underWay = Array.from({ length: clientsPerShop }, (_, client) =>
    own.find((each) => each.client === client && each.answeredAt >= at),
  ).filter((each) => each !== undefined);
  const orderOf = ({ deed }: Asked): string | null => ("orderId" in deed ? deed.orderId : null);
  let orders = acknowledged.filter(({ deed }) => deed.op === "create").length;
  for (const each of underWay) {
    const { deed, key, status } = each;
    const answers = [await send(deed, key), await send(deed, key)];
    if (deed.op === "create") orders += 1;
    // Those about one order may now come in another order than they did, and be refused for that.
    const isAlone = deed.op === "create" || underWay.filter((other) => orderOf(other) === orderOf(each)).length === 1;
    const [first, second] = answers;
    const isSame = first !== undefined && (first.status >= 300 || second?.body === first.body);
    if (!isSame || (isAlone && status < 300 && first.status !== status))
      wrong.push(
        `${shopId}: ${deed.op} ${key} was under way: ${answers.map(({ body }) => body.slice(0, 200)).join(" and ")}`,
      );
  }
  const touched = new Set(underWay.map(orderOf));
  await untilAtRest(service, shopId, wrong);
  const listed = logEntryOf(await send({ op: "list" }, null)).data;
  if (listed?.totalCount !== orders) wrong.push(`${shopId}: ${listed?.totalCount} orders instead of ${orders}`);

  const last = new Map<string, OrderSeen>();
  for (const { text } of acknowledged) {
    const order = orderIn(text);
    if (order !== undefined && order.version >= (last.get(order.purchaseOrderId)?.version ?? 0))
      last.set(order.purchaseOrderId, order);
  }
  const received = new Map<string, number>();
  for (const { purchaseOrderId: orderId } of listed?.purchaseOrders ?? []) {
    const order = orderIn((await send({ op: "read", orderId }, null)).body);
    const known = last.get(orderId);
    if (order === undefined) {
      wrong.push(`${shopId}: ${orderId} cannot be read`);
      continue;
    }
    for (const { variantId, quantitySynced } of order.lineItems)
      received.set(variantId, (received.get(variantId) ?? 0) + quantitySynced);
    if (known !== undefined && !touched.has(orderId) && essence(order) !== essence(known))
      wrong.push(`${shopId}: ${orderId} is ${essence(order)} and was acknowledged as ${essence(known)}`);
  }
  // What a power cut leaves of the built-in storefront and of the shop belongs together again.
  const { variants } = await service.sandboxOf(shopId).state(null);
  for (const { variantId, levels } of variants) {
    const onHand = Number(levels.find((level) => level.locationId === locationId)?.onHand ?? 0) / 1_000;
    const due = openingOnHand + (received.get(variantId) ?? 0);
    if (Math.abs(onHand - due) > 0.000_5)
      wrong.push(`${shopId}: on hand of ${variantId} is ${onHand} instead of ${due}`);
  }
  const { findings } = await service.engine.read(shopId, (tx) => verifyWhole(tx, shopId, auditRowsVerifiedMax));
  wrong.push(...findings.map(({ message }) => `${shopId}: the audit log does not verify: ${message}`));
  return acknowledged.length;
}

/** What clients have set of an order. */
const essence = ({ poName, lineItems }: OrderSeen): string =>
  JSON.stringify([
    poName,
    lineItems.map((line) => [line.poLineItemId, line.quantityOrdered, line.quantityConfirmed, line.quantityReceived]),
  ]);

/** Until no follow-on work is pending. */
async function untilAtRest(service: Service, shopId: string, wrong: string[]): Promise<void> {
  const untilMs = systemClock.now() + restMsMax;
  for (;;) {
    const pending = await service.engine.peek(shopId, async (tx) => {
      const [row] = await tx.all<{ n: number }>(
        "select count(*) as n from effect where shop_id = ? and state = 'pending'",
        [shopId],
      );
      return row?.n ?? 0;
    });
    if (pending === 0) return;
    if (systemClock.now() > untilMs) {
      wrong.push(`${shopId}: ${pending} effects are still pending`);
      return;
    }
    await pause(5);
  }
}
