/**
 * Clients that ask one service at its nodes, at the same time, about the same few orders, and note when each request was sent and what came
 * of it. Some connections are cut while a request runs, so that its outcome is unknown; what has a key is then sent again, often to another node.
 */
import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { z } from "zod";
import { makeShop, operate } from "../support/clients.ts";
import { type Deed, deedOn, type OrderSeen, spell, logEntryOf } from "../simulator/client.ts";
import type { Random } from "../simulator/random.ts";
import { randomOf } from "../simulator/random.ts";
import { locationId, orderAsk, variantIds } from "../simulator/story.ts";
import type { EventTold } from "../simulator/world.ts";
import { type Asked, type History, mayRepeat } from "./checker.ts";
import { pause } from "../support/until.ts";

export interface LinearOptions {
  /** The nodes' addresses at this moment. */
  readonly urls: () => readonly string[];
  readonly seed: string;
  readonly shops: number;
  readonly clients: number;
  /** True: clients begin nothing new. @param answered how many requests have been answered. */
  readonly isOver: (answered: number) => boolean;
  /** Resolves when the nodes serve, and go on to. It is asked when all clients have ended. */
  readonly atRest: () => Promise<void>;
}

/** Clients ask about the newest orders, so that many ask about the same one. */
const hotOrders = 6;

/** A shop with so many orders gets no more of them: a list then has them all. */
const ordersMax = 45;

/** How often what was lost is sent again, at most. */
const triesMax = 12;

export const orderRecords = [
  { type: "location", locationId, name: "Warehouse" },
  { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" },
  ...variantIds.map((variantId) => ({
    type: "variant",
    variantId,
    productId: `product of ${variantId}`,
    productName: `Shirt, ${variantId}`,
    unitCost: 1,
  })),
  ...variantIds.map((variantId) => ({ type: "inventoryLevel", variantId, locationId, onHand: 100_000 })),
];

interface SeenOrder {
  readonly order: OrderSeen;
  readonly etag: string | null;
}

interface ShopOf {
  readonly shopId: string;
  readonly token: string;
  readonly asked: Asked[];
  readonly seen: Map<string, SeenOrder>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/** Moments of all clients are counted together. */
let moment = 0;
const nextMoment = (): number => (moment += 1);

let chains = 0;

/** Requests that have been answered, of one play. */
interface Count {
  answered: number;
}

/** The trace of a request, by which the audit log tells its id when its answer was lost. */
const traceOf = (sentAt: number): string => sentAt.toString(16).padStart(32, "0");

function send(
  url: string,
  { method, path, search = "", body }: ReturnType<typeof spell>,
  headers: Readonly<Record<string, string>>,
  cutAfterMs: number | null,
): Promise<Answer | null> {
  const text = body === undefined ? null : JSON.stringify(body);
  return new Promise((resolve) => {
    const request = httpRequest(
      `${url}/api/v1${path}${search === "" ? "" : `?${search}`}`,
      {
        agent,
        method,
        headers: {
          ...headers,
          ...(text === null ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => resolve(null));
        response.on("close", () => resolve(null));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
    request.end(text ?? undefined);
    if (cutAfterMs !== null) void pause(cutAfterMs).then(() => request.destroy());
  });
}

const eventsSchema = z.object({
  data: z.object({ events: z.array(z.custom<EventTold>()), cursor: z.string().nullable() }),
});
const auditSchema = z.object({
  data: z.object({
    auditLog: z.array(z.object({ requestId: z.string(), traceId: z.string().nullable() })),
    cursor: z.string().nullable(),
  }),
});

class Shop {
  readonly #options: LinearOptions;
  readonly #random: Random;
  readonly #shop: ShopOf;
  readonly #count: Count;
  #creating = 0;

  constructor(options: LinearOptions, shop: ShopOf, count: Count) {
    this.#options = options;
    this.#count = count;
    this.#shop = shop;
    this.#random = randomOf(`${options.seed}/${shop.shopId}`);
  }

  async client(): Promise<void> {
    const random = this.#random;
    while (!this.#options.isOver(this.#count.answered)) {
      const deed = this.#deed();
      if (deed === null) await pause(5);
      else await this.#persist(deed);
      if (random.chance(0.2)) await pause(random.next() * 10);
    }
  }

  #deed(): Deed | null {
    const random = this.#random;
    const seen = [...this.#shop.seen.values()];
    const ask = random.next();
    const mayCreate = seen.length + this.#creating < ordersMax;
    if (mayCreate && (seen.length < 2 || ask < 0.05))
      return {
        op: "create",
        located: random.chance(0.95),
        lines: Array.from({ length: random.int(1, 3) }, () => ({
          variantId: random.pick(variantIds),
          ordered: random.pick([1, 2, 2.5, 5, 10, 100]),
          unitCost: random.pick([1, 2.5, 19.99]),
        })),
      };
    if (seen.length === 0) return null;
    if (ask < 0.1) return { op: "list" };
    const { order } = random.chance(0.9) ? random.pick(seen.slice(-hotOrders)) : random.pick(seen);
    if (ask < 0.35) return { op: "read", orderId: order.purchaseOrderId };
    return deedOn(order, orderAsk(random));
  }

  /** Sends a request until it is answered for good, if it may be repeated. */
  async #persist(deed: Deed): Promise<void> {
    const random = this.#random;
    const isWrite = deed.op !== "read" && deed.op !== "list";
    const chain = (chains += 1);
    const asked = { deed, chain, idempotencyKey: isWrite && random.chance(0.6) ? `key-${chain}` : null };
    if (deed.op === "create") this.#creating += 1;
    const twice = asked.idempotencyKey !== null && random.chance(0.15);
    await Promise.all(twice ? [this.#insist(asked), this.#insist(asked)] : [this.#insist(asked)]);
    if (asked.idempotencyKey !== null && random.chance(0.1)) await this.#insist(asked);
    if (deed.op === "create") this.#creating -= 1;
  }

  async #insist(asked: Pick<Asked, "deed" | "chain" | "idempotencyKey">): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const { reply } = await this.#attempt(asked);
      if (reply === null) {
        await pause(20 + this.#random.next() * 20);
        if (!mayRepeat(asked)) return;
        continue;
      }
      if (reply.status < 400 || logEntryOf(reply).error?.retryable !== true) return;
      await pause(20 + this.#random.next() * 50);
    }
  }

  async #attempt({ deed, chain, idempotencyKey }: Pick<Asked, "deed" | "chain" | "idempotencyKey">): Promise<Asked> {
    const random = this.#random;
    const { shopId, token, seen } = this.#shop;
    const known = deed.op === "read" && random.chance(0.4) ? seen.get(deed.orderId) : undefined;
    const sentAt = nextMoment();
    const asked: Asked & { requestId: string } = {
      requestId: `sent at ${sentAt}`,
      chain,
      clashes: false,
      shopId,
      keyId: "",
      idempotencyKey,
      deed,
      sentAt,
      answeredAt: Number.POSITIVE_INFINITY,
      sentMs: 0,
      answeredMs: 0,
      reply: null,
      had: known?.order ?? null,
    };
    this.#shop.asked.push(asked);
    const headers = {
      Authorization: `Bearer ${token}`,
      traceparent: `00-${traceOf(sentAt)}-${"1".padStart(16, "0")}-00`,
      ...(idempotencyKey === null ? {} : { "Idempotency-Key": idempotencyKey }),
      ...(known === undefined || known.etag === null ? {} : { "If-None-Match": known.etag }),
    };
    const cutAfterMs = random.chance(0.06) ? random.next() * 15 : null;
    const answer = await send(random.pick(this.#options.urls()), spell(deed), headers, cutAfterMs);
    if (answer === null) return asked;
    asked.answeredAt = nextMoment();
    this.#count.answered += 1;
    asked.reply = {
      status: answer.status,
      body: answer.text,
      headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
      errorCode: null,
    };
    asked.requestId = String(answer.headers["x-request-id"]);
    if (answer.status < 300) this.#look(asked.reply, answer.headers.etag ?? null);
    return asked;
  }

  #look(reply: NonNullable<Asked["reply"]>, etag: string | null): void {
    const order = logEntryOf(reply).data?.purchaseOrder;
    if (order === undefined) return;
    const known = this.#shop.seen.get(order.purchaseOrderId);
    if (known === undefined || order.version >= known.order.version)
      this.#shop.seen.set(order.purchaseOrderId, { order, etag });
  }
}

/** Lets the clients ask until it is over. Returns what each shop's clients were told, and the shop's own order of its changes. */
export async function playHistories(options: LinearOptions): Promise<readonly History[]> {
  const [url = ""] = options.urls();
  const shops: ShopOf[] = [];
  for (let index = 0; index < options.shops; index += 1) {
    const shopId = `shop-${index}`;
    const settings = { costSyncMode: "disabled", autoSyncOnReceiving: index % 2 === 0 };
    const token = await makeShop(url, shopId, settings, orderRecords);
    shops.push({ shopId, token, asked: [], seen: new Map() });
  }
  const count: Count = { answered: 0 };
  const made = shops.map((shop) => new Shop(options, shop, count));
  await Promise.all(
    Array.from({ length: options.clients }, async (_, index) => await made[index % made.length]?.client()),
  );
  await options.atRest();
  const histories: History[] = [];
  for (const shop of shops) histories.push(await historyOf(options, shop));
  agent.destroy();
  return histories;
}

async function historyOf({ urls }: LinearOptions, { shopId, asked }: ShopOf): Promise<History> {
  const [url = ""] = urls();
  let events = await eventsOf(url, shopId);
  // What was cut off may still run. Nothing comes any more once nothing has come for a while.
  for (let before = -1; before !== events.length;) {
    before = events.length;
    await pause(500);
    events = await eventsOf(url, shopId);
  }
  const idsByTrace = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null;) {
    const from: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data }: z.output<typeof auditSchema> = auditSchema.parse(
      await operate(url, "GET", `/shops/${shopId}/audit-log?limit=500${from}`),
    );
    for (const { requestId, traceId } of data.auditLog) if (traceId !== null) idsByTrace.set(traceId, requestId);
    ({ cursor } = data);
  }
  return { shopId, asked: named(asked, ({ sentAt }) => idsByTrace.get(traceOf(sentAt)), events), events };
}

/**
 * Requests without an answer with the ids that the service gave them, as far as they can be known.
 *
 * @param idOf  by the audit log. A quick-complete has its row there with its last change, so one that ended with its process after the
 *              first is known by the event of that: it received the goods of the same order, and nobody else has that id.
 */
export function named(
  asked: readonly Asked[],
  idOf: (asked: Asked) => string | undefined,
  events: readonly EventTold[],
): readonly Asked[] {
  const lost = asked.filter(({ reply }) => reply === null);
  const names = new Map(asked.map((each) => [each, lost.includes(each) ? idOf(each) : each.requestId] as const));
  for (const { requestId, type, data } of events) {
    if (requestId === null || type !== "purchase_order.received" || [...names.values()].includes(requestId)) continue;
    const begun = lost.find(
      (each) =>
        names.get(each) === undefined &&
        each.deed.op === "quick-complete" &&
        each.deed.orderId === data.purchaseOrderId,
    );
    if (begun !== undefined) names.set(begun, requestId);
  }
  return asked.map((each) => ({ ...each, requestId: names.get(each) ?? each.requestId }));
}

async function eventsOf(url: string, shopId: string): Promise<readonly EventTold[]> {
  const events: EventTold[] = [];
  for (let cursor: string | null = "0"; cursor !== null;) {
    const { data }: z.output<typeof eventsSchema> = eventsSchema.parse(
      await operate(url, "GET", `/shops/${shopId}/events?limit=500&after=${cursor}`),
    );
    events.push(...data.events);
    ({ cursor } = data);
  }
  return events;
}
