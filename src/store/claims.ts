/**
 * Rows that a process has to itself for a time, and how they are given back: by itself when it stops, by the next one on a store that has one
 * process, and by the other nodes when it has died (C38).
 *
 * Owns: the form of these rows. Does not own: when a row is claimed, and what for.
 */
import type { Statement } from "./store.ts";

/** A table with such rows. */
export interface Claims {
  readonly table: string;
  /** What gives a row back: the assignments of an `update`, with a `?` for the time. */
  readonly givenBack: string;
  /** A condition that holds for every claimed row, where an index needs it. */
  readonly among?: string;
}

/** Whose claims, as a condition on `lease_owner` with one `?`. */
interface Claimants {
  readonly condition: string;
  readonly name: string;
}

export const claimedBy = (claimant: string): Claimants => ({ condition: "lease_owner = ?", name: claimant });

export const claimedByOthers = (claimant: string): Claimants => ({ condition: "lease_owner <> ?", name: claimant });

/** Under any name of the process (`Ids.claimant`). */
export const claimedByProcess = (processName: string): Claimants => ({
  condition: "lease_owner like ?",
  name: `${processName}.%`,
});

/** Which claimed rows of the table these are. */
export const whereClaimed = ({ among }: Claims, { condition }: Claimants): string =>
  among === undefined ? condition : `${among} and ${condition}`;

/** Gives the shop's rows back that these have claimed. */
export const giveBackClaims = (claims: Claims, shopId: string, whose: Claimants, nowMs: number): Statement => ({
  sql: `update ${claims.table} set ${claims.givenBack} where shop_id = ? and ${whereClaimed(claims, whose)}`,
  params: [nowMs, shopId, whose.name],
});
