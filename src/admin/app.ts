/**
 * The admin API over HTTP: `/admin/v1`, with the same envelope and error body as the API (contract §7). The operator
 * asks with the admin token for every shop; a person who is signed in at the console asks for their own (C51).
 *
 * Owns: who is the operator, what a person reaches, how a file is sent. Does not own: the operation of a method and a
 * path (http/routes.ts), the work of operations (registry.ts), request ids and the log (http/app.ts), sessions
 * (requests/sessions.ts).
 */
import { sleep } from "../base/time/waiting.ts";
import { Fault, type FaultCode } from "../base/fault.ts";
import { parseJson } from "../base/json.ts";
import { covers } from "../core/access/role.ts";
import { shopIdPattern } from "../base/secret.ts";
import { loggedRequest, traceparentOf } from "../base/trace-context.ts";
import type { NamedRecords } from "../exchange/import-run.ts";
import { lineBytesMax } from "../exchange/ndjson.ts";
import { ofShop } from "../http/body.ts";
import { parseQuery } from "../http/query.ts";
import {
  adminPrefix,
  asksForDryRun,
  assemble,
  type Binding,
  bindingFor,
  createRoutes,
  type Match,
} from "../http/routes.ts";
import {
  baseUrlOf,
  bearerToken,
  pathNotFound,
  type RequestContext,
  type Surface,
  validators,
} from "../http/surface.ts";
import { auditAlone, auditRowOf } from "../requests/audit/audit.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import type { Readers } from "../requests/broad-read.ts";
import { admit, type PersonCaller } from "../requests/caller.ts";
import type { StoreCounts } from "../requests/store-counts.ts";
import { asFault, isReplay, namesTag, respond, success } from "../requests/envelope.ts";
import { shownId } from "../operations/fields.ts";
import type { Operation } from "../requests/operation.ts";
import type { Perform } from "../requests/perform.ts";
import { bucketOf, type RequestTokens, requestTokens } from "../requests/rate-limit.ts";
import { Refusals } from "../requests/audit/refusals.ts";
import { identifyPerson, isSessionBearer, operatorHere } from "../requests/sessions.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import type { Coordination, Log } from "../store/store.ts";
import { Guesses } from "./access/guesses.ts";
import { type AdminAnswer, type AdminContext, type AdminOperation, noShop, runOperation, shopOf } from "./operation.ts";
import { adminOperations } from "./registry.ts";

interface AdminDependencies {
  readonly admin: AdminContext;
  readonly coordination: Coordination;
  readonly perform: Perform;
  readonly isAdminToken: (text: string) => boolean;
  /** Null: every read runs on the event loop. */
  readonly readers: Readers | null;
  readonly log: Log;
  readonly counts: StoreCounts;
  /** Ends answers that would go on for as long as they are read. */
  readonly stopping: AbortSignal;
}

/** Dependencies of every request. */
interface Served extends AdminDependencies {
  readonly match: (path: string) => Match<AdminOperation> | null;
  readonly guesses: Guesses;
  readonly auditTrail: AuditTrail;
  readonly refusals: Refusals;
}

/**
 * The admin API with its document, which is public (C57). It counts an operation as its name with `admin:` before it.
 */
export function createAdmin(deps: AdminDependencies): readonly Surface[] {
  const auditTrail = new AuditTrail({ ...deps.admin, log: deps.log });
  const served: Served = {
    ...deps,
    match: createRoutes(adminPrefix, adminOperations),
    guesses: new Guesses(),
    auditTrail,
    refusals: new Refusals({ ...deps, auditTrail, engine: deps.admin.engine }),
  };
  return [{ path: adminPrefix, handle: (context) => answered(served, context) }];
}

async function answered(served: Served, context: RequestContext): Promise<Response> {
  const token = bearerToken(context);
  if (isSessionBearer(token)) return await asPerson(served, context, token);
  await requireOperator(served, context, token);
  const { request, path } = context;
  const found = served.match(path);
  if (found === null) throw pathNotFound(path, `Shops are at ${adminPrefix}/shops.`);
  const binding = bindingFor(found, request.method);
  if (binding instanceof Fault) throw binding;
  const { performs } = binding.operation;
  if (performs !== undefined)
    return await performedFor(served, context, await operatorIn(served, found), { found, binding, performs });
  return await answerOf(served, context, {
    found,
    binding,
    person: null,
    mayStillAsk: () => Promise.resolve(true),
  });
}

/** A request that has reached an operation. */
interface Reached {
  readonly found: Match<AdminOperation>;
  readonly binding: Binding<AdminOperation>;
  readonly person: PersonCaller["person"] | null;
  /** Resolves to true if the caller may still ask for it: for answers that go on. */
  readonly mayStillAsk: () => Promise<boolean>;
  /** Told the records that the audit row names. */
  readonly concerns?: (records: NamedRecords) => void;
}

async function answerOf(
  { admin, readers, stopping }: Served,
  context: RequestContext,
  { found, binding, person, mayStillAsk, concerns }: Reached,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { requestId, request } = context;
  const { operation } = binding;
  context.operation = `admin:${operation.name}`;
  const holder = ofShop(person === null ? null : (found.parameters["shopId"] ?? null));
  const body = operation.takesFile === true ? {} : parseJson(await context.body.whole(holder));
  const input = assemble(binding, found.parameters, parseQuery(context.search), body);
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(clientLeft());
  // Until the first piece of a file is made, only the request tells it.
  request.web().signal.addEventListener("abort", leave);
  const call = {
    requestId,
    traceparent: traceparentOf(context.trace),
    trace: context.trace,
    person,
    baseUrl: admin.publicUrl ?? baseUrlOf(context),
    readers,
    body: context.body.pieces(holder, lineBytesMax),
    ifMatch: validators(request.header("if-match")),
    lastEventId: context.headerValues("last-event-id")[0] ?? null,
    mayStillAsk,
    ...(concerns === undefined ? {} : { concerns }),
    left: leaving.signal,
    signal: AbortSignal.any([leaving.signal, stopping]),
  };
  const answer = await runOperation(operation, admin, input.raw, input.found, call);
  if ("file" in answer) {
    const file = whileAllowed(answer.file, mayStillAsk, leave);
    return await fileResponse(request.method, { ...answer, file }, requestId, leave);
  }
  if ("bytes" in answer) return wholeFile(request, answer, requestId, headers);
  return respond(success(requestId, answer.data, { status: answer.status, headers }));
}

/** Interval at which a follower's right to ask is checked while there is nothing to send. */
const signedInCheckMs = 5_000;

/** The pieces, as long as who asked may ask: an answer that goes on ends with the session (C55). */
async function* whileAllowed(
  file: AsyncGenerator<string | Uint8Array>,
  mayStillAsk: () => Promise<boolean>,
  leave: () => void,
): AsyncGenerator<string | Uint8Array> {
  const timer = setInterval(() => {
    // A store that cannot be read tells nothing of it.
    void mayStillAsk().then(
      (may) => (may ? undefined : leave()),
      () => undefined,
    );
  }, signedInCheckMs);
  try {
    yield* file;
  } finally {
    clearInterval(timer);
  }
}

/** Refusals that end an answer which goes on. */
const endsAnswers: ReadonlySet<string> = new Set<FaultCode>(["UNAUTHORIZED", "FORBIDDEN_SCOPE", "PLAN_REQUIRED"]);

/**
 * Answers a person who is signed in: operations that their role reaches, on their own shop. Everything else is refused
 * alike, whether it is there or not. The request draws on the bucket of the shop's people and leaves an audit row
 * (C51).
 */
async function asPerson(served: Served, context: RequestContext, token: string): Promise<Response> {
  const { admin, coordination, auditTrail, refusals } = served;
  const { engine, clock, ids } = admin;
  const startedAtMs = clock.now();
  const identified = () => identifyPerson({ engine, coordination, clock }, token, () => Promise.resolve(null));
  const mayStillAsk = async (): Promise<boolean> => {
    try {
      const { caller: now } = await identified();
      admit(now);
      reachOf(served, context, now);
      return true;
    } catch (error) {
      if (endsAnswers.has(asFault(error).code)) return false;
      throw error;
    }
  };
  const { caller } = await identified();
  const { shop, person } = caller;
  const tokens = requestTokens(coordination, clock, shop, bucketOf(caller));
  const auditId = ids.next("aud");
  const audited = (operation: string, status: number, errorCode: string | null): AuditEntry =>
    auditRowOf(context, { auditId, startedAtMs, operation, person }, { status, errorCode, nowMs: clock.now() });
  let name = "unknown";
  try {
    admit(caller);
    const { found, binding } = reachOf(served, context, caller);
    name = binding.operation.name;
    const { performs } = binding.operation;
    if (performs !== undefined)
      return await performedFor(served, context, caller, { found, binding, performs, tokens });
    await tokens.take();
    let named: object = {};
    const concerns = (records: NamedRecords): void => {
      named = Object.fromEntries(Object.entries(records).filter(([, ids]) => Array.isArray(ids)));
    };
    const reached = { found, binding, person, mayStillAsk, concerns };
    const response = await answerOf(served, context, reached, await tokens.headers());
    const row = audited(name, response.status, null);
    const entry = Object.keys(named).length === 0 ? row : { ...row, detail: JSON.stringify(named) };
    await engine.write(
      shop.shopId,
      async (tx) => tx.batch(await auditTrail.statements(tx, shop.shopId, [entry])),
      auditAlone,
    );
    return response;
  } catch (error) {
    const { status, code } = asFault(error);
    await refusals.add(shop.shopId, audited(name, status, code));
    throw error;
  }
}

/** The operator as somebody of the shop that the path names. @throws Fault NOT_FOUND when there is none. */
async function operatorIn({ admin: { engine } }: Served, { parameters }: Match<AdminOperation>): Promise<PersonCaller> {
  const shopId = parameters["shopId"] ?? "";
  if (!shopIdPattern.test(shopId)) throw noShop(shownId(shopId));
  const shop = await engine.peek(shopId, (tx) => shopOf(tx, shopId));
  return { shop, key: null, person: operatorHere };
}

/** Returns the answer of the API's own path of a write (requests/perform.ts). */
async function performedFor(
  { perform }: Served,
  context: RequestContext,
  caller: PersonCaller,
  performed: Pick<Reached, "found" | "binding"> & { readonly performs: Operation; readonly tokens?: RequestTokens },
): Promise<Response> {
  const { found, binding, performs, tokens } = performed;
  const { request, requestId, trace } = context;
  context.operation = `admin:${performs.name}`;
  const query = parseQuery(context.search);
  const reply = await perform({
    surface: "rest",
    requestId,
    trace,
    bearerToken: null,
    caller,
    baseUrl: baseUrlOf(context),
    target: performs,
    isDryRun: asksForDryRun(binding, query),
    method: request.method,
    path: context.path,
    query: query.map(({ name, value }) => [name, value]),
    idempotencyKeys: context.headerValues("idempotency-key"),
    ifMatch: validators(request.header("if-match")),
    ifNoneMatch: null,
    ...(tokens === undefined ? {} : { tokens }),
    body: () => context.body.whole(ofShop(caller.shop.shopId)),
    assemble(_operation, body) {
      const { raw, found: faults } = assemble(binding, found.parameters, query, body);
      const { shopId: _, ...input } = raw;
      return { raw: input, found: faults };
    },
  });
  context.errorCode = reply.errorCode;
  context.replayed = isReplay(reply);
  context.shopId = caller.shop.shopId;
  return respond(reply);
}

/**
 * Returns the operation and the input of the person's request. @throws Fault FORBIDDEN_SCOPE when it is not for them.
 */
function reachOf(
  { match }: Served,
  { request, path }: RequestContext,
  { shop, person }: PersonCaller,
): Pick<Reached, "found" | "binding"> {
  const found = match(path);
  const binding = found === null ? null : bindingFor(found, request.method);
  if (found === null || binding === null || binding instanceof Fault) throw notForPeople();
  const { role, name } = binding.operation;
  if (role === undefined || found.parameters["shopId"] !== shop.shopId) throw notForPeople();
  if (!covers(person.role, role))
    throw new Fault("FORBIDDEN_SCOPE", `A ${person.role} may not call ${name}.`, {
      action: `Ask an owner of the shop for the role ${role}.`,
    });
  return { found, binding };
}

const notForPeople = (): Fault =>
  new Fault("FORBIDDEN_SCOPE", "A session may not ask for this.", {
    action: "Ask for your own shop; the rest is the operator's, with the admin token.",
  });

/**
 * A wrong token is answered later each time it comes from the same address, and the log tells of it.
 *
 * @throws Fault UNAUTHORIZED unless the token is the operator's.
 */
async function requireOperator(
  { isAdminToken, guesses, log }: Served,
  context: RequestContext,
  token: string | null,
): Promise<void> {
  if (token === null) throw wrongToken();
  const { remoteAddress } = context;
  if (isAdminToken(token)) {
    guesses.right(remoteAddress);
    return;
  }
  const { guess, waitMs } = guesses.wrong(remoteAddress);
  log.warn({ ...loggedRequest(context), remoteAddress, guess }, "wrong admin token");
  if (waitMs > 0) await sleep(waitMs);
  throw wrongToken();
}

const wrongToken = (): Fault =>
  new Fault("UNAUTHORIZED", "The admin token is missing or wrong.", {
    action:
      "Send it as `Authorization: Bearer <admin token>`: it is OPENPO_ADMIN_TOKEN, or was printed at the first start and is in the data directory.",
  });

/** Answers with a file that is in memory, or with 304 when the client has it. */
function wholeFile(
  request: RequestContext["request"],
  { bytes, contentType, etag, headers }: Extract<AdminAnswer, { bytes: unknown }>,
  requestId: string,
  more: Readonly<Record<string, string>>,
): Response {
  const isKnown = namesTag(request.header("if-none-match"), etag);
  const init = {
    status: isKnown ? 304 : 200,
    headers: {
      ...more,
      "X-Request-Id": requestId,
      ETag: `"${etag}"`,
      "Cache-Control": "private, no-cache",
      ...(isKnown ? {} : { ...headers, "Content-Type": contentType, "Content-Length": String(bytes.length) }),
    },
  };
  return new Response(isKnown || request.method === "HEAD" ? null : Buffer.from(bytes), init);
}

/** A connection that breaks off is the caller's fault, not ours. Nobody reads it. */
const clientLeft = (): Fault => new Fault("INVALID_INPUT", "The client left before the answer was made.");

/**
 * Sends pieces at the client's pace. The first is made before the answer begins, so that a file that cannot begin is
 * refused.
 */
async function fileResponse(
  method: string,
  { file, contentType, headers }: Extract<AdminAnswer, { file: unknown }>,
  requestId: string,
  onLeave: () => void,
): Promise<Response> {
  const init = { headers: { ...headers, "Content-Type": contentType, "X-Request-Id": requestId } };
  if (method === "HEAD") {
    await file.return(undefined);
    return new Response(null, init);
  }
  const encoder = new TextEncoder();
  let first: IteratorResult<string | Uint8Array, unknown> | null = await file.next();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = first ?? (await file.next());
        first = null;
        if (done === true) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      },
      async cancel() {
        onLeave();
        await file.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, init);
}
