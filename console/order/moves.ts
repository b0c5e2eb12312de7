/**
 * Activities on an order in its status, and the reasons why others are closed. The service decides; this is what the
 * page offers. A test compares the table with the service's own.
 */
import type { PurchaseOrder, PurchaseOrderStatus as Status } from "../../client/index.ts";
import { statusName } from "../data/format.ts";
import type { Role } from "../data/session.ts";
import { texts } from "../texts/en/texts.ts";

export type Activity = "edit-lines" | "confirm" | "receive" | "complete" | "quick-complete" | "sync" | "delete";

/** Where POST /status moves an order to. A held order goes back to the status it had before. */
export const movesFrom: Readonly<Record<Status, readonly Status[]>> = {
  Draft: ["Sent"],
  Sent: ["Draft", "Cancelled", "On Hold", "Disputed"],
  "Partially Confirmed": ["Cancelled", "On Hold", "Disputed"],
  Confirmed: ["Sent", "In Progress", "Cancelled", "On Hold", "Disputed"],
  "In Progress": ["Confirmed", "Cancelled", "On Hold", "Disputed"],
  "Partially Received": ["Cancelled", "On Hold", "Disputed"],
  Received: ["In Progress", "Partially Received", "On Hold", "Disputed"],
  Completed: ["In Progress", "Partially Received", "Received"],
  Cancelled: [],
  "On Hold": [],
  Disputed: [],
};

const confirmable: readonly Status[] = ["Sent", "Partially Confirmed", "Confirmed"];
const receivable: readonly Status[] = ["In Progress", "Partially Received", "Received"];
const editable: readonly Status[] = [
  "Draft",
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
];

/** In which statuses an activity can change an order. */
export const statusesOpenTo: Readonly<Record<Activity, readonly Status[]>> = {
  "edit-lines": editable,
  confirm: confirmable,
  receive: receivable,
  complete: ["Partially Received", "Received"],
  "quick-complete": ["In Progress"],
  sync: ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received", "Received"],
  delete: ["Draft", "Cancelled"],
};

const activitiesOf: Readonly<Record<Role, readonly Activity[]>> = {
  viewer: [],
  receiver: ["confirm", "receive", "sync"],
  purchaser: ["edit-lines", "confirm", "receive", "complete", "quick-complete", "sync", "delete"],
  owner: ["edit-lines", "confirm", "receive", "complete", "quick-complete", "sync", "delete"],
};

type Facts = Pick<PurchaseOrder, "status" | "previousStatus" | "lineItems">;

const isHeld = ({ status }: Pick<Facts, "status">): boolean =>
  status === "Cancelled" || status === "On Hold" || status === "Disputed";

const hasGoods = ({ lineItems }: Pick<Facts, "lineItems">): boolean =>
  lineItems.some((line) => line.quantityReceived !== 0 || line.quantitySynced !== 0);

/** Goods were received: no way leads back to these. */
const beforeGoods: readonly Status[] = ["Draft", "Sent", "Partially Confirmed", "Confirmed"];

/** Moves that are offered for an order, of which it is known whether goods came. */
export function movesFor(order: Pick<Facts, "status" | "previousStatus">, isReceived: boolean): readonly Status[] {
  const listed = isHeld(order) ? [order.previousStatus] : movesFrom[order.status];
  return listed.filter((status) => status !== "Completed" && !(isReceived && beforeGoods.includes(status)));
}

/** Moves that are offered as buttons. */
export const movesOf = (order: Facts): readonly Status[] => movesFor(order, hasGoods(order));

/** The text of a move's button. */
export function moveTitle(status: Status, to: Status): string {
  const { moves, reopen, resume } = texts.orderActions;
  if (status === "Completed") return reopen(statusName(to));
  return isHeld({ status }) || status === "Received" ? resume(statusName(to)) : moves[to];
}

/** Moves that a person is asked about once more. */
export const grave: readonly Status[] = ["Cancelled"];

/** True if the status leaves the activity open. */
const isOpenTo = ({ status }: Pick<Facts, "status">, activity: Activity): boolean =>
  statusesOpenTo[activity].includes(status);

/** True if the role may do it at all. */
export const mayDo = (role: Role, activity: Activity): boolean => activitiesOf[role].includes(activity);

/** True if the role may move an order by name. */
export const mayMove = (role: Role): boolean => role === "purchaser" || role === "owner";

/** Why an activity is not open: the word by which texts explain it. */
type Obstacle =
  | "role"
  | "send-first"
  | "confirm-first"
  | "begin-first"
  | "receive-first"
  | "received"
  | "move-back"
  | "reopen"
  | "held"
  | "use-complete"
  | "cancel-first";

/** Returns the obstacle to an activity; null without one. */
export function obstacleTo(order: Facts, activity: Activity, role: Role): Obstacle | null {
  if (!mayDo(role, activity)) return "role";
  if (isOpenTo(order, activity)) return null;
  if (isHeld(order)) return activity === "delete" ? "cancel-first" : "held";
  if (activity === "delete") return "cancel-first";
  if (order.status === "Completed") return "reopen";
  if (order.status === "Draft") return "send-first";
  if (activity === "confirm") return order.status === "In Progress" ? "move-back" : "received";
  if (activity === "edit-lines") return "move-back";
  if (activity === "quick-complete" && receivable.includes(order.status)) return "use-complete";
  if (order.status === "Confirmed") return "begin-first";
  return receivable.includes(order.status) ? "receive-first" : "confirm-first";
}

/** True if a line was confirmed short, so that confirming everything would overwrite the supplier's answer. */
export const isConfirmedShort = ({ lineItems }: Pick<Facts, "lineItems">): boolean =>
  lineItems.some((line) => line.quantityConfirmed > 0 && line.quantityConfirmed < line.quantityOrdered);
