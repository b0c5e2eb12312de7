/**
 * Retention of a shop's audit log, as the log itself shows it. Each change of the setting or its floor has a row in the
 * chain with the old and the new value. Each pruning has one with the rows it took and the setting behind it. So
 * verification can tell a pruning from rows that somebody took out. It can tell the setting that held from one that
 * somebody wrote into the database for a while.
 */
import { dayMs } from "../../base/time/calendar.ts";
import type { Tx } from "../../store/store.ts";
import { loadShop, type Shop } from "../access/accounts.ts";
import { type AuditEntry, newestRowsOf } from "./audit.ts";
import type { Chain, ChainPoint } from "./audit-chain.ts";

/** The operations that the rows name. */
export const retentionChange = "audit_retention_change";
const auditPruning = "audit_log_prune";

/** Rows of each kind that verification looks at. */
const retentionRowsMax = 1_000;

/** A request that began under the setting before may prune by it for so long. */
const underWayMs = 3_600_000;

/** Detail of the row of a change. Days; 0: for good. */
interface RetentionChange {
  readonly auditRetentionDays: { readonly before: number; readonly after: number };
  /** Absent: it did not change. */
  readonly auditRetentionFloorDays?: { readonly before: number; readonly after: number };
}

type Retained = Pick<Shop, "auditRetentionDays" | "auditRetentionFloorDays">;

/** Detail of the row of a pruning: the last link that was deleted, and why its rows were old enough. */
interface Pruning extends ChainPoint {
  readonly rowsBefore: string;
  readonly auditRetentionDays: number;
}

/** The detail of a change of the retention or its floor; null when neither has changed. */
export function changeDetail(
  { auditRetentionDays: before, auditRetentionFloorDays: floorBefore }: Retained,
  { auditRetentionDays: after, auditRetentionFloorDays: floorAfter }: Retained,
): string | null {
  if (before === after && floorBefore === floorAfter) return null;
  return JSON.stringify({
    auditRetentionDays: { before, after },
    ...(floorBefore === floorAfter ? {} : { auditRetentionFloorDays: { before: floorBefore, after: floorAfter } }),
  } satisfies RetentionChange);
}

/** The row of a pruning. The service prunes by itself: it has neither a key nor a person. */
export const pruningEntry = (
  shopId: string,
  { position, hash }: ChainPoint,
  pruned: { readonly auditRetentionDays: number; readonly untilMs: number; readonly nowMs: number },
  ids: { readonly auditId: string; readonly requestId: string },
): AuditEntry => ({
  ...ids,
  atMs: pruned.nowMs,
  traceId: null,
  spanId: null,
  tag: `console:${auditPruning}`,
  keyId: null,
  personId: null,
  method: "DELETE",
  path: `/admin/v1/shops/${shopId}/audit-log`,
  status: 200,
  errorCode: null,
  durationMs: 0,
  replayed: false,
  count: 1,
  detail: JSON.stringify({
    position,
    hash,
    rowsBefore: new Date(pruned.untilMs).toISOString(),
    auditRetentionDays: pruned.auditRetentionDays,
  } satisfies Pruning),
});

/** A row with what its detail tells. */
interface Detailed<Detail> {
  readonly auditId: string;
  readonly atMs: number;
  readonly detailed: Detail;
}

/** Rows with a detail. Only this file writes it; a row that somebody has changed is found by its digest. */
function detailed<Detail>(entries: readonly AuditEntry[]): readonly Detailed<Detail>[] {
  return entries.flatMap(({ auditId, atMs, detail }) => {
    if (detail === undefined || !/^\{.*\}$/.test(detail)) return [];
    const parsed: Detail = JSON.parse(detail);
    return [{ auditId, atMs, detailed: parsed }];
  });
}

/**
 * Rows that are missing from the beginning of the log, though they were not old enough. `auditId`: the row that shows
 * it.
 */
interface MissingRows {
  readonly auditId: string | null;
  readonly atMs: number | null;
  readonly position: number;
  readonly message: string;
}

/** Rows that are missing from the beginning of the log, though younger than the retention that held (§7). */
export async function missingBeginning(tx: Tx, shopId: string, chain: Chain): Promise<readonly MissingRows[]> {
  const { position, hash } = chain.anchor;
  if (position === 0) return [];
  const [shop, changeRows, pruningRows] = await Promise.all([
    loadShop(tx, shopId),
    newestRowsOf(tx, shopId, retentionChange, retentionRowsMax),
    newestRowsOf(tx, shopId, auditPruning, retentionRowsMax),
  ]);
  const changes = detailed<RetentionChange>(changeRows);
  const prunings = detailed<Pruning>(pruningRows);
  const missing: MissingRows[] = [];
  const isRecorded = prunings.some(
    (pruning) => pruning.detailed.position === position && pruning.detailed.hash === hash,
  );
  if (position > chain.unrecordedAnchor && !isRecorded)
    missing.push({
      auditId: null,
      atMs: null,
      position,
      message: `The log begins after link ${position}, and no row tells that links up to there were pruned: their rows were taken out, or a release without such rows has pruned them.`,
    });
  for (const { auditId, atMs, detailed: pruning } of prunings) {
    const held = retentionAt(changes, atMs, shop?.auditRetentionDays ?? 0);
    const kept = held === 0 ? Number.POSITIVE_INFINITY : held;
    const tookDays = Math.floor((atMs - Date.parse(pruning.rowsBefore)) / dayMs);
    if (Math.min(pruning.auditRetentionDays, tookDays) >= kept) continue;
    missing.push({
      auditId,
      atMs,
      position: pruning.position,
      message: `Rows of the last ${held === 0 ? "days, all of which were to be kept," : `${held} days`} are missing: those older than ${Math.min(pruning.auditRetentionDays, tookDays)} days were deleted, up to link ${pruning.position}, and no row tells that auditRetentionDays was so small.`,
    });
  }
  return missing;
}

/**
 * The least retention that held about then, as rows tell it. @param changes  newest first. @param now  the setting now.
 */
function retentionAt(changes: readonly Detailed<RetentionChange>[], atMs: number, now: number): number {
  const isBefore = (change: Detailed<RetentionChange>): boolean => change.atMs <= atMs - underWayMs;
  const standing = changes.find(isBefore)?.detailed.auditRetentionDays.after;
  const first = changes.at(-1)?.detailed.auditRetentionDays.before;
  const since = changes
    .filter((change) => !isBefore(change) && change.atMs <= atMs)
    .map((change) => change.detailed.auditRetentionDays.after);
  const finite = [standing ?? first ?? now, ...since].filter((days) => days !== 0);
  return finite.length === 0 ? 0 : Math.min(...finite);
}
