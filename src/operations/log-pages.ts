/**
 * Pages of a shop's logs, of requests and of changes. Their cost grows with the page. A page that walks through much of
 * a long log, to count or to find few matches among others, leaves the event loop.
 */
import { type AuditFilters, type AuditPosition, listAudit, walksAudit } from "../shop/audit/audit.ts";
import {
  type ChangeFilters,
  type ChangePosition,
  ordersOfRequests,
  pageOfChanges,
  walksChanges,
} from "../shop/order/changes.ts";
import type { Tx } from "../store/store.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "../base/cursor.ts";
import type { BroadContext } from "../requests/broad-read.ts";
import { rowsOnLoopMax } from "../requests/loop-limits.ts";

interface LogPageInput<Filters, Position> {
  readonly filters: Filters;
  /** Null: the first page. */
  readonly after: Position | null;
  readonly limit: number;
}

export const auditPage = {
  name: "audit_page",
  async run(
    tx: Tx,
    { shop: { shopId }, leaveLoop }: BroadContext,
    { filters, after, limit }: LogPageInput<AuditFilters, AuditPosition>,
  ) {
    if (await walksAudit(tx, shopId, filters, after, rowsOnLoopMax)) leaveLoop();
    const page = await listAudit(tx, shopId, filters, after, limit);
    return { ...page, orders: await ordersOfRequests(tx, shopId, page.entries) };
  },
};

export const changePage = {
  name: "change_page",
  async run(
    tx: Tx,
    { shop: { shopId }, leaveLoop }: BroadContext,
    { filters, after, limit }: LogPageInput<ChangeFilters, ChangePosition>,
  ) {
    if (await walksChanges(tx, shopId, filters, rowsOnLoopMax)) leaveLoop();
    return await pageOfChanges(tx, shopId, filters, after, limit);
  },
};

/** The cursor of a page of changes. */
export const changeCursor = (scope: CursorScope, end: ChangePosition | null): string | null =>
  end === null ? null : encodeCursor(scope, [end.atMs, end.id, end.totalCount]);

/** The position that a cursor of a page of changes has. @throws Fault INVALID_INPUT  as `decodeCursor`. */
export function changePositionFrom(scope: CursorScope, encoded: string): ChangePosition {
  const [atMs, entryId, totalCount] = decodeCursor(scope, encoded, ["number", "string", "number"]);
  return { atMs, id: entryId, totalCount };
}
