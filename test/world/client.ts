/**
 * The one client of the testers: it asks deeds of shops, repeats what was lost or refused for the time being as the specification says, and keeps
 * every attempt for the judge (history.ts). The way of a request is an argument: through memory in virtual time, or over HTTP (http.ts).
 */
import type { Reply } from "../../src/requests/envelope.ts";
import { answerOf, type Deed, isDecision, isSafe, type OrderSeen, spell } from "./deeds.ts";
import type { Random } from "./random.ts";

export interface Key {
  readonly keyId: string;
  readonly apiKey: string;
}

/** A request as it is sent. */
export interface Sent {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: no body. */
  readonly body: string | null;
}

/** An order as it was last seen. */
export interface Seen {
  readonly order: OrderSeen;
  readonly etag: string | null;
}

/** A write that waits for a decision as far as clients know. */
interface Waiting {
  readonly approvalRequestId: string;
  /** Null: it makes an order. */
  readonly orderId: string | null;
  readonly keyId: string;
}

/** A request, however often it is sent. */
export interface Request {
  readonly shopId: string;
  readonly key: Key;
  readonly deed: Deed;
  /** Equal for all that are sent as repetitions of each other. */
  readonly chain: number;
  /** Sent under the idempotency key of another request. */
  readonly clashes: boolean;
  readonly idempotencyKey: string | null;
  /** The order that the client has, if it asks for a newer one only: a 304 says that this is the present one. */
  readonly had: Seen | null;
  /** It is to change the order at this version only (C34). */
  readonly ifVersion: number | null;
}

/** A request that was sent once, and what came back. */
export interface Attempt extends Omit<Request, "key"> {
  /** As the service names it, or until its answer has come as the client does. */
  requestId: string;
  readonly keyId: string;
  /** Moments are counted, so that their order is known. */
  readonly sentAt: number;
  answeredAt: number;
  readonly sentMs: number;
  answeredMs: number;
  /** Null: no answer has come. */
  reply: Reply | null;
}

interface ClientOptions {
  /** The keys of each shop. */
  readonly keys: ReadonlyMap<string, readonly Key[]>;
  readonly random: Random;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** Null: no answer has come. */
  readonly send: (sent: Sent) => Promise<Reply | null>;
  /** Whether the service gives requests names of its own, which answers tell. */
  readonly isNamedByService: boolean;
  /** The pause before something is sent again that was lost is this to twice this long. */
  readonly lostPauseMs: number;
  /** A client that is told to wait longer asks again after so long. */
  readonly waitMsMax: number;
  /** What was asked before, by clients of another process. */
  readonly before?: readonly Attempt[];
}

/** A client that is told to wait for longer gives up. */
const giveUpMs = 3_600_000;

/** Requests of the end are sent until they are answered. */
const triesAtTheEnd = 40;

export class Client {
  readonly attempts: Attempt[] = [];
  readonly #options: ClientOptions;
  /** What was seen of the orders of a shop, in the order in which they became known. */
  readonly #seen = new Map<string, Map<string, Seen>>();
  /** By shop, the writes that wait, the oldest first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #moment = 0;
  #chains = 0;
  #running = 0;
  #answered = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    for (const attempt of options.before ?? []) {
      this.attempts.push(attempt);
      this.#moment = Math.max(this.#moment, attempt.sentAt, attempt.reply === null ? 0 : attempt.answeredAt);
      this.#chains = Math.max(this.#chains, attempt.chain);
    }
    for (const shopId of options.keys.keys()) this.#seen.set(shopId, new Map());
  }

  /** How many requests have been answered. */
  get answered(): number {
    return this.#answered;
  }

  /** Nothing waits for an answer. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  seen(shopId: string): readonly Seen[] {
    return [...(this.#seen.get(shopId)?.values() ?? [])];
  }

  /** A moment of its own, for what the tester does between requests. */
  moment(): number {
    return (this.#moment += 1);
  }

  /** The writes of the shop that wait for a decision as far as clients know, the newest first. */
  waiting(shopId: string): readonly Waiting[] {
    return (this.#waiting.get(shopId) ?? []).toReversed();
  }

  /** A new request of the shop, with one of its keys. */
  request(shopId: string, deed: Deed, isKeyed: boolean, keyIndex = 0): Request {
    const key = this.#options.keys.get(shopId)?.[keyIndex];
    if (key === undefined) throw new Error(`there is no such key of ${shopId}`);
    const chain = (this.#chains += 1);
    const idempotencyKey = isKeyed ? `key-${chain}` : null;
    return { shopId, key, deed, chain, clashes: false, idempotencyKey, had: null, ifVersion: null };
  }

  /** Sends a request until it is answered for good, or the tries or everything is over. What may not be repeated is sent once. */
  async persist(request: Request, tries: number, isOver: () => boolean = () => false): Promise<Reply | null> {
    const { sleep, random, lostPauseMs, waitMsMax } = this.#options;
    let last: Reply | null = null;
    this.#running += 1;
    try {
      for (let tried = 1; tried <= tries; tried += 1) {
        last = await this.#attempt(request);
        if (last === null) {
          if ((request.idempotencyKey === null && !isSafe(request.deed)) || isOver()) return null;
          await sleep(lostPauseMs + random.next() * lostPauseMs);
          continue;
        }
        if (last.status < 400) return last;
        const { error } = answerOf(last);
        if (error?.retryable !== true || (error.retryAfterMs ?? 0) > giveUpMs || isOver()) return last;
        await sleep(Math.min(error.retryAfterMs ?? lostPauseMs, waitMsMax) + random.next() * 20);
      }
      return last;
    } finally {
      this.#running -= 1;
    }
  }

  /**
   * What every tester ends with: each kept answer is asked for again, then each order is pushed and read.
   *
   * @param pushes the orders that are pushed: all, or those only of whose goods the storefront lacks some.
   */
  async finish(pushes: "all" | "unsynced" = "all"): Promise<void> {
    await Promise.all([...this.#options.keys.keys()].map((shopId) => this.#finishShop(shopId, pushes)));
  }

  async #finishShop(shopId: string, pushes: "all" | "unsynced"): Promise<void> {
    const chains = new Map<string, Attempt>();
    for (const attempt of this.attempts)
      if (attempt.shopId === shopId && attempt.idempotencyKey !== null && (attempt.reply !== null || !attempt.clashes))
        chains.set(`${attempt.chain} ${attempt.clashes}`, attempt);
    for (const attempt of chains.values()) {
      const key = this.#options.keys.get(shopId)?.find((each) => each.keyId === attempt.keyId);
      if (key !== undefined) await this.persist({ ...attempt, key }, triesAtTheEnd);
    }
    const ask = (deed: Deed): Promise<Reply | null> => this.persist(this.request(shopId, deed, false), triesAtTheEnd);
    const listed = await ask({ op: "list" });
    for (const order of (listed === null ? null : answerOf(listed).data?.purchaseOrders) ?? []) {
      const { purchaseOrderId: orderId } = order;
      const read = pushes === "all" ? null : await ask({ op: "read", orderId });
      const lines = read === null || read.status >= 300 ? [] : (answerOf(read).data?.purchaseOrder?.lineItems ?? []);
      const isSynced = pushes === "unsynced" && lines.every((line) => line.quantitySynced === line.quantityReceived);
      if (!isSynced && !["Draft", "Completed", "Cancelled", "On Hold", "Disputed"].includes(order.status)) {
        await ask({ op: "reset", orderId });
        await ask({ op: "sync", orderId, waits: true });
      }
      await ask({ op: "read", orderId });
    }
  }

  async #attempt({ key, ...request }: Request): Promise<Reply | null> {
    const { send, now, isNamedByService } = this.#options;
    const { shopId, deed, idempotencyKey, had, ifVersion } = request;
    const { method, path, isAdmin = false, search = "", body } = spell(deed);
    const attempt: Attempt = {
      ...request,
      requestId: `req_${this.attempts.length + 1}`,
      keyId: key.keyId,
      sentAt: (this.#moment += 1),
      answeredAt: Number.POSITIVE_INFINITY,
      sentMs: now(),
      answeredMs: Number.POSITIVE_INFINITY,
      reply: null,
    };
    this.attempts.push(attempt);
    const etag = had?.etag ?? null;
    const reply = await send({
      requestId: attempt.requestId,
      method,
      path: `${isAdmin ? `/admin/v1/shops/${shopId}` : "/api/v1"}${path}`,
      search,
      headers: {
        authorization: `Bearer ${key.apiKey}`,
        ...(idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey }),
        ...(etag === null ? {} : { "if-none-match": etag }),
        ...(ifVersion === null ? {} : { "if-match": `"${ifVersion}"` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (reply === null) return null;
    attempt.answeredAt = this.#moment += 1;
    attempt.answeredMs = now();
    this.#answered += 1;
    attempt.reply = reply;
    if (isNamedByService) attempt.requestId = reply.headers["X-Request-Id"] ?? attempt.requestId;
    if (reply.status < 300) this.#look(attempt, reply);
    return reply;
  }

  #look({ shopId, deed, keyId }: Attempt, reply: Reply): void {
    const seen = this.#seen.get(shopId);
    const { purchaseOrder: order, approvalRequest: asked } = answerOf(reply).data ?? {};
    const others = (this.#waiting.get(shopId) ?? []).filter(
      (each) => each.approvalRequestId !== asked?.approvalRequestId,
    );
    if (asked !== undefined) {
      const { approvalRequestId } = asked;
      const orderId = "orderId" in deed ? deed.orderId : null;
      this.#waiting.set(shopId, isDecision(deed) ? others : [...others, { approvalRequestId, orderId, keyId }]);
    }
    if (seen === undefined || order === undefined) return;
    if (order.version >= (seen.get(order.purchaseOrderId)?.order.version ?? 0))
      seen.set(order.purchaseOrderId, { order, etag: reply.headers["ETag"] ?? null });
  }
}
