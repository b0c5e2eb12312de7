/**
 * The clients of a simulation: they ask by what they have seen, send again what they got no answer to, and note everything for the judge.
 */
import type { Reply } from "../../src/requests/envelope.ts";
import type { Random } from "./random.ts";
import type { Sent } from "./service.ts";
import { type Ask, locationId, type OrderAsk, type Step, variantIds } from "./story.ts";
import { type Key, keysOf } from "./template.ts";

export interface LineSeen {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityOrdered: number;
  readonly quantityConfirmed: number;
  readonly quantityReceived: number;
  readonly quantityRejected: number;
  readonly quantityCancelled: number;
  readonly quantityPending: number;
  readonly quantitySynced: number;
}

/** An order as an answer shows it. */
export interface OrderSeen {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly poName: string | null;
  readonly status: string;
  readonly previousStatus: string;
  readonly version: number;
  readonly storefrontSyncState: string;
  readonly lineItems: readonly LineSeen[];
}

/** What a request is about, for the judge. */
export type Deed =
  | {
      readonly op: "create";
      readonly located: boolean;
      readonly lines: readonly { readonly variantId: string; readonly ordered: number; readonly unitCost: number }[];
    }
  | { readonly op: "status"; readonly orderId: string; readonly to: string }
  | {
      readonly op: "confirm";
      readonly orderId: string;
      readonly totals: readonly (readonly [line: string, total: number])[] | "all";
    }
  | {
      readonly op: "receive";
      readonly orderId: string;
      readonly totals: readonly (readonly [line: string, total: number])[];
      readonly over: boolean;
    }
  | {
      readonly op: "unreceive";
      readonly orderId: string;
      readonly amounts: readonly (readonly [line: string, amount: number])[];
    }
  | { readonly op: "complete" | "quick-complete" | "reset" | "delete" | "read"; readonly orderId: string }
  | { readonly op: "sync"; readonly orderId: string; readonly waits: boolean }
  | { readonly op: "rename"; readonly orderId: string; readonly name: string }
  | {
      readonly op: "add-line";
      readonly orderId: string;
      readonly variantId: string | null;
      readonly ordered: number;
    }
  | { readonly op: "list" };

/** A request that was sent once, and what came back. */
export interface Attempt {
  readonly requestId: string;
  /** Equal for all that were sent as repetitions of each other. */
  readonly chain: number;
  /** Sent under the idempotency key of another request. */
  readonly clashes: boolean;
  readonly shopId: string;
  readonly keyId: string;
  readonly idempotencyKey: string | null;
  readonly deed: Deed;
  /** Moments are counted, so that their order is known. */
  readonly sentAt: number;
  answeredAt: number;
  readonly sentMs: number;
  answeredMs: number;
  /** Null: no answer has come. */
  reply: Reply | null;
}

/** The body of an answer, as far as clients look at it. */
export interface Told {
  readonly data?: {
    readonly purchaseOrder?: OrderSeen;
    readonly purchaseOrders?: readonly Omit<OrderSeen, "lineItems">[];
    readonly totalCount?: number;
    readonly confirmation?: { readonly status: string };
    readonly sideEffects?: { readonly storefrontSync?: { readonly status: string } };
  };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly reason?: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

const told = new WeakMap<Reply, Told>();

export function logEntryOf(reply: Reply): Told {
  const known = told.get(reply) ?? (JSON.parse(reply.body) as Told);
  told.set(reply, known);
  return known;
}

interface ClientOptions {
  readonly shopIds: readonly string[];
  readonly random: Random;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly send: (sent: Sent) => Promise<Reply | null>;
}

/** A request, however often it is sent. */
interface Asked {
  readonly shopId: string;
  readonly key: Key;
  readonly deed: Deed;
  readonly chain: number;
  readonly clashes: boolean;
  readonly idempotencyKey: string | null;
}

const thousandths = (units: number): number => Math.round(units * 1_000) / 1_000;

/** Between two attempts at a request without an answer, at least. */
const retryMs = 300;

/** A client that is told to wait for longer gives up. */
const waitMsMax = 3_600_000;

/** Requests of the end are sent until they are answered. */
const triesAtTheEnd = 40;

export class Client {
  readonly attempts: Attempt[] = [];
  readonly #options: ClientOptions;
  /** What was seen of the orders of a shop, in the order in which they became known. */
  readonly #seen = new Map<string, Map<string, OrderSeen>>();
  #moment = 0;
  #chains = 0;
  #running = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    for (const shopId of options.shopIds) this.#seen.set(shopId, new Map());
  }

  /** Nothing waits for an answer. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Begins what the step asks; the story goes on meanwhile. */
  ask({ shop, key: keyIndex, ask, keyed, tries, twice, clashes }: Extract<Step, { readonly do: "ask" }>): void {
    const shopId = this.#options.shopIds[shop];
    if (shopId === undefined) return;
    const key = keysOf(shopId)[keyIndex];
    const deed = this.#deedOf(shopId, ask);
    if (key === undefined || deed === null) return;
    const chain = (this.#chains += 1);
    const idempotencyKey = keyed ? `key-${chain}` : null;
    const begin = (asked: Asked): void => {
      this.#running += 1;
      void this.#persist(asked, tries).finally(() => {
        this.#running -= 1;
      });
    };
    const asked = { shopId, key, deed, chain, clashes: false, idempotencyKey };
    begin(asked);
    if (twice) begin(asked);
    const other = clashes ? otherThan(deed) : null;
    if (other !== null) begin({ ...asked, deed: other, clashes: true });
  }

  /** What every simulation ends with: each kept answer is asked for again, then each order is pushed and read. */
  async finish(): Promise<void> {
    const answered = this.attempts.filter(({ reply, idempotencyKey }) => reply !== null && idempotencyKey !== null);
    const chains = new Map(answered.map((attempt) => [`${attempt.chain} ${attempt.clashes}`, attempt]));
    for (const { shopId, keyId, deed, chain, clashes, idempotencyKey } of chains.values()) {
      const key = keysOf(shopId).find((each) => each.keyId === keyId);
      if (key !== undefined) await this.#persist({ shopId, key, deed, chain, clashes, idempotencyKey }, triesAtTheEnd);
    }
    for (const shopId of this.#options.shopIds) {
      const key = keysOf(shopId)[0];
      if (key === undefined) continue;
      const ask = async (deed: Deed): Promise<Reply | null> => {
        const chain = (this.#chains += 1);
        const asked = { shopId, key, deed, chain, clashes: false, idempotencyKey: null };
        return await this.#persist(asked, triesAtTheEnd);
      };
      const listed = await ask({ op: "list" });
      for (const order of (listed === null ? null : logEntryOf(listed).data?.purchaseOrders) ?? []) {
        const { purchaseOrderId: orderId } = order;
        const mayPush = !["Draft", "Completed", "Cancelled", "On Hold", "Disputed"].includes(order.status);
        if (mayPush) await ask({ op: "reset", orderId });
        if (mayPush) await ask({ op: "sync", orderId, waits: true });
        await ask({ op: "read", orderId });
      }
    }
  }

  /** Sends a request until it is answered for good, or the tries are over. */
  async #persist(request: Asked, tries: number): Promise<Reply | null> {
    const { sleep, random } = this.#options;
    let last: Reply | null = null;
    for (let tried = 1; tried <= tries; tried += 1) {
      const reply = await this.#attempt(request);
      last = reply;
      if (reply === null) {
        if (request.idempotencyKey === null && !isSafe(request.deed)) return null;
        await sleep(retryMs + random.next() * retryMs);
        continue;
      }
      const { error } = logEntryOf(reply);
      if (error?.retryable !== true || (error.retryAfterMs ?? 0) > waitMsMax) return reply;
      await sleep(Math.min(error.retryAfterMs ?? retryMs, 5_000) + random.next() * 20);
    }
    return last;
  }

  async #attempt({ shopId, key, deed, chain, clashes, idempotencyKey }: Asked): Promise<Reply | null> {
    const { send, now } = this.#options;
    const spelled = spell(deed);
    const requestId = `req_${this.attempts.length + 1}`;
    const attempt: Attempt = {
      requestId,
      chain,
      clashes,
      shopId,
      keyId: key.keyId,
      idempotencyKey,
      deed,
      sentAt: (this.#moment += 1),
      answeredAt: Number.POSITIVE_INFINITY,
      sentMs: now(),
      answeredMs: Number.POSITIVE_INFINITY,
      reply: null,
    };
    this.attempts.push(attempt);
    const reply = await send({
      requestId,
      method: spelled.method,
      path: `/api/v1${spelled.path}`,
      search: spelled.search ?? "",
      headers: {
        authorization: `Bearer ${key.apiKey}`,
        ...(idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey }),
      },
      body: spelled.body === undefined ? null : JSON.stringify(spelled.body),
    });
    attempt.answeredAt = this.#moment += 1;
    attempt.answeredMs = now();
    attempt.reply = reply;
    if (reply !== null) this.#look(shopId, reply);
    return reply;
  }

  #look(shopId: string, reply: Reply): void {
    const seen = this.#seen.get(shopId);
    const order = logEntryOf(reply).data?.purchaseOrder;
    if (seen === undefined || order === undefined) return;
    if (order.version >= (seen.get(order.purchaseOrderId)?.version ?? 0)) seen.set(order.purchaseOrderId, order);
  }

  #deedOf(shopId: string, ask: Ask): Deed | null {
    if (ask.op === "list") return { op: "list" };
    if (ask.op === "create")
      return {
        op: "create",
        located: ask.located,
        lines: ask.lines.map(({ variant, ordered, unitCost }) => ({
          variantId: variantAt(variant),
          ordered,
          unitCost,
        })),
      };
    const orders = [...(this.#seen.get(shopId)?.values() ?? [])];
    const order = orders[orders.length === 0 ? 0 : ask.order % orders.length];
    return order === undefined ? null : deedOn(order, ask);
  }
}

const variantAt = (index: number): string => variantIds[index % variantIds.length] ?? variantIds[0];

/** Another write than this one, as a client would send it that uses a key twice by mistake. Null: what only reads has no key. */
export function otherThan(deed: Deed): Deed | null {
  if (deed.op === "read" || deed.op === "list") return null;
  if (deed.op === "create")
    return { ...deed, lines: deed.lines.map((line) => ({ ...line, ordered: line.ordered + 1 })) };
  if (deed.op === "rename") return { ...deed, name: `${deed.name} or not` };
  return { op: "rename", orderId: deed.orderId, name: "under a key of something else" };
}

/** Repeating it changes nothing more (spec "Repeat safety without a key"). */
export const isSafe = ({ op }: Deed): boolean =>
  ["confirm", "receive", "rename", "sync", "reset", "read", "list"].includes(op);

/** A new order of up to so many lines. */
export const newOrder = (random: Random, linesMax: number): Deed => ({
  op: "create",
  located: true,
  lines: Array.from({ length: random.int(1, linesMax) }, () => ({
    variantId: random.pick(variantIds),
    ordered: random.int(1, 9),
    unitCost: random.pick([1, 2.5, 19.99]),
  })),
});

/** What is asked of an order that looks like this. Null: nothing can be. */
export function deedOn(order: OrderSeen, ask: OrderAsk): Deed | null {
  const { purchaseOrderId: orderId, lineItems } = order;
  const lineAt = (index: number): LineSeen | undefined => lineItems[index % Math.max(1, lineItems.length)];
  switch (ask.op) {
    case "forward":
      return forward(order, ask.share);
    case "status":
      return { op: "status", orderId, to: ask.to };
    case "resume":
      return { op: "status", orderId, to: order.previousStatus };
    case "confirm": {
      const line = lineAt(ask.line);
      if (ask.all || line === undefined) return { op: "confirm", orderId, totals: "all" };
      return {
        op: "confirm",
        orderId,
        totals: [[line.poLineItemId, thousandths(line.quantityOrdered * ask.share)]],
      };
    }
    case "receive": {
      const line = lineAt(ask.line);
      if (line === undefined) return null;
      const totals = [[line.poLineItemId, thousandths(line.quantityOrdered * ask.share)]] as const;
      return { op: "receive", orderId, totals, over: ask.over };
    }
    case "unreceive": {
      const line = lineAt(ask.line);
      if (line === undefined) return null;
      const amount = thousandths(Math.max(line.quantityReceived, 1) * ask.share);
      return { op: "unreceive", orderId, amounts: [[line.poLineItemId, Math.max(amount, 0.001)]] };
    }
    case "sync":
      return { op: "sync", orderId, waits: ask.waits };
    case "rename":
      return { op: "rename", orderId, name: ask.name };
    case "add-line": {
      const variantId = ask.variant >= variantIds.length ? null : variantAt(ask.variant);
      return { op: "add-line", orderId, variantId, ordered: ask.ordered };
    }
    case "complete":
    case "quick-complete":
    case "reset":
    case "delete":
    case "read":
      return { op: ask.op, orderId };
  }
}

function forward(order: OrderSeen, share: number): Deed {
  const { purchaseOrderId: orderId, lineItems } = order;
  switch (order.status) {
    case "Draft":
      return { op: "status", orderId, to: "Sent" };
    case "Sent":
    case "Partially Confirmed":
      return share < 1 && lineItems[0] !== undefined
        ? {
            op: "confirm",
            orderId,
            totals: lineItems.map((line) => [line.poLineItemId, line.quantityOrdered] as const),
          }
        : { op: "confirm", orderId, totals: "all" };
    case "Confirmed":
      return { op: "status", orderId, to: "In Progress" };
    case "In Progress":
    case "Partially Received":
      return {
        op: "receive",
        orderId,
        over: false,
        totals: lineItems.map((line) => {
          const total = line.quantityReceived + line.quantityPending * share;
          return [line.poLineItemId, thousandths(total)] as const;
        }),
      };
    case "Received":
      return { op: "complete", orderId };
    case "Completed":
      return { op: "status", orderId, to: "Received" };
    default:
      return { op: "status", orderId, to: order.previousStatus };
  }
}

export interface Spelled {
  readonly method: string;
  readonly path: string;
  readonly search?: string;
  readonly body?: unknown;
}

/** The request that asks it, below `/api/v1`. */
export function spell(deed: Deed): Spelled {
  const on = (below: string, body: unknown = {}): Spelled => ({
    method: "POST",
    path: `/purchase-orders/${"orderId" in deed ? deed.orderId : ""}${below}`,
    body,
  });
  switch (deed.op) {
    case "create":
      return {
        method: "POST",
        path: "/purchase-orders",
        body: {
          supplierId: "mill",
          ...(deed.located ? { locationId } : {}),
          lineItems: deed.lines.map(({ variantId, ordered, unitCost }) => ({
            variantId,
            quantityOrdered: ordered,
            unitCost,
          })),
        },
      };
    case "status":
      return on("/status", { status: deed.to });
    case "confirm":
      return on(
        "/confirm",
        deed.totals === "all"
          ? { confirmAll: true }
          : { lines: deed.totals.map(([lineItemId, quantityConfirmed]) => ({ lineItemId, quantityConfirmed })) },
      );
    case "receive":
      return on("/receive", {
        lines: deed.totals.map(([lineItemId, quantityReceived]) => ({ lineItemId, quantityReceived })),
        ...(deed.over ? { allowOverReceipt: true } : {}),
      });
    case "unreceive":
      return on("/unreceive", { lines: deed.amounts.map(([lineItemId, quantity]) => ({ lineItemId, quantity })) });
    case "complete":
      return on("/complete");
    case "quick-complete":
      return on("/quick-complete");
    case "sync":
      return on("/storefront-sync", deed.waits ? {} : { awaitConfirmation: false });
    case "reset":
      return on("/storefront-sync/reset");
    case "delete":
      return { method: "DELETE", path: `/purchase-orders/${deed.orderId}` };
    case "rename":
      return { method: "PATCH", path: `/purchase-orders/${deed.orderId}`, body: { poName: deed.name } };
    case "add-line":
      return deed.variantId === null
        ? on("/line-items/custom", { productName: "Pallet", quantityOrdered: deed.ordered, unitCost: 1 })
        : on("/line-items", { lineItems: [{ variantId: deed.variantId, quantityOrdered: deed.ordered, unitCost: 3 }] });
    case "read":
      return { method: "GET", path: `/purchase-orders/${deed.orderId}` };
    case "list":
      return { method: "GET", path: "/purchase-orders", search: "limit=50" };
  }
}
