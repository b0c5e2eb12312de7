/**
 * Filters of the list of orders. The page's query holds them under the API's own names, so that an address is a view,
 * and the way back restores it.
 */
import type { Input, PurchaseOrderStatus } from "../../client/index.ts";
import { withParameter } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { dayAfter } from "./lateness.ts";

type ListInput = Input<"purchase_order_list">;

export const statuses = [
  "Draft",
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
  "Received",
  "Completed",
  "Cancelled",
  "On Hold",
  "Disputed",
] as const satisfies readonly PurchaseOrderStatus[];

const isStatus = (text: string): text is PurchaseOrderStatus => statuses.some((status) => status === text);

/** Statuses in the query. */
export const statusesIn = (query: URLSearchParams): readonly PurchaseOrderStatus[] =>
  (query.get("status") ?? "").split(",").filter(isStatus);

/** The query with this status switched. */
export function withStatus(query: URLSearchParams, status: PurchaseOrderStatus): URLSearchParams {
  const before = statusesIn(query);
  const chosen = before.includes(status) ? before.filter((each) => each !== status) : [...before, status];
  return withParameter(query, "status", chosen.join(","));
}

/** Query of the whole list: an empty address is the person's own first view. */
export const wholeList = "view=all";

/** The day that the service is asked for in place of this word is today's, so that a saved view stays true tomorrow. */
export const todayWord = "today";

const openStatuses = "status=Sent,Partially Confirmed,Confirmed,In Progress,Partially Received";

/** Queries that have a name. */
export const views = {
  open: openStatuses,
  receive: "status=Confirmed,In Progress,Partially Received",
  overdue: `${openStatuses}&expectedBefore=${todayWord}`,
  waiting: "status=Sent,Partially Confirmed",
  failed: "storefrontSyncState=failed",
} as const;

/** Views of which somebody wants to know how many orders they show: their suppliers are late, or have yet to answer. */
export const countedViews: readonly string[] = [views.overdue, views.waiting];

/** Views that are always there: a name for a query. The last is of a storefront. */
export const builtInViews = [
  { name: texts.orders.views.all, query: wholeList },
  { name: texts.orders.views.receive, query: views.receive },
  { name: texts.orders.views.overdue, query: views.overdue },
  { name: texts.orders.views.waiting, query: views.waiting },
  { name: texts.orders.views.failed, query: views.failed },
] as const;

/** True if the query shows the same as the view. */
export function isView(query: URLSearchParams, view: string): boolean {
  const sorted = (each: URLSearchParams): string =>
    [...each]
      .filter(([name]) => name !== "view")
      .map((entry) => entry.join("="))
      .toSorted()
      .join("&");
  return sorted(query) === sorted(new URLSearchParams(view));
}

export const paidStatuses = ["Unpaid", "Partially Paid", "Paid", "Overpaid"] as const;

export const syncStates = ["never-synced", "in-flight", "partial", "synced", "failed"] as const;

/** Sorts of the list; without one the newest order is the first. */
export const sorts = [
  "nextExpectedDate",
  "-nextExpectedDate",
  "-totalValue",
  "totalValue",
  "poNumber",
  "-poNumber",
  "-updatedAt",
] as const satisfies readonly ListInput["sort"][];

/** Days that orders are at most old, for views that stay true tomorrow. */
export const ages = ["7", "30", "90"] as const;

/** The days that orders are at most old; null: any. */
export const ageIn = (query: URLSearchParams): string | null =>
  ages.find((days) => `-${days}` === query.get("dateFrom")) ?? null;

/** The day of a filter: one that is written, or so many days before today. */
export const dayOf = (written: string | undefined, today: string): string | undefined =>
  written !== undefined && /^-\d{1,3}$/.test(written) ? dayAfter(today, Number(written)) : written;

/** The query as the API takes it; `today` is the shop's day. What is no filter of the list is left out. */
export function inputOf(query: URLSearchParams, today: string): ListInput {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const chosen = statusesIn(query);
  const paid = paidStatuses.filter((status) => status === query.get("paidStatus"));
  const sync = syncStates.filter((state) => state === query.get("storefrontSyncState"));
  return {
    ...(chosen.length === 0 ? {} : { status: chosen }),
    ...(sync.length === 0 ? {} : { storefrontSyncState: sync }),
    ...(query.has("tag") ? { tag: query.getAll("tag") } : {}),
    sort: sorts.find((sort) => sort === query.get("sort")),
    search: text("search"),
    supplierId: text("supplierId"),
    variantId: text("variantId"),
    locationId: text("locationId"),
    expectedBefore: text("expectedBefore") === todayWord ? today : text("expectedBefore"),
    ...(paid.length === 0 ? {} : { paidStatus: paid }),
    dateFrom: dayOf(text("dateFrom"), today),
    dateTo: text("dateTo"),
  };
}
