/**
 * Import: brings a file of records into a shop, all or nothing (contract §7, §8).
 *
 * Owns: the order of the steps, and what is left of an import after a crash. Does not own: reading a file (ndjson.ts,
 * csv-formats.ts), staging (staging.ts), the lease (import-run.ts), the way into the tables (import-chunks.ts).
 *
 * A file may be larger than memory, and importing it takes longer than a shop can wait. So it is neither held in memory
 * nor written in one transaction: each record is checked and staged in the shop's database as it arrives. When the last
 * record is in and the numbers do not conflict, one write commits the import. From then on its records are applied, a
 * chunk per turn.
 *
 * Invariants:
 * - I1. Nothing of an import that is refused, cut off, or still staged when its process dies is ever visible.
 * - I2. A committed import is applied to its end. Work that a crash leaves is applied after the next start, before the
 *       shop is served. Where there are other nodes, one of them applies it soon after (D473).
 * - I3. The answer leaves when the last record is in its table. Until then calls may see the chunks applied so far. An
 *       import of at most `chunkWeightMax` rows appears at once.
 * - I4. Memory is bounded by `lineBytesMax` and a chunk; a turn of the shop by a chunk.
 * - I5. Only the owner of an import's lease stages, commits, discards and applies it. It renews the lease while it
 *   works.
 */
import type { Actor } from "../core/access/actor.ts";
import { type Shop, loadShop } from "../shop/access/accounts.ts";
import { FileFaults, type FileFormat } from "./file-format.ts";
import { applyImport } from "./import-chunks.ts";
import {
  type ImportContext,
  type ImportLease,
  abandonedImports,
  beginImport,
  keepingLease,
  type NamedRecords,
  shortenLeases,
  releaseLease,
  takeOverLease,
  untilEnded,
} from "./import-run.ts";
import { type ImportPreview, previewImport } from "./import-preview.ts";
import { ndjson } from "./ndjson.ts";
import {
  commitStaged,
  discardStaged,
  refuseRepeats,
  stagedNames,
  stagedReplacements,
  stageRecords,
} from "./staging.ts";

/** For whom a file is imported. */
interface ImportedFor {
  /** A person of the shop: what is there keeps its history. Null: the operator, whose records are taken as they are. */
  readonly by?: Actor | null;
  readonly onNamed?: (records: NamedRecords) => void;
}

/**
 * Imports a file of records into the shop, all or nothing. A record replaces the one with the same key.
 *
 * @param body    the file, in pieces of any size.
 * @param format  how it is read.
 * @param given   who imports, and who is told which orders, transfers and the like came in.
 * @returns how many records of each type were imported.
 * @throws Fault INVALID_INPUT   lines are no records, break a rule, or have a number that another order has; it names
 *                               them.
 * @throws Fault DO_UNAVAILABLE  it made no progress for so long that another node discarded it.
 * Source: contract §7, §8; C29, C34, C41.
 */
export async function importRecords(
  context: ImportContext,
  shop: Shop,
  body: AsyncIterable<Uint8Array>,
  requestId: string,
  format: FileFormat = ndjson,
  { by = null, onNamed }: ImportedFor = {},
): Promise<Readonly<Record<string, number>>> {
  const { engine } = context;
  const { shopId } = shop;
  const lease = await beginImport(context, shopId);
  return await keepingLease(context, lease, async () => {
    let counts: Readonly<Record<string, number>> = {};
    try {
      const faults = new FileFaults();
      const staged = await stageRecords(context, shop, lease, { requestId, by }, format.records(body, faults), faults);
      counts = staged.counts;
      if (format.refusesRepeats) await engine.peek(shopId, (tx) => refuseRepeats(tx, lease, faults));
      const named = await engine.peek(shopId, (tx) => stagedNames(tx, lease));
      const summary = { counts, requestId, by, ...named };
      await engine.write(shopId, (tx) =>
        commitStaged(context, tx, lease, { poNumberMax: staged.poNumberMax, summary }),
      );
      onNamed?.(named);
    } catch (error) {
      // A commit that was reported as failed may have been kept: then the import goes on.
      if (!(await discardStaged(context, lease))) throw error;
    }
    if (!(await applyImport(context, shop, lease, null))) await untilEnded(context, lease);
    return counts;
  });
}

/** Records that a file would bring in. */
interface Checked {
  readonly counts: Readonly<Record<string, number>>;
  /** Of locations, suppliers and variants: how many replace a record of the shop. */
  readonly replaced: Readonly<Record<string, number>>;
  readonly preview: ImportPreview;
}

/**
 * Checks a file as `importRecords` does and leaves nothing of it. Whether another order has an order's number is
 * checked by the import alone.
 *
 * @throws Fault INVALID_INPUT   lines are no records or break a rule; it names them.
 * @throws Fault DO_UNAVAILABLE  it made no progress for so long that another node discarded it.
 */
export async function checkRecords(
  context: ImportContext,
  shop: Shop,
  body: AsyncIterable<Uint8Array>,
  requestId: string,
  format: FileFormat = ndjson,
  by: Actor | null = null,
): Promise<Checked> {
  const { engine } = context;
  const { shopId } = shop;
  const lease = await beginImport(context, shopId);
  return await keepingLease(context, lease, async () => {
    try {
      const faults = new FileFaults();
      const { counts } = await stageRecords(
        context,
        shop,
        lease,
        { requestId, by },
        format.records(body, faults),
        faults,
      );
      if (format.refusesRepeats) await engine.peek(shopId, (tx) => refuseRepeats(tx, lease, faults));
      const replaced = await engine.peek(shopId, (tx) => stagedReplacements(tx, lease));
      return { counts, replaced, preview: await previewImport(context, shop, lease) };
    } finally {
      await discardStaged(context, lease);
    }
  });
}

interface RecoverOptions {
  /** True if no other process is on the store: then every import is abandoned, whatever its lease says. */
  readonly alone: boolean;
  /** Stops between two chunks; other nodes can go on at once. */
  readonly signal?: AbortSignal;
}

/**
 * Finishes the committed imports of processes that died and discards the staged ones (I1, I2). A single process calls
 * it before it serves the shop; one of several nodes calls it from time to time.
 */
export async function recoverImports(context: ImportContext, shopId: string, options: RecoverOptions): Promise<void> {
  const { alone, signal = null } = options;
  if (!alone) await shortenLeases(context, shopId);
  const endedByMs = alone ? Number.MAX_SAFE_INTEGER : context.clock.now();
  const [shop, importIds] = await context.engine.peek(shopId, (tx) =>
    Promise.all([loadShop(tx, shopId), abandonedImports(tx, shopId, endedByMs)]),
  );
  for (const importId of importIds) {
    if (signal?.aborted === true) return;
    const lease: ImportLease = { shopId, importId, owner: context.ids.claimant() };
    const state = await context.engine.write(shopId, (tx) => takeOverLease(context, tx, lease, endedByMs));
    if (state === null) continue;
    await keepingLease(context, lease, async () => {
      if (shop === null || state === "staging") await discardStaged(context, lease);
      else if (!(await applyImport(context, shop, lease, signal))) await releaseLease(context, lease);
    });
  }
}
