/**
 * One process of the service in the simulation, wired like src/service/serve.ts, but for sockets: requests are handed to the REST surface, webhooks to
 * the simulation's receiver.
 */
import { brotliDecompressSync } from "node:zlib";
import { brotli, gzip } from "../../src/service/compression.ts";
import { auditRowsVerifiedMax } from "../../src/admin/access/audit-chain.ts";
import { eventsAfter } from "../../src/shop/events/events.ts";
import { shopsOpenMax } from "../../src/store/sqlite/engine.ts";
import { storedAnswersBytesMax } from "../../src/requests/idempotency.ts";
import { openDataDirectory } from "../../src/service/data-directory.ts";
import { BodyBudget, RequestBody } from "../../src/http/body.ts";
import { createRest } from "../../src/http/rest.ts";
import type { HttpRequest, RequestContext } from "../../src/http/surface.ts";
import { shopOf } from "../../src/admin/operation.ts";
import { approveRequestOf } from "../../src/operations/approvals/approve.ts";
import { rejectRequest, withdrawRequest } from "../../src/operations/approvals/decide.ts";
import { asFault, failure, type Reply } from "../../src/requests/envelope.ts";
import { createPerform, type Perform } from "../../src/requests/perform.ts";
import { operations } from "../../src/operations/registry.ts";
import { createOutbox } from "../../src/jobs/outbox/runner.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import type { Compression, Engine, Log } from "../../src/store/store.ts";
import type { SandboxControl } from "../../src/storefront/sandbox/control.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import { verifyWhole } from "../support/audit.ts";
import type { Sent } from "../world/client.ts";
import { endTables, type Row, type ShopEnd } from "../world/end.ts";
import type { EventTold } from "../world/history.ts";
import type { Story } from "./story.ts";
import { replace } from "./time.ts";
import { signedInWith } from "./callers.ts";

export interface Service {
  readonly engine: Engine;
  readonly clock: Clock;
  sandboxOf(shopId: string): Storefront & SandboxControl;
  /** Answers a request. */
  answer(sent: Sent): Promise<Reply>;
  close(): Promise<void>;
}

interface ServiceOptions {
  readonly directory: string;
  readonly walPagesMax: number;
  readonly journal: Partial<Story["journal"]>;
  /** Default: as the program has them. */
  readonly storedAnswersBytesMax?: number;
  readonly log: Log;
  /** Null: the shops' built-in storefronts run in this process. */
  readonly storefrontOf: ((shopId: string) => Storefront) | null;
  /** Notes what the shop's storefront is asked. Default: nothing is noted. */
  readonly watched?: (shopId: string, storefront: Storefront) => Storefront;
  /** Is told when a write of the shop has its turn. Default: nobody is. */
  readonly wrote?: (shopId: string) => void;
  readonly random: () => number;
}

/** More events than a shop has. */
const eventsMax = 10_000;

/** Nothing leaves the event loop. */
const compression: Compression = {
  ...brotli,
  compress: (text) => brotli.compress(text),
  compressAside: (text) => Promise.resolve(brotli.compress(text)),
  expand: (text) => Promise.resolve(brotliDecompressSync(Buffer.from(text, "base64")).toString("utf8")),
};

/** Who performs a request that the one REST surface of this program has got. */
const performs = new Map<string, Perform>();

/** Decisions, which stand below `/admin/v1/shops/{shopId}`, are performed like what stands below `/api/v1`. */
const decisions = [
  approveRequestOf((name) => operations.find((each) => each.name === name) ?? null),
  rejectRequest,
  withdrawRequest,
];

const rest = createRest(
  [...operations, ...decisions],
  (incoming) => {
    const perform = performs.get(incoming.requestId);
    if (perform === undefined) throw new Error("a request of nobody");
    return perform(incoming);
  },
  gzip,
).flatMap((surface) => ("reply" in surface ? [surface] : []));

function contextOf(sent: Sent, bodies: BodyBudget): RequestContext {
  const bytes = Buffer.from(sent.body ?? "");
  const request: HttpRequest = {
    method: sent.method,
    header: (name) => sent.headers[name] ?? null,
    readBody: (take) => {
      if (bytes.length > 0) take(bytes);
      return Promise.resolve();
    },
    web: () => {
      throw new Error("the REST surface asks for no Request");
    },
  };
  return {
    request,
    body: new RequestBody(request, bodies),
    requestId: sent.requestId,
    trace: { traceId: "0".repeat(31) + "1", spanId: "0".repeat(15) + "1", parentId: null, sampled: false },
    path: sent.path.replace(/^\/admin\/v1\/shops\/[^/]+/, "/api/v1"),
    search: sent.search,
    headerValues: (name) => (sent.headers[name] === undefined ? [] : [sent.headers[name]]),
    remoteAddress: "192.0.2.1",
    operation: "unknown",
    errorCode: null,
    shopId: null,
    replayed: false,
  };
}

/** People are signed in at a surface that the simulation has not. */
const performedAs =
  (engine: Engine, perform: Perform): Perform =>
  async (incoming) => {
    const caller = signedInWith(incoming.bearerToken);
    if (caller === null) return await perform(incoming);
    const { shopId, person } = caller;
    try {
      const shop = await engine.peek(shopId, (tx) => shopOf(tx, shopId));
      return await perform({ ...incoming, caller: { shop, key: null, person } });
    } catch (error) {
      return failure(incoming.requestId, asFault(error));
    }
  };

async function answerWith(perform: Perform, bodies: BodyBudget, sent: Sent): Promise<Reply> {
  const [surface] = rest;
  if (surface === undefined) throw new Error("there is no REST surface");
  performs.set(sent.requestId, perform);
  const context = contextOf(sent, bodies);
  try {
    return await surface.reply(context);
  } finally {
    context.body.release();
    performs.delete(sent.requestId);
  }
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const {
    directory,
    walPagesMax,
    storedAnswersBytesMax: answersBytesMax = storedAnswersBytesMax,
    journal,
    log,
    storefrontOf,
    watched = (_shopId, storefront) => storefront,
    wrote = () => {},
    random,
  } = options;
  const store = await openDataDirectory(directory, log, { shopsOpenMax, walPagesMax, journal });
  const { engine, clock, ids, coordination, loop, auditJournal } = store;
  const write: Engine["write"] = engine.write.bind(engine);
  const watchedWrite: Engine["write"] = (shopId, work, writeOptions) =>
    write(
      shopId,
      (tx) => {
        wrote(shopId);
        return work(tx);
      },
      writeOptions,
    );
  replace(engine, { write: watchedWrite });
  const storefront = (shopId: string): Storefront => watched(shopId, storefrontOf?.(shopId) ?? store.sandboxOf(shopId));
  const outbox = createOutbox({
    engine,
    clock,
    ids,
    search: null,
    log,
    random,
    storefrontOf: (shop) => Promise.resolve(storefront(shop.shopId)),
    shopsToResume: (signal) => store.shopsWith("effects", signal),
  });
  const perform = createPerform({
    engine,
    coordination,
    clock,
    ids,
    loop,
    auditJournal,
    outbox,
    log,
    readers: null,
    storedAnswersBytesMax: answersBytesMax,
    compression,
    storefrontOf: (shop) => Promise.resolve(storefront(shop.shopId)),
  });
  const bodies = new BodyBudget();
  outbox.start().catch((error: unknown) => log.error({ err: error }, "follow-on work could not be resumed"));
  return {
    engine,
    clock,
    sandboxOf: (shopId) => store.sandboxOf(shopId),
    answer: (sent) => answerWith(performedAs(engine, perform), bodies, sent),
    async close() {
      await outbox.close();
      await store.close();
    },
  };
}

/** All events of the shop. */
export const eventsOf = ({ engine }: Service, shopId: string): Promise<readonly EventTold[]> =>
  engine.read(shopId, async (tx) => (await eventsAfter(tx, shopId, 0, null, eventsMax)).map(eventTold));

const eventTold = ({ sequence, text }: { readonly sequence: number; readonly text: string }): EventTold => {
  const { eventId, type, timestamp = "", requestId, data }: EventTold = JSON.parse(text);
  return { sequence, eventId, type, timestamp, requestId, data };
};

/** How many effects of the shop are pending. */
export const pendingEffects = ({ engine }: Service, shopId: string): Promise<number> =>
  engine.peek(shopId, async (tx) => {
    const [row] = await tx.all<{ n: number }>(
      "select count(*) as n from effect where shop_id = ? and state = 'pending'",
      [shopId],
    );
    return row?.n ?? 0;
  });

/** What the shop holds, but for its storefront. */
export const rowsOf = (
  { engine }: Service,
  shopId: string,
): Promise<Pick<ShopEnd, "tables" | "auditFindings" | "events">> =>
  engine.read(shopId, async (tx) => {
    const tables: Record<string, readonly Row[]> = {};
    for (const table of endTables)
      tables[table] = await tx.all<Row>(`select * from ${table} where shop_id = ?`, [shopId]);
    const events = (await eventsAfter(tx, shopId, 0, null, eventsMax)).map(eventTold);
    const { findings: auditFindings } = await verifyWhole(tx, shopId, auditRowsVerifiedMax);
    return { tables, events, auditFindings };
  });

/** What the shop's storefront shows. */
export async function storefrontOf(control: SandboxControl): Promise<readonly Row[]> {
  const { variants } = await control.state(null);
  return variants.flatMap(({ variantId, unitCost, tags, levels }) =>
    levels.map(({ locationId, onHand, incoming }) => ({
      variantId,
      unitCost,
      tags: tags.join(),
      locationId,
      onHand,
      incoming,
    })),
  );
}
