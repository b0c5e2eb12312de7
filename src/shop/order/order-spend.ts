/**
 * Spending of API keys with limits (table `order_spend`, C78). An order has a row for each key and day on which its
 * value rose, so that a fall gives back what was taken. Keys without limits have no rows.
 */
import { asMoney, zeroMoney } from "../../core/money/money.ts";
import { givenBack, type KeyLimits, type ValueRise, type Spent, type SpentOn } from "../../core/access/limits.ts";
import type { Day } from "../../base/time/calendar.ts";
import { type Change, insert, remove, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import { limitsFrom, spentColumns, spentFrom, spentParams, type SpentRow } from "../access/accounts.ts";

/** The limits of a key and what it has spent; null: it has no limits. */
export async function loadSpending(
  tx: Tx,
  shopId: string,
  keyId: string,
  today: Day,
): Promise<{ readonly limits: KeyLimits; readonly spent: Spent } | null> {
  const [row] = await tx.all<SpentRow & { readonly limits: string | null }>(
    `select limits, ${spentColumns} from api_key k where shop_id = ? and key_id = ?`,
    [...spentParams(today), shopId, keyId],
  );
  const limits = limitsFrom(row?.limits ?? null);
  return row === undefined || limits === null ? null : { limits, spent: spentFrom(row) };
}

/** Adds what a key spends on an order today. */
export const spendStatement = (shopId: string, purchaseOrderId: string, { keyId, day, amount }: SpentOn): Change =>
  insert(tables.order_spend, shopId, { purchase_order_id: purchaseOrderId, key_id: keyId, day, amount }, "add");

/** Gives back what an order has fallen by; everything where it is worth nothing any more. */
export async function giveBackStatements(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  { value, rise }: ValueRise,
): Promise<readonly Change[]> {
  if (value === zeroMoney) return [remove(tables.order_spend, shopId, { purchase_order_id: purchaseOrderId })];
  const rows = await tx.all<{ readonly key_id: string; readonly day: number; readonly amount: number }>(
    "select key_id, day, amount from order_spend where shop_id = ? and purchase_order_id = ?",
    [shopId, purchaseOrderId],
  );
  const spent = rows.map((row) => ({ keyId: row.key_id, day: row.day, amount: asMoney(row.amount) }));
  return givenBack(spent, asMoney(0 - rise)).map(({ keyId, day, amount }) => {
    const where = { purchase_order_id: purchaseOrderId, key_id: keyId, day };
    return amount === zeroMoney
      ? remove(tables.order_spend, shopId, where)
      : update(tables.order_spend, shopId, where, { amount });
  });
}
