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
  // Of what came, a part or all is taken as not yet here.
  const isResumed =
    isHeld({ status }) || (status === "Received" && (to === "In Progress" || to === "Partially Received"));
  return isResumed ? resume(statusName(to)) : moves[to];
}

/** True if the move is what is most likely wanted: work begins, or goes on after it was stopped. */
export const isNextMove = (status: Status, to: Status): boolean =>
  (status === "Confirmed" && to === "In Progress") || status === "On Hold" || status === "Disputed";

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
  | "cancel-first"
  | "delete-instead"
  | "draft-only";

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

/** Statuses that stop an order, wherever it is. */
const stops = ["Cancelled", "On Hold", "Disputed"] as const;

/** Statuses in which there is nothing to send again: not yet, or not any more. */
const unsendable: readonly Status[] = ["Draft", "Cancelled", "Completed"];

/** True if the order may be sent to its supplier once more. */
export const isSendable = ({ status }: Pick<Facts, "status">): boolean => !unsendable.includes(status);

/** Something to do with an order that is not open, and why. */
interface Closed {
  readonly what: Activity | (typeof stops)[number] | "send" | "merge";
  readonly obstacle: Obstacle;
}

/** Why an order is not stopped; null where it can be, or is. */
function obstacleToStop(order: Facts, to: (typeof stops)[number]): Obstacle | null {
  if (order.status === to || movesOf(order).includes(to)) return null;
  if (isHeld(order)) return "held";
  if (order.status === "Draft") return to === "Cancelled" ? "delete-instead" : "send-first";
  return order.status === "Completed" ? "reopen" : "received";
}

const listed = ["edit-lines", "confirm", "receive", "quick-complete", "complete", "delete"] as const;

/** All that could be done with an order in another status, or by another role. */
export function closedTo(order: Facts, role: Role): readonly Closed[] {
  const closed = listed.flatMap((what) => {
    const obstacle = obstacleTo(order, what, role);
    // Both complete an order, and have one entry in the menu.
    if (what === "complete" && obstacleTo(order, "quick-complete", role) === null) return [];
    return obstacle === null ? [] : [{ what, obstacle }];
  });
  const isDraft = order.status === "Draft";
  const named: readonly (readonly [Closed["what"], Obstacle | null])[] = [
    ["send", isDraft || isSendable(order) ? null : isHeld(order) ? "held" : "reopen"],
    ...stops.map((to) => [to, obstacleToStop(order, to)] as const),
    ["merge", isDraft ? null : "draft-only"],
  ];
  const others = mayMove(role)
    ? named.flatMap(([what, obstacle]) => (obstacle === null ? [] : [{ what, obstacle }]))
    : named.map(([what]) => ({ what, obstacle: "role" as const }));
  return [...closed, ...others];
}

/** True if a line was confirmed short, so that confirming everything would overwrite the supplier's answer. */
export const isConfirmedShort = ({ lineItems }: Pick<Facts, "lineItems">): boolean =>
  lineItems.some((line) => line.quantityConfirmed > 0 && line.quantityConfirmed < line.quantityOrdered);
