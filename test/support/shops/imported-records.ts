/** Imports records into the shop of a test server, past its admin API. */
import assert from "node:assert/strict";
import { importRecords } from "../../../src/exchange/import.ts";
import { loadShop } from "../../../src/shop/access/accounts.ts";
import { LoopShare } from "../../../src/store/loop-share.ts";
import { ndjson, piecesOf } from "../admin.ts";
import type { TestServer } from "../server.ts";

export async function bring(server: TestServer, records: readonly object[]): Promise<void> {
  const shop = await server.engine.read(server.shopId, (tx) => loadShop(tx, server.shopId));
  assert.ok(shop !== null);
  const context = {
    engine: server.engine,
    clock: server.clock,
    ids: server.ids,
    loop: new LoopShare(),
    seedStorefront: async () => {},
  };
  await importRecords(context, shop, piecesOf(ndjson(records), 65_536), "req_test");
}
