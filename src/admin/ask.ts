/**
 * Calls of the operator's operations by name, for the first start and the command line. The operation runs in this
 * process or behind a server's admin API.
 */
import type { JsonObject } from "../base/json.ts";
import { type AdminContext, type AdminOperation, runOperation } from "./operation.ts";
import { adminOperations } from "./registry.ts";

/** Answer of a call: data, or a file in pieces. */
export type Answer = { readonly data: unknown } | { readonly file: AsyncIterable<string | Uint8Array> };

/**
 * Calls the operation of this name.
 *
 * @param input  path, query and body members together.
 * @param body   the file, for an operation that takes one.
 * @param idempotencyKey  under which a repeated request of some operations has one effect; only a server knows it.
 * @throws Fault whatever the operation refuses.
 */
export type Ask = (
  name: string,
  input: JsonObject,
  body?: AsyncIterable<Uint8Array> | null,
  idempotencyKey?: string | null,
) => Promise<Answer>;

/** Calls in this process. */
export function askHere(context: AdminContext): Ask {
  return async (name, input, body) => {
    const answer = await runOperation(operationNamed(name), context, input, [], {
      requestId: context.ids.next("req"),
      person: null,
      baseUrl: context.publicUrl ?? "",
      readers: null,
      body: body ?? none(),
      lastEventId: null,
      mayStillAsk: () => Promise.resolve(true),
      left: never,
      signal: never,
    });
    return "bytes" in answer ? { file: pieces(answer.bytes) } : answer;
  };
}

/** @throws Error when there is none: the name is a mistake in the program. */
export function operationNamed(name: string): AdminOperation {
  const operation = adminOperations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  return operation;
}

/** Of a call whose answer is read to its end. */
const never = new AbortController().signal;

async function* none(): AsyncGenerator<Uint8Array> {}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
