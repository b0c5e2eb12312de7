/**
 * Faults that the operator sets (contract §7): kept as rows, and found for each call.
 *
 * Owns: which fault hits a call, and how often it still may. Does not own: what a hit call answers (calls.ts,
 * platform.ts).
 */
import type { Statement, Tx } from "../../store/store.ts";

/** The calls of the port, by the name under which they are counted and made to fail. */
export const sandboxCalls = [
  "checkVariants",
  "activateVariants",
  "changeOnHand",
  "readOnHand",
  "setIncoming",
  "writeCosts",
  "readCosts",
  "setTags",
] as const;

export type SandboxCall = (typeof sandboxCalls)[number];

export const sandboxFaultOutcomes = ["error", "throttled", "timeout", "refused", "lost-response"] as const;

type SandboxFaultOutcome = (typeof sandboxFaultOutcomes)[number];

/** A fault, and when it happens (contract §7). */
export interface SandboxFault {
  readonly call: SandboxCall | "*";
  /**
   * `error`, `throttled`, `timeout` (nothing happened) and `lost-response` (it happened) fail the whole call when one
   * of the variants is in it. `refused` rejects only those items. On calls that only read, a refused item reads as
   * unsyncable, not verified or without a cost.
   */
  readonly outcome: SandboxFaultOutcome;
  /** Null: any call, or any item. */
  readonly variantIds: readonly string[] | null;
  /** Number of calls that it hits. Null: until the faults are replaced. */
  readonly times: number | null;
}

export interface SandboxFaults {
  /** Every call takes this long. */
  readonly latencyMs: number;
  /** Between accepting an on-hand change and the change being readable. */
  readonly applyDelayMs: number;
  readonly faults: readonly SandboxFault[];
}

/** Neither delays nor faults. */
export const noFaults: SandboxFaults = { latencyMs: 0, applyDelayMs: 0, faults: [] };

interface FaultRow {
  readonly position: number;
  readonly call: SandboxCall | "*";
  readonly outcome: SandboxFaultOutcome;
  readonly variant_ids: string | null;
  readonly times_left: number | null;
}

/** Effects of the faults on one call. */
export interface CallFaults {
  readonly latencyMs: number;
  readonly applyDelayMs: number;
  /** A fault hits the call. */
  readonly isHit: boolean;
  /** Fault that fails the call as a whole; null without one. */
  readonly wholeCall: Exclude<SandboxFaultOutcome, "refused"> | null;
  readonly isRefused: (variantId: string) => boolean;
}

/**
 * Finds the faults that hit a call and counts each of them as used once. The first one that fails the whole call wins;
 * items are refused only by a call that happens.
 */
export async function useFaults(
  tx: Tx,
  shopId: string,
  call: SandboxCall,
  variantIds: readonly string[],
): Promise<CallFaults> {
  const [[delay], rows] = await Promise.all([
    tx.all<{ latency_ms: number; apply_delay_ms: number }>(
      "select latency_ms, apply_delay_ms from sandbox_delay where shop_id = ?",
      [shopId],
    ),
    tx.all<FaultRow>(
      `select position, call, outcome, variant_ids, times_left from sandbox_fault
       where shop_id = ? and call in (?, '*') order by position`,
      [shopId, call],
    ),
  ]);
  const inCall = new Set(variantIds);
  const matching = rows.flatMap((row) => {
    const ids: readonly string[] | null = row.variant_ids === null ? null : JSON.parse(row.variant_ids);
    const hits = row.times_left !== 0 && (ids === null || ids.some((id) => inCall.has(id)));
    return hits ? [{ row, outcome: row.outcome, ids: ids === null ? null : new Set(ids) }] : [];
  });
  const whole = matching.find((fault) => fault.outcome !== "refused");
  const refusing = matching.filter((fault) => fault.outcome === "refused");
  const happens = whole === undefined || whole.outcome === "lost-response";
  const used = [...(whole === undefined ? [] : [whole]), ...(happens ? refusing : [])];
  await tx.batch(
    used
      .filter(({ row }) => row.times_left !== null)
      .map(({ row }) => ({
        sql: "update sandbox_fault set times_left = times_left - 1 where shop_id = ? and position = ?",
        params: [shopId, row.position],
      })),
  );
  return {
    latencyMs: delay?.latency_ms ?? 0,
    applyDelayMs: delay?.apply_delay_ms ?? 0,
    isHit: used.length > 0,
    wholeCall: whole === undefined || whole.outcome === "refused" ? null : whole.outcome,
    isRefused: (variantId) => refusing.some(({ ids }) => ids === null || ids.has(variantId)),
  };
}

/** Replaces delays and all faults. */
export const faultStatements = (shopId: string, faults: SandboxFaults): readonly Statement[] => [
  { sql: "delete from sandbox_fault where shop_id = ?", params: [shopId] },
  {
    sql: `insert into sandbox_delay (shop_id, latency_ms, apply_delay_ms) values (?, ?, ?)
          on conflict (shop_id) do update set
            latency_ms = excluded.latency_ms, apply_delay_ms = excluded.apply_delay_ms`,
    params: [shopId, faults.latencyMs, faults.applyDelayMs],
  },
  ...faults.faults.map((fault, position) => ({
    sql: "insert into sandbox_fault (shop_id, position, call, outcome, variant_ids, times_left) values (?, ?, ?, ?, ?, ?)",
    params: [
      shopId,
      position,
      fault.call,
      fault.outcome,
      fault.variantIds === null ? null : JSON.stringify(fault.variantIds),
      fault.times,
    ],
  })),
];
