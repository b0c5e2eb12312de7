/**
 * The one judge of what the clients of a shop were told: whether it can have come about one request at a time (linearizability).
 *
 * A shop's events are its own claim of the order in which its changes were made, so that order is the witness and no search is needed. It holds
 * when three things do:
 *
 * - The pure model (model.ts) makes the same changes in that order, and each event tells what the model makes.
 * - Every request has a place in the order at which the model gives its answer: a change at its own event, whatever changed nothing (a
 *   read, a list, a refusal) between two events.
 * - The places keep real time: what was answered before another request was sent has no later place. Each request takes the first place that fits, so that as much
 *   as possible is left for those after it: if any choice of places keeps real time, this one does.
 *
 * A request without an answer may have been made at any time after it was sent, or never.
 */
import { isDeepStrictEqual } from "node:util";
import { isReplay as isReplayed } from "../../src/requests/envelope.ts";
import type { Attempt } from "./client.ts";
import { type ApprovalSettings, Approvals, hasValue, noApprovals, since } from "./approvals.ts";
import { answerOf, type Decision, type Deed, isDecision, listedMax, type OrderDeed, type OrderSeen } from "./deeds.ts";
import { afterEvent, created, type ModelOrder, pendingOf, refusalsAtStorefront, verdictOn } from "./model.ts";

/** An event as it is told. */
export interface EventTold {
  readonly sequence: number;
  readonly eventId: string;
  readonly type: string;
  readonly timestamp?: string;
  readonly requestId: string | null;
  readonly data: {
    /** Of an event about an approval. */
    readonly approvalRequestId?: string;
    readonly purchaseOrderId: string;
    readonly poNumber: string;
    readonly version: number;
    readonly status: { readonly from: string | null; readonly to: string | null };
    readonly lines: readonly {
      readonly poLineItemId: string;
      readonly variantId: string;
      readonly quantityDelta: number;
      readonly quantityReceived: number;
      readonly quantityPending: number;
    }[];
  };
}

export interface History {
  readonly shopId: string;
  readonly attempts: readonly Attempt[];
  /** All events of the shop, after everything has come to rest. */
  readonly events: readonly EventTold[];
  /** Whether a refusal's reason may lie outside of the order. Default: `isOutside`. */
  readonly isOutside?: (attempt: Attempt) => boolean;
  /** Whether an answer leaves open what has become of the request. Default: none does. */
  readonly isUnknown?: (attempt: Attempt) => boolean;
  /** Whether the database may have lost that an answered attempt gave its key back. Default: it loses nothing. */
  readonly mayHoldKey?: (attempt: Attempt) => boolean;
  /** Default: no write needs a decision. */
  readonly approvals?: ApprovalSettings;
}

interface Judged {
  /** What speaks against it, in words; nothing if the history is linearizable. */
  readonly findings: readonly string[];
  /** Each order as the model has it at the end. */
  readonly orders: ReadonlyMap<string, ModelOrder>;
  readonly approvals: Approvals;
}

/** An order between one of its changes and the next. */
export interface State {
  readonly order: ModelOrder;
  readonly sequence: number;
  readonly version: number;
  /** The moment up to which nobody may have been told of it. */
  readonly answeredAt: number;
}

const thousandths = (units: number): number => Math.round(units * 1_000);

const isAboutStorefront = ({ type }: EventTold): boolean =>
  type.startsWith("storefront_sync.") || type.startsWith("cost_sync.");

const isAboutApproval = ({ type }: EventTold): boolean => type.startsWith("approval.");

const isReplay = ({ reply }: Attempt): boolean => reply !== null && isReplayed(reply);

/** Refusals that say that nothing was done, for a reason that lies outside of the order. */
const outside = new Set([
  "DO_UNAVAILABLE",
  "DO_OVERLOADED",
  "TIMEOUT",
  "UPSTREAM_STOREFRONT",
  "INVENTORY_GUARD_ISSUES",
  "ON_HAND_SYNC_IN_FLIGHT",
]);

/** Refusals of those for which the storefront is the only reason. */
const atStorefront = new Set(["UPSTREAM_STOREFRONT", "INVENTORY_GUARD_ISSUES"]);

export function isOutside({ reply }: Attempt): boolean {
  const { error } = reply === null || reply.status < 400 ? {} : answerOf(reply);
  return error !== undefined && (outside.has(error.code) || isAboutKey(error.reason));
}

/** Whether it is right is judged with the other requests under the key. */
export const isAboutKey = (reason: string | undefined): boolean =>
  reason === "IDEMPOTENCY_IN_PROGRESS" || reason === "IDEMPOTENCY_KEY_REUSED";

export function judgeHistory(history: History): Judged {
  return new Judge(history).judge();
}

class Judge {
  readonly #history: History;
  readonly #approvals: Approvals;
  readonly #found: string[] = [];
  readonly #events = new Map<string, EventTold[]>();
  readonly #states = new Map<string, State[]>();
  /** After each event, how many orders a list has. */
  readonly #totals: number[] = [0];
  /** By request, the place up to which everything was answered before it was sent. */
  readonly #floors = new Map<Attempt, number>();
  /** By request and order, the newest version that was told before it was sent. */
  readonly #versionFloors = new Map<Attempt, number>();

  constructor(history: History) {
    this.#history = history;
    const { approvals = noApprovals, attempts } = history;
    this.#approvals = new Approvals(approvals, attempts, (finding) => this.#tell(finding));
    for (const event of history.events) {
      if (event.requestId === null || isAboutStorefront(event)) continue;
      this.#events.set(event.requestId, [...(this.#events.get(event.requestId) ?? []), event]);
    }
  }

  judge(): Judged {
    this.#replay();
    this.#approvals.judgeEnds();
    this.#judgeChains();
    this.#judgePlaces();
    const orders = [...this.#states].flatMap(([orderId, states]) => {
      const last = states.at(-1);
      return last === undefined ? [] : [[orderId, last.order] as const];
    });
    return { findings: this.#found, orders: new Map(orders), approvals: this.#approvals };
  }

  #tell(what: string): void {
    this.#found.push(what);
  }

  /** The model makes the requests whose events are told, in their order. */
  #replay(): void {
    const byId = new Map(
      this.#history.attempts.filter((attempt) => !isReplay(attempt)).map((each) => [each.requestId, each]),
    );
    let nextNumber = 1_001;
    let total = 0;
    for (const [index, event] of this.#history.events.entries()) {
      if (event.sequence !== index + 1) this.#tell(`event ${index + 1} has the sequence ${event.sequence}`);
      const attempt = byId.get(event.requestId ?? "");
      const deed = attempt === undefined ? null : this.#approvals.deedOf(attempt);
      const told = `event ${event.sequence} (${event.type} by ${attempt?.requestId} ${JSON.stringify(attempt?.deed)})`;
      if (isAboutApproval(event)) this.#makeRequest(event, attempt, deed, told);
      else if (attempt !== undefined && deed !== null && !isAboutStorefront(event)) {
        if (deed.op === "create") {
          if (event.data.poNumber !== `PO-${nextNumber}`) this.#tell(`${told}: the number is ${event.data.poNumber}`);
          nextNumber += 1;
          total += 1;
        } else if (event.type === "purchase_order.deleted") total -= 1;
        this.#make(event, attempt, deed, told);
      } else if (!isAboutStorefront(event) && event.type.startsWith("purchase_order."))
        this.#tell(`event ${event.sequence} (${event.type}) names ${event.requestId}, which nobody has sent`);
      this.#totals.push(total);
    }
  }

  #makeRequest(event: EventTold, attempt: Attempt | undefined, deed: Deed | null, told: string): void {
    if (attempt === undefined) {
      this.#tell(`${told}: nobody has sent that request`);
      return;
    }
    const orderId = deed !== null && "orderId" in deed ? deed.orderId : "";
    const states = this.#states.get(orderId) ?? [];
    if (event.type === "approval.requested") this.#approvals.requested(event, attempt, states, told);
    else this.#approvals.decided(event, attempt, states, told);
  }

  #make(event: EventTold, attempt: Attempt, deed: Exclude<Deed, Decision>, told: string): void {
    const { purchaseOrderId: orderId, version, lines, poNumber, status } = event.data;
    const states = this.#states.get(orderId) ?? [];
    this.#states.set(orderId, states);
    const before = states.at(-1);
    if (deed.op === "create") {
      if (before !== undefined) this.#tell(`${told}: the order was there before`);
      const lineIds = lines.map((line) => line.poLineItemId);
      const order = created(deed, { id: orderId, poNumber, lineIds });
      this.#approvals.changed(event, { attempt, deed, before: null, next: order, told });
      states.push({ order, sequence: event.sequence, version, answeredAt: attempt.answeredAt });
      return;
    }
    if (before === undefined || deed.op === "list" || deed.orderId !== orderId) {
      this.#tell(`${told}: it is not about an order that there is`);
      return;
    }
    const next = afterEvent(before.order, deed, event, (finding) => this.#tell(`${told}: ${finding}`));
    this.#approvals.changed(event, { attempt, deed, before, next, told });
    if (version <= before.version) this.#tell(`${told}: the version is not above ${before.version}`);
    if (status.from !== before.order.status)
      this.#tell(`${told}: it says that the status was ${status.from}, which was ${before.order.status}`);
    const to = next.deleted === "no" ? next.status : null;
    if (status.to !== to) this.#tell(`${told}: it says that the status is ${status.to}, which is ${to}`);
    for (const line of next.deleted === "no" ? lines : []) {
      const made = next.lines.find((each) => each.id === line.poLineItemId);
      if (made === undefined) this.#tell(`${told}: the line ${line.poLineItemId} is not on the order`);
      else if (
        thousandths(line.quantityReceived) !== made.received ||
        thousandths(line.quantityPending) !== pendingOf(made)
      )
        this.#tell(`${told}: it tells ${JSON.stringify(line)}, and the model makes ${JSON.stringify(made)}`);
    }
    states.push({ order: next, sequence: event.sequence, version, answeredAt: attempt.answeredAt });
  }

  /** C17 to C21: of all repetitions of a request under a key one has an effect, and all get the same answer. */
  #judgeChains(): void {
    const chains = new Map<number, Attempt[]>();
    for (const attempt of this.#history.attempts)
      if (attempt.idempotencyKey !== null) chains.set(attempt.chain, [...(chains.get(attempt.chain) ?? []), attempt]);
    for (const chain of chains.values()) {
      this.#judgeKey(chain);
      for (const clashes of [false, true]) this.#judgeRepetitions(chain.filter((each) => each.clashes === clashes));
    }
  }

  /** C19: of different requests under one key one has an effect, and the other is told that the key was used. */
  #judgeKey(attempts: readonly Attempt[]): void {
    const effective = attempts.filter(({ requestId }) => this.#events.has(requestId));
    if (new Set(effective.map(({ clashes }) => clashes)).size > 1)
      this.#tell(
        `${attempts[0]?.idempotencyKey}: different requests under it, ${effective.map(({ requestId }) => requestId).join(", ")}, have each had an effect`,
      );
    for (const attempt of attempts) {
      const { reply } = attempt;
      const reason = reply === null || reply.status < 400 ? undefined : answerOf(reply).error?.reason;
      const told = `${nameOf(attempt)} under ${attempt.idempotencyKey}`;
      const beside = attempts.filter((other) => other !== attempt && other.sentAt < attempt.answeredAt);
      if (reason === "IDEMPOTENCY_KEY_REUSED" && !beside.some(({ clashes }) => clashes !== attempt.clashes))
        this.#tell(`${told}: it was told that the key was used for another request, and no other was sent`);
      const same = beside.filter(
        (other) =>
          other.clashes === attempt.clashes &&
          (other.answeredAt > attempt.sentAt || this.#isUnknown(other) || this.#history.mayHoldKey?.(other) === true),
      );
      if (reason === "IDEMPOTENCY_IN_PROGRESS" && same.length === 0)
        this.#tell(
          `${told}: it was told that it is running, and nobody else had sent it; before it: ${beside.map(nameOf).join(", ")}`,
        );
    }
  }

  #judgeRepetitions(attempts: readonly Attempt[]): void {
    const [first] = attempts;
    if (first === undefined || first.deed.op === "read" || first.deed.op === "list") return;
    const told = `${first.requestId} ${JSON.stringify(first.deed)} under ${first.idempotencyKey}`;
    const effective = new Set(
      attempts.filter(({ requestId }) => this.#events.has(requestId)).map(({ requestId }) => requestId),
    );
    // A 502 of /quick-complete is not stored, and what it received is kept: the repetition completes (C28).
    if (effective.size > 1 && !this.#isInParts(first))
      this.#tell(`${told}: ${[...effective].join(" and ")} have each had an effect`);
    const final = attempts.filter(isFinal);
    const answers = new Set(final.map(({ reply }) => `${reply?.status} ${reply?.headers["ETag"]} ${reply?.body}`));
    if (answers.size > 1)
      this.#tell(`${told}: it has got ${answers.size} answers: ${[...answers].join(" | ").slice(0, 1_500)}`);
    const ran = final.filter((attempt) => !isReplay(attempt));
    if (ran.length > 1) this.#tell(`${told}: ${ran.length} answers are no replays`);
    for (const { requestId, reply, sentAt } of attempts)
      if (reply?.status === 429 && final.some(({ answeredAt }) => answeredAt < sentAt))
        this.#tell(`${told}: ${requestId} was refused for its rate, and a replay takes no token`);
  }

  /** Gives every request its place, in the order in which they were sent and answered. */
  #judgePlaces(): void {
    const moments = this.#history.attempts.flatMap((attempt) => [
      { at: attempt.sentAt, attempt, isAnswer: false },
      ...(attempt.reply === null ? [] : [{ at: attempt.answeredAt, attempt, isAnswer: true }]),
    ]);
    moments.sort((a, b) => a.at - b.at);
    let floor = 0;
    const versions = new Map<string, number>();
    for (const { attempt, isAnswer } of moments) {
      const shown = shownBy(attempt);
      const orderId = shown?.purchaseOrderId ?? ("orderId" in attempt.deed ? attempt.deed.orderId : "");
      if (!isAnswer) {
        this.#floors.set(attempt, floor);
        this.#versionFloors.set(attempt, versions.get(orderId) ?? 0);
        continue;
      }
      floor = Math.max(floor, this.#place(attempt));
      if (shown !== null && !isReplay(attempt))
        versions.set(orderId, Math.max(versions.get(orderId) ?? 0, shown.version));
    }
    for (const attempt of this.#history.attempts) {
      if (attempt.reply !== null) continue;
      const [first] = this.#events.get(attempt.requestId) ?? [];
      if (first !== undefined) this.#mustFollow(attempt, first);
    }
  }

  /** A quick-complete, or its approval. */
  #isInParts = (attempt: Attempt): boolean => this.#approvals.deedOf(attempt)?.op === "quick-complete";

  #isUnknown = (attempt: Attempt): boolean => this.#history.isUnknown?.(attempt) === true;

  #floorOf = (attempt: Attempt): number => this.#floors.get(attempt) ?? 0;

  #mustFollow(attempt: Attempt, first: EventTold): void {
    if (first.sequence <= this.#floorOf(attempt))
      this.#tell(
        `${nameOf(attempt)}: it is event ${first.sequence}, and event ${this.#floorOf(attempt)} was told before it was sent`,
      );
  }

  /** The first place at which the answer is what the model gives. */
  #place(attempt: Attempt): number {
    const floor = this.#floorOf(attempt);
    const { reply, deed } = attempt;
    if (reply === null) return floor;
    const events = this.#events.get(attempt.requestId) ?? [];
    const [first] = events;
    const last = events.at(-1)?.sequence ?? 0;
    // What it replays had its place before. Nobody but a replay may have told of it.
    if (isReplay(attempt)) {
      this.#judgeShown(attempt);
      return Math.max(floor, last);
    }
    if (reply.status === 500) this.#tell(`${nameOf(attempt)}: ${reply.body}`);
    if (reply.status >= 400) {
      const { isOutside: mayBeRefused = isOutside } = this.#history;
      const { code = "" } = answerOf(reply).error ?? {};
      if (atStorefront.has(code) && !refusalsAtStorefront(this.#approvals.deedOf(attempt)).includes(code))
        this.#tell(`${nameOf(attempt)}: it asks nothing of the storefront, and was answered ${reply.body}`);
      if (first !== undefined && !this.#isInParts(attempt) && !this.#isUnknown(attempt))
        this.#tell(`${nameOf(attempt)}: it was refused, and has had an effect`);
      return mayBeRefused(attempt) ? Math.max(floor, last) : this.#placeOfRefusal(attempt);
    }
    if (deed.op === "list") return this.#placeOfList(attempt);
    if (reply.status === 202 && first === undefined)
      return this.#approvals.placeOfSame(attempt, floor, nameOf(attempt));
    if (reply.status === 202 || isDecision(deed)) this.#approvals.judgeAnswer(attempt, events, nameOf(attempt));
    if (first === undefined) {
      const mustTell = !("orderId" in deed);
      if (mustTell) this.#tell(`${nameOf(attempt)}: it was acknowledged, and no event tells of it`);
      return mustTell ? floor : this.#placeOfSame(attempt, deed);
    }
    this.#mustFollow(attempt, first);
    this.#judgeVersion(attempt, first);
    const shown = shownBy(attempt);
    const own = this.#states.get(first.data.purchaseOrderId)?.findLast(({ sequence }) => sequence <= last);
    if (shown === null || own === undefined) return Math.max(floor, last);
    // Its first attempts at what follows were awaited, so it may show what others have made of the order meanwhile.
    const state = this.#states
      .get(shown.purchaseOrderId)
      ?.findLast(({ version }) => version <= Math.max(shown.version, own.version));
    if (state === undefined || shown.version < own.version || !shows(shown, state))
      this.#tell(`${nameOf(attempt)}: it shows ${JSON.stringify(shown)}, and the model makes ${JSON.stringify(state)}`);
    return Math.max(floor, last, state?.sequence ?? 0);
  }

  /** An order that is shown is as it was at its version. */
  #judgeShown(attempt: Attempt): void {
    const shown = shownBy(attempt);
    if (shown === null) return;
    const state = this.#states.get(shown.purchaseOrderId)?.findLast(({ version }) => version <= shown.version);
    if (state === undefined || !shows(shown, state))
      this.#tell(`${nameOf(attempt)}: it shows ${JSON.stringify(shown)}, and the model makes ${JSON.stringify(state)}`);
  }

  /** C34: what was to change a version has changed that one, or was asked for while the order had it. */
  #judgeVersion(attempt: Attempt, first: EventTold): void {
    const { ifVersion } = attempt;
    const states = (this.#states.get(first.data.purchaseOrderId) ?? []).filter(
      ({ sequence }) => sequence < first.sequence,
    );
    const before = states.at(-1);
    // A write is decided before it is kept as a request.
    if (isAboutApproval(first) && since(attempt, states).some(({ version }) => version === ifVersion)) return;
    if (ifVersion !== null && before !== undefined && before.version > ifVersion)
      this.#tell(`${nameOf(attempt)}: it has changed version ${before.version}, and was to change ${ifVersion}`);
  }

  /** The states of an order that have a place at or after this one, each with its first such place. */
  #from(orderId: string, floor: number): readonly { readonly state: State; readonly at: number }[] {
    const states = this.#states.get(orderId) ?? [];
    const last = states.findLastIndex(({ sequence }) => sequence <= floor);
    return states.slice(Math.max(0, last)).map((state) => ({ state, at: Math.max(floor, state.sequence) }));
  }

  /** The place of what was done and has changed nothing. */
  #placeOfSame(attempt: Attempt, deed: OrderDeed): number {
    const floor = this.#floorOf(attempt);
    const shown = shownBy(attempt);
    const states = this.#from(deed.orderId, floor);
    const isDone = ({ order }: State): boolean =>
      order.deleted === "no" && (deed.op === "read" || verdictOn(order, deed, []).kind === "same");
    const isShown = (state: State): boolean => shown === null || this.#isOf(shown, state);
    // A push is attempt for in one turn, and the order is read when it is through.
    const asksFirst = deed.op === "sync" ? states.findIndex(({ state }) => isDone(state)) : -1;
    const fitting =
      deed.op === "sync"
        ? states.find(({ state }, index) => asksFirst !== -1 && index >= asksFirst && isShown(state))
        : states.find(({ state }) => isDone(state) && isShown(state));
    if (fitting === undefined)
      this.#tell(
        `${nameOf(attempt)}: no state after event ${floor} is what it shows (${JSON.stringify(shown)}): ${this.#statesOf(deed.orderId, floor)}`,
      );
    if (shown !== null && shown.version < (this.#versionFloors.get(attempt) ?? 0))
      this.#tell(
        `${nameOf(attempt)}: it shows version ${shown.version}, and version ${this.#versionFloors.get(attempt)} was told before it was sent`,
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

  #placeOfRefusal(attempt: Attempt): number {
    const floor = this.#floorOf(attempt);
    const { deed, reply } = attempt;
    const error = reply === null ? undefined : answerOf(reply).error;
    if (isDecision(deed)) return this.#approvals.placeOfRefusal(attempt, deed, floor, nameOf(attempt));
    if (deed.op === "create" || deed.op === "list") {
      this.#tell(`${nameOf(attempt)}: the model does not refuse it: ${error?.message}`);
      return floor;
    }
    const states = this.#from(deed.orderId, floor);
    // Pushes raise the version too, and the model knows none of them.
    if (reply?.status === 412 && attempt.ifVersion !== null) return floor;
    // It looks at the order twice.
    if (/while its costs were written|^Meanwhile/.test(error?.message ?? "") && states.length > 1) return floor;
    if (error?.reason === "LIMIT_EXCEEDED") return this.#placeBeyond(attempt, deed.orderId);
    const fitting = states.find(({ state: { order } }) => {
      if (deed.op === "read") return order.deleted !== "no";
      const verdict = verdictOn(order, deed, []);
      return verdict.kind === "refused" || (verdict.kind === "changes" && verdict.unsure);
    });
    if (fitting === undefined)
      this.#tell(
        `${nameOf(attempt)}: after event ${floor} the model does not refuse it: ${error?.message} ${this.#statesOf(deed.orderId, floor)}`,
      );
    return fitting?.at ?? floor;
  }

  /** The first place at which a write is beyond the limits of its key. */
  #placeBeyond(attempt: Attempt, orderId: string): number {
    for (let place = this.#floorOf(attempt); place < this.#totals.length; place += 1) {
      const order = this.#states.get(orderId)?.findLast(({ sequence }) => sequence <= place)?.order;
      if (order !== undefined && this.#approvals.isBeyond(attempt, order, place + 1)) return place;
    }
    this.#tell(`${nameOf(attempt)}: it is beyond no limit after event ${this.#floorOf(attempt)}`);
    return this.#floorOf(attempt);
  }

  /** The first place at which a list has these rows, this many orders, and lacks none. */
  #placeOfList(attempt: Attempt): number {
    const floor = this.#floorOf(attempt);
    const { purchaseOrders = [], totalCount = 0 } = (attempt.reply === null ? {} : answerOf(attempt.reply)).data ?? {};
    let [low, high] = [floor, this.#totals.length - 1];
    for (const row of purchaseOrders) {
      const states = this.#states.get(row.purchaseOrderId) ?? [];
      const at = states.findLastIndex(({ version }) => version <= row.version);
      const order = states[at]?.order;
      const shown = [row.poNumber, row.poName, row.status, row.previousStatus];
      if (!isDeepStrictEqual(shown, [order?.poNumber, order?.name, order?.status, order?.previous]))
        this.#tell(`${nameOf(attempt)}: it shows ${shown.join()} at version ${row.version}: ${JSON.stringify(order)}`);
      low = Math.max(low, states[at]?.sequence ?? 0);
      high = Math.min(high, (states[at + 1]?.sequence ?? this.#totals.length) - 1);
    }
    for (let place = low; place <= high; place += 1)
      if (this.#totals[place] === totalCount && purchaseOrders.length === Math.min(totalCount, listedMax)) return place;
    this.#tell(
      `${nameOf(attempt)}: no place from event ${floor} on has all its ${purchaseOrders.length} rows and ${totalCount} orders: they are from ${low} to ${high}`,
    );
    return floor;
  }
}

const nameOf = ({ requestId, deed, reply }: Attempt): string =>
  `${requestId} ${JSON.stringify(deed)} → ${reply?.status ?? "no answer"}`;

/** The order that an answer shows, or says to be unchanged. */
function shownBy({ reply, had }: Attempt): OrderSeen | null {
  if (reply === null || reply.status >= 400) return null;
  return reply.status === 304 ? (had?.order ?? null) : (answerOf(reply).data?.purchaseOrder ?? null);
}

/** Whether an answer is one that every repetition must get (C19). */
function isFinal(attempt: Attempt): boolean {
  const { reply } = attempt;
  if (reply === null) return false;
  if (isReplay(attempt) || reply.status < 300) return true;
  const { error } = answerOf(reply);
  const { reason = "" } = error ?? {};
  // What is beyond a limit today may be within it tomorrow (C78).
  if (reason === "LIMIT_EXCEEDED" || reason.startsWith("IDEMPOTENCY_")) return false;
  return reply.status < 500 && error?.retryable !== true;
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
  return isDeepStrictEqual(shown, made) && hasValue(seen, order);
}
