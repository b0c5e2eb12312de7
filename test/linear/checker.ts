/**
 * Whether what the clients of one shop were told can have come about one request at a time (linearizability).
 *
 * A shop's events are its own claim of the order in which its changes were made, so that order is the witness and no search is needed. It holds
 * when three things do:
 *
 * - The pure model (simulator/model.ts) makes the same changes in that order, and each event tells what the model makes.
 * - Every request has a place in the order at which the model gives its answer: a change at its own event, whatever changed nothing (a
 *   read, a list, a refusal) between two events.
 * - The places keep real time: what was answered before another request was sent has no later place. Each request takes the first place that fits, so that as much
 *   as possible is left for those after it: if any choice of places keeps real time, this one does.
 *
 * A request without an answer may have been made at any time after it was sent, or never.
 */
import { afterEvent } from "../simulator/after-event.ts";
import { isDeepStrictEqual } from "node:util";
import { type Attempt, type Deed, isSafe, type OrderSeen, logEntryOf } from "../simulator/client.ts";
import { created, type ModelOrder, pendingOf, verdictOn } from "../simulator/model.ts";
import type { EventTold } from "../simulator/world.ts";

/** A request of the history. Moments (`sentAt`, `answeredAt`) are counted by one process, so that their order is known. */
export interface Asked extends Attempt {
  /** The order that the client had, if it asked for a newer one only: a 304 says that this is the present one. */
  readonly had: OrderSeen | null;
}

export interface History {
  readonly shopId: string;
  readonly asked: readonly Asked[];
  /** All events of the shop, after everything has come to rest. */
  readonly events: readonly EventTold[];
}

/** An order between one of its changes and the next. */
interface State {
  readonly order: ModelOrder;
  readonly sequence: number;
  readonly version: number;
}

/** `listLimit` of simulator/client.ts: a list shows so many of the newest orders. */
const listedMax = 50;

const thousandths = (units: number): number => Math.round(units * 1_000);

const isAboutStorefront = ({ type }: EventTold): boolean =>
  type.startsWith("storefront_sync.") || type.startsWith("cost_sync.");

const isReplay = ({ reply }: Asked): boolean => reply?.headers["idempotent-replayed"] === "true";

/** Refusals that say that nothing was done, for a reason that lies outside of the order. */
const outside = new Set([
  "DO_UNAVAILABLE",
  "DO_OVERLOADED",
  "TIMEOUT",
  "UPSTREAM_STOREFRONT",
  "INVENTORY_GUARD_ISSUES",
  "ON_HAND_SYNC_IN_FLIGHT",
]);

export function isOutside({ reply }: Asked): boolean {
  const { error } = reply === null || reply.status < 400 ? {} : logEntryOf(reply);
  return error !== undefined && (outside.has(error.code) || error.reason === "IDEMPOTENCY_IN_PROGRESS");
}

/** What speaks against it, in words; nothing if the history is linearizable. */
export function findings(history: History): readonly string[] {
  return new Judge(history).judge();
}

class Judge {
  readonly #history: History;
  readonly #found: string[] = [];
  readonly #events = new Map<string, EventTold[]>();
  readonly #states = new Map<string, State[]>();
  /** After each event, how many orders a list has. */
  readonly #totals: number[] = [0];
  /** By request, the place up to which everything was answered before it was sent. */
  readonly #floors = new Map<Asked, number>();
  /** By request and order, the newest version that was told before it was sent. */
  readonly #versionFloors = new Map<Asked, number>();

  constructor(history: History) {
    this.#history = history;
    for (const event of history.events) {
      if (event.requestId === null || isAboutStorefront(event)) continue;
      this.#events.set(event.requestId, [...(this.#events.get(event.requestId) ?? []), event]);
    }
  }

  judge(): readonly string[] {
    this.#replay();
    this.#judgeKeys();
    this.#judgePlaces();
    return this.#found;
  }

  #tell(what: string): void {
    this.#found.push(`${this.#history.shopId}: ${what}`);
  }

  /** The model makes the requests whose events are told, in their order. */
  #replay(): void {
    const byId = new Map(this.#history.asked.filter((asked) => !isReplay(asked)).map((each) => [each.requestId, each]));
    let nextNumber = 1_001;
    let total = 0;
    for (const [index, event] of this.#history.events.entries()) {
      if (event.sequence !== index + 1) this.#tell(`event ${index + 1} has the sequence ${event.sequence}`);
      const asked = byId.get(event.requestId ?? "");
      if (asked !== undefined && !isAboutStorefront(event)) {
        const told = `event ${event.sequence} (${event.type} by ${asked.requestId} ${JSON.stringify(asked.deed)})`;
        if (asked.deed.op === "create") {
          if (event.data.poNumber !== `PO-${nextNumber}`) this.#tell(`${told}: the number is ${event.data.poNumber}`);
          nextNumber += 1;
          total += 1;
        } else if (event.type === "purchase_order.deleted") total -= 1;
        this.#make(event, asked.deed, told);
      } else if (!isAboutStorefront(event) && event.type.startsWith("purchase_order."))
        this.#tell(`event ${event.sequence} (${event.type}) names ${event.requestId}, which nobody has sent`);
      this.#totals.push(total);
    }
  }

  #make(event: EventTold, deed: Deed, told: string): void {
    const { purchaseOrderId: orderId, version, lines, poNumber, status } = event.data;
    const states = this.#states.get(orderId) ?? [];
    this.#states.set(orderId, states);
    const before = states.at(-1);
    if (deed.op === "create") {
      if (before !== undefined) this.#tell(`${told}: the order was there before`);
      const lineIds = lines.map((line) => line.poLineItemId);
      states.push({ order: created(deed, { id: orderId, poNumber, lineIds }), sequence: event.sequence, version });
      return;
    }
    if (before === undefined || deed.op === "list" || deed.orderId !== orderId) {
      this.#tell(`${told}: it is not about an order that there is`);
      return;
    }
    const next = afterEvent(before.order, deed, event, (finding) => this.#tell(`${told}: ${finding}`));
    if (version <= before.version) this.#tell(`${told}: the version is not above ${before.version}`);
    if (status.from !== before.order.status)
      this.#tell(`${told}: it says that the status was ${status.from}, which was ${before.order.status}`);
    if (next.deleted === "no" && status.to !== next.status)
      this.#tell(`${told}: it says that the status is ${status.to}, which is ${next.status}`);
    for (const line of next.deleted === "no" ? lines : []) {
      const made = next.lines.find((each) => each.id === line.poLineItemId);
      if (made === undefined) this.#tell(`${told}: the line ${line.poLineItemId} is not on the order`);
      else if (
        thousandths(line.quantityReceived) !== made.received ||
        thousandths(line.quantityPending) !== pendingOf(made)
      )
        this.#tell(`${told}: it tells ${JSON.stringify(line)}, and the model makes ${JSON.stringify(made)}`);
    }
    states.push({ order: next, sequence: event.sequence, version });
  }

  /** C17 to C20: of all that was sent under a key one has an effect, and all final answers are the same. */
  #judgeKeys(): void {
    const chains = new Map<number, Asked[]>();
    for (const asked of this.#history.asked)
      if (asked.idempotencyKey !== null) chains.set(asked.chain, [...(chains.get(asked.chain) ?? []), asked]);
    for (const chain of chains.values()) {
      const told = `${JSON.stringify(chain[0]?.deed)} under ${chain[0]?.idempotencyKey}`;
      const effective = new Set(
        chain.filter(({ requestId }) => this.#events.has(requestId)).map(({ requestId }) => requestId),
      );
      if (effective.size > 1) this.#tell(`${told}: ${[...effective].join(" and ")} have each had an effect`);
      const final = chain.filter((asked) => asked.reply !== null && isFinal(asked));
      const answers = new Set(final.map(({ reply }) => `${reply?.status} ${reply?.body}`));
      if (answers.size > 1) this.#tell(`${told}: it has got ${answers.size} answers: ${[...answers].join(" | ")}`);
      const ran = final.filter((asked) => !isReplay(asked));
      if (ran.length > 1) this.#tell(`${told}: ${ran.length} answers are no replays`);
    }
  }

  /** Gives every request its place, in the order in which they were sent and answered. */
  #judgePlaces(): void {
    const moments = this.#history.asked.flatMap((asked) => [
      { at: asked.sentAt, asked, isAnswer: false },
      ...(asked.reply === null ? [] : [{ at: asked.answeredAt, asked, isAnswer: true }]),
    ]);
    moments.sort((a, b) => a.at - b.at);
    let floor = 0;
    const versions = new Map<string, number>();
    for (const { asked, isAnswer } of moments) {
      const shown = shownBy(asked);
      const orderId = shown?.purchaseOrderId ?? ("orderId" in asked.deed ? asked.deed.orderId : "");
      if (!isAnswer) {
        this.#floors.set(asked, floor);
        this.#versionFloors.set(asked, versions.get(orderId) ?? 0);
        continue;
      }
      floor = Math.max(floor, this.#place(asked));
      if (shown !== null && !isReplay(asked))
        versions.set(orderId, Math.max(versions.get(orderId) ?? 0, shown.version));
    }
    for (const asked of this.#history.asked) {
      if (asked.reply !== null) continue;
      const [first] = this.#events.get(asked.requestId) ?? [];
      if (first !== undefined) this.#mustFollow(asked, first);
    }
  }

  #floorOf = (asked: Asked): number => this.#floors.get(asked) ?? 0;

  #mustFollow(asked: Asked, first: EventTold): void {
    if (first.sequence <= this.#floorOf(asked))
      this.#tell(
        `${nameOf(asked)}: it is event ${first.sequence}, and event ${this.#floorOf(asked)} was told before it was sent`,
      );
  }

  /** The first place at which the answer is what the model gives. */
  #place(asked: Asked): number {
    const floor = this.#floorOf(asked);
    const { reply, deed } = asked;
    if (reply === null) return floor;
    const events = this.#events.get(asked.requestId) ?? [];
    const [first] = events;
    const last = events.at(-1)?.sequence ?? 0;
    // What it replays had its place before.
    if (isReplay(asked)) return Math.max(floor, last);
    if (reply.status === 500) this.#tell(`${nameOf(asked)}: ${reply.body}`);
    if (reply.status >= 400) {
      if (first !== undefined && deed.op !== "quick-complete")
        this.#tell(`${nameOf(asked)}: it was refused, and has had an effect`);
      return isOutside(asked) ? Math.max(floor, last) : this.#placeOfRefusal(asked);
    }
    if (deed.op === "list") return this.#placeOfList(asked);
    if (first === undefined) {
      if (deed.op === "create") this.#tell(`${nameOf(asked)}: it was acknowledged, and no event tells of it`);
      return deed.op === "create" ? floor : this.#placeOfSame(asked, deed);
    }
    this.#mustFollow(asked, first);
    const shown = shownBy(asked);
    const own = this.#states.get(first.data.purchaseOrderId)?.findLast(({ sequence }) => sequence <= last);
    if (shown === null || own === undefined) return Math.max(floor, last);
    // Its first attempts at what follows were awaited, so it may show what others have made of the order meanwhile.
    const state = this.#states
      .get(shown.purchaseOrderId)
      ?.findLast(({ version }) => version <= Math.max(shown.version, own.version));
    if (state === undefined || shown.version < own.version || !shows(shown, state))
      this.#tell(`${nameOf(asked)}: it shows ${JSON.stringify(shown)}, and the model makes ${JSON.stringify(state)}`);
    return Math.max(floor, last, state?.sequence ?? 0);
  }

  /** The states of an order that have a place at or after this one, each with its first such place. */
  #from(orderId: string, floor: number): readonly { readonly state: State; readonly at: number }[] {
    const states = this.#states.get(orderId) ?? [];
    const last = states.findLastIndex(({ sequence }) => sequence <= floor);
    return states.slice(Math.max(0, last)).map((state) => ({ state, at: Math.max(floor, state.sequence) }));
  }

  /** The place of what was done and has changed nothing. */
  #placeOfSame(asked: Asked, deed: Exclude<Deed, { readonly op: "create" | "list" }>): number {
    const floor = this.#floorOf(asked);
    const shown = shownBy(asked);
    const states = this.#from(deed.orderId, floor);
    const isDone = ({ order }: State): boolean =>
      order.deleted === "no" && (deed.op === "read" || verdictOn(order, deed, []).kind === "same");
    const isShown = (state: State): boolean => shown === null || this.#isOf(shown, state);
    // A push is asked for in one turn, and the order is read when it is through.
    const asksFirst = deed.op === "sync" ? states.findIndex(({ state }) => isDone(state)) : -1;
    const fitting =
      deed.op === "sync"
        ? states.find(({ state }, index) => asksFirst !== -1 && index >= asksFirst && isShown(state))
        : states.find(({ state }) => isDone(state) && isShown(state));
    if (fitting === undefined)
      this.#tell(
        `${nameOf(asked)}: no state after event ${floor} is what it shows (${JSON.stringify(shown)}): ${this.#statesOf(deed.orderId, floor)}`,
      );
    if (shown !== null && shown.version < (this.#versionFloors.get(asked) ?? 0))
      this.#tell(
        `${nameOf(asked)}: it shows version ${shown.version}, and version ${this.#versionFloors.get(asked)} was told before it was sent`,
      );
    return fitting?.at ?? floor;
  }

  #statesOf = (orderId: string, floor: number): string =>
    JSON.stringify(this.#from(orderId, floor).map(({ state }) => state)).slice(0, 2_000);

  /** What is shown is this state of the order, and no later one. */
  #isOf(shown: OrderSeen, state: State): boolean {
    const states = this.#states.get(shown.purchaseOrderId) ?? [];
    const next = states[states.indexOf(state) + 1];
    return (
      shown.version >= state.version && (next === undefined || shown.version < next.version) && shows(shown, state)
    );
  }

  #placeOfRefusal(asked: Asked): number {
    const floor = this.#floorOf(asked);
    const { deed, reply } = asked;
    const error = reply === null ? undefined : logEntryOf(reply).error;
    if (deed.op === "create" || deed.op === "list") {
      this.#tell(`${nameOf(asked)}: the model does not refuse it: ${error?.message}`);
      return floor;
    }
    const states = this.#from(deed.orderId, floor);
    // It looks at the order twice.
    if (/while its costs were written|^Meanwhile/.test(error?.message ?? "") && states.length > 1) return floor;
    const fitting = states.find(({ state: { order } }) => {
      if (deed.op === "read") return order.deleted !== "no";
      const verdict = verdictOn(order, deed, []);
      return verdict.kind === "refused" || (verdict.kind === "changes" && verdict.unsure);
    });
    if (fitting === undefined)
      this.#tell(
        `${nameOf(asked)}: after event ${floor} the model does not refuse it: ${error?.message} ${this.#statesOf(deed.orderId, floor)}`,
      );
    return fitting?.at ?? floor;
  }

  /** The first place at which a list has these rows, this many orders, and lacks none. */
  #placeOfList(asked: Asked): number {
    const floor = this.#floorOf(asked);
    const { purchaseOrders = [], totalCount = 0 } = (asked.reply === null ? {} : logEntryOf(asked.reply)).data ?? {};
    let [low, high] = [floor, this.#totals.length - 1];
    for (const row of purchaseOrders) {
      const states = this.#states.get(row.purchaseOrderId) ?? [];
      const at = states.findLastIndex(({ version }) => version <= row.version);
      const order = states[at]?.order;
      const shown = [row.poNumber, row.poName, row.status, row.previousStatus];
      if (!isDeepStrictEqual(shown, [order?.poNumber, order?.name, order?.status, order?.previous]))
        this.#tell(`${nameOf(asked)}: it shows ${shown.join()} at version ${row.version}: ${JSON.stringify(order)}`);
      low = Math.max(low, states[at]?.sequence ?? 0);
      high = Math.min(high, (states[at + 1]?.sequence ?? this.#totals.length) - 1);
    }
    for (let place = low; place <= high; place += 1)
      if (this.#totals[place] === totalCount && purchaseOrders.length === Math.min(totalCount, listedMax)) return place;
    this.#tell(
      `${nameOf(asked)}: no place from event ${floor} on has all its ${purchaseOrders.length} rows and ${totalCount} orders: they are from ${low} to ${high}`,
    );
    return floor;
  }
}

const nameOf = ({ requestId, deed, reply }: Asked): string =>
  `${requestId} ${JSON.stringify(deed)} → ${reply?.status ?? "no answer"}`;

/** The order that an answer shows, or says to be unchanged. */
function shownBy({ reply, had }: Asked): OrderSeen | null {
  if (reply === null || reply.status >= 400) return null;
  return reply.status === 304 ? had : (logEntryOf(reply).data?.purchaseOrder ?? null);
}

/** Whether an answer is one that every repetition must get (C19). */
function isFinal(asked: Asked): boolean {
  const { reply } = asked;
  if (reply === null) return false;
  if (isReplay(asked) || reply.status < 300) return true;
  const { error } = logEntryOf(reply);
  return reply.status < 500 && error?.retryable !== true && !(error?.reason ?? "").startsWith("IDEMPOTENCY_");
}

function shows(seen: OrderSeen, { order }: State): boolean {
  const shown = [
    [seen.poNumber, seen.poName, seen.status, seen.previousStatus],
    ...seen.lineItems.map((line) => [
      line.poLineItemId,
      thousandths(line.quantityOrdered),
      thousandths(line.quantityConfirmed),
      thousandths(line.quantityReceived),
      thousandths(line.quantityPending),
    ]),
  ];
  const { poNumber, name, status, previous, lines } = order;
  const made = [
    [poNumber, name, status, previous],
    ...lines.map((line) => [line.id, line.ordered, line.confirmed, line.received, pendingOf(line)]),
  ];
  return isDeepStrictEqual(shown, made);
}

/** Whether it can be sent again without a key. */
export const mayRepeat = ({ idempotencyKey, deed }: Pick<Asked, "idempotencyKey" | "deed">): boolean =>
  idempotencyKey !== null || isSafe(deed);
