/**
 * Reminders of orders (table `purchase_order_reminder`): what each order would be told of, from when on, and what was
 * told (C57).
 *
 * Owns: their SQL. Does not own: what an order can be late with and when that is told (core/supplier/reminders.ts),
 * telling it (reminders/).
 *
 * A row changes with its order, in the same transaction, and only when what it is about has changed. The time of a
 * reminder depends on the shop's time zone and settings, which a change of an order does not know. `due_at` is at first
 * an instant before which it cannot be, and the next check sets it.
 */
import type { OrderWithLines } from "../../core/order/purchase-order.ts";
import {
  type ReminderCause,
  reminderBasis,
  reminderCauses,
  reminderNotBeforeMs,
} from "../../core/supplier/reminders.ts";
import type { DueRows, Tx } from "../../store/store.ts";
import { type Change, type Row, changeOf, update, remove, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Reminders that somebody has to look at now: by these a node finds the shops that have any. */
export const dueReminders: DueRows = {
  table: "purchase_order_reminder",
  condition: "due_at <= ?",
  searchedBy: "due_at",
};

/** A row that is about the same as before stays; what was told stays known, so that the same is not told again. */
const upsertReminder = textForm(
  tables.purchase_order_reminder,
  `insert into purchase_order_reminder (shop_id, purchase_order_id, cause, basis, told, due_at, quiet) values (?, ?, ?, ?, null, ?, ?)
   on conflict (shop_id, purchase_order_id, cause) do update set
     due_at = case when excluded.basis = purchase_order_reminder.basis then purchase_order_reminder.due_at
       when excluded.basis is null or excluded.basis = purchase_order_reminder.told then null else excluded.due_at end,
     quiet = case when excluded.basis = purchase_order_reminder.basis then purchase_order_reminder.quiet else excluded.quiet end,
     basis = excluded.basis`,
  ["shop_id", "purchase_order_id", "cause", null, null, null],
);

function reminderStatement(
  shopId: string,
  purchaseOrderId: string,
  cause: ReminderCause,
  basis: string | null,
  isQuiet: boolean,
): Change {
  const dueAtMs = basis === null ? null : isQuiet ? 0 : reminderNotBeforeMs[cause](basis);
  return changeOf(upsertReminder, [shopId, purchaseOrderId, cause, basis, dueAtMs, isQuiet ? 1 : 0]);
}

/** Returns the statements by which an order's reminders follow its change. Null: there was, or is, no such order. */
export function reminderStatements(
  shopId: string,
  purchaseOrderId: string,
  before: OrderWithLines | null,
  next: OrderWithLines | null,
): readonly Change[] {
  const basisOf = (cause: ReminderCause, order: OrderWithLines | null): string | null =>
    order === null ? null : reminderBasis[cause](order);
  return reminderCauses.flatMap((cause) => {
    const basis = basisOf(cause, next);
    if (basis === basisOf(cause, before)) return [];
    return [reminderStatement(shopId, purchaseOrderId, cause, basis, false)];
  });
}

/**
 * The reminders of an order from outside: what is due already when it comes counts as told (D295).
 *
 * @param isNew  nothing is stored of the order.
 */
export const importedReminders = (shopId: string, order: OrderWithLines, isNew: boolean): readonly Change[] =>
  reminderCauses.flatMap((cause) => {
    const basis = reminderBasis[cause](order);
    if (isNew && basis === null) return [];
    return [reminderStatement(shopId, order.purchaseOrderId, cause, basis, true)];
  });

/** An order is hidden: nothing more is told of it. */
export const dropReminders = (shopId: string, purchaseOrderId: string): Change =>
  remove(tables.purchase_order_reminder, shopId, { purchase_order_id: purchaseOrderId });

const recheck = textForm(
  tables.purchase_order_reminder,
  `update purchase_order_reminder set due_at = 0
   where shop_id = ? and basis is not null and (told is null or told <> basis)`,
  ["shop_id"],
);

/** All that is not told yet is looked at anew: what the shop has set has changed. */
export const recheckStatement = (shopId: string): Change => changeOf(recheck, [shopId]);

/** When the change makes the shop's reminders due; null: it does not. */
export function remindsAtMs({ form, params }: Change): number | null {
  const at = form === upsertReminder ? params[4] : form === recheck ? 0 : null;
  return typeof at === "number" ? at : null;
}

/** A reminder that somebody has to look at. */
export interface DueReminder {
  readonly purchaseOrderId: string;
  readonly cause: ReminderCause;
  readonly basis: string;
  /** Reminders that are due at the first check count as sent. */
  readonly isQuiet: boolean;
}

/** When the shop's next reminder is due; null when none is. */
export async function nextReminderAtMs(tx: Tx, shopId: string): Promise<number | null> {
  const [row] = await tx.all<{ due: number | null }>(
    "select min(due_at) as due from purchase_order_reminder where shop_id = ? and due_at is not null",
    [shopId],
  );
  return row?.due ?? null;
}

/**
 * Reminders that are due, the one that has been for longest first. Those due at the same time come as the index has
 * them: sorting 20,000 that an import has made due took 12 ms a turn. `linesMax`: of orders with so many lines
 * together, but at least one.
 */
export async function remindersDue(
  tx: Tx,
  shopId: string,
  nowMs: number,
  { rowsMax, linesMax }: { readonly rowsMax: number; readonly linesMax: number },
): Promise<readonly DueReminder[]> {
  const rows = await tx.all<{
    purchase_order_id: string;
    cause: ReminderCause;
    basis: string;
    quiet: number;
    item_count: number | null;
  }>(
    `select r.purchase_order_id, r.cause, r.basis, r.quiet, o.item_count from purchase_order_reminder r
     left join purchase_order o on o.shop_id = r.shop_id and o.purchase_order_id = r.purchase_order_id
     where r.shop_id = ? and r.due_at <= ? order by r.due_at limit ?`,
    [shopId, nowMs, rowsMax],
  );
  let lines = 0;
  return rows
    .filter(({ item_count: count }, index) => {
      lines += count ?? 0;
      return index === 0 || lines <= linesMax;
    })
    .map((row) => ({
      purchaseOrderId: row.purchase_order_id,
      cause: row.cause,
      basis: row.basis,
      isQuiet: row.quiet === 1,
    }));
}

/** It is told: not of the same again. */
export const remindedStatement = (shopId: string, { basis, ...reminder }: DueReminder): Change =>
  update(tables.purchase_order_reminder, shopId, keyOf(reminder), { told: basis, due_at: null, quiet: 0 });

/** It is not time yet, or never will be with what the shop has set (null). */
export const laterStatement = (shopId: string, reminder: DueReminder, dueAtMs: number | null): Change =>
  update(tables.purchase_order_reminder, shopId, keyOf(reminder), { due_at: dueAtMs, quiet: 0 });

const keyOf = ({ purchaseOrderId, cause }: Pick<DueReminder, "purchaseOrderId" | "cause">): Row => ({
  purchase_order_id: purchaseOrderId,
  cause,
});
