/**
 * Approvals in the judge of a history (history.ts): which writes wait for a decision, what a decision does, and what keys with limits have spent (C77 to
 * C80). Like the model of orders it knows nothing of the rules' code.
 *
 * An approved write ends as the same write would without an approval: done, refused for a reason that the model has or the storefront gives, or not
 * asked there, and it keeps waiting. Where an approval of a write of several changes has come to no end, either is right for the next one.
 */
import { isDeepStrictEqual } from "node:util";
import type { Attempt } from "./client.ts";
import { answerOf, type Decision, type Deed, isDecision, type OrderDeed, type OrderSeen } from "./deeds.ts";
import type { EventTold, State } from "./history.ts";
import { hasLeftDraft, type ModelOrder, refusalsAtStorefront, valueOf, verdictOn } from "./model.ts";

export type CallerKind = "write" | "propose" | "limited" | "person" | "operator";

/** Limits that a key was given, between two moments of the clients. */
export interface LimitsGiven {
  readonly keyId: string;
  /** In cents. */
  readonly dayValueMax: number;
  readonly beyond: "ask" | "refuse";
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** What a shop has set about approvals. */
export interface ApprovalSettings {
  readonly kindOf: (keyId: string) => CallerKind;
  /** In their order; a key's first ones count from the beginning. */
  readonly limits: readonly LimitsGiven[];
  /** Orders that are worth more, in cents, are sent after a decision only. Null: any are sent. */
  readonly ruleAbove: number | null;
  /** A request that nobody has decided ends after so long. */
  readonly endsAfterMs: number;
}

export const noApprovals: ApprovalSettings = {
  kindOf: () => "write",
  limits: [],
  ruleAbove: null,
  endsAfterMs: Infinity,
};

/** A write that was asked for. */
interface ModelRequest {
  readonly deed: Exclude<Deed, Decision>;
  readonly askerId: string;
  readonly requestedAtMs: number;
  /** The event of its beginning. */
  readonly requestedAt: number;
  /** What it was to do: by each state that the order may have had when it was decided. None: it makes an order. */
  readonly changes: readonly string[];
  status: string;
  /** The event of its end. */
  decidedAt: number | null;
  decidedBy: string | null;
  /** The requests that have changed the order in carrying it out. */
  readonly doneBy: Set<string>;
}

interface Spent {
  readonly orderId: string;
  readonly keyId: string;
  readonly day: number;
  readonly amount: number;
}

/** What each write has spent by then, newest last. */
interface SpentFrom {
  readonly sequence: number;
  readonly spent: readonly Spent[];
}

/** A change of an order, by whomever. */
interface Change {
  readonly attempt: Attempt;
  readonly deed: Exclude<Deed, Decision>;
  readonly before: State | null;
  readonly next: ModelOrder;
  readonly told: string;
}

const dayMs = 86_400_000;

const atMs = ({ timestamp = "" }: EventTold): number => Date.parse(timestamp);

/** The status that an event about an approval tells. */
function statusIn({ data }: EventTold): string {
  const status: unknown = data.status;
  return typeof status === "string" ? status : "";
}

const ends: Readonly<Record<Decision["op"], readonly string[]>> = {
  approve: ["approved", "overtaken", "failed"],
  reject: ["rejected"],
  withdraw: ["withdrawn"],
};

/** Writes that are several changes of the shop, and may stop between them. */
const inParts = new Set<Deed["op"]>(["complete", "quick-complete", "sync"]);

/** The one that changes its order in more than one of them. */
const isInSteps = ({ op }: Deed): boolean => op === "quick-complete";

const worthOf = (order: ModelOrder | null): number =>
  order !== null && order.deleted === "no" && hasLeftDraft(order) ? valueOf(order) : 0;

const factsOf = ({ name, status, previous, deleted, lines }: ModelOrder): readonly (readonly [string, unknown])[] => [
  ...Object.entries({ name, status, previous, deleted }),
  ...lines.flatMap(({ ordered, confirmed, received, cost }, index) =>
    Object.entries({ ordered, confirmed, received, cost }).map(
      ([field, value]) => [`${index} ${field}`, value] as const,
    ),
  ),
];

/** What a write makes of an order, as a decision is about it: the facts that it changes, and the order's value and status. */
function changeOf(before: ModelOrder, next: ModelOrder): string {
  const was = new Map(factsOf(before));
  const changed = factsOf(next).filter(([fact, value]) => was.get(fact) !== value);
  return JSON.stringify([changed, valueOf(next), next.status]);
}

/** What a write would do to an order as it is. `null`: it would be refused. */
function doneTo(order: ModelOrder, deed: OrderDeed): { readonly change: string; readonly unsure: boolean } | null {
  const verdict = verdictOn(order, deed, []);
  if (verdict.kind === "refused") return null;
  const next = verdict.kind === "same" ? order : verdict.next;
  return { change: changeOf(order, next), unsure: verdict.kind === "changes" && verdict.unsure };
}

/** What an answer shows of a request. */
const requestShown = ({ reply }: Attempt) =>
  reply === null || reply.status >= 300 ? undefined : answerOf(reply).data?.approvalRequest;

/** The states that an order may have been in while a request ran, up to now. */
export const since = ({ sentAt }: Attempt, states: readonly State[]): readonly State[] =>
  states.filter((_, index) => (states[index + 1]?.answeredAt ?? Infinity) > sentAt);

/** Whether a write makes of an order what it shows before a decision, as far as it shows it. */
function isPreviewed(attempt: Attempt, order: ModelOrder): boolean {
  const { deed } = attempt;
  if (!("orderId" in deed)) return false;
  const verdict = verdictOn(order, deed, []);
  if (verdict.kind === "refused") return false;
  const { purchaseOrder: preview, status } = requestShown(attempt)?.preview ?? {};
  if (preview === undefined) return true;
  const next = verdict.kind === "changes" ? verdict.next : order;
  if (status !== undefined && (status.before !== order.status || status.after !== next.status)) return false;
  const shown = [preview.poName, preview.status, preview.previousStatus, Math.round(preview.grandTotal * 100)];
  return isDeepStrictEqual(
    [...shown, ...preview.lineItems.map((line) => Math.round(line.quantityReceived * 1_000))],
    [next.name, next.status, next.previous, valueOf(next), ...next.lines.map(({ received }) => received)],
  );
}

export class Approvals {
  readonly #settings: ApprovalSettings;
  readonly #attempts: readonly Attempt[];
  readonly #tell: (finding: string) => void;
  readonly requests = new Map<string, ModelRequest>();
  readonly #spent: SpentFrom[] = [{ sequence: 0, spent: [] }];
  /** By order, the values with which it was approved, and when that was answered. */
  readonly #cleared = new Map<string, { readonly value: number; readonly answeredAt: number }[]>();

  constructor(settings: ApprovalSettings, attempts: readonly Attempt[], tell: (finding: string) => void) {
    this.#settings = settings;
    this.#attempts = attempts;
    this.#tell = tell;
  }

  /** What the keys with limits have spent at the end. */
  get spent(): readonly Spent[] {
    return this.#spent.at(-1)?.spent ?? [];
  }

  /** What a request does: of an approval, what was asked for. Null: nothing was. */
  deedOf({ deed }: Attempt): Exclude<Deed, Decision> | null {
    if (!isDecision(deed)) return deed;
    return deed.op === "approve" ? (this.requests.get(deed.approvalRequestId)?.deed ?? null) : null;
  }

  /** `approval.requested`: a write that would have been done, and needs a decision. */
  requested(event: EventTold, attempt: Attempt, states: readonly State[], told: string): void {
    const { approvalRequestId: id = "" } = event.data;
    const { deed, keyId } = attempt;
    if (isDecision(deed) || deed.op === "read" || deed.op === "list") {
      this.#tell(`${told}: it needs no decision`);
      return;
    }
    if (this.requests.has(id)) this.#tell(`${told}: it was asked for before`);
    // It was decided before it was kept, and the order may have been changed in between.
    const previewed = since(attempt, states).filter(({ order }) => isPreviewed(attempt, order));
    if ("orderId" in deed && previewed.length === 0)
      this.#tell(
        `${told}: the model does not make what it shows: ${JSON.stringify([requestShown(attempt), states.at(-1)])}`,
      );
    if (
      this.#settings.kindOf(keyId) !== "propose" &&
      !previewed.some((state) => this.#mayNeedDecision(attempt, state, event.sequence))
    )
      this.#tell(`${told}: no limit and no rule asks for a decision`);
    this.requests.set(id, {
      deed,
      askerId: keyId,
      requestedAtMs: atMs(event),
      requestedAt: event.sequence,
      changes: "orderId" in deed ? previewed.flatMap(({ order }) => doneTo(order, deed)?.change ?? []) : [],
      status: "pending",
      decidedAt: null,
      decidedBy: null,
      doneBy: new Set(),
    });
  }

  /** An order has been changed. */
  changed(event: EventTold, { attempt, deed, before, next, told }: Change): void {
    const { deed: asked } = attempt;
    const orderId = event.data.purchaseOrderId;
    const request = isDecision(asked) ? this.requests.get(asked.approvalRequestId) : undefined;
    const callerId = request?.askerId ?? attempt.keyId;
    const kind = this.#settings.kindOf(callerId);
    const change = before === null ? null : changeOf(before.order, next);
    const isBegun = this.#mayBeBegun(attempt);
    const isRuled = this.#meetsRule(orderId, before?.order ?? null, next);
    const caps = kind === "limited" ? this.#capsPassed(callerId, attempt, { event, before, next }) : null;
    if (request === undefined) {
      if (kind === "propose") this.#tell(`${told}: its key may only propose`);
      if (isRuled) this.#tell(`${told}: a rule of the shop asks for a decision`);
      if (caps === "all") this.#tell(`${told}: it passes the cap of its key's day`);
    } else {
      if (request.status !== "pending") this.#tell(`${told}: it is done, and was ${request.status}`);
      if (request.doneBy.size > 0 && !isInSteps(deed)) this.#tell(`${told}: it is done again`);
      this.#judgeTime(event, attempt, request, told);
      if (deed.op !== "quick-complete" && !isBegun && change !== null && !request.changes.includes(change))
        this.#tell(`${told}: it does ${change}, and was to do ${request.changes.join(" or ")}`);
      if (caps === "all" && this.#beyondOf(callerId) === "refuse")
        this.#tell(`${told}: it was approved, and passes a cap that refuses`);
      request.doneBy.add(attempt.requestId);
      if (isRuled)
        this.#cleared.set(orderId, [
          ...(this.#cleared.get(orderId) ?? []),
          { value: valueOf(next), answeredAt: attempt.answeredAt },
        ]);
    }
    this.#spend(event, kind === "limited" ? callerId : null, worthOf(next) - worthOf(before?.order ?? null), next);
  }

  #judgeTime(event: EventTold, attempt: Attempt, { requestedAtMs }: ModelRequest, told: string): void {
    const isOver = atMs(event) > requestedAtMs + this.#settings.endsAfterMs + 1_000;
    if (isOver && !this.#mayBeBegun(attempt)) this.#tell(`${told}: it had expired`);
  }

  /** `approval.decided`: a request that waited has its end. */
  decided(event: EventTold, attempt: Attempt, states: readonly State[], told: string): void {
    const { approvalRequestId: id = "" } = event.data;
    const { deed } = attempt;
    const status = statusIn(event);
    const request = this.requests.get(id);
    if (request === undefined || !isDecision(deed) || deed.approvalRequestId !== id) {
      this.#tell(`${told}: it is not about what was asked for`);
      return;
    }
    if (request.status !== "pending") this.#tell(`${told}: it is decided again, and was ${request.status}`);
    if (!ends[deed.op].includes(status)) this.#tell(`${told}: it ends as ${status}`);
    if (!this.#mayDecide(attempt, request)) this.#tell(`${told}: who has decided it may not`);
    this.#judgeTime(event, attempt, request, told);
    const isDone = request.doneBy.has(attempt.requestId);
    const wasDone = isInSteps(request.deed) ? isDone : request.doneBy.size > 0;
    if (status !== "approved" && wasDone) this.#tell(`${told}: it is ${status}, and was done`);
    if (deed.op === "approve" && !isDone) this.#judgeOutcome(status, attempt, request, since(attempt, states), told);
    request.status = status;
    request.decidedAt = event.sequence;
    request.decidedBy = attempt.keyId;
  }

  /** Whether an approval that came to no end may have begun what was asked for. */
  mayBeBegun = (id: string): boolean =>
    inParts.has(this.requests.get(id)?.deed.op ?? "read") &&
    this.#attempts.some(
      ({ deed, reply }) =>
        deed.op === "approve" && deed.approvalRequestId === id && (reply === null || reply.status >= 400),
    );

  /** What was done is decided. */
  judgeEnds(): void {
    for (const [id, { status, deed, doneBy }] of this.requests)
      if (status === "pending" && doneBy.size > 0 && !isInSteps(deed))
        this.#tell(`the request ${id} was done by ${[...doneBy].join()}, and still waits`);
  }

  /** Approving does what was shown or, for a reason, nothing. */
  #judgeOutcome(status: string, attempt: Attempt, request: ModelRequest, states: readonly State[], told: string): void {
    const { deed, askerId, changes } = request;
    if (this.#mayBeBegun(attempt) || isInSteps(deed)) return;
    const { code, reason } = requestShown(attempt)?.refusal ?? {};
    // One that the storefront cannot answer keeps waiting; what it refuses stands.
    const isRefusedThere = code === "INVENTORY_GUARD_ISSUES" && refusalsAtStorefront(deed).includes(code);
    const isBeyond = reason === "LIMIT_EXCEEDED" && this.#beyondOf(askerId) === "refuse";
    const mayFail = code === undefined || isRefusedThere || isBeyond || reason === "ORDER_EDITED";
    const isRight = (order: ModelOrder): boolean => {
      const now = "orderId" in deed ? doneTo(order, deed) : null;
      if (status === "approved") return now?.change === changeOf(order, order);
      if (status === "overtaken") return now !== null && changes.some((change) => change !== now.change);
      return status === "failed" && (now === null || now.unsure);
    };
    if (!(status === "failed" && mayFail) && !states.some(({ order }) => isRight(order)))
      this.#tell(`${told}: it is ${status} (${code}) and nothing is done: ${changes.join()} ${JSON.stringify(states)}`);
  }

  #mayDecide({ deed, keyId }: Attempt, { askerId }: ModelRequest): boolean {
    if (deed.op === "withdraw") return keyId === askerId;
    return ["person", "operator"].includes(this.#settings.kindOf(keyId)) && keyId !== askerId;
  }

  /** Whether another approval of the request may have been stopped within it. */
  #mayBeBegun({ deed, answeredAt, requestId }: Attempt): boolean {
    if (!isDecision(deed)) return false;
    const { approvalRequestId: id } = deed;
    return (
      inParts.has(this.requests.get(id)?.deed.op ?? "read") &&
      this.#attempts.some(
        (other) =>
          other.deed.op === "approve" &&
          other.deed.approvalRequestId === id &&
          other.requestId !== requestId &&
          other.sentAt < answeredAt &&
          (other.reply === null || other.reply.status >= 400),
      )
    );
  }

  #beyondOf = (keyId: string): string | undefined =>
    this.#settings.limits.find((given) => given.keyId === keyId)?.beyond;

  /** Which of the caps that a key may have had while a request ran a change passes. */
  #capsPassed(
    keyId: string,
    { sentAt, answeredAt }: Attempt,
    { event, before, next }: { readonly event: EventTold; readonly before: State | null; readonly next: ModelOrder },
  ): "none" | "some" | "all" {
    const rise = worthOf(next) - worthOf(before?.order ?? null);
    if (rise <= 0) return "none";
    const spent = this.#spentOn(keyId, Math.floor(atMs(event) / dayMs), event.sequence);
    const own = this.#settings.limits.filter((given) => given.keyId === keyId);
    const caps = own.filter(
      (given, index) => given.sentAt < answeredAt && (own[index + 1]?.answeredAt ?? Infinity) > sentAt,
    );
    const passed = caps.filter(({ dayValueMax }) => spent + rise > dayValueMax).length;
    return passed === 0 ? "none" : passed === caps.length ? "all" : "some";
  }

  #spentOn(keyId: string, day: number, sequence: number): number {
    const { spent } = this.#spent.findLast((each) => each.sequence < sequence) ?? { spent: [] };
    return spent.reduce((sum, each) => sum + (each.keyId === keyId && each.day === day ? each.amount : 0), 0);
  }

  /** @param at the moment of the write: whatever was approved after it had not cleared the order yet. */
  #meetsRule(orderId: string, before: ModelOrder | null, next: ModelOrder, at = Infinity): boolean {
    const { ruleAbove } = this.#settings;
    const value = worthOf(next);
    if (ruleAbove === null || value <= ruleAbove) return false;
    if (before !== null && hasLeftDraft(before) && value <= worthOf(before)) return false;
    return !(this.#cleared.get(orderId) ?? []).some((cleared) => value <= cleared.value && cleared.answeredAt <= at);
  }

  #mayNeedDecision(attempt: Attempt, before: State, sequence: number): boolean {
    const { deed, keyId } = attempt;
    if (!("orderId" in deed)) return false;
    const verdict = verdictOn(before.order, deed, []);
    if (verdict.kind !== "changes") return false;
    if (this.#meetsRule(deed.orderId, before.order, verdict.next, attempt.sentAt)) return true;
    return this.isBeyond(attempt, before.order, sequence) && this.#beyondOf(keyId) === "ask";
  }

  /** Whether a write passes a cap of its key, after the events before this one. The day is not looked at: a clock may be set. */
  isBeyond({ deed, keyId, sentAt, answeredAt }: Attempt, order: ModelOrder, sequence: number): boolean {
    if (!("orderId" in deed) || this.#settings.kindOf(keyId) !== "limited") return false;
    const verdict = verdictOn(order, deed, []);
    const rise = verdict.kind === "changes" ? worthOf(verdict.next) - worthOf(order) : 0;
    const { spent } = this.#spent.findLast((each) => each.sequence < sequence) ?? { spent: [] };
    const days = new Set(spent.map(({ day }) => day));
    const most = Math.max(0, ...[...days].map((day) => this.#spentOn(keyId, day, sequence)));
    const own = this.#settings.limits.filter((given) => given.keyId === keyId);
    return (
      rise > 0 &&
      own.some(
        (given, index) =>
          given.sentAt < answeredAt &&
          (own[index + 1]?.answeredAt ?? Infinity) > sentAt &&
          most + rise > given.dayValueMax,
      )
    );
  }

  /** Counts what a change spends for a key, or gives back what an order has fallen by, newest day first. */
  #spend(event: EventTold, keyId: string | null, rise: number, next: ModelOrder): void {
    const { purchaseOrderId: orderId } = event.data;
    const day = Math.floor(atMs(event) / dayMs);
    if (rise === 0 || (rise > 0 && keyId === null)) return;
    let left = worthOf(next) === 0 ? Infinity : -rise;
    const spent =
      rise > 0
        ? [...this.spent, { orderId, keyId: keyId ?? "", day, amount: rise }]
        : this.spent
            .toSorted((a, b) => b.day - a.day || (a.keyId < b.keyId ? -1 : 1))
            .map((each) => {
              if (each.orderId !== orderId) return each;
              const taken = Math.min(left, each.amount);
              left -= taken;
              return { ...each, amount: each.amount - taken };
            });
    this.#spent.push({ sequence: event.sequence, spent });
  }

  /** What was decided, or asked for, is told as it is. */
  judgeAnswer(attempt: Attempt, events: readonly EventTold[], told: string): void {
    const shown = requestShown(attempt);
    const end = events.findLast(({ type }) => type === "approval.decided" || type === "approval.requested");
    const status = end === undefined ? undefined : statusIn(end);
    if (shown?.approvalRequestId !== end?.data.approvalRequestId || shown?.status !== status)
      this.#tell(`${told}: it says ${shown?.status}, and the event ${JSON.stringify(end?.data)}`);
  }

  /** The first place at which a write is answered with the request that waits for the same one already. */
  placeOfSame(attempt: Attempt, floor: number, told: string): number {
    const request = this.requests.get(requestShown(attempt)?.approvalRequestId ?? "");
    const isSame =
      request?.askerId === attempt.keyId &&
      isDeepStrictEqual(request.deed, attempt.deed) &&
      (request.decidedAt ?? Infinity) > floor;
    if (!isSame) this.#tell(`${told}: no event tells of it, and nothing of the kind waits: ${JSON.stringify(request)}`);
    return Math.max(floor, request?.requestedAt ?? 0);
  }

  /** The first place at which a decision is refused so. */
  placeOfRefusal(attempt: Attempt, deed: Decision, floor: number, told: string): number {
    const { code = "", message = "" } = (attempt.reply === null ? {} : answerOf(attempt.reply)).error ?? {};
    const request = this.requests.get(deed.approvalRequestId);
    const [, status] = /^This request is (\w+)/.exec(message) ?? [];
    const isRight =
      request !== undefined &&
      (status === "expired"
        ? request.status === "pending"
        : status !== undefined
          ? status === request.status
          : /carried out in part/.test(message)
            ? this.#mayBeBegun(attempt)
            : (code === "FORBIDDEN_SCOPE" || code === "NOT_FOUND") && !this.#mayDecide(attempt, request));
    if (!isRight) this.#tell(`${told}: the model does not refuse it: ${message} ${JSON.stringify(request)}`);
    return Math.max(floor, status === undefined ? 0 : (request?.decidedAt ?? 0));
  }
}

/** Whether an order that is shown has this value. */
export const hasValue = ({ grandTotal }: OrderSeen, order: ModelOrder): boolean =>
  Math.round(grandTotal * 100) === valueOf(order);
