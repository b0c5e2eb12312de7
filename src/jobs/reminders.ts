/**
 * Tells a shop of orders that their supplier is late with, as an entry of the order's log and an event (C57). Nobody
 * else is told: no mail is sent.
 *
 * Owns: which shop is looked at when, and the transaction that tells. Does not own: what is told and when it is time
 * (core/supplier/reminders.ts), the rows (shop/supplier/reminders.ts), who gets events (webhooks/).
 *
 * Invariants:
 * - U1. A reminder and its record are one transaction, in the shop's turn. A process that dies has sent all of it or
 *       nothing, and of several nodes one sends it.
 * - U2. What it costs grows with the reminders that are due. A process that is alone on its store remembers when each
 *       shop's next one is; nodes among others find them by an index.
 * - U3. A shop that cannot be written delays no other: shops take turns, `runningMax` at a time.
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
  laterStatement,
  nextReminderAtMs,
  remindersDue,
  remindedStatement,
} from "../shop/supplier/reminders.ts";
import { DueSearch } from "../store/due-search.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Engine, Log, Statement, Tx } from "../store/store.ts";

interface ReminderLimits {
  /** Reminders that one transaction looks at. */
  readonly rowsMax: number;
  /** Lines of the orders that one transaction looks at, more only of a single order. */
  readonly linesMax: number;
  /** Shops that are looked at at a time. */
  readonly runningMax: number;
  /**
   * Longest interval at which a process that is alone checks its remembered reminders: the clock may have been set
   * forward.
   */
  readonly pollMsMax: number;
  /** Interval at which a node among others searches for due reminders of all shops. */
  readonly pollMs: number;
  /** Between two tries of a shop that cannot be written. */
  readonly retryMs: number;
}

const reminderLimits: ReminderLimits = {
  rowsMax: 50,
  linesMax: 250,
  runningMax: 4,
  pollMsMax: 60_000,
  pollMs: 20_000,
  retryMs: 30_000,
};

/** A shop, and when its next reminder is due. */
export interface ShopReminder {
  readonly shopId: string;
  readonly dueAtMs: number;
}

interface RemindersOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** This is the only process on the store. */
  readonly alone: boolean;
  /** The shops that have reminders, until the signal is aborted. Asked where this process is alone. */
  readonly shopsToResume: (signal: AbortSignal) => AsyncIterable<ShopReminder>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Limits that differ from `reminderLimits`. */
  readonly limits?: Partial<ReminderLimits>;
}

export interface Reminders {
  /**
   * The shop has a reminder that is due then. Among other nodes only one that is due now counts: they search for the
   * others.
   */
  note(reminder: ShopReminder): void;
  /** Finds what earlier processes have left, and from then on tells what is due. */
  start(): Promise<void>;
  /** Tells nothing more and waits for what runs. */
  close(): Promise<void>;
}

export function createReminders(options: RemindersOptions): Reminders {
  return new TimedReminders(options);
}

class TimedReminders implements Reminders {
  readonly #options: RemindersOptions;
  readonly #limits: ReminderLimits;
  /** When each shop's next reminder is due. */
  readonly #dueAtMs = new Map<string, number>();
  /** Shops to look at now, in the order in which they came. */
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #search: DueSearch;
  #timer: NodeJS.Timeout | null = null;
  #timerAtMs = 0;

  constructor(options: RemindersOptions) {
    this.#options = options;
    this.#limits = { ...reminderLimits, ...options.limits };
    this.#search = new DueSearch({
      ...options,
      pollMs: this.#limits.pollMs,
      stopping: this.#stopped.signal,
      what: "reminders",
      found: (shopIds) => this.#lookAtDue(shopIds),
    });
  }

  note({ shopId, dueAtMs }: ShopReminder): void {
    if (this.#stopped.signal.aborted) return;
    if (!this.#options.alone) {
      if (dueAtMs > this.#options.clock.now()) return;
      this.#waiting.add(shopId);
      this.#begin();
      return;
    }
    if (dueAtMs >= (this.#dueAtMs.get(shopId) ?? Number.POSITIVE_INFINITY)) return;
    this.#dueAtMs.set(shopId, dueAtMs);
    this.#wakeAt(dueAtMs);
  }

  async start(): Promise<void> {
    const { alone, shopsToResume } = this.#options;
    if (!alone) return await this.#search.start();
    for await (const reminder of shopsToResume(this.#stopped.signal)) this.note(reminder);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
  }

  /** Of shops with anything due, those that have reminders. */
  async #lookAtDue(shopIds: readonly string[]): Promise<void> {
    const { engine, clock } = this.#options;
    for (const shopId of shopIds) {
      if (this.#stopped.signal.aborted) return;
      const dueAtMs = await engine.peek(shopId, (tx) => nextReminderAtMs(tx, shopId)).catch(noneOfGone);
      if (dueAtMs !== null && dueAtMs <= clock.now()) this.#waiting.add(shopId);
    }
    this.#begin();
  }

  #wakeAt(dueAtMs: number): void {
    if (this.#timer !== null && this.#timerAtMs <= dueAtMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAtMs = dueAtMs;
    const inMs = Math.min(Math.max(0, dueAtMs - this.#options.clock.now()), this.#limits.pollMsMax);
    this.#timer = setTimeout(() => this.#lookAtRemembered(), inMs);
    this.#timer.unref();
  }

  #lookAtRemembered(): void {
    this.#timer = null;
    const nowMs = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [shopId, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs > nowMs) next = Math.min(next, dueAtMs);
      else {
        this.#dueAtMs.delete(shopId);
        this.#waiting.add(shopId);
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next);
    this.#begin();
  }

  #begin(): void {
    for (const shopId of this.#waiting) {
      if (this.#stopped.signal.aborted || this.#running.size >= this.#limits.runningMax) return;
      if (this.#running.has(shopId)) continue;
      this.#waiting.delete(shopId);
      const running = this.#checkShop(shopId).finally(() => {
        this.#running.delete(shopId);
        this.#begin();
      });
      this.#running.set(shopId, running);
    }
  }

  /** Tells what is due in the shop, a part of it, and comes back for the rest after others. Never rejects. */
  async #checkShop(shopId: string): Promise<void> {
    const { engine, clock, ids, log } = this.#options;
    const nowMs = clock.now();
    try {
      const nextAtMs = await engine.write(shopId, (tx) => tellDue(tx, shopId, { nowMs, ids }, this.#limits));
      if (nextAtMs === null) return;
      if (nextAtMs <= nowMs) this.#waiting.add(shopId);
      else this.note({ shopId, dueAtMs: nextAtMs });
    } catch (error) {
      if (isNotFound(error)) return;
      log.warn({ shopId, err: error }, "reminders could not be told; it is tried again");
      this.note({ shopId, dueAtMs: clock.now() + this.#limits.retryMs });
    }
  }
}

/** A shop that was deleted meanwhile has none. */
function noneOfGone(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
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
