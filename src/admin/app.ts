/**
 * The operator's side over HTTP: `/admin/v1`, with the same envelope and error body as the API (contract §7).
 *
 * Owns: who is the operator, which operation a method and a path mean, how path, query and body become its input. Does not own: what
 * operations do (operations.ts), request ids and the log (http).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { Fault, invalidField, type ValidationDetail } from "../core/fault.ts";
import { isJsonObject, type Json, jsonPointer, parseJson } from "../core/json.ts";
import { respond, success } from "../operations/envelope.ts";
import { type AdminAnswer, type AdminContext, type AdminOperation } from "./operation.ts";
import { adminOperations } from "./registry.ts";

export const adminPrefix = "/admin/v1";

/** Bytes of a JSON body; a file to import has no such limit, only its lines have. */
const bodyBytesMax = 1_048_576;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares in constant time, whatever the lengths. */
function isOperator(request: Request, adminTokenDigest: Buffer): boolean {
  const token = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(token), adminTokenDigest);
}

interface Route {
  readonly operation: AdminOperation;
  readonly segments: readonly string[];
}

const routes: readonly Route[] = adminOperations.map((operation) => ({
  operation,
  segments: operation.path.split("/").slice(1),
}));

const parameterOf = (segment: string): string | null => /^\{(\w+)\}$/.exec(segment)?.[1] ?? null;

/** The path's parameters, or null when the path is another's. */
function matched(route: Route, segments: readonly string[]): Record<string, string> | null {
  if (route.segments.length !== segments.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of route.segments.entries()) {
    const segment = segments[index] ?? "";
    const parameter = parameterOf(expected);
    if (parameter === null ? segment !== expected : segment === "") return null;
    if (parameter !== null) parameters[parameter] = segment;
  }
  return parameters;
}

/** @throws Fault NOT_FOUND for a path that is none, METHOD_NOT_ALLOWED for a method that its path does not have. */
function find(
  method: string,
  path: string,
): { readonly operation: AdminOperation; readonly parameters: Record<string, string> } {
  const found = routes.flatMap((route) => {
    const parameters = matched(route, segmentsOf(path));
    return parameters === null ? [] : { operation: route.operation, parameters };
  });
  if (found.length === 0)
    throw new Fault("NOT_FOUND", `There is nothing at ${path}.`, { action: `Shops are at ${adminPrefix}/shops.` });
  const wanted = method === "HEAD" ? "GET" : method;
  const match = found.find(({ operation }) => operation.method === wanted);
  if (match !== undefined) return match;
  const allow = found.map(({ operation }) => operation.method).sort();
  throw new Fault("METHOD_NOT_ALLOWED", `${method} is not supported here.`, {
    allow,
    action: `Use ${allow.join(" or ")}.`,
  });
}

/** A bad percent-escape makes a segment that nothing has. */
function segmentsOf(path: string): readonly string[] {
  try {
    return path.slice(adminPrefix.length).split("/").slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}

async function* bytesOf(request: Request): AsyncGenerator<Uint8Array> {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw new Fault("INVALID_INPUT", "An encoded body is not supported.", {
      action: "Send it without Content-Encoding.",
    });
  if (request.body === null) return;
  try {
    yield* request.body;
  } catch (cause) {
    throw new Fault("INVALID_INPUT", "The body ended before all of it arrived.", { cause });
  }
}

async function readBody(request: Request): Promise<Readonly<Record<string, Json>>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytesOf(request)) {
    length += piece.length;
    if (length > bodyBytesMax) throw new Fault("INVALID_INPUT", `The body is larger than ${bodyBytesMax} bytes.`);
    pieces.push(piece);
  }
  const body = parseJson(Buffer.concat(pieces));
  if (!isJsonObject(body)) throw new Fault("INVALID_INPUT", "The body must be a JSON object.");
  return body;
}

/** Query parameters in the order they were sent; the value is null when it cannot be decoded. */
function queryOf(request: Request): { readonly name: string; readonly value: string | null }[] {
  const pairs = new URL(request.url).search.slice(1).split("&");
  return pairs
    .filter((pair) => pair !== "")
    .map((pair) => {
      const text = pair.replaceAll("+", " ");
      const [name = ""] = text.split("=", 1);
      try {
        return { name: decodeURIComponent(name), value: decodeURIComponent(text.slice(name.length + 1)) };
      } catch {
        return { name, value: null };
      }
    });
}

/** Path, query and body members in one object, with what is wrong about how they were given. */
async function inputOf(request: Request, operation: AdminOperation, parameters: Readonly<Record<string, string>>) {
  const found: ValidationDetail[] = [];
  const raw: Record<string, Json> = {};
  for (const { name, value } of queryOf(request)) {
    const path = jsonPointer([name]);
    const isTaken = operation.takesFile || operation.method === "GET" || operation.method === "DELETE";
    if (!isTaken || Object.hasOwn(parameters, name) || name === "__proto__")
      found.push({ path, message: "unknown query parameter" });
    else if (value === null) found.push({ path, message: "has a bad percent-escape" });
    else if (Object.hasOwn(raw, name)) found.push({ path, message: "given more than once" });
    else raw[name] = value;
  }
  const body = operation.takesFile ? {} : await readBody(request);
  for (const [name, value] of Object.entries(body)) {
    if (operation.method === "GET" || operation.method === "DELETE")
      throw invalidField(jsonPointer([name]), `a ${operation.method} request takes no body`);
    const inPath = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (inPath !== undefined && inPath !== value)
      found.push({ path: jsonPointer([name]), message: `differs from the path, which says ${inPath}` });
    raw[name] = value;
  }
  return { raw: { ...raw, ...parameters }, found };
}

/** Sends pieces as they are asked for. The first is made before the answer begins, so that what cannot even begin is refused. */
async function fileResponse(
  { file, contentType }: Extract<AdminAnswer, { file: unknown }>,
  requestId: string,
): Promise<Response> {
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
        await file.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "Content-Type": contentType, "X-Request-Id": requestId } });
}

/** The operator's surface, to be mounted at its path. */
export interface AdminSurface {
  readonly path: string;
  /**
   * @param named  told the operation's name, with `admin:` before it.
   * @throws Fault whatever the operator is to be told.
   */
  handle(request: Request, requestId: string, named: (operation: string) => void): Promise<Response>;
}

export function createAdmin(context: AdminContext, adminToken: string): AdminSurface {
  const adminTokenDigest = digest(adminToken);
  return {
    path: adminPrefix,
    async handle(request, requestId, named) {
      if (!isOperator(request, adminTokenDigest))
        throw new Fault("UNAUTHORIZED", "The admin token is missing or wrong.", {
          action:
            "Send it as `Authorization: Bearer <admin token>`: it is OPENPO_ADMIN_TOKEN, or was printed at the first start and is in the data directory.",
        });
      const { operation, parameters } = find(request.method, new URL(request.url).pathname);
      named(`admin:${operation.name}`);
      const { raw, found } = await inputOf(request, operation, parameters);
      const answer = await operation.perform(context, raw, found, { requestId, body: bytesOf(request) });
      if ("file" in answer) return await fileResponse(answer, requestId);
      return respond(success(requestId, answer.data, { status: answer.status }));
    },
  };
}
