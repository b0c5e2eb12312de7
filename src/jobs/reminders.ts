/**
 * Tells a shop of orders that their supplier is late with, as an entry of the order's log and an event (C57). Nobody
 * else is told: no mail is sent.
 *
 * Owns: the transaction that tells. Does not own: turns of shops (runner.ts), what is told and when it is time
 * (core/supplier/reminders.ts), the rows (shop/supplier/reminders.ts), who gets events (webhooks/).
 *
 * Invariants:
 * - U1. A reminder and its record are one transaction, in the shop's turn. A process that dies has sent all of it or
 *       nothing, and of several nodes one sends it.
 */
import { lineEvent } from "../core/events/events.ts";
import { pendingQuantity } from "../core/order/lines.ts";
import { quantityToNumber } from "../core/money/money.ts";
import type { LineItem, PurchaseOrder } from "../core/order/purchase-order.ts";
import { type ReminderCause, reminderAtMs, reminderBasis } from "../core/supplier/reminders.ts";
import { loadShop, type Shop } from "../shop/access/accounts.ts";
import { eventStatements } from "../shop/events/events.ts";
import { logStatement } from "../shop/order/purchase-order-history.ts";
import { loadOrder, logged, type Stamp } from "../shop/order/purchase-orders.ts";
import {
  type DueReminder,
  dueReminders,
  laterStatement,
  nextReminderAtMs,
  remindersDue,
  remindedStatement,
} from "../shop/supplier/reminders.ts";
import type { Ids } from "../base/time/clock.ts";
import type { Engine, Statement, Tx } from "../store/store.ts";
import { JobRunner, type JobsOptions, type ShopDue } from "./runner.ts";

interface ReminderLimits {
  /** Reminders that one transaction looks at. */
  readonly rowsMax: number;
  /** Lines of the orders that one transaction looks at, more only of a single order. */
  readonly linesMax: number;
  /** Shops that are looked at at a time. */
  readonly runningMax: number;
  /** Between two tries of a shop that cannot be written. */
  readonly retryMs: number;
}

const reminderLimits: ReminderLimits = {
  rowsMax: 50,
  linesMax: 250,
  runningMax: 4,
  retryMs: 30_000,
};

interface RemindersOptions extends JobsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  /** Limits that differ from `reminderLimits`. */
  readonly limits?: Partial<ReminderLimits>;
}

export interface Reminders {
  /** The shop has a reminder that is due then. */
  note(reminder: ShopDue): void;
  /** Finds what earlier processes have left, and from then on tells what is due. */
  start(): Promise<void>;
  /** Tells nothing more and waits for what runs. */
  close(): Promise<void>;
}

export function createReminders(options: RemindersOptions): Reminders {
  const { engine, clock, ids } = options;
  const limits = { ...reminderLimits, ...options.limits };
  return new JobRunner(options, {
    what: "reminders",
    runningMax: limits.runningMax,
    table: dueReminders.table,
    retryMs: limits.retryMs,
    nextDueAtMs: nextReminderAtMs,
    run: (shopId) => engine.write(shopId, (tx) => tellDue(tx, shopId, { nowMs: clock.now(), ids }, limits)),
  });
}

/** Tells what is due, as much as the limits allow. @returns when the shop's next reminder is due; null when none is. */
async function tellDue(
  tx: Tx,
  shopId: string,
  { nowMs, ids }: { readonly nowMs: number; readonly ids: Ids },
  limits: Pick<ReminderLimits, "rowsMax" | "linesMax">,
): Promise<number | null> {
  const stamp: Stamp = {
    actor: { type: "system", id: null, name: null },
    operation: null,
    requestId: null,
    nowMs,
    ids,
  };
  const [shop, due] = await Promise.all([loadShop(tx, shopId), remindersDue(tx, shopId, nowMs, limits)]);
  if (shop === null) return null;
  const orders = await Promise.all(due.map(({ purchaseOrderId }) => loadOrder(tx, shopId, purchaseOrderId)));
  await tx.batch(due.flatMap((reminder, index) => statementsOf(shop, reminder, orders[index] ?? null, stamp)));
  return await nextReminderAtMs(tx, shopId);
}

function statementsOf(
  shop: Shop,
  reminder: DueReminder,
  order: PurchaseOrder | null,
  stamp: Stamp,
): readonly Statement[] {
  const { shopId } = shop;
  const { cause, basis, isQuiet, purchaseOrderId } = reminder;
  const isStill = order !== null && reminderBasis[cause](order) === basis;
  const atMs = isStill ? reminderAtMs[cause](basis, shop) : null;
  if (order === null || atMs === null || atMs > stamp.nowMs) return [laterStatement(shopId, reminder, atMs)];
  if (isQuiet) return [remindedStatement(shopId, reminder)];
  const late = order.lineItems.filter((line) => pendingQuantity(line) > 0 && isAbout[cause](line, basis, order));
  const event = lineEvent(`purchase_order.${cause}`, order, new Set(late.map((line) => line.poLineItemId)));
  const entry = { action: cause, message: messages[cause](order, basis, shop), changes: [] };
  return [
    remindedStatement(shopId, reminder),
    logStatement(shopId, purchaseOrderId, logged(entry, stamp)),
    ...eventStatements(shopId, event, stamp),
  ];
}

/** Which pending lines the event names. */
const isAbout: Readonly<Record<ReminderCause, (line: LineItem, basis: string, order: PurchaseOrder) => boolean>> = {
  overdue: (line, basis, order) => {
    const expected = line.expectedDeliveryDate ?? order.expectedDeliveryDate;
    return expected !== null && expected <= basis;
  },
  unconfirmed: () => true,
};

const messages: Readonly<Record<ReminderCause, (order: PurchaseOrder, basis: string, shop: Shop) => string>> = {
  overdue: ({ quantityPending }, basis) =>
    `Overdue: expected by ${basis}, and ${quantityToNumber(quantityPending)} are still to come.`,
  unconfirmed: (_order, _basis, { unconfirmedDays }) =>
    `Unconfirmed: sent more than ${unconfirmedDays} ${unconfirmedDays === 1 ? "day" : "days"} ago, and the supplier has not confirmed.`,
};
