/** The demo shop as the first start and `openpo demo` make it. */
import type { Ask } from "../admin/ask.ts";
import { catalogue, variantWith } from "./catalogue.ts";
import { refusedSku } from "./purchase-orders.ts";
import { demoRecords } from "./records.ts";
import { demoShop, demoShopId } from "./shop.ts";

/** The demo shop with its two keys, which can be shown only now. */
export interface DemoShop {
  readonly shopId: string;
  readonly readKey: string;
  readonly writeKey: string;
}

/** Makes the demo shop as an operator would: shop, import, a fault of its sandbox, two keys. May be repeated after a crash. */
export async function makeDemoShop(ask: Ask, nowMs: number): Promise<DemoShop> {
  const shopId = demoShopId;
  await ask("shop_put", { shopId, ...demoShop });
  await ask("shop_import", { shopId }, linesOf(demoRecords(nowMs)));
  await ask("sandbox_faults_put", {
    shopId,
    faults: [{ call: "changeOnHand", outcome: "refused", variantIds: [refusedVariantId()] }],
  });
  const keyOf = async (scope: "read" | "write"): Promise<string> => {
    const answer = await ask("key_create", { shopId, name: `demo ${scope} key`, scope });
    const data = "data" in answer ? answer.data : null;
    if (typeof data !== "object" || data === null || !("apiKey" in data) || typeof data.apiKey !== "string")
      throw new Error("no key was made");
    return data.apiKey;
  };
  return { shopId, readKey: await keyOf("read"), writeKey: await keyOf("write") };
}

/** The variant whose stock changes the sandbox refuses, as an order of the demo says. */
const refusedVariantId = (): string => variantWith(catalogue(), refusedSku).variantId;

async function* linesOf(records: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}
