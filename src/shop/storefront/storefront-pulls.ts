/**
 * The pull of what a shop's storefront holds, as a row (C66): whether one is under way, where it stands, and which
 * process has it.
 *
 * Owns: the SQL of `storefront_pull`. Does not own: what is pulled (shop/catalogue/pulled-records.ts), when a page is
 * asked for (jobs/puller.ts).
 */
import { dayMs } from "../../base/time/calendar.ts";
import { clocksApartMsMax } from "../../core/access/rate-limit.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { Claims } from "../../store/claims.ts";
import type { DueRows, Tx } from "../../store/store.ts";
import { type Change, type Row, remove } from "../../store/change.ts";
import { type Columns, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

/**
 * A lease that ends later from now is from before the clock was set back. The longest is that of the puller
 * (`pullLimits.leaseMs`), and nodes' times differ a little (D74).
 */
export const leaseAheadMsMax = 120_000 + clocksApartMsMax;

/**
 * Pulls that go on now, those whose lease has ended, and hinted ones that begin: by these a node finds the shops that
 * have any.
 */
export const duePulls: DueRows = {
  table: "storefront_pull",
  condition: `due_at is not null and (due_at <= ? or due_at > ? + ${leaseAheadMsMax})`,
};

/** Pulls that are given back go on at once, in whatever process is next. */
export const pullClaims: Claims = { table: "storefront_pull", givenBack: "due_at = ?, lease_owner = null" };

/**
 * The steps of a pull, in their order. `sweep`: what a pull of everything has not seen is deleted at the storefront.
 * `settle`: demand is learned from the sales.
 */
export const pullSteps = ["locations", "variants", "sweep", "levels", "sales", "settle"] as const;

export type PullStep = (typeof pullSteps)[number];

/** Counts of a pull so far. */
export interface PullCounts {
  readonly locations: number;
  readonly variants: number;
  readonly levels: number;
  /** Orders of customers. */
  readonly sales: number;
  /** Variants that this pull has found deleted, or no longer for sale, with a few of their names. */
  readonly deleted: number;
  readonly deletedNames: readonly string[];
  readonly inactive: number;
  readonly inactiveNames: readonly string[];
}

const noCounts: PullCounts = {
  locations: 0,
  variants: 0,
  levels: 0,
  sales: 0,
  deleted: 0,
  deletedNames: [],
  inactive: 0,
  inactiveNames: [],
};

const pullFields = {
  pullId: { kind: "text" },
  state: { kind: "text" },
  /** Of everything; else of what has changed. */
  isFull: { kind: "boolean" },
  step: { kind: "text" },
  /** Number of times that levels have been read again, because they were being changed. */
  round: { kind: "integer" },
  /** Levels that this round has left out, because they were being changed. */
  skipped: { kind: "integer" },
  /** Things in this step, as far as the storefront says. */
  total: { kind: "integer", empty: null },
  notes: { kind: "strings" },
  error: { kind: "text", empty: null },
  changedSinceMs: { kind: "instant", empty: null },
  soldSinceMs: { kind: "instant" },
  startedAtMs: { kind: "instant" },
  stepStartedAtMs: { kind: "instant" },
  endedAtMs: { kind: "instant", empty: null },
  /** Attempts at the next page that have failed. */
  attempts: { kind: "integer" },
  dueAtMs: { kind: "instant", empty: null },
  leaseOwner: { kind: "text", empty: null },
  hintedAtMs: { kind: "instant", empty: null },
  pulledUntilMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** The shop's latest pull. */
export interface Pull extends ValuesOf<typeof pullFields> {
  readonly state: "running" | "done" | "failed";
  readonly step: PullStep;
  readonly cursor: string | null;
  readonly counts: PullCounts;
}

const pullColumns: Columns<Pull> = {
  ...columnsOf(pullFields),
  cursor_text: ({ cursor }) => cursor,
  counts: ({ counts }) => JSON.stringify(counts),
};

const pullFieldsFrom = recordReader<Omit<Pull, "cursor" | "counts">>(pullFields);

type PullRow = Row & { readonly cursor_text: string | null; readonly counts: string };

function pullFrom(row: PullRow): Pull {
  // Only this module writes them.
  const counts: PullCounts = JSON.parse(row.counts);
  return { ...pullFieldsFrom(row), cursor: row.cursor_text, counts };
}

const selectPull = `select ${Object.keys(pullColumns).join(", ")} from storefront_pull where shop_id = ?`;

const storePull = insertInto(tables.storefront_pull, [], pullColumns, Object.keys(pullColumns));

/** The shop's latest pull; null when there was none. */
export async function loadPull(tx: Tx, shopId: string): Promise<Pull | null> {
  const [row] = await tx.all<PullRow>(selectPull, [shopId]);
  return row === undefined ? null : pullFrom(row);
}

/** When something of the shop's pull is due; null: never. */
export async function pullDueAtMs(tx: Tx, shopId: string): Promise<number | null> {
  const [row] = await tx.all<{ due_at: number | null }>("select due_at from storefront_pull where shop_id = ?", [
    shopId,
  ]);
  return row?.due_at ?? null;
}

/** Stores the pull in the place of the one before. */
export const savePullStatement = (shopId: string, pull: Pull): Change => storePull([shopId], pull);

/** Time by which a pull reaches back beyond the latest one: clocks differ, and a change may become visible late. */
const overlapMs = 10 * 60 * 1_000;

/** Time for which sales are pulled. */
const salesReachMs = 365 * dayMs;

/**
 * A pull that begins now.
 *
 * @param before the latest one.
 * @param isFull everything is pulled, also when only changes would be needed.
 */
export function beganPull(before: Pull | null, isFull: boolean, pullId: string, nowMs: number): Pull {
  const pulledUntilMs = before?.pulledUntilMs ?? null;
  const changedSinceMs = isFull || pulledUntilMs === null ? null : pulledUntilMs - overlapMs;
  return {
    pullId,
    state: "running",
    isFull: changedSinceMs === null,
    step: "locations",
    cursor: null,
    round: 0,
    skipped: 0,
    counts: noCounts,
    total: null,
    notes: [],
    error: null,
    changedSinceMs,
    soldSinceMs: nowMs - salesReachMs,
    startedAtMs: nowMs,
    stepStartedAtMs: nowMs,
    endedAtMs: null,
    attempts: 0,
    dueAtMs: nowMs,
    leaseOwner: null,
    hintedAtMs: null,
    pulledUntilMs,
  };
}

/** Levels that have changed since then are asked for anew, when some were left out of a round. */
export const roundChangesSinceMs = (pull: Pull): number => pull.startedAtMs - overlapMs;

/**
 * Begins a pull; while one is under way, that is it.
 *
 * @returns the pull, as it is now.
 */
export async function askForPull(
  tx: Tx,
  shopId: string,
  isFull: boolean,
  pullId: string,
  nowMs: number,
): Promise<Pull> {
  const found = await loadPull(tx, shopId);
  if (found?.state === "running") return found;
  const begun = beganPull(found, isFull, pullId, nowMs);
  await tx.batch([savePullStatement(shopId, begun)]);
  return begun;
}

/**
 * Notes that something has changed at the storefront: what has changed is pulled soon. Nothing is, before a first pull
 * was done.
 *
 * @returns when; null when the pull under way sees to it, or nothing is to be done.
 */
export async function hintPull(tx: Tx, shopId: string, nowMs: number): Promise<number | null> {
  const found = await loadPull(tx, shopId);
  if (found === null || found.pulledUntilMs === null || found.hintedAtMs !== null) return null;
  const dueAtMs = found.state === "running" ? found.dueAtMs : hintedDueAtMs(found, nowMs);
  await tx.batch([savePullStatement(shopId, { ...found, hintedAtMs: nowMs, dueAtMs })]);
  return found.state === "running" ? null : dueAtMs;
}

/** A lease as a process takes it. */
interface PullLease {
  readonly owner: string;
  readonly untilMs: number;
}

/**
 * Renews the lease of a running pull.
 *
 * @returns false when another process has it, or it is over: nothing of it may be written then.
 */
export async function renewPull(tx: Tx, shopId: string, pullId: string, lease: PullLease): Promise<boolean> {
  const rows = await tx.all(
    `update storefront_pull set due_at = ?
     where shop_id = ? and pull_id = ? and lease_owner = ? and state = 'running' returning pull_id`,
    [lease.untilMs, shopId, pullId, lease.owner],
  );
  return rows.length > 0;
}

/** Between a hint and the pull of what has changed: more hints come with the first. */
export const hintWaitMs = 10_000;

/** Between the end of a pull and the next one that is hinted at. */
export const hintedPullEveryMs = 60_000;

/** When a pull that is hinted at begins. */
export const hintedDueAtMs = (pull: Pick<Pull, "endedAtMs">, hintedAtMs: number): number =>
  Math.max(hintedAtMs + hintWaitMs, (pull.endedAtMs ?? 0) + hintedPullEveryMs);

/** The shop leaves its storefront: nothing more is pulled from it. What was pulled stays. */
export const forgetPullStatement = (shopId: string): Change => remove(tables.storefront_pull, shopId);
