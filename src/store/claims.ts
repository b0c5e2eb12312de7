/**
 * Rows that a process has to itself for a time, and how they are given back. A process that stops gives back its own.
 * For one that has died the next process on the store does it, or another node (C38).
 *
 * Owns: the form of these rows. Does not own: when a row is claimed, and what for.
 */
import { type NewValues, plus } from "./change.ts";
import type { Statement } from "./store.ts";

/** A table with such rows. */
export interface Claims {
  readonly table: string;
  /** Column of the claimant; absent: `lease_owner`. */
  readonly column?: string;
  /** Assignments of the `update` that gives a row back, with a `?` for the time. */
  readonly givenBack: string;
  /** A condition that holds for every claimed row, where an index needs it. */
  readonly among?: string;
}

/** Holders of claims: what the column of the claimant is compared with, with one `?`. */
interface Claimants {
  readonly comparison: string;
  readonly name: string;
}

export const claimedBy = (claimant: string): Claimants => ({ comparison: "= ?", name: claimant });

export const claimedByOthers = (claimant: string): Claimants => ({ comparison: "<> ?", name: claimant });

/** Claims under any name of the process (`Ids.claimant`). */
export const claimedByProcess = (processName: string): Claimants => ({
  comparison: "like ?",
  name: `${processName}.%`,
});

/** Condition for the claimed rows of the table. */
export const whereClaimed = ({ among, column = "lease_owner" }: Claims, { comparison }: Claimants): string =>
  `${among === undefined ? "" : `${among} and `}${column} ${comparison}`;

/** New values of a claimed row whose attempt was not made, or did not end: it does not count. */
export const unattempted = (dueAtMs: number | null): NewValues => ({
  due_at: dueAtMs,
  lease_owner: null,
  attempts: plus(-1),
});

/** Gives back the rows of the shop that these have claimed. */
export const giveBackClaims = (claims: Claims, shopId: string, whose: Claimants, nowMs: number): Statement => ({
  sql: `update ${claims.table} set ${claims.givenBack} where shop_id = ? and ${whereClaimed(claims, whose)}`,
  params: [nowMs, shopId, whose.name],
});
