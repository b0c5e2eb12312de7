/** A shop in its own store, for tests of import, export and other operator functions that need no server. */
import type { JsonObject } from "../../src/base/json.ts";
import { importRecords } from "../../src/exchange/import.ts";
import type { ImportContext } from "../../src/exchange/import-run.ts";
import { saveShop, type Shop } from "../../src/shop/access/accounts.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import { makePlace, openStore } from "./store.ts";
import { exportedRecords } from "./shops/exported-records.ts";
import { plainShop } from "./shops/plain-shop.ts";

export interface TestShop extends ImportContext {
  readonly shop: Shop;
  /** Imports these records: an object becomes one line of JSON, a string is a line already. */
  bring(records: readonly (object | string)[]): Promise<Readonly<Record<string, number>>>;
  /** Exports the shop and returns the parsed records. */
  records(): Promise<readonly JsonObject[]>;
}

export const ndjson = (records: readonly (object | string)[]): Uint8Array =>
  Buffer.from(records.map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`).join(""));

export async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Never quiet, so that an import has the same turns on every machine (`importQuietMs`). */
class BusyLoop extends LoopShare {
  override get quietMs(): number {
    return 0;
  }
}

/** Lets `use` open shops in one store, and removes the store afterwards. */
export async function withShops(
  use: (open: (shopId: string, settings?: Partial<Shop>) => Promise<TestShop>) => Promise<void>,
  context: Partial<ImportContext> = {},
): Promise<void> {
  const place = await makePlace();
  const store = await openStore(place.directory, { loop: new BusyLoop() });
  const { engine } = store;
  const base: ImportContext = {
    engine,
    clock: systemClock,
    ids: timeOrderedIds(systemClock),
    loop: store.loop,
    seedStorefront: async () => {},
    ...context,
  };
  try {
    await use(async (shopId, settings = {}) => {
      const shop = plainShop(shopId, settings);
      await engine.create(shopId);
      await engine.write(shopId, (tx) => saveShop(tx, shop));
      return {
        ...base,
        shop,
        bring: (records) => importRecords(base, shop, piecesOf(ndjson(records), 65_536), "req_test"),
        records: () => exportedRecords(engine, shopId),
      };
    });
  } finally {
    await store.close();
    await place.remove();
  }
}
