/**
 * An import under way (table `import_run`): its state, and the lease by which one process works on it (I5 of
 * import.ts).
 *
 * Owns: beginning, renewing, taking over, releasing and ending. Does not own: the staged records (staging.ts) or their
 * way into the tables (import-chunks.ts).
 */
import { sleep } from "../base/time/waiting.ts";
import type { Actor } from "../core/access/actor.ts";
import { Fault } from "../base/fault.ts";
import { actorOf } from "../requests/caller.ts";
import type { InventoryLevel, Variant } from "../shop/catalogue/catalogue.ts";
import { clocksApartMsMax } from "../core/access/rate-limit.ts";
import { eventStatements } from "../shop/events/events.ts";
import { type Claims, claimedBy, giveBackClaims } from "../store/claims.ts";
import type { LoopShare } from "../store/loop-share.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { DueRows, Engine, Tx } from "../store/store.ts";
import { type Change, insert, update, remove, above } from "../store/change.ts";
import { tables } from "../shop/tables.ts";

/** Duration of a lease that nobody renews. */
const leaseMs = 60_000;

/** A lease that ends later from now is from before the clock was set back. Nodes' times differ a little (D74). */
const leaseAheadMsMax = leaseMs + clocksApartMsMax;

/**
 * Imports whose lease has ended, or was taken before the clock was set back: by these a node finds what another one has
 * left.
 */
export const dueImports: DueRows = {
  table: "import_run",
  condition: `leased_until <= ? or leased_until > ? + ${leaseAheadMsMax}`,
};

/** Imports that are given back are taken up by the next search. */
export const importClaims: Claims = { table: "import_run", givenBack: "leased_until = ?, lease_owner = null" };

/** Interval at which a lease is renewed while an import waits for its file. */
const renewMs = 15_000;

/** Between two checks whether another process has finished an import. */
const pollMs = 250;

/** Seeds the shop's storefront with imported variants and levels where that is the sandbox. Repeatable. */
type SeedStorefront = (
  shopId: string,
  variants: readonly Variant[],
  levels: readonly InventoryLevel[],
) => Promise<void>;

/** Dependencies of an import on its process. */
export interface ImportContext {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Sharing of the event loop among the shops of this process. */
  readonly loop: LoopShare;
  readonly seedStorefront: SeedStorefront;
}

/** One process's lease of one import. */
export interface ImportLease {
  readonly shopId: string;
  readonly importId: string;
  readonly owner: string;
}

/** `staging`: a crash discards it. `committed`: a crash leaves it to be finished. */
type ImportState = "staging" | "committed";

/** Begins an import with this process as the owner of its lease. */
export async function beginImport({ engine, clock, ids }: ImportContext, shopId: string): Promise<ImportLease> {
  const lease: ImportLease = { shopId, importId: ids.next("imp"), owner: ids.claimant() };
  await engine.write(shopId, (tx) =>
    tx.batch([
      insert(tables.import_run, shopId, {
        import_id: lease.importId,
        state: "staging",
        started_at: clock.now(),
        lease_owner: lease.owner,
        leased_until: clock.now() + leaseMs,
      }),
    ]),
  );
  return lease;
}

/** Renews the lease. @returns the import's state; null when another process has the lease, or the import has ended. */
export async function renewLease(
  { clock }: ImportContext,
  tx: Tx,
  { shopId, importId, owner }: ImportLease,
): Promise<ImportState | null> {
  const [run] = await tx.all<{ state: ImportState }>(
    `update import_run set leased_until = ? where shop_id = ? and import_id = ? and lease_owner = ?
     returning state`,
    [clock.now() + leaseMs, shopId, importId, owner],
  );
  return run?.state ?? null;
}

/** Renews the lease. @throws Fault DO_UNAVAILABLE when another process has it, or the import has ended. */
export async function requireLease(context: ImportContext, tx: Tx, lease: ImportLease): Promise<void> {
  if ((await renewLease(context, tx, lease)) !== null) return;
  throw new Fault(
    "DO_UNAVAILABLE",
    "The import made no progress for so long that it was discarded; nothing was imported.",
    {
      action: "Send the whole file again.",
      retryAfterMs: 1_000,
    },
  );
}

/** Renews the lease while `work` runs, however long it waits for its file or for the storefront. */
export async function keepingLease<T>(context: ImportContext, lease: ImportLease, work: () => Promise<T>): Promise<T> {
  const renewing = setInterval(() => {
    // A failed renewal is retried by the next. Work that has lost its lease notices at its next step.
    context.engine.write(lease.shopId, (tx) => renewLease(context, tx, lease), { durable: false }).catch(() => {});
  }, renewMs);
  renewing.unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
  }
}

/** True if this process still has the lease, without renewing it. */
export async function hasLease(tx: Tx, { shopId, importId, owner }: ImportLease): Promise<boolean> {
  const rows = await tx.all<{ import_id: string }>(
    "select import_id from import_run where shop_id = ? and import_id = ? and lease_owner = ?",
    [shopId, importId, owner],
  );
  return rows.length > 0;
}

/**
 * Has leases from before the clock was set back end when one that begins now would. A process that is still at work
 * renews it before that.
 */
export async function shortenLeases({ engine, clock }: ImportContext, shopId: string): Promise<void> {
  const nowMs = clock.now();
  const params = [shopId, nowMs + leaseAheadMsMax];
  const found = await engine.peek(shopId, (tx) =>
    tx.all("select 1 as found from import_run where shop_id = ? and leased_until > ? limit 1", params),
  );
  if (found.length === 0) return;
  const ahead = { leased_until: above(nowMs + leaseAheadMsMax) };
  await engine.write(shopId, (tx) =>
    tx.batch([update(tables.import_run, shopId, ahead, { leased_until: nowMs + leaseMs })]),
  );
}

/** The ids of imports whose lease has ended by then, oldest first. */
export async function abandonedImports(tx: Tx, shopId: string, endedByMs: number): Promise<readonly string[]> {
  const rows = await tx.all<{ import_id: string }>(
    `select import_id from import_run where shop_id = ? and coalesce(leased_until, 0) <= ?
     order by started_at, import_id`,
    [shopId, endedByMs],
  );
  return rows.map((row) => row.import_id);
}

/** Takes over an import whose lease has ended by then. @returns its state; null when another process was first. */
export async function takeOverLease(
  { clock }: ImportContext,
  tx: Tx,
  { shopId, importId, owner }: ImportLease,
  endedByMs: number,
): Promise<ImportState | null> {
  const [run] = await tx.all<{ state: ImportState }>(
    `update import_run set lease_owner = ?, leased_until = ?
     where shop_id = ? and import_id = ? and coalesce(leased_until, 0) <= ? returning state`,
    [owner, clock.now() + leaseMs, shopId, importId, endedByMs],
  );
  return run?.state ?? null;
}

/** Ends the lease, so that another process can take the import over at once. */
export const releaseLease = ({ engine, clock }: ImportContext, { shopId, owner }: ImportLease): Promise<void> =>
  engine.write(shopId, (tx) => tx.batch([giveBackClaims(importClaims, shopId, claimedBy(owner), clock.now())]));

/** Records of a type that an event or an audit row of an import names. */
export const recordsNamedMax = 100;

/** The types of records that are named. */
export const namedTypes = [
  "purchaseOrder",
  "transferOrder",
  "manufacturingOrder",
  "stockTake",
  "stockAdjustment",
] as const;

type NamedType = (typeof namedTypes)[number];

/** Records of a file by their ids, the first ones of each type; `…Truncated`: the file has more than are named. */
export type NamedRecords = { readonly [Type in NamedType as `${Type}Ids`]?: readonly string[] } & {
  readonly [Type in NamedType as `${Type}IdsTruncated`]?: boolean;
};

/** Records that a committed import has brought in, its caller and its request. */
export interface ImportSummary extends NamedRecords {
  readonly counts: Readonly<Record<string, number>>;
  readonly requestId: string;
  /** Null, or absent in one that an earlier version has committed: the operator. */
  readonly by?: Actor | null;
}

/** Ends the import without a trace. Its staged records must be gone. */
export const endStatement = ({ shopId, importId }: ImportLease): Change =>
  remove(tables.import_run, shopId, { import_id: importId });

const summaryOf = (summary: string | null | undefined): ImportSummary | null =>
  summary === null || summary === undefined ? null : JSON.parse(summary);

/** Who imports in a committed import, and in which request. */
export async function importedBy(
  tx: Tx,
  { shopId, importId }: ImportLease,
): Promise<{ readonly actor: Actor; readonly requestId: string }> {
  const [run] = await tx.all<{ summary: string | null }>(
    "select summary from import_run where shop_id = ? and import_id = ?",
    [shopId, importId],
  );
  const { by = null, requestId = importId } = summaryOf(run?.summary) ?? {};
  return { actor: by ?? actorOf(null), requestId };
}

/** Ends an import that has been applied whole, with the event that tells of it. */
export async function completeImport(
  { clock, ids }: ImportContext,
  tx: Tx,
  { shopId, importId }: ImportLease,
): Promise<void> {
  const [run] = await tx.all<{ summary: string | null }>(
    "delete from import_run where shop_id = ? and import_id = ? returning summary",
    [shopId, importId],
  );
  const summary = summaryOf(run?.summary);
  // Another process has ended it, an earlier version has committed it, or the file was empty.
  if (summary === null) return;
  const { counts, requestId, by, ...named } = summary;
  if (Object.keys(counts).length === 0) return;
  const actor = by ?? actorOf(null);
  await tx.batch(
    eventStatements(
      shopId,
      { type: "import.completed", data: { counts, ...named } },
      { actor, requestId, nowMs: clock.now(), ids },
    ),
  );
}

/** Waits until the process that has the import has ended it. */
export async function untilEnded({ engine }: ImportContext, { shopId, importId }: ImportLease): Promise<void> {
  const find = (tx: Tx): Promise<unknown[]> =>
    tx.all("select import_id from import_run where shop_id = ? and import_id = ?", [shopId, importId]);
  while ((await engine.read(shopId, find)).length > 0) await sleep(pollMs);
}
