/**
 * The one path that every request takes, whatever surface it came in by, in the order of C1.
 *
 * Owns: the order of the checks, and which of them an answer is stored after. Does not own: the checks themselves
 * (caller.ts, idempotency.ts, rate-limit.ts, input.ts), what an operation does, how a surface spells requests and
 * answers (http, mcp).
 *
 * Invariants:
 * - H1. Every request with an API key of the shop, a revoked one too, or of a person who is signed in has one audit
 *       row. It is written before the answer leaves. That of a read or a replay may follow it when the turn that writes
 *       it does not come in time (audit/audit.ts). Refusals without a token share rows beyond a rate
 *       (audit/refusals.ts). While the store cannot be written, reads, replays and refusals are answered without a row;
 *       the log has what it would have told.
 * - H2. The stored answer of a keyed write commits with the write. While the first attempt runs, no other request runs
 *       under its key, and none is shown an answer that may still change. Two attempts may run all the same, after a
 *       lease that ended too early or a commit whose answer was lost. The second finds the first one's stored answer in
 *       its own transaction and changes nothing. An attempt that has lost its key leaves the answer as it has stored
 *       it.
 * - H3. What is refused before the shop's turn has changed nothing.
 */
import { Fault } from "../base/fault.ts";
import type { Json } from "../base/json.ts";
import { loggedRequest } from "../base/trace-context.ts";
import { type ApprovalCause, causesWith } from "../core/access/approvals.ts";
import { parseIdempotencyKey } from "../core/access/idempotency.ts";
import type { PurchaseOrder } from "../core/order/purchase-order.ts";
import type { Shop, StoredCaller } from "../shop/access/accounts.ts";
import { type ApprovalRequest, loadPendingAlike } from "../shop/access/approval-requests.ts";
import { loadHeader } from "../shop/order/purchase-orders.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Footprint, KeyRelease, Statement, Tx } from "../store/store.ts";
import type { LoopShare } from "../store/loop-share.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import type { AuditRowPlace } from "../shop/audit/audit-journal.ts";
import { auditEntryOf, AuditRows } from "./audit/audit.ts";
import { AuditTrail } from "./audit/audit-trail.ts";
import {
  type AnswerStore,
  type CallDependencies,
  nothingStored,
  openCall,
  type StoredAnswer,
  tracingOf,
} from "./write/call.ts";
import { DecisionNeeded } from "./approvals/decision-needed.ts";
import { keepStatements, proposalOf } from "./approvals/proposal.ts";
import { approvalRequestJson, causeJson } from "./approvals/request-json.ts";
import { ReaderThreadNeeded } from "./broad-read.ts";
import { Confirmations } from "./remembered/caller-confirmations.ts";
import { StoreCounts } from "./store-counts.ts";
import { admit, type Caller, checkScope, holderOf, Callers, namedShop } from "./caller.ts";
import {
  answerReply,
  asFault,
  dryReply,
  failure,
  notModified,
  type Reply,
  responseBytesMax,
  sameReply,
  shownAnswer,
  type ShownAnswer,
  shownReply,
  success,
  withinBytes,
} from "./envelope.ts";
import { Fingerprints, fingerprintOf } from "./remembered/fingerprints.ts";
import { KnownAnswers } from "./remembered/remembered-answers.ts";
import { noting } from "./remembered/remembered-reads.ts";
import {
  type Idempotency,
  type IdempotencyDependencies,
  type KeyedRequest,
  type LookAhead,
  createIdempotency,
  isStoredRefusal,
  orderOf,
} from "./idempotency.ts";
import { type Body, parseBody, checkInput } from "./input.ts";
import type { Answer, Operation } from "./operation.ts";
import { bucketOf, requestTokens } from "./rate-limit.ts";
import { Refusals } from "./audit/refusals.ts";
import type { IdentifiedRequest, Incoming } from "./request.ts";
import { identifyPerson, isSessionBearer } from "./sessions.ts";
import { Sweeps } from "./write/sweeps.ts";
import { tracedWrite } from "./write/traced-write.ts";

export interface PerformDependencies extends CallDependencies, IdempotencyDependencies {
  readonly loop: LoopShare;
  /** Where audit rows of reads wait for their shops. Default: nowhere, they are written to the shops' logs at once. */
  readonly auditJournal?: AuditRowPlace | null;
  /** Default `responseBytesMax`. */
  readonly responseBytesMax?: number;
  /** Default `answersRememberedBytesMax`. */
  readonly answersRememberedBytesMax?: number;
  /** Default `answersPackedBytesMax`. */
  readonly answersPackedBytesMax?: number;
  /** Counts what requests store. Default: nobody asks for it. */
  readonly counts?: StoreCounts;
}

export type Perform = (incoming: Incoming) => Promise<Reply>;

/** Dependencies and state of the request pipeline. */
interface Context extends PerformDependencies {
  readonly idempotency: Idempotency;
  readonly callers: Callers;
  readonly confirmations: Confirmations;
  readonly answers: KnownAnswers;
  readonly fingerprints: Fingerprints;
  readonly auditTrail: AuditTrail;
  readonly auditRows: AuditRows;
  readonly refusals: Refusals;
  readonly sweeps: Sweeps;
  readonly responseBytesMax: number;
  readonly counts: StoreCounts;
}

/**
 * Makes the function that serves requests.
 *
 * Its replies are complete but for what belongs to the transport (content type, CORS). It never rejects.
 */
export function createPerform(deps: PerformDependencies): Perform {
  const counts = deps.counts ?? new StoreCounts();
  const auditTrail = new AuditTrail(deps);
  const context: Context = {
    responseBytesMax,
    ...deps,
    counts,
    idempotency: createIdempotency({ ...deps, counts }),
    callers: new Callers(deps.engine),
    confirmations: new Confirmations(deps),
    answers: new KnownAnswers(deps.compression, deps.answersRememberedBytesMax, deps.answersPackedBytesMax),
    fingerprints: new Fingerprints(),
    auditTrail,
    auditRows: new AuditRows(
      deps.engine,
      auditTrail,
      (shopId, entry, error) => noteMissingRow({ log: deps.log, counts }, shopId, entry, error),
      deps.auditJournal,
    ),
    refusals: new Refusals({ ...deps, auditTrail, counts }),
    sweeps: new Sweeps({ ...deps, counts, auditTrail }),
  };
  return (incoming) => perform(context, incoming);
}

async function perform(context: Context, incoming: Incoming): Promise<Reply> {
  const { target, caller, bearerToken } = incoming;
  const reads = target instanceof Fault || target.scope === "read";
  const left = context.loop.admit(caller?.shop.shopId ?? namedShop(bearerToken), reads);
  try {
    return await performAdmitted(context, incoming);
  } finally {
    left();
  }
}

async function performAdmitted(context: Context, incoming: Incoming): Promise<Reply> {
  const { log } = context;
  let request: IdentifiedRequest | null = null;
  try {
    request = await identifyRequest(context, incoming);
    context.sweeps.count(request.shop);
    admit(request);
    const operation = reachedOperation(incoming);
    checkScope(request, operation, incoming.isDryRun === true);
    const reply =
      operation.scope === "read"
        ? await performRead(context, request, operation)
        : await performWrite(context, request, operation);
    return await withRateLimit(request, reply);
  } catch (error) {
    const fault = asFault(error);
    if (fault.code === "INTERNAL") log.error({ ...loggedRequest(incoming), err: error }, "request failed");
    const reply = failure(incoming.requestId, fault, incoming.surface);
    return request === null ? reply : await refuse(context, request, reply);
  }
}

/** Who asks, and what was found out about the request beside. */
type IdentifiedCaller = Caller & Pick<IdentifiedRequest, "wasAnswered" | "tokens">;

async function identifyRequest(context: Context, incoming: Incoming): Promise<IdentifiedRequest> {
  const { clock, ids, callers } = context;
  const startedAtMs = clock.now();
  const known = incoming.caller === undefined ? callers.known(incoming.bearerToken) : null;
  const confirmed = known === null ? null : await confirm(context, incoming, known);
  const caller = confirmed ?? (await identifyFromStore(context, incoming));
  return { ...caller, incoming, startedAtMs, auditId: ids.next("aud") };
}

async function identifyFromStore(context: Context, incoming: Incoming): Promise<IdentifiedCaller> {
  const { callers, coordination, clock, idempotency } = context;
  if (incoming.caller !== undefined) return await knownCaller(context, incoming, incoming.caller);
  const { bearerToken } = incoming;
  const { caller, found } = isSessionBearer(bearerToken)
    ? await identifyPerson(context, bearerToken, (tx, shopId, holderId) =>
        idempotency.wasAnswered(tx, shopId, { holderId }, incoming),
      )
    : await callers.identifyWith(
        bearerToken,
        incoming.idempotencyKeys.length === 0
          ? null
          : (tx, shopId, secretHash) => idempotency.wasAnswered(tx, shopId, { secretHash }, incoming),
        (known) => (idempotency.isRemembered(known.shop.shopId, holderOf(known), incoming) ? true : null),
      );
  const tokens = incoming.tokens ?? requestTokens(coordination, clock, caller.shop, bucketOf(caller));
  return { ...caller, wasAnswered: found ?? false, tokens };
}

/** A caller whom the surface has identified. */
async function knownCaller(
  { engine, coordination, clock, idempotency }: Context,
  incoming: Incoming,
  caller: Caller,
): Promise<IdentifiedCaller> {
  const { shopId } = caller.shop;
  const holder = { holderId: holderOf(caller) };
  const wasAnswered =
    incoming.idempotencyKeys.length > 0 &&
    (await engine.peek(shopId, (tx) => idempotency.wasAnswered(tx, shopId, holder, incoming)));
  return {
    ...caller,
    wasAnswered,
    tokens: incoming.tokens ?? requestTokens(coordination, clock, caller.shop, bucketOf(caller)),
  };
}

/**
 * Checks in one round trip that a known caller is unchanged, and takes the request's token. It does so if the request
 * needs a token and would get that far in the order of C1. So neither the token nor anything else is taken on the
 * strength of what is remembered.
 *
 * @returns null when something has changed, or another check comes before the token: the request goes the longer way.
 */
async function confirm(
  { confirmations, coordination, clock, idempotency }: Context,
  incoming: Incoming,
  { shop, key, unchanged }: StoredCaller,
): Promise<IdentifiedCaller | null> {
  const { target, tokens } = incoming;
  if (target instanceof Fault || tokens !== undefined) return null;
  if (target.scope === "write" && key.scope === "read") return null;
  const when =
    target.scope === "read" ? unchanged : idempotency.unlessAnswered(unchanged, shop.shopId, key.keyId, incoming);
  if (when === null) return null;
  const { shopId, rateLimit } = shop;
  try {
    const reading = await confirmations.take(shopId, rateLimit, when);
    if (reading === null) return null;
    const tokens = requestTokens(coordination, clock, shop, "shop", reading);
    return { shop, key, person: null, wasAnswered: false, tokens };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** @throws Fault NOT_FOUND or METHOD_NOT_ALLOWED when the request reaches no operation. */
function reachedOperation({ target }: Incoming): Operation {
  if (target instanceof Fault) throw target;
  return target;
}

/** Token, schema, operation, audit row. */
async function performRead(context: Context, request: IdentifiedRequest, operation: Operation): Promise<Reply> {
  await request.tokens.take();
  const { raw, found } = request.incoming.assemble(operation, {});
  const { incoming, shop } = request;
  const answerKey = [shop.shopId, incoming.surface, operation.name, JSON.stringify(raw)].join("\n");
  const known = found.length === 0 ? context.answers.get(answerKey, settingsText(shop)) : null;
  const reply =
    known !== null
      ? (notModified(incoming, known) ?? shownReply(incoming, operation, known))
      : await readReply(context, request, operation, { answerKey, input: checkInput(operation.input, raw, found) });
  await writeAuditRowIfPossible(context, request, reply);
  return reply;
}

const shopTexts = new WeakMap<Shop, string>();

/** The shop's settings as one text, for comparing. A remembered shop is made into text once. */
function settingsText(shop: Shop): string {
  const text = shopTexts.get(shop) ?? JSON.stringify(shop);
  shopTexts.set(shop, text);
  return text;
}

function rememberAnswer(
  { answers }: Context,
  shop: Shop,
  answerKey: string,
  shown: ShownAnswer,
  seen: readonly Footprint[],
): void {
  answers.put(answerKey, { shown, shopText: settingsText(shop) }, seen);
}

/** The answer of a read: on the event loop, or on a reader thread if the operation leaves the loop. */
async function readReply(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  { answerKey, input }: { readonly answerKey: string; readonly input: unknown },
): Promise<Reply> {
  const { incoming, shop } = request;
  const { readers, clock, log, loop, responseBytesMax } = context;
  const opened = await openCall(context, request, operation, answerStore(context, request, operation, null));
  const { call, seen } = noting<Footprint>(opened.call, (work, onSeen) =>
    context.engine.read(request.shop.shopId, work, onSeen),
  );
  try {
    const answer = await operation.run(call, input);
    return loop.run(shop.shopId, () => {
      const unchanged = notModified(incoming, answer);
      if (unchanged !== null) return unchanged;
      const shown = shownAnswer(answer, incoming.surface);
      const reply = withinBytes(shownReply(incoming, operation, shown), responseBytesMax);
      const rows = seen();
      if (rows !== null) rememberAnswer(context, shop, answerKey, shown, rows);
      return reply;
    });
  } catch (error) {
    if (readers === null || !(error instanceof ReaderThreadNeeded)) throw error;
    const { requestId, surface, ifNoneMatch } = incoming;
    const broad = {
      operation: operation.name,
      input,
      shop,
      actor: call.actor,
      ifMatch: call.ifMatch,
      incoming: { requestId, surface, ifNoneMatch },
      nowMs: clock.now(),
      responseBytesMax,
      asBytes: surface === "rest",
    };
    const found = await (context.engine.embedded ? readers.find(broad) : readers.read(broad));
    if ("shown" in found) {
      if (found.seen !== null) rememberAnswer(context, shop, answerKey, found.shown, [found.seen]);
      return shownReply(incoming, operation, found.shown);
    }
    const { reply, bug } = found;
    if (bug !== null) log.error({ ...loggedRequest(incoming), bug }, "request failed on a reader thread");
    return reply;
  }
}

/**
 * Idempotency key, token, body, key in flight, the operation. If an answer is stored under the key, the body comes
 * first, because the request may be a replay, which takes no token (C1, C18).
 */
async function performWrite(context: Context, request: IdentifiedRequest, operation: Operation): Promise<Reply> {
  const { engine, idempotency } = context;
  const { incoming, shop, tokens, wasAnswered } = request;
  const sentKey = parseIdempotencyKey(incoming.idempotencyKeys);
  // Nothing of a dry run is stored under its key.
  const idempotencyKey = incoming.isDryRun === true ? null : sentKey;
  if (idempotencyKey === null || !wasAnswered) await tokens.take();
  const bytes = await incoming.body();
  const turn = context.loop.waitForShare(shop.shopId);
  if (turn !== null) await turn;
  let parsed: Body | null = null;
  const body = (): Body => (parsed ??= parseBody(bytes));
  if (idempotencyKey === null)
    return await runWrite(context, request, operation, context.loop.run(shop.shopId, body), unkeyed);
  const keyed: KeyedRequest = {
    shopId: shop.shopId,
    holderId: holderOf(request),
    idempotencyKey,
    fingerprint: context.loop.run(shop.shopId, () =>
      wasAnswered ? context.fingerprints.of(incoming, bytes, body) : fingerprintOf(incoming, body()),
    ),
    requestId: incoming.requestId,
    operation: operation.name,
    wasAnswered,
  };
  if (wasAnswered) incoming.fingerprinted?.(keyed.fingerprint);
  const ahead = engine.embedded ? null : context.loop.run(shop.shopId, () => lookAhead(request, operation, body));
  const attempt = await idempotency.claim(keyed, ahead);
  if (attempt.kind === "replay") {
    // The answer was stored after this request came.
    await tokens.giveBack();
    const storedReply = await idempotency.replayOf(keyed, attempt);
    const reply = await replay(context, request, storedReply, attempt.isDurable);
    return await withOrderNow(context, request, operation, reply);
  }
  try {
    await tokens.take();
    if (attempt.kind === "refused") throw attempt.fault;
    return await runKeyedWrite(context, request, operation, body(), { keyed, ahead: attempt.ahead });
  } finally {
    if (attempt.kind === "run") await idempotency.release(keyed);
  }
}

/**
 * Returns the read that the operation begins with, to run beside the claim of the key; null where that is not known.
 */
function lookAhead({ incoming, shop }: IdentifiedRequest, operation: Operation, body: () => Body): LookAhead | null {
  const parsed = operation.lookAhead === undefined ? null : body();
  if (parsed === null || "fault" in parsed) return null;
  const input = inputIfValid(incoming, operation, parsed.json);
  return input === null ? null : async (tx) => (await operation.lookAhead?.(tx, shop.shopId, input.data)) ?? null;
}

/** Returns the input if it is valid: mistakes in it are reported after the claim (C1). */
function inputIfValid(incoming: Incoming, operation: Operation, json: Json): { readonly data: unknown } | null {
  try {
    const { raw, found } = incoming.assemble(operation, json);
    const input = operation.input.safeParse(raw);
    return input.success && found.length === 0 ? input : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** The stored answer, byte for byte (C18), with an audit row that says that it was one. */
async function replay(context: Context, request: IdentifiedRequest, reply: Reply, isDurable: boolean): Promise<Reply> {
  const row = writeAuditRowIfPossible(context, request, reply, { replayed: true });
  // A replay must be as durable as the first answer was (S4): `read` waits for that.
  await (isDurable ? row : Promise.all([row, context.engine.read(request.shop.shopId, async () => {})]));
  return reply;
}

/**
 * A refusal that is told again to an agent, with the order that it was about as it is now (C69). REST gets the bytes
 * alone (C18).
 */
async function withOrderNow(
  { engine }: Context,
  { incoming, shop: { shopId } }: IdentifiedRequest,
  operation: Operation,
  reply: Reply,
): Promise<Reply> {
  const purchaseOrderId = reply.status < 400 || incoming.surface !== "mcp" ? null : orderOf(incoming, operation);
  if (purchaseOrderId === null) return reply;
  const order = await engine.read(shopId, (tx) => loadHeader(tx, shopId, purchaseOrderId));
  return {
    ...reply,
    orderNow: order === null ? null : { purchaseOrderId, status: order.status, version: order.version },
  };
}

const unkeyed = { keyed: null, ahead: null };

/** From here on a refusal that a repetition would meet again is stored as the answer under the key (C19). */
async function runKeyedWrite(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  body: Body,
  claimed: { readonly keyed: KeyedRequest; readonly ahead: PurchaseOrder | null },
): Promise<Reply> {
  const { keyed } = claimed;
  try {
    return await runWrite(context, request, operation, body, claimed);
  } catch (error) {
    if (!isStoredRefusal(error)) throw error;
    const { requestId, surface } = request.incoming;
    const reply = failure(requestId, error, surface);
    return await storeAnswer(context, request, answerStore(context, request, operation, keyed), keyed, reply);
  }
}

/** Queue, JSON, schema, then the operation: it is run, tried or proposed. */
async function runWrite(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  body: Body,
  { keyed, ahead }: { readonly keyed: KeyedRequest | null; readonly ahead: PurchaseOrder | null },
): Promise<Reply> {
  const { engine, loop } = context;
  engine.admit(request.shop.shopId);
  if ("fault" in body) throw body.fault;
  const { json } = body;
  const turn = loop.waitForShare(request.shop.shopId);
  if (turn !== null) await turn;
  const read = loop.run(request.shop.shopId, () => {
    const { raw, found } = request.incoming.assemble(operation, json);
    return { raw, input: checkInput(operation.input, raw, found) };
  });
  const { input } = read;
  if (request.incoming.isDryRun === true) return await runDry(context, request, operation, input);
  if (proposes(request, operation)) {
    const proposed = await propose(context, request, operation, read, keyed);
    if (proposed !== null) return proposed;
  }
  for (let tries = 1; ; tries += 1)
    try {
      return await runOperation(context, request, operation, input, { keyed, ahead });
    } catch (error) {
      if (!(error instanceof DecisionNeeded)) throw error;
      const proposed = await propose(context, request, operation, read, keyed);
      if (proposed !== null) return proposed;
      // Nothing needs a decision any more: limits or rules have changed meanwhile.
      if (tries === decidedTriesMax) throw error;
    }
}

/** Tries of a write whose limits change while it is made. */
const decidedTriesMax = 3;

/** True if it needs a person, whatever it does. */
const isProposed = ({ key }: IdentifiedRequest, operation: Operation): boolean =>
  key?.scope === "propose" || operation.isProposed === true;

const proposes = (request: IdentifiedRequest, operation: Operation): boolean =>
  isProposed(request, operation) && operation.aboutApprovals !== true;

/** Keeps the write as an approval request (C77). @returns null: it needs no decision. */
async function propose(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  { raw, input }: { readonly raw: unknown; readonly input: unknown },
  keyed: KeyedRequest | null,
): Promise<Reply | null> {
  const { incoming } = request;
  const { call } = await openCall(context, request, operation, nothingStored);
  const asked = await proposalOf(call, {
    operation,
    raw,
    input,
    holderId: holderOf(request),
    purchaseOrderId: orderOf(incoming, operation),
    isProposed: isProposed(request, operation),
  });
  if (asked === null) return null;
  const { requestId, surface } = incoming;
  const replyWith = (kept: ApprovalRequest): Reply => {
    const shown = { approvalRequest: approvalRequestJson(kept, call.clock.now()) };
    return withinBytes(success(requestId, shown, { status: 202, surface }), context.responseBytesMax);
  };
  const store = answerStore(context, request, operation, keyed);
  const reply = await storeAnswer(context, request, store, keyed, async (tx) => {
    // Whoever sends the same without a key again has pressed twice.
    const alike = keyed === null ? await loadPendingAlike(tx, request.shop.shopId, asked, call.clock.now()) : null;
    if (alike !== null) return { reply: replyWith(alike), statements: [] };
    return { reply: replyWith(asked), statements: await keepStatements(tx, call, asked) };
  });
  context.mails?.wake(request.shop.shopId);
  return reply;
}

/** The answer of a write that was not made, with why it would need a decision. */
const withCauses = (answer: Answer<unknown>, causes: readonly ApprovalCause[]): Answer<unknown> =>
  causes.length === 0 ? answer : { ...answer, data: { ...Object(answer.data), approvalCauses: causes.map(causeJson) } };

/** Runs the write. Its answer is stored with the change or, if that differs by then, once more. */
async function runOperation(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  input: unknown,
  { keyed, ahead }: { readonly keyed: KeyedRequest | null; readonly ahead: PurchaseOrder | null },
): Promise<Reply> {
  const { loop, counts } = context;
  const store = answerStore(context, request, operation, keyed);
  const { call, stored } = await openCall(context, request, operation, store, ahead);
  const answer = await operation.run(call, input);
  const committed = stored();
  if (committed === null) {
    const reply = loop.run(request.shop.shopId, () => store.reply(answer));
    return await storeAnswer(context, request, store, keyed, reply);
  }
  counts.auditRows += 1;
  // No follow-on work has changed the answer: a large one is not made into JSON twice.
  if (answer === committed.answer) return committed.reply;
  const reply = loop.run(request.shop.shopId, () => answerReply(request.incoming, operation, answer));
  if (keyed === null || sameReply(committed.reply, reply)) return reply;
  const last = { answer, reply };
  const replaced = await replaceAnswer(context, request, { operation, keyed }, committed.reply, () =>
    Promise.resolve(last),
  );
  return replaced?.reply ?? committed.reply;
}

/** The write, decided in full and taken back (C81). */
async function runDry(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  input: unknown,
): Promise<Reply> {
  const { incoming, shop } = request;
  const { call } = await openCall(context, request, operation, nothingStored);
  const { answer, writes, causes } = await call.rehearse((dry) => operation.run(dry, input));
  const shown = operation.dryAnswer === undefined ? answer : { ...answer, data: operation.dryAnswer(answer.data) };
  const reply = context.loop.run(shop.shopId, () =>
    withinBytes(
      dryReply(incoming, withCauses(shown, causesWith(isProposed(request, operation), causes)), writes),
      context.responseBytesMax,
    ),
  );
  await writeAuditRowIfPossible(context, request, reply);
  return reply;
}

function answerStore(
  context: Context,
  request: IdentifiedRequest,
  operation: Operation,
  keyed: KeyedRequest | null,
): AnswerStore {
  const { idempotency, clock, auditTrail, responseBytesMax: bytesMax } = context;
  const { incoming } = request;
  let storedBytes: number | null = null;
  let purchaseOrderId: string | null = null;
  return {
    async refuseIfAnswered(tx) {
      if (keyed !== null) storedBytes = await idempotency.refuseIfAnswered(tx, keyed);
    },
    reply(answer) {
      if (keyed !== null) purchaseOrderId = orderOf(incoming, operation, answer.data);
      return withinBytes(answerReply(incoming, operation, answer), bytesMax);
    },
    statements: async (tx, reply) => [
      ...(await auditTrail.statements(tx, request.shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])),
      ...(keyed === null ? [] : await idempotency.storeStatements(tx, keyed, { reply, purchaseOrderId }, storedBytes)),
    ],
    release: () => (keyed === null ? nothingToRelease : idempotency.releaseWith(keyed)),
    replace:
      keyed === null
        ? null
        : (first, makeLast) =>
            replaceAnswer(context, request, { operation, keyed }, first, async (tx) => {
              const answer = await makeLast(tx);
              return { answer, reply: answerReply(incoming, operation, answer) };
            }),
  };
}

const nothingToRelease: KeyRelease = { statements: [], done: () => {} };

/** An answer, and what is stored beside it. */
interface AnswerBeside {
  readonly reply: Reply;
  readonly statements: readonly Statement[];
}

/** Stores an answer that no change has stored, or that differs from the stored one. It may be made in that turn. */
async function storeAnswer(
  context: Context,
  { shop, incoming }: IdentifiedRequest,
  store: AnswerStore,
  keyed: KeyedRequest | null,
  answer: Reply | ((tx: Tx) => Promise<AnswerBeside>),
): Promise<Reply> {
  const release = store.release();
  const stored = await tracedWrite(
    context.engine,
    tracingOf(context, incoming),
    shop.shopId,
    async (tx) => {
      await store.refuseIfAnswered(tx);
      const { reply, statements } = typeof answer === "function" ? await answer(tx) : { reply: answer, statements: [] };
      await tx.batch([...statements, ...(await store.statements(tx, reply)), ...release.statements]);
      return reply;
    },
    { durable: keyed !== null || typeof answer === "function" },
  );
  release.done();
  context.counts.auditRows += 1;
  return stored;
}

/**
 * Replaces the answer that the change has stored. Without the key, another request may have been answered with that
 * one: then it stays the answer (H2).
 *
 * @param makeLast makes the new answer, in the turn that stores it.
 * @returns the new answer; null when the stored one stays.
 */
async function replaceAnswer<Stored extends Answer<unknown>>(
  context: Context,
  request: IdentifiedRequest,
  { operation, keyed }: { readonly operation: Operation; readonly keyed: KeyedRequest },
  first: Reply,
  makeLast: (tx: Tx) => Promise<StoredAnswer<Stored>>,
): Promise<StoredAnswer<Stored> | null> {
  const { engine, idempotency, clock, auditTrail } = context;
  const { shop, incoming } = request;
  const release = idempotency.releaseWith(keyed);
  const replaced = await tracedWrite(engine, tracingOf(context, incoming), shop.shopId, async (tx) => {
    const [isHeld, last] = await Promise.all([
      idempotency.holds(keyed, tx),
      makeLast(tx),
      idempotency.refuseIfAnswered(tx, keyed),
    ]);
    if (!isHeld) return null;
    const { answer, reply } = last;
    const purchaseOrderId = orderOf(incoming, operation, answer.data);
    if (!sameReply(first, reply))
      await tx.batch([
        ...(await auditTrail.statements(tx, shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])),
        ...(await idempotency.storeStatements(tx, keyed, { reply, purchaseOrderId }, null)),
      ]);
    await tx.batch(release.statements);
    return last;
  });
  if (replaced !== null) release.done();
  return replaced;
}

/**
 * Answers with a refusal, its audit row written. If the row cannot be written, the log tells of it and the caller gets
 * the refusal.
 */
async function refuse(context: Context, request: IdentifiedRequest, reply: Reply): Promise<Reply> {
  const { incoming } = request;
  try {
    // What took a token is bounded by the rate limit; nothing else bounds the others.
    if (request.tokens.taken) await writeAuditRowIfPossible(context, request, reply);
    else {
      const entry = auditEntryOf(request, reply, { nowMs: context.clock.now() });
      await context.refusals.add(request.shop.shopId, entry);
    }
  } catch (error) {
    context.log.error({ ...loggedRequest(incoming), err: error, status: reply.status }, "refusal not in the audit log");
  }
  if (reply.errorCode === "UNAUTHORIZED") return reply;
  try {
    return await withRateLimit(request, reply);
  } catch (error) {
    // The bucket cannot be read: the store is away, and that is what the caller is told.
    return failure(incoming.requestId, asFault(error), incoming.surface);
  }
}

/**
 * Writes the request's audit row. An answer that changes nothing does not wait for a store that cannot be written
 * (D104).
 */
async function writeAuditRowIfPossible(
  { auditRows, clock, log, counts }: Context,
  request: IdentifiedRequest,
  reply: Reply,
  { replayed = false } = {},
): Promise<void> {
  const entry = auditEntryOf(request, reply, { nowMs: clock.now(), replayed });
  const { shopId } = request.shop;
  try {
    await auditRows.add(shopId, entry);
    counts.auditRows += 1;
  } catch (error) {
    if (!(error instanceof Fault && error.code === "DO_UNAVAILABLE")) throw error;
    noteMissingRow({ counts, log }, shopId, entry, error);
  }
}

/** Counts an audit row that is in no log of the shop, and puts it into that of the process. */
function noteMissingRow(
  { log, counts }: Pick<Context, "log" | "counts">,
  shopId: string,
  entry: AuditEntry,
  error: unknown,
): void {
  counts.auditRowsMissing += 1;
  log.warn({ shopId, ...entry, err: error }, "answered without an audit row: the store cannot be written");
}

const withRateLimit = async ({ tokens }: IdentifiedRequest, reply: Reply): Promise<Reply> => ({
  ...reply,
  headers: { ...reply.headers, ...(await tokens.headers()) },
});
