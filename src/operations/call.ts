/**
 * What an operation is given of its surroundings, and how its last change commits together with the answer (S2, C20).
 */
import type { EffectOutcome } from "../core/effect.ts";
import { Fault } from "../core/fault.ts";
import { noSpans, type SpanParent, type Spans } from "../core/spans.ts";
import { loggedRequest, traceparentOf } from "../core/trace-context.ts";
import type { Clock, Engine, Ids, KeyRelease, Log, Statement, Tx } from "../store/store.ts";
import type { StorefrontOf } from "../storefront/storefront.ts";
import { type BroadPart, LeavesLoop, type Readers } from "./broad-read.ts";
import type { Reply } from "./envelope.ts";
import type { Answer, Call, Committed, Operation } from "./operation.ts";
import type { IdentifiedRequest, Incoming } from "./request.ts";
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
      isNew?: boolean,
    ): Promise<ReadonlyMap<string, EffectOutcome>>;
  };
  readonly storefrontOf: StorefrontOf;
  readonly log: Log;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  /** Null: every read runs on the event loop. */
  readonly readers: Readers | null;
}

/** How a request's answer is stored in the transaction of its change. */
export interface AnswerStore {
  /** @throws Fault when another attempt at the request has stored its answer (H2). */
  refuseIfAnswered(tx: Tx): Promise<void>;
  /** The answer as a reply. @throws Fault OUTPUT_TOO_LARGE before the change commits, so that a 413 has changed nothing. */
  reply(answer: Answer<unknown>): Reply;
  /**
   * The request's audit row and, for a keyed write, its stored answer.
   *
   * @throws Fault DO_OVERLOADED when the shop's stored answers leave no room for it.
   */
  statements(tx: Tx, reply: Reply): Promise<readonly Statement[]>;
  /** What gives the idempotency key back with the write that stores the last answer. */
  release(): KeyRelease;
}

/** A call, and what its commit has stored. */
interface OpenCall {
  readonly call: Call;
  /** What `commit` has stored; null before it. */
  readonly stored: () => StoredAnswer | null;
}

interface StoredAnswer {
  readonly answer: Answer<unknown>;
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

/** Makes the call of one request. */
export async function openCall(
  deps: CallDependencies,
  request: IdentifiedRequest,
  operation: Operation,
  store: AnswerStore,
): Promise<OpenCall> {
  const { engine, clock, ids, outbox, log } = deps;
  const { incoming, shop, key, person } = request;
  const { shopId } = shop;
  const tracing = tracingOf(deps, incoming);
  let stored: StoredAnswer | null = null;

  async function commit<Output>(work: (tx: Tx) => Promise<Committed<Output>>): Promise<Answer<Output>> {
    if (stored !== null) throw new Error(`${operation.name} committed twice`);
    const release = store.release();
    const { result, pending, answer, reply } = await tracedWrite(engine, tracing, shopId, async (tx) => {
      // Side by side, so that the check costs no round trip. If there is an answer, the work's own refusal must not be reported.
      const unanswered = store.refuseIfAnswered(tx);
      const working = work(tx);
      await Promise.allSettled([unanswered, working]);
      await unanswered;
      const result = await working;
      const pending = new Map(result.effectIds.map((id): [string, EffectOutcome] => [id, { state: "pending" }]));
      const answer = result.answer(pending);
      const reply = store.reply(answer);
      await tx.batch(await store.statements(tx, reply));
      // Without effects the answer is the last one.
      if (result.effectIds.length === 0) await tx.batch(release.statements);
      return { result, pending, answer, reply };
    });
    stored = { answer, reply };
    const { effectIds, answerAnew } = result;
    if (effectIds.length === 0) {
      release.done();
      return answer;
    }
    try {
      const outcomes = await outbox.settle(shopId, effectIds, shop.followOnWaitMs, true);
      const anew = answerAnew === undefined ? null : await engine.read(shopId, (tx) => answerAnew(tx, outcomes));
      return anew ?? result.answer(outcomes);
    } catch (error) {
      // The change is committed. The fault of a store that fails afterwards would say that nothing was changed.
      if (!(error instanceof Fault && error.retryable)) throw error;
      log.warn({ ...loggedRequest(incoming), err: error }, "the first attempts of follow-on work could not be read");
      return result.answer(pending);
    }
  }

  const call: Call = {
    shop,
    actor:
      key === null
        ? { type: "user", id: person.personId, name: person.name }
        : { type: incoming.surface === "mcp" ? "agent" : "api-key", id: key.keyId, name: key.name },
    operation: operation.name,
    requestId: incoming.requestId,
    traceparent: incoming.trace === undefined ? null : traceparentOf(incoming.trace),
    clock,
    ids,
    storefront: await deps.storefrontOf(shop, tracing.parent),
    ifMatch: incoming.ifMatch,
    read: (work) => engine.read(shopId, work),
    readPart: readPartWith(deps, shop),
    leaveLoop: () => {
      if (operation.scope === "read" && deps.readers !== null) throw new LeavesLoop();
    },
    afterwards: (work) => workAfterwards(deps, shopId, operation.name, work),
    change: (work) => tracedWrite(engine, tracing, shopId, work),
    settle: (effectIds, waitMs) => outbox.settle(shopId, effectIds, waitMs),
    commit,
  };
  return { call, stored: () => stored };
}

/** How a call of this shop reads a broad part: on the event loop, or on a reader thread if the part leaves the loop. */
const readPartWith =
  ({ engine, clock, readers }: CallDependencies, shop: Call["shop"]): Call["readPart"] =>
  async <Asked, Found>(part: BroadPart<Asked, Found>, asked: Asked) => {
    const leaveLoop = (): void => {
      if (readers !== null) throw new LeavesLoop();
    };
    try {
      return await engine.read(shop.shopId, (tx) => part.run(tx, { shop, clock, leaveLoop }, asked));
    } catch (error) {
      if (readers === null || !(error instanceof LeavesLoop)) throw error;
      const found = await readers.readPart({ part: part.name, asked, shop, nowMs: clock.now() });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same part has returned it, on a thread
      return found as Found;
    }
  };
