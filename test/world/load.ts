/**
 * Load on served programs: clients of several shops ask about the same few orders at the same time, over all nodes. Some connections are cut while a
 * request runs, so that its outcome is unknown; what has a key is then sent again, often to another node.
 */
import { z } from "zod";
import { adminToken, makeKey, makeShop, operate, signInOwner } from "../support/clients.ts";
import { pause } from "../support/until.ts";
import { type Attempt, Client, type Key, type Request } from "./client.ts";
import { type ApprovalSettings, noApprovals } from "./approvals.ts";
import { catalogueRecords, type Decision, type Deed, deedOn, newOrder, orderAsk } from "./deeds.ts";
import type { EventTold, History } from "./history.ts";
import { type HttpOptions, overHttp, traceOf } from "./http.ts";
import { type Random, randomOf } from "./random.ts";

interface LoadOptions extends Pick<HttpOptions, "urls" | "check"> {
  readonly seed: string;
  readonly shopIds: readonly string[];
  /** The shop of a client. Default: as many clients on each. */
  readonly shopOf?: (client: number) => string;
  readonly settings: (index: number) => object;
  readonly clients: number;
  /** True: clients begin nothing new. @param answered how many requests have been answered. */
  readonly isOver: (answered: number) => boolean;
  /** Some writes are only proposed, some orders need a decision before they are sent, and the operator and a person decide. Default: none. */
  readonly withApprovals?: boolean;
  /** How clients behave that get no answer: those in a hurry give up soon, the others wait as they are told, for as long as it takes. */
  readonly inAHurry: boolean;
}

/** On hand of each variant at the start. */
export const openingOnHand = 100_000;

/** Clients ask about the newest orders, so that many ask about the same one. */
const hotOrders = 6;

/** A shop with so many orders gets no more of them: a list then has them all. */
const ordersMax = 45;

/** The keys of a shop by their index: one that writes and, with approvals, one that may only propose, the operator, and an owner who is signed in. */
const [proposing, deciding, signedIn] = [1, 2, 3];

/** Every other shop has a rule: orders that are worth more are sent after a decision only. In cents. */
const ruleAbove = 1_500;

const largeOrders = {
  ruleId: "large",
  name: "Large orders",
  when: { totalAbove: ruleAbove / 100 },
  approvers: { roles: ["owner"] },
};

const decisions = ["approve", "approve", "approve", "approve", "reject", "reject", "withdraw"] as const;

const hurried = { tries: 12, lostPauseMs: 20, waitMsMax: 20, cuts: { share: 0.06, withinMs: 15 } };
const patient = { tries: 400, lostPauseMs: 100, waitMsMax: 2_000, cuts: { share: 0.08, withinMs: 300 } };

const eventsSchema = z.object({
  data: z.object({ events: z.array(z.custom<EventTold>()), cursor: z.string().nullable() }),
});
const auditSchema = z.object({
  data: z.object({
    auditLog: z.array(z.object({ requestId: z.string(), traceId: z.string().nullable() })),
    cursor: z.string().nullable(),
  }),
});

export class Load {
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #creating = new Map<string, number>();
  readonly #keys: ReadonlyMap<string, readonly Key[]>;
  readonly client: Client;
  /** Why answers have not come, with how often each. */
  readonly losses = new Map<string, number>();
  #isBroken = false;

  private constructor(options: LoadOptions, keys: ReadonlyMap<string, readonly Key[]>) {
    const { urls, check, inAHurry, seed } = options;
    const { cuts, lostPauseMs, waitMsMax } = inAHurry ? hurried : patient;
    const onLost = (why: string): void => void this.losses.set(why, (this.losses.get(why) ?? 0) + 1);
    this.#options = options;
    this.#keys = keys;
    this.#random = randomOf(seed);
    const random = this.#random.named("client");
    this.client = new Client({
      keys,
      random,
      sleep: pause,
      now: () => performance.now(),
      send: overHttp({ urls, random, cuts, onLost, ...(check === undefined ? {} : { check }) }),
      isNamedByService: true,
      lostPauseMs,
      waitMsMax,
    });
  }

  /** Makes the shops. */
  static async open(options: LoadOptions): Promise<Load> {
    const [url = ""] = options.urls();
    const keys = new Map<string, readonly Key[]>();
    const { withApprovals = false } = options;
    for (const [index, shopId] of options.shopIds.entries()) {
      const rules = withApprovals && isRuled(index) ? { approvalRules: [largeOrders] } : {};
      await makeShop(url, shopId, { ...options.settings(index), ...rules }, catalogueRecords(openingOnHand));
      const others = withApprovals
        ? [
            await makeKey(url, shopId, "propose"),
            { keyId: "operator", apiKey: adminToken },
            await signInOwner(url, shopId),
          ]
        : [];
      keys.set(shopId, [await makeKey(url, shopId), ...others]);
    }
    return new Load(options, keys);
  }

  get #isOver(): boolean {
    return this.#isBroken || this.#options.isOver(this.client.answered);
  }

  /** Lets the clients ask until it is over. */
  async run(): Promise<void> {
    const { clients, shopIds, shopOf = (index) => shopIds[index % shopIds.length] ?? "" } = this.#options;
    const work = async (index: number): Promise<void> => {
      const shopId = shopOf(index);
      try {
        await this.#work(shopId, this.#random.named(`${shopId} ${index}`));
      } catch (error) {
        this.#isBroken = true;
        throw error;
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => work(index)));
  }

  async #work(shopId: string, random: Random): Promise<void> {
    while (!this.#isOver) {
      const decision = this.#decision(shopId, random);
      const deed = decision?.deed ?? this.#deed(shopId, random);
      if (deed === null) await pause(5);
      else await this.#persist(shopId, deed, random, decision?.keyIndex ?? this.#keyIndex(deed, random));
      if (random.chance(0.2)) await pause(random.next() * 10);
    }
  }

  /** A decision about one of the newest writes that wait for one. Some are withdrawn, by whom they are not, too. */
  #decision(shopId: string, random: Random): { readonly deed: Decision; readonly keyIndex: number } | null {
    const waiting = this.client.waiting(shopId).slice(0, 3);
    if (waiting.length === 0 || !random.chance(0.2)) return null;
    const own = waiting.filter(({ keyId }) => keyId === this.#keys.get(shopId)?.[signedIn]?.keyId);
    const { approvalRequestId } = random.pick(own.length > 0 ? own : waiting);
    const op = own.length > 0 && random.chance(0.4) ? "withdraw" : random.pick(decisions);
    const keyIndex = op === "withdraw" ? signedIn : random.pick([deciding, deciding, signedIn]);
    return { deed: { op, approvalRequestId }, keyIndex };
  }

  /** The key of a write or a read. What the rule is about, the owner does more often, so that some requests are a person's. */
  #keyIndex(deed: Deed, random: Random): number {
    if (this.#options.withApprovals !== true || deed.op === "read" || deed.op === "list") return 0;
    const isSent = deed.op === "status" && deed.to === "Sent";
    return random.pick(isSent ? [0, proposing, signedIn, signedIn] : [0, 0, 0, proposing, signedIn]);
  }

  #deed(shopId: string, random: Random): Deed | null {
    const seen = this.client.seen(shopId);
    const ask = random.next();
    const mayCreate = seen.length + (this.#creating.get(shopId) ?? 0) < ordersMax;
    if (mayCreate && (seen.length < 2 || ask < 0.05)) return { ...newOrder(random, 3), located: random.chance(0.95) };
    if (seen.length === 0) return null;
    if (ask < 0.1) return { op: "list" };
    const { order } = random.chance(0.9) ? random.pick(seen.slice(-hotOrders)) : random.pick(seen);
    return ask < 0.35 ? { op: "read", orderId: order.purchaseOrderId } : deedOn(order, orderAsk(random));
  }

  /** Sends a request until it is answered for good, some of them twice at once and some again later. */
  async #persist(shopId: string, deed: Deed, random: Random, keyIndex: number): Promise<void> {
    const isRead = deed.op === "read" || deed.op === "list";
    const creating = this.#creating.get(shopId) ?? 0;
    if (deed.op === "create") this.#creating.set(shopId, creating + 1);
    const known =
      "orderId" in deed
        ? this.client.seen(shopId).find((each) => each.order.purchaseOrderId === deed.orderId)
        : undefined;
    const request: Request = {
      ...this.client.request(shopId, deed, !isRead && random.chance(0.6), keyIndex),
      had: deed.op === "read" && random.chance(0.4) ? (known ?? null) : null,
      ifVersion: deed.op === "rename" && random.chance(0.5) ? (known?.order.version ?? null) : null,
    };
    const { tries } = this.#options.inAHurry ? hurried : patient;
    const isKeyed = request.idempotencyKey !== null;
    const persist = (): Promise<unknown> => this.client.persist(request, tries, () => this.#isOver);
    const atOnce = isKeyed && random.chance(0.15) ? 2 : 1;
    await Promise.all(Array.from({ length: atOnce }, persist));
    if (isKeyed && random.chance(0.1)) await persist();
    if (deed.op === "create") this.#creating.set(shopId, (this.#creating.get(shopId) ?? 1) - 1);
  }

  /** What each shop's clients were told, and the shop's own order of its changes. Nodes serve, and go on to. */
  async histories(): Promise<readonly History[]> {
    const histories: History[] = [];
    for (const shopId of this.#options.shopIds) histories.push(await this.#historyOf(shopId));
    return histories;
  }

  async #historyOf(shopId: string): Promise<History> {
    const [url = ""] = this.#options.urls();
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
    const own = this.client.attempts.filter((attempt) => attempt.shopId === shopId);
    const attempts = named(own, ({ requestId }) => idsByTrace.get(traceOf(requestId)), events);
    return { shopId, attempts, events, approvals: this.#approvalsOf(shopId) };
  }

  #approvalsOf(shopId: string): ApprovalSettings {
    const { withApprovals = false, shopIds } = this.#options;
    const kinds = ["write", "propose", "operator", "person"] as const;
    const indexes = new Map(this.#keys.get(shopId)?.map(({ keyId }, index) => [keyId, index]));
    return {
      ...noApprovals,
      kindOf: (keyId) => kinds[indexes.get(keyId) ?? 0] ?? "write",
      ruleAbove: withApprovals && isRuled(shopIds.indexOf(shopId)) ? ruleAbove : null,
    };
  }
}

const isRuled = (index: number): boolean => index % 2 === 1;

/**
 * Requests without an answer with the ids that the service gave them, as far as they can be known.
 *
 * @param idOf  by the audit log. A quick-complete has its row there with its last change, so one that ended with its process after the
 *              first is known by the event of that: it received the goods of the same order, and nobody else has that id.
 */
export function named(
  attempts: readonly Attempt[],
  idOf: (attempt: Attempt) => string | undefined,
  events: readonly EventTold[],
): readonly Attempt[] {
  const lost = attempts.filter(({ reply }) => reply === null);
  const names = new Map(attempts.map((each) => [each, lost.includes(each) ? idOf(each) : each.requestId] as const));
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
  return attempts.map((each) => ({ ...each, requestId: names.get(each) ?? each.requestId }));
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
