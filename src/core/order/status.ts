/**
 * The status table: what an order's status allows, and what to do where it does not (spec "States and transitions";
 * C22–C28, C30, C33, C41, C43).
 *
 * One row a status. Every set of statuses, and every refusal for the sake of the status, follows from it. Does not own:
 * conditions beside the status (a location, confirmed lines, quantities), in status-move.ts, edit.ts and
 * core/goods/, or the inventory guard.
 */
import { Fault, type FaultReason } from "../../base/fault.ts";
import { mention } from "./guidance.ts";
import { type LineItem, type PurchaseOrder, type Status, statuses } from "./purchase-order.ts";

/** Activities on an order, beside moving it by name. */
export type Activity =
  | "edit-lines"
  | "confirm"
  | "receive"
  | "unreceive"
  | "complete"
  | "quick-complete"
  | "sync"
  | "delete";

/**
 * - `open`: pending quantities are incoming stock (C41).
 * - `closed`: nothing more is expected of the order.
 * - `held`: left only to the status in `previousStatus`.
 * - `before-goods`: not to be gone back to once goods were received or synced (spec "Rules for /status" 3).
 */
type Trait = "open" | "closed" | "held" | "before-goods";

/** Advice after a refusal, as a sentence for the caller. */
type Guidance = (order: PurchaseOrder) => string;

/** Permission of an activity in a status. `repeat`: only to a call that changes nothing. */
type Permission = { readonly may: "always" } | { readonly may: "repeat" | "never"; readonly instead: Guidance };

/** Way to a status to which POST /status does not lead. */
interface Elsewhere {
  readonly instead: Guidance;
  readonly reason?: FaultReason;
}

interface StatusRule {
  readonly is: readonly Trait[];
  /** The status that an order with this one usually had before; null: that cannot be told. */
  readonly usuallyFrom: Status | null;
  /** Where POST /status moves the order to, in the order in which messages list them. */
  readonly moves: readonly Status[];
  /** Ways to statuses that are not in `moves`, where there is one. */
  readonly elsewhere: { readonly [K in Status]?: Elsewhere };
  readonly permissions: Readonly<Record<Activity, Permission>>;
}

const yes: Permission = { may: "always" };

const no = (instead: string | Guidance): Permission => ({
  may: "never",
  instead: typeof instead === "string" ? () => instead : instead,
});

/** The activities that move goods, all with the same answer. */
const goods = (permission: Permission) =>
  ({ receive: permission, unreceive: permission, complete: permission, "quick-complete": permission }) as const;

// What to do where the status does not allow it.

/** True if the supplier confirmed less of a line than was ordered. */
const isConfirmedShort = ({ lineItems }: Pick<PurchaseOrder, "lineItems">): boolean =>
  lineItems.some(
    ({ quantityConfirmed, quantityOrdered }) => quantityConfirmed > 0 && quantityConfirmed < quantityOrdered,
  );

const use = {
  delete: mention("purchase_order_delete"),
  status: mention("purchase_order_status"),
  confirm: mention("purchase_order_confirm"),
  receive: mention("purchase_order_receive"),
  unreceive: mention("purchase_order_unreceive"),
  complete: mention("purchase_order_complete"),
  quickComplete: mention("purchase_order_quick_complete"),
} as const;

const send = no(`Move it to Sent with ${use.status} first.`);

/** The way to In Progress where confirmAll would overwrite what the supplier said (C24). */
const confirmByLines = `Confirm its lines with ${use.confirm} (lines, each with what the supplier confirmed), then move it to In Progress with ${use.status}.`;

const confirmFirst = no((order) =>
  isConfirmedShort(order)
    ? confirmByLines
    : `Confirm it with ${use.confirm} first (confirmAll: true moves it to In Progress).`,
);

const beginWork = no(`Move it to In Progress with ${use.status} first.`);

const confirmEarlier: Permission = {
  may: "repeat",
  instead: () => `Move it back to Confirmed first with ${use.status}, then confirm, then move it to In Progress.`,
};

const correctGoods = no(`Goods have been recorded; correct them with ${use.receive} or ${use.unreceive}.`);

const receiveFirst = no(
  `Record goods with ${use.receive}, or receive everything and complete with ${use.quickComplete}.`,
);

const completeIt = no(`Use ${use.complete}.`);

const reopen = no(`Reopen it with ${use.status} first (In Progress, Partially Received or Received).`);

const restore = no(({ previousStatus }) => `Move it back to ${previousStatus} with ${use.status} first.`);

const moveBackToEdit = no((order) => {
  const editable = availableMoves(order).filter((status) => permits({ status }, "edit-lines"));
  return `Move it back with ${use.status} first${editable.length === 0 ? "" : `: ${editable.join(" or ")}`}.`;
});

const cancel = no(`Move it to Cancelled with ${use.status}, then delete it.`);

const moveBackAndCancel = no(
  `Move it to Partially Received or In Progress with ${use.status}, then to Cancelled, then delete it.`,
);

const reopenAndCancel = no(
  `Reopen it with ${use.status} (Partially Received or In Progress), move it to Cancelled, then delete it.`,
);

const restoreAndCancel = no(
  ({ previousStatus }) => `Move it back to ${previousStatus} with ${use.status}, then to Cancelled, then delete it.`,
);

const byConfirming: Elsewhere = {
  instead: (order) =>
    isConfirmedShort(order)
      ? `Use ${use.confirm} with lines; the order is Confirmed once every line has a confirmed quantity.`
      : `Use ${use.confirm} with lines, or with confirmAll: true.`,
  reason: "USE_CONFIRM_ENDPOINT",
};

const byConfirmingAll: Elsewhere = {
  instead: (order) =>
    isConfirmedShort(order) ? confirmByLines : `${use.confirm} with confirmAll: true moves the order to In Progress.`,
};

const byReceiving: Elsewhere = {
  instead: () => `Use ${use.receive}; the status follows from the quantities received.`,
};

const byDeleting: Elsewhere = { instead: () => `Delete the draft with ${use.delete}.` };

const byMovingBack: Elsewhere = { instead: () => "Move the order back first, then cancel it." };

// The table.

const heldRule = {
  is: ["held"],
  usuallyFrom: null,
  moves: [],
  elsewhere: {},
  permissions: { "edit-lines": moveBackToEdit, confirm: restore, ...goods(restore), sync: restore },
} as const;

/**
 * Spec "Moves through POST /purchase-orders/{id}/status" and "Moves made by other operations"; C24–C28, C30, C33, C43.
 */
const table: Readonly<Record<Status, StatusRule>> = {
  Draft: {
    is: ["before-goods"],
    usuallyFrom: "Draft",
    moves: ["Sent"],
    elsewhere: { Cancelled: byDeleting },
    permissions: { "edit-lines": yes, confirm: send, ...goods(send), sync: send, delete: yes },
  },
  Sent: {
    is: ["open", "before-goods"],
    usuallyFrom: "Draft",
    moves: ["Draft", "Cancelled", "On Hold", "Disputed"],
    elsewhere: { "Partially Confirmed": byConfirming, Confirmed: byConfirming, "In Progress": byConfirmingAll },
    permissions: { "edit-lines": yes, confirm: yes, ...goods(confirmFirst), sync: yes, delete: cancel },
  },
  "Partially Confirmed": {
    is: ["open", "before-goods"],
    usuallyFrom: "Sent",
    moves: ["Cancelled", "On Hold", "Disputed"],
    elsewhere: { Confirmed: byConfirming, "In Progress": byConfirmingAll },
    permissions: { "edit-lines": yes, confirm: yes, ...goods(confirmFirst), sync: yes, delete: cancel },
  },
  Confirmed: {
    is: ["open", "before-goods"],
    usuallyFrom: "Sent",
    moves: ["Sent", "In Progress", "Cancelled", "On Hold", "Disputed"],
    elsewhere: {},
    permissions: { "edit-lines": yes, confirm: yes, ...goods(beginWork), sync: yes, delete: cancel },
  },
  "In Progress": {
    is: ["open"],
    usuallyFrom: "Confirmed",
    moves: ["Confirmed", "Cancelled", "On Hold", "Disputed"],
    elsewhere: { "Partially Received": byReceiving, Received: byReceiving },
    permissions: {
      "edit-lines": yes,
      confirm: confirmEarlier,
      ...goods(yes),
      complete: receiveFirst,
      sync: yes,
      delete: cancel,
    },
  },
  "Partially Received": {
    is: ["open"],
    usuallyFrom: "In Progress",
    moves: ["Cancelled", "On Hold", "Disputed"],
    elsewhere: { Received: byReceiving },
    permissions: {
      "edit-lines": yes,
      confirm: correctGoods,
      ...goods(yes),
      "quick-complete": completeIt,
      sync: yes,
      delete: cancel,
    },
  },
  Received: {
    is: [],
    usuallyFrom: "In Progress",
    moves: ["In Progress", "Partially Received", "On Hold", "Disputed"],
    elsewhere: { Cancelled: byMovingBack },
    permissions: {
      "edit-lines": moveBackToEdit,
      confirm: correctGoods,
      ...goods(yes),
      "quick-complete": completeIt,
      sync: yes,
      delete: moveBackAndCancel,
    },
  },
  Completed: {
    is: ["closed"],
    usuallyFrom: "Received",
    moves: ["In Progress", "Partially Received", "Received"],
    elsewhere: { Cancelled: byMovingBack },
    permissions: {
      "edit-lines": moveBackToEdit,
      confirm: reopen,
      ...goods(reopen),
      sync: reopen,
      delete: reopenAndCancel,
    },
  },
  Cancelled: { ...heldRule, is: ["held", "closed"], permissions: { ...heldRule.permissions, delete: yes } },
  "On Hold": { ...heldRule, permissions: { ...heldRule.permissions, delete: restoreAndCancel } },
  Disputed: { ...heldRule, permissions: { ...heldRule.permissions, delete: restoreAndCancel } },
};

// What is read from it.

type WithStatus = Pick<PurchaseOrder, "status">;

const is = (trait: Trait, { status }: WithStatus): boolean => table[status].is.includes(trait);

/** True if the order is Cancelled, On Hold or Disputed, and so left only to the status in `previousStatus`. */
export const isHeld = (order: WithStatus): boolean => is("held", order);

/** True if the order has left Draft and is not cancelled. A held one counts as before. */
export function hasLeftDraft({ status, previousStatus }: Pick<PurchaseOrder, "status" | "previousStatus">): boolean {
  const now = isHeld({ status }) && status !== "Cancelled" ? previousStatus : status;
  return now !== "Draft" && now !== "Cancelled";
}

/** True if the order's pending quantities are incoming stock: Sent to Partially Received (C41). */
export const isOpen = (order: WithStatus): boolean => is("open", order);

/** True if nothing more is expected of the order: Completed or Cancelled. */
export const isClosed = (order: WithStatus): boolean => is("closed", order);

/** True if no way leads back to this status once goods were received or synced (spec "Rules for /status" 3). */
export const isBeforeGoods = (order: WithStatus): boolean => is("before-goods", order);

/** The statuses of open orders. */
export const openStatuses: readonly Status[] = statuses.filter((status) => isOpen({ status }));

/**
 * The statuses that an order passes on its way from Draft to Completed, in their order; the held ones are beside it.
 */
export const statusesOnTheWay: readonly Status[] = statuses.filter((status) => !isHeld({ status }));

/** The status that an order with this one usually had before; null for a held status, which can follow on several. */
export const usualPrevious = (status: Status): Status | null => table[status].usuallyFrom;

/** The moves of POST /status from this status. A held status has none here: it is left to `previousStatus`. */
export const movesFrom = (status: Status): readonly Status[] => table[status].moves;

/** Returns the way from one status to another to which POST /status does not lead; null when there is none at once. */
export const elsewhereFrom = (from: Status, to: Status): Elsewhere | null => table[from].elsewhere[to] ?? null;

/** State of the pushes of an order's goods to the storefront. */
export interface PushFacts {
  /** Lines in a push without a known outcome: the storefront may have their goods. Left out: none. */
  readonly unsettledLineIds?: ReadonlySet<string>;
}

/** True if the storefront may have goods of the line that are not counted as synced. */
export const isUnsettled = (
  { poLineItemId }: Pick<LineItem, "poLineItemId">,
  { unsettledLineIds }: PushFacts,
): boolean => unsettledLineIds?.has(poLineItemId) === true;

/** True if goods were received, or the storefront was or may have been sent some: no change of status undoes that. */
export const hasGoods = (order: Pick<PurchaseOrder, "lineItems">, pushes: PushFacts = {}): boolean =>
  order.lineItems.some((line) => line.quantityReceived !== 0 || line.quantitySynced !== 0 || isUnsettled(line, pushes));

/**
 * The moves that POST /status makes from here, for messages and for a caller that asks. Other conditions can still stop
 * a listed move (a location, confirmed lines, the inventory guard), but neither the table nor goods received can.
 */
export function availableMoves(order: PurchaseOrder): readonly Status[] {
  const listed = isHeld(order) ? [order.previousStatus] : movesFrom(order.status);
  const barred = hasGoods(order);
  return listed.filter((status) => status !== "Completed" && !(barred && isBeforeGoods({ status })));
}

/** True if the order's status leaves the activity open, be it only to a call that changes nothing. */
export const permits = ({ status }: WithStatus, activity: Activity): boolean =>
  table[status].permissions[activity].may !== "never";

/** The statuses in which the activity can change the order. */
export const statusesOpenTo = (activity: Activity): readonly Status[] =>
  statuses.filter((status) => table[status].permissions[activity].may === "always");

/** The statuses that leave the activity open, be it only to a call that changes nothing. */
export const statusesThatPermit = (activity: Activity): readonly Status[] =>
  statuses.filter((status) => permits({ status }, activity));

/** Returns advice on an activity that the order's status does not leave open to every call; null when it does. */
export function guidanceTo(order: PurchaseOrder, activity: Activity): string | null {
  const permission = table[order.status].permissions[activity];
  return permission.may === "always" ? null : permission.instead(order);
}

/** `Draft`, `Draft or Sent`, `Draft, Sent or Confirmed`. */
const oneOf = (list: readonly string[]): string =>
  list.length < 2 ? list.join() : `${list.slice(0, -1).join(", ")} or ${list.at(-1)}`;

const cannot: Readonly<Record<Activity, string>> = {
  "edit-lines": "cannot have lines added, edited or deleted",
  confirm: "cannot be confirmed",
  receive: "cannot be received",
  unreceive: "cannot be un-received",
  complete: "cannot be completed",
  "quick-complete": "cannot be quick-completed",
  sync: "cannot be synced with the storefront",
  delete: "cannot be deleted",
};

/**
 * Refuses an activity that the order's status does not leave open, and says what to do first.
 *
 * @throws Fault INVALID_INPUT  the table does not permit the activity in this status.
 * Source: spec "Moves made by other operations"; C24–C28, C30, C33, C43.
 */
export function refuseUnless(order: PurchaseOrder, activity: Activity): void {
  const permission = table[order.status].permissions[activity];
  if (permission.may !== "never") return;
  const others = oneOf(statusesThatPermit(activity));
  throw new Fault("INVALID_INPUT", `An order that is ${order.status} ${cannot[activity]}; it must be ${others}.`, {
    action: permission.instead(order),
  });
}
