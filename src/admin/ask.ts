/**
 * Asking the operator's operations by name: what the first start and the command line have in common, whether the operation runs
 * in this process or behind a server's admin API.
 */
import { demoRecords, demoShop, demoShopId } from "./demo.ts";
import { type AdminContext, adminOperations } from "./operations.ts";

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

/** The demo shop with its two keys, which are shown this once. */
export interface DemoShop {
  readonly shopId: string;
  readonly readKey: string;
  readonly writeKey: string;
}

/** Makes the demo shop as an operator would: create, import, two keys. Repeatable, should it be cut off. */
export async function makeDemoShop(ask: Ask, nowMs: number): Promise<DemoShop> {
  const shopId = demoShopId;
  await ask("shop_put", { shopId, ...demoShop });
  await ask("shop_import", { shopId }, linesOf(demoRecords(nowMs)));
  const keyOf = async (scope: "read" | "write"): Promise<string> => {
    const answer = await ask("key_create", { shopId, name: `demo ${scope} key`, scope });
    const data = "data" in answer ? answer.data : null;
    if (typeof data !== "object" || data === null || !("apiKey" in data) || typeof data.apiKey !== "string")
      throw new Error("no key was made");
    return data.apiKey;
  };
  return { shopId, readKey: await keyOf("read"), writeKey: await keyOf("write") };
}

async function* linesOf(records: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}
