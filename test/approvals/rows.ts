/** Rows of a test server's shop, and answers, compared before and after. */
import { isJsonArray, isJsonObject, type Json } from "../../src/base/json.ts";
import { tables } from "../../src/shop/tables.ts";
import type { TestServer } from "../support/server.ts";

/** The audit row of a request, and what it costs, are the only traces of a dry run. */
const ofRequests = /^audit_|bucket/;

/** Every row of the shop, by table, but those of requests. */
export const rowsOf = ({ engine, shopId }: TestServer): Promise<Readonly<Record<string, readonly string[]>>> =>
  engine.peek(shopId, async (tx) => {
    const names = Object.keys(tables).filter((name) => !ofRequests.test(name));
    const found = names.map(async (name) => {
      const rows = await tx.all<object>(`select * from ${name} where shop_id = ?`, [shopId]);
      return [name, rows.map((row) => JSON.stringify(row)).toSorted()] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  });

/** Members that differ between a dry run and the write: ids that are drawn, times, numbers. */
const drawn = /Id$|Ids$|At$|^(?:poNumber|version|cursor|dryRun|storefrontWrites|nextStep)$/;

/** The value without what differs between two runs of one write. */
export function comparable(value: Json | undefined): Json {
  if (value === undefined) return null;
  if (isJsonArray(value)) return value.map(comparable);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (drawn.test(name) ? [] : [[name, comparable(member)]])),
  );
}

/** True if all follow-on work of the shop was done. */
export const noEffectIsPending = ({ engine, shopId }: TestServer): Promise<boolean> =>
  engine.peek(shopId, async (tx) => {
    const rows = await tx.all("select 1 as found from effect where shop_id = ? and state = 'pending' limit 1", [
      shopId,
    ]);
    return rows.length === 0;
  });
