/** Surroundings of an operation, and the commit of its last change together with the answer (S2, C20). */
import { type Actor, keyOf } from "../../core/access/actor.ts";
import type { ApprovalCause } from "../../core/access/approvals.ts";
import type { EffectOutcome } from "../../core/order/effect.ts";
import { Fault } from "../../base/fault.ts";
import { noSpans, type SpanParent, type Spans } from "../../base/spans.ts";
import { loggedRequest, traceparentOf } from "../../base/trace-context.ts";
import type { PurchaseOrder } from "../../core/order/purchase-order.ts";
import type { QueuedEffect } from "../../shop/storefront/effects.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine, KeyRelease, Log, Statement, Tx } from "../../store/store.ts";
import type { Storefront, StorefrontOf } from "../../storefront/storefront.ts";
import { type BroadQuery, ReaderThreadNeeded, type Readers } from "../broad-read.ts";
import { actorOf } from "../caller.ts";
import type { Reply } from "../envelope.ts";
import { type Answer, type Call, type Committed, type Mailing, noMailing, type Operation } from "../operation.ts";
import type { IdentifiedRequest, Incoming } from "../request.ts";
import { DecisionNeeded } from "../approvals/decision-needed.ts";
import { awaitedOf } from "./awaited.ts";
import { dryRun } from "./dry-run.ts";
import { tracedWrite } from "./traced-write.ts";

export interface CallDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: {
    settle(
      shopId: string,
      effectIds: readonly string[],
      waitMs: number,
      added?: readonly QueuedEffect[],
    ): Promise<ReadonlyMap<string, EffectOutcome>>;
    rehearse(
      tx: Tx,
      shopId: string,
      effectIds: readonly string[],
      storefront: Storefront,
    ): Promise<ReadonlyMap<string, EffectOutcome>>;
  };
  readonly storefrontOf: StorefrontOf;
  /** Who sends mails; null: no mail server is configured. Default: none is. */
  readonly mails?: {
    wake(shopId: string): void;
    settle(shopId: string, mailIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
  } | null;
  /** Default: no mail can be sent. */
  readonly mailing?: Mailing;
  /** Where people reach the console; null: it is told no address. Default: it is not known. */
  readonly consoleOrigin?: () => string | null;
  readonly log: Log;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  /** Null: every read runs on the event loop. */
  readonly readers: Readers | null;
}

/** Storage of a request's answer in the transaction of its change. */
export interface AnswerStore {
  /** @throws Fault when another attempt at the request has stored its answer (H2). */
  refuseIfAnswered(tx: Tx): Promise<void>;
  /**
   * The answer as a reply. @throws Fault OUTPUT_TOO_LARGE before the change commits, so that a 413 has changed nothing.
   */
  reply(answer: Answer<unknown>): Reply;
  /**
   * The request's audit row and, for a keyed write, its stored answer.
   *
   * @throws Fault DO_OVERLOADED when the shop's stored answers leave no room for it.
   */
  statements(tx: Tx, reply: Reply): Promise<readonly Statement[]>;
  /** Returns the release of the idempotency key, with the write that stores the last answer. */
  release(): KeyRelease;
  /**
   * Replaces the stored answer of a keyed write by its last one, which is made in the same turn. Null: the write has no
   * key.
   *
   * @returns the last answer; null when the stored one stays, since this attempt has lost its key (H2).
   */
  readonly replace:
    | (<Last extends Answer<unknown>>(
        first: Reply,
        makeLast: (tx: Tx) => Promise<Last>,
      ) => Promise<StoredAnswer<Last> | null>)
    | null;
}

/** A call, and what its commit has stored. */
interface OpenCall {
  readonly call: Call;
  /** Answer that `commit` has stored; null before it. */
  readonly stored: () => StoredAnswer | null;
}

/** An answer, and the reply that tells it. */
export interface StoredAnswer<Stored extends Answer<unknown> = Answer<unknown>> {
  readonly answer: Stored;
  readonly reply: Reply;
}

/** Work under way that nobody waits for, of each engine by shop and operation. */
const underWay = new WeakMap<Engine, Set<string>>();

function workAfterwards(
  { engine, log }: Pick<CallDependencies, "engine" | "log">,
  shopId: string,
  operation: string,
  work: (tx: Tx) => Promise<boolean>,
): void {
  const running = underWay.get(engine) ?? new Set<string>();
  underWay.set(engine, running);
  const name = `${shopId} ${operation}`;
  if (running.has(name)) return;
  running.add(name);
  const untilDone = async (): Promise<void> => {
    while (await engine.write(shopId, work, { durable: false }));
  };
  void untilDone()
    .catch((error: unknown) => {
      // A store that is busy, closed or removed: a later request asks again.
      if (!(error instanceof Fault)) log.error({ shopId, operation, err: error }, "upkeep after a request failed");
    })
    .finally(() => running.delete(name));
}

/** The tracer of a request's steps, and the span that they belong to. */
export const tracingOf = (
  { spans = noSpans }: Pick<CallDependencies, "spans">,
  { trace }: Pick<Incoming, "trace">,
): { readonly spans: Spans; readonly parent: SpanParent | null } => ({ spans, parent: trace ?? null });

/** Makes the last change of a call, and stores its answer as long as nothing is known of its effects. */
async function lastChange<Output>(
  tx: Tx,
  store: AnswerStore,
  release: KeyRelease,
  work: (tx: Tx) => Promise<Committed<Output>>,
) {
  // Side by side, so that the check costs no round trip. If there is an answer, the work's own refusal must not be
  // reported.
  const unanswered = store.refuseIfAnswered(tx);
  const working = work(tx);
  await Promise.allSettled([unanswered, working]);
  await unanswered;
  const result = await working;
  const { effectIds, mailIds, pending } = awaitedOf(result);
  const answer = result.answer(pending);
  const reply = store.reply(answer);
  await tx.batch(await store.statements(tx, reply));
  // Without effects the answer is the last one.
  if (pending.size === 0) await tx.batch(release.statements);
  return { result, effectIds, mailIds, pending, answer, reply };
}

/** Makes the call of one request. */
export function openCall(
  deps: CallDependencies,
  request: IdentifiedRequest,
  operation: Operation,
  store: AnswerStore,
  ahead: PurchaseOrder | null = null,
): Promise<OpenCall> {
  const { incoming, shop, key, person } = request;
  const actor: Actor =
    key === null
      ? actorOf(person)
      : { type: incoming.surface === "mcp" ? "agent" : "api-key", id: key.keyId, name: key.name };
  const limitedKeyId = key === null || key.limits !== null ? keyOf(actor) : null;
  return openCallAs(deps, { incoming, shop, actor, limitedKeyId, ahead }, operation, store);
}

/** Who calls what, and in which request. */
interface CalledAs {
  readonly incoming: Pick<Incoming, "requestId" | "ifMatch" | "trace" | "baseUrl">;
  readonly shop: Shop;
  readonly actor: Actor;
  readonly limitedKeyId: string | null;
  /** Order that was read with the caller; null: nothing was. */
  readonly ahead: PurchaseOrder | null;
}

/**
 * The call of an operator's operation that changes orders. Its answer is not stored, and its request has its audit row
 * elsewhere.
 */
export async function callAs(
  deps: CallDependencies,
  caller: Omit<CalledAs, "limitedKeyId" | "ahead">,
  operation: Pick<Operation, "name" | "scope">,
): Promise<Call> {
  const limitedKeyId = keyOf(caller.actor);
  return (await openCallAs(deps, { ...caller, limitedKeyId, ahead: null }, operation, nothingStored)).call;
}

const noReply: Reply = { status: 200, headers: {}, body: "", errorCode: null };

/** Of calls whose answers are stored nowhere, or elsewhere. */
export const nothingStored: AnswerStore = {
  refuseIfAnswered: () => Promise.resolve(),
  reply: () => noReply,
  statements: () => Promise.resolve([]),
  release: () => ({ statements: [], done: () => {} }),
  replace: null,
};

/** Ends a read on the event loop, which begins again on a reader thread. */
function leaveLoop(): never {
  throw new ReaderThreadNeeded();
}

/** Ends a change that needs somebody's decision. */
function endUndecided(causes: readonly ApprovalCause[]): never {
  throw new DecisionNeeded(causes);
}

/** Where the service and its console are reached, as far as that is known. */
const addressesOf = (
  { consoleOrigin }: CallDependencies,
  { baseUrl = null }: { readonly baseUrl?: string | null },
): Pick<Call, "baseUrl" | "consoleOrigin"> => ({ baseUrl, consoleOrigin: consoleOrigin?.() ?? null });

const none: ReadonlyMap<string, EffectOutcome> = new Map();

async function openCallAs(
  deps: CallDependencies,
  { incoming, shop, actor, limitedKeyId, ahead }: CalledAs,
  operation: Pick<Operation, "name" | "scope">,
  store: AnswerStore,
): Promise<OpenCall> {
  const { engine, clock, ids, outbox, mails = null, log } = deps;
  const { shopId } = shop;
  const tracing = tracingOf(deps, incoming);
  let stored: StoredAnswer | null = null;
  const change: Call["change"] = (work) => tracedWrite(engine, tracing, shopId, work);

  async function commit<Output>(work: (tx: Tx) => Promise<Committed<Output>>): Promise<Answer<Output>> {
    if (stored !== null) throw new Error(`${operation.name} committed twice`);
    const release = store.release();
    const made = await change((tx) => lastChange(tx, store, release, work));
    const { result, effectIds, mailIds, pending, answer, reply } = made;
    stored = { answer, reply };
    if (pending.size === 0) {
      release.done();
      return answer;
    }
    let outcomes: ReadonlyMap<string, EffectOutcome> = pending;
    const readLatest = async (tx: Tx): Promise<Answer<Output>> =>
      (await result.answerAfter?.(tx, outcomes)) ?? result.answer(outcomes);
    try {
      const settled = await Promise.all([
        effectIds.length === 0 ? none : outbox.settle(shopId, effectIds, shop.followOnWaitMs, result.effects),
        mailIds.length === 0 ? none : mails?.settle(shopId, mailIds, shop.followOnWaitMs),
      ]);
      outcomes = new Map([...pending, ...settled.flatMap((each) => [...(each ?? none)])]);
      if (result.answerAfter === undefined) return result.answer(outcomes);
      const isAttempted = [...outcomes.values()].some(({ state }) => state !== "pending");
      // Without news it is likely to be the stored answer, which needs no write.
      if (store.replace === null || !isAttempted) return await engine.read(shopId, readLatest);
    } catch (error) {
      // The change is committed. The fault of a store that fails afterwards would say that nothing was changed.
      if (!(error instanceof Fault && error.retryable)) throw error;
      log.warn({ ...loggedRequest(incoming), err: error }, "the first attempts of follow-on work could not be read");
      return result.answer(pending);
    }
    const replaced = await store.replace(reply, readLatest);
    if (replaced === null) return answer;
    stored = replaced;
    return replaced.answer;
  }

  const call: Call = {
    shop,
    actor,
    approvedBy: null,
    limitedKeyId,
    operation: operation.name,
    requestId: incoming.requestId,
    traceparent: incoming.trace === undefined ? null : traceparentOf(incoming.trace),
    ...addressesOf(deps, incoming),
    clock,
    ids,
    storefront: await deps.storefrontOf(shop, tracing.parent),
    mailing: deps.mailing ?? noMailing,
    ifMatch: incoming.ifMatch,
    ahead,
    read: (work) => engine.read(shopId, work),
    readQuery: readQueryWith(deps, shop),
    leaveLoop: operation.scope === "read" && deps.readers !== null ? leaveLoop : () => {},
    afterwards: (work) => workAfterwards(deps, shopId, operation.name, work),
    change,
    needDecision: endUndecided,
    rehearse: (run) => dryRun({ outbox, write: change }, call, run),
    settle: (effectIds, waitMs) => outbox.settle(shopId, effectIds, waitMs),
    commit,
  };
  return { call, stored: () => stored };
}

/** Returns the reader of a shop's broad parts: on the event loop, or on a reader thread if the part leaves the loop. */
export const readQueryWith =
  (
    { engine, clock, readers }: Pick<CallDependencies, "engine" | "clock" | "readers">,
    shop: Call["shop"],
  ): Call["readQuery"] =>
  async <QueryInput, Found>(query: BroadQuery<QueryInput, Found>, queryInput: QueryInput) => {
    const leaves = readers === null ? () => {} : leaveLoop;
    try {
      return await engine.read(shop.shopId, (tx) => query.run(tx, { shop, clock, leaveLoop: leaves }, queryInput));
    } catch (error) {
      if (readers === null || !(error instanceof ReaderThreadNeeded)) throw error;
      const found = await readers.readQuery({ query: query.name, queryInput, shop, nowMs: clock.now() });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same part has returned it, on a thread
      return found as Found;
    }
  };
