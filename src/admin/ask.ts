/**
 * Asking the operator's operations by name: what the first start and the command line have in common, whether the operation runs
 * in this process or behind a server's admin API.
 */
import type { AdminContext } from "./operation.ts";
import { adminOperations } from "./registry.ts";

/** What came back: data, or a file in pieces. */
export type Answer = { readonly data: unknown } | { readonly file: AsyncIterable<string | Uint8Array> };

/**
 * Asks the operation of this name.
 *
 * @param input  path, query and body members together; those of a query are strings.
 * @param body   the file, for an operation that takes one.
 * @throws Fault whatever the operation refuses.
 */
export type Ask = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  body?: AsyncIterable<Uint8Array>,
) => Promise<Answer>;

/** Asks in this process. */
export function askHere(context: AdminContext): Ask {
  return async (name, input, body = none()) => {
    const operation = adminOperations.find((each) => each.name === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    return await operation.perform(context, input, [], { requestId: context.ids.next("req"), body });
  };
}

async function* none(): AsyncGenerator<Uint8Array> {}
