/** The demo shop as the first start and `openpo demo` make it. */
import type { Answer, Ask } from "../admin/ask.ts";
import { catalogue, variantWith } from "./catalogue.ts";
import { refusedSku } from "./purchase-orders/purchase-orders.ts";
import { demoRecords } from "./records.ts";
import { demoShop, demoShopId } from "./shop.ts";

/** The demo shop with its two keys and an invitation for its owner, which can be shown only now. */
export interface DemoShop {
  readonly shopId: string;
  readonly readKey: string;
  readonly writeKey: string;
  /** The link to the console; a path when no server was asked. */
  readonly invitation: string;
}

/**
 * Makes the demo shop as an operator would: shop, import, a fault of its sandbox, two keys, an owner. May be repeated
 * after a crash.
 */
export async function makeDemoShop(ask: Ask, nowMs: number): Promise<DemoShop> {
  const shopId = demoShopId;
  await ask("shop_put", { shopId, ...demoShop });
  await ask("shop_import", { shopId }, linesOf(demoRecords(nowMs)));
  await ask("sandbox_faults_put", {
    shopId,
    faults: [{ call: "changeOnHand", outcome: "refused", variantIds: [refusedVariantId()] }],
  });
  const keyOf = async (scope: "read" | "write"): Promise<string> =>
    textIn(await ask("key_create", { shopId, name: `demo ${scope} key`, scope }), "apiKey");
  return {
    shopId,
    readKey: await keyOf("read"),
    writeKey: await keyOf("write"),
    invitation: textIn(await ask("invitation_create", { shopId, name: "Demo owner", role: "owner" }), "url"),
  };
}

/** A member of the answer. @throws Error when it has none. */
function textIn(answer: Answer, member: string): string {
  const data: unknown = "data" in answer ? answer.data : null;
  const entries = new Map(typeof data === "object" && data !== null ? Object.entries(data) : []);
  const value: unknown = entries.get(member);
  if (typeof value !== "string") throw new Error(`no ${member} was made`);
  return value;
}

/** The variant whose stock changes the sandbox refuses, as an order of the demo says. */
const refusedVariantId = (): string => variantWith(catalogue(), refusedSku).variantId;

async function* linesOf(records: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}
