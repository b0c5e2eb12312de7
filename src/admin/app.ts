/**
 * The operator's side over HTTP: `/admin/v1`, with the same envelope and error body as the API (contract §7).
 *
 * Owns: who is the operator, how a file is sent. Does not own: which operation a method and a path mean (http/routes.ts), what
 * operations do (registry.ts), request ids and the log (http/app.ts).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../core/fault.ts";
import { parseJson } from "../core/json.ts";
import { guessersMax, guessesAtOnceMax, guessWaitMsMax } from "../core/limits.ts";
import { parseQuery } from "../http/query.ts";
import { assemble, bindingFor, createRoutes } from "../http/routes.ts";
import { bearerToken, pathNotFound, type RequestContext, type Surface } from "../http/surface.ts";
import { respond, success } from "../operations/envelope.ts";
import type { Log } from "../store/store.ts";
import { type AdminAnswer, type AdminContext, adminPrefix, runOperation } from "./operation.ts";
import { adminOperations } from "./registry.ts";

/**
 * The operator's surface. It counts an operation as its name with `admin:` before it.
 *
 * @param stopping ends answers that would go on for as long as they are read.
 */
export function createAdmin(admin: AdminContext, adminToken: string, log: Log, stopping: AbortSignal): Surface {
  const adminTokenDigest = digest(adminToken);
  const guesses = new Map<string, number>();
  const match = createRoutes(adminPrefix, adminOperations);
  return {
    path: adminPrefix,
    async handle(context) {
      await requireOperator(context, adminTokenDigest, guesses, log);
      const { request, requestId, path } = context;
      const found = match(path);
      if (found === null) throw pathNotFound(path, `Shops are at ${adminPrefix}/shops.`);
      const binding = bindingFor(found, request.method);
      if (binding instanceof Fault) throw binding;
      const { operation } = binding;
      context.operation = `admin:${operation.name}`;
      const body = operation.takesFile === true ? {} : parseJson(await context.body.whole());
      const input = assemble(binding, found.parameters, parseQuery(context.search), body);
      const leaving = new AbortController();
      const call = {
        requestId,
        body: context.body.pieces(),
        lastEventId: context.headerValues("last-event-id")[0] ?? null,
        signal: AbortSignal.any([leaving.signal, stopping]),
      };
      const answer = await runOperation(operation, admin, input.raw, input.found, call);
      if ("file" in answer) return await fileResponse(request.method, answer, requestId, () => leaving.abort());
      return respond(success(requestId, answer.data, { status: answer.status }));
    },
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Compares in constant time, whatever the lengths. A wrong token is answered later each time it comes from the same address, and the
 * log tells of it; the right one never waits, so that nobody can lock the operator out.
 *
 * @throws Fault UNAUTHORIZED unless the token is the operator's.
 */
async function requireOperator(
  context: RequestContext,
  adminTokenDigest: Buffer,
  guesses: Map<string, number>,
  log: Log,
): Promise<void> {
  const { requestId, remoteAddress } = context;
  const token = bearerToken(context);
  if (token === null) throw wrongToken();
  if (timingSafeEqual(digest(token), adminTokenDigest)) {
    guesses.delete(remoteAddress);
    return;
  }
  const guess = (guesses.get(remoteAddress) ?? 0) + 1;
  if (guesses.size >= guessersMax) guesses.clear();
  guesses.set(remoteAddress, guess);
  log.warn({ requestId, remoteAddress, guess }, "wrong admin token");
  if (guess > guessesAtOnceMax) await sleep(Math.min(guessWaitMsMax, 2 ** (guess - guessesAtOnceMax) * 10));
  throw wrongToken();
}

const wrongToken = (): Fault =>
  new Fault("UNAUTHORIZED", "The admin token is missing or wrong.", {
    action:
      "Send it as `Authorization: Bearer <admin token>`: it is OPENPO_ADMIN_TOKEN, or was printed at the first start and is in the data directory.",
  });

/** Sends pieces at the client's pace. The first is made before the answer begins, so that a file that cannot begin is refused. */
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
  let next = await file.next();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next.done === true) {
          controller.close();
          return;
        }
        controller.enqueue(typeof next.value === "string" ? encoder.encode(next.value) : next.value);
        next = await file.next();
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
