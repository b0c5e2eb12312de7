/**
 * Preview of an import: what its staged records would change, field by field. It decides as the import does
 * (record-type.ts), and tells what the histories of the records will (C85).
 *
 * Does not own: staging (staging.ts). Types without a history are not looked at: the counts tell of them. A file that
 * names the entry of a merged supplier by both ids is told of each as if it came alone.
 */
import type { Shop } from "../shop/access/accounts.ts";
import type { ShownChange } from "../shop/catalogue/record-log.ts";
import { loadMerges } from "../shop/catalogue/supplier-merges.ts";
import type { Tx } from "../store/store.ts";
import { runsOf } from "./import-chunks.ts";
import type { ImportContext, ImportLease } from "./import-run.ts";
import { isRecordType, recordTypes } from "./record-types.ts";
import type { RecordType } from "./record-type.ts";
import { stagedRecords } from "./staging.ts";

/** Records of a file that a preview looks at. */
export const previewRecordsMax = 20_000;

/** Records of a type that a preview shows with what changes in each. */
export const previewRowsMax = 20;

/** Records that are looked at in one turn of the shop. */
const chunkRecords = 250;

/** Records of the shop in which a field changes: that had another value, had none, will have none. */
interface FieldCounts {
  changed: number;
  added: number;
  cleared: number;
}

interface PreviewedRow {
  readonly recordId: string;
  readonly lineNumber: number;
  readonly changes: readonly ShownChange[];
}

/** Effects of a file on the records of a type. */
interface TypePreview {
  readonly type: string;
  created: number;
  changed: number;
  unchanged: number;
  readonly fields: Map<string, FieldCounts>;
  /** The first ones that change. */
  readonly rows: PreviewedRow[];
}

/** Effects of a file. */
export interface ImportPreview {
  /** True if the file has more records than are looked at. */
  readonly isTruncated: boolean;
  readonly types: readonly TypePreview[];
}

interface StagedRow {
  readonly position: number;
  readonly line_number: number;
  readonly type: string;
  readonly record_id: string;
  readonly record: string;
}

const stagedAfter = (
  tx: Tx,
  { shopId, importId }: ImportLease,
  position: number,
  limit: number,
): Promise<StagedRow[]> =>
  tx.all<StagedRow>(
    `select position, line_number, type, record_id, record from import_record
     where shop_id = ? and import_id = ? and position > ? order by position limit ?`,
    [shopId, importId, position, limit],
  );

const emptyPreview = (type: string): TypePreview => ({
  type,
  created: 0,
  changed: 0,
  unchanged: 0,
  fields: new Map(),
  rows: [],
});

function countField(fields: Map<string, FieldCounts>, { field, before, after }: ShownChange): void {
  const counts = fields.get(field) ?? { changed: 0, added: 0, cleared: 0 };
  if (before === null) counts.added += 1;
  else if (after === null) counts.cleared += 1;
  else counts.changed += 1;
  fields.set(field, counts);
}

/** Adds what these staged records, which follow each other, change. */
async function addRun(
  preview: TypePreview,
  tx: Tx,
  shop: Shop,
  merges: ReadonlyMap<string, string>,
  lease: ImportLease,
  rows: readonly [StagedRow, ...StagedRow[]],
): Promise<void> {
  const { type } = preview;
  if (!isRecordType(type)) return;
  const recordType: RecordType = recordTypes[type];
  const ids = new Set(rows.map((row) => row.record_id));
  const earlier = [...(await stagedRecords(tx, lease, type, ids, rows[0].position)).values()];
  const texts = rows.map(({ record }) => record);
  for (const found of (await recordType.preview?.(texts, { tx, shop, merges }, earlier)) ?? []) {
    const { place, recordId, isNew, changes } = found;
    if (isNew) preview.created += 1;
    else if (changes.length === 0) preview.unchanged += 1;
    else {
      preview.changed += 1;
      for (const change of changes) countField(preview.fields, change);
      const lineNumber = rows[place]?.line_number ?? 0;
      if (preview.rows.length < previewRowsMax) preview.rows.push({ recordId, lineNumber, changes });
    }
  }
}

/** Effects of the staged records of an import, of the first `previewRecordsMax`. */
export async function previewImport(context: ImportContext, shop: Shop, lease: ImportLease): Promise<ImportPreview> {
  const { engine, loop } = context;
  const { shopId } = shop;
  const types = new Map<string, TypePreview>();
  const merges = await engine.peek(shopId, (tx) => loadMerges(tx, shopId));
  let position = 0;
  let hasMore = true;
  for (let looked = 0; hasMore && looked < previewRecordsMax;) {
    // A shop that has held the loop for long gives way to the others (D113).
    const turn = loop.waitForShare(shopId);
    if (turn !== null) await turn;
    const limit = Math.min(chunkRecords, previewRecordsMax - looked);
    const rows = await engine.peek(shopId, async (tx) => {
      const found = await stagedAfter(tx, lease, position, limit);
      for (const run of runsOf(found)) {
        const [{ type }] = run;
        const preview = types.get(type) ?? emptyPreview(type);
        types.set(type, preview);
        await addRun(preview, tx, shop, merges, lease, run);
      }
      return found;
    });
    looked += rows.length;
    position = rows.at(-1)?.position ?? position;
    hasMore = rows.length === limit;
  }
  const left = hasMore ? await engine.peek(shopId, (tx) => stagedAfter(tx, lease, position, 1)) : [];
  const shown = [...types.values()].filter(({ created, changed, unchanged }) => created + changed + unchanged > 0);
  return { isTruncated: left.length > 0, types: shown };
}
