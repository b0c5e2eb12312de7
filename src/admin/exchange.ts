/** Files of a shop's records, in and out, and copies of its database for a backup. */
import { z } from "zod";
import { fileFormat, type FileFormatName, fileFormatNames } from "../exchange/csv-formats.ts";
import { exportRecords } from "../exchange/export.ts";
import { checkRecords, importRecords } from "../exchange/import.ts";
import { type ImportPreview, previewRecordsMax, previewRowsMax } from "../exchange/import-preview.ts";
import type { ImportContext } from "../exchange/import-run.ts";
import { invalidField } from "../base/fault.ts";
import { adminPrefix } from "../http/routes.ts";
import { id, instantOrNull } from "../operations/fields.ts";
import { actorOf } from "../requests/caller.ts";
import { recheckStatement } from "../shop/supplier/reminders.ts";
import type { Restored } from "../shop/restore.ts";
import { fieldBeforeAfter } from "../operations/catalogue/records.ts";
import { type AdminContext, data, inShop, noShop, operation, shopOf, snapshotParts } from "./operation.ts";

const previewSchema = z
  .strictObject({
    isTruncated: z
      .boolean()
      .meta({ description: `The file has more than ${previewRecordsMax} records; the rest was not looked at.` }),
    types: z.array(
      z.strictObject({
        type: z.string(),
        created: z.int(),
        changed: z.int(),
        unchanged: z.int(),
        fields: z
          .array(z.strictObject({ field: z.string(), changed: z.int(), added: z.int(), cleared: z.int() }))
          .meta({
            description: "Of records that change: where the field had another value, had none, will have none.",
          }),
        rows: z
          .array(z.strictObject({ recordId: z.string(), lineNumber: z.int(), changes: z.array(fieldBeforeAfter) }))
          .meta({ description: `The first ${previewRowsMax} records that change.` }),
      }),
    ),
  })
  .meta({ description: "With dryRun: what the file would change of records that have a history." });

const previewJson = ({ isTruncated, types }: ImportPreview): z.output<typeof previewSchema> => ({
  isTruncated,
  types: types.map(({ fields, rows, ...counts }) => ({
    ...counts,
    fields: [...fields].map(([field, each]) => ({ field, ...each })),
    rows: rows.map(({ changes, ...row }) => ({ ...row, changes: changes.map((change) => ({ ...change })) })),
  })),
});

export const importFile = operation({
  name: "shop_import",
  route: { method: "POST", path: "/shops/{shopId}/import" },
  role: "owner",
  describes: {
    summary: "Imports a file of records, all or nothing.",
    description:
      "The body is a file: records as NDJSON, or a CSV table that merchants have (`format`). Everything is imported or nothing. Mistakes, up to 100 at once, are named with line, column and value. With `dryRun=true` the file is only checked.",
    output: z.strictObject({
      imported: z.record(z.string(), z.int()),
      wouldImport: z.record(z.string(), z.int()).optional(),
      replaced: z.record(z.string(), z.int()).optional(),
      preview: previewSchema.optional(),
      warnings: z
        .array(z.strictObject({ path: z.string(), reason: z.literal("no-records"), message: z.string() }))
        .optional()
        .meta({ description: "Absent when there is nothing to warn of." }),
    }),
    status: 200,
  },
  input: z
    .strictObject({
      ...inShop,
      format: z
        .enum(fileFormatNames)
        .default("ndjson")
        .meta({ description: "What the file is: records, or one of the tables that merchants have." }),
      supplierId: id.optional().meta({ description: "Whose prices a file of the format supplier-prices has." }),
      dryRun: z
        .boolean()
        .default(false)
        .meta({ query: "boolean", description: "Checks the file and imports nothing." }),
    })
    .refine(({ format, supplierId }) => supplierId === undefined || format === "supplier-prices", {
      path: ["supplierId"],
      error: "is for the format supplier-prices only",
    }),
  takesFile: true,
  async run(context, { shopId: id, format, supplierId = null, dryRun }, call) {
    const shop = await context.engine.read(id, (tx) => shopOf(tx, id));
    const read = fileFormat(format, { engine: context.engine, shop, supplierId });
    const { requestId, person } = call;
    // The operator's records are taken as they are, whether they come by token or from the console.
    const by = person === null || person.personId === null ? null : actorOf(person);
    if (dryRun) {
      const { counts, replaced, preview } = await checkRecords(
        importContext(context),
        shop,
        call.body,
        requestId,
        read,
        by,
      );
      return data({
        imported: {},
        wouldImport: counts,
        replaced,
        preview: previewJson(preview),
        ...warningsOf(counts, format),
      });
    }
    const imported = await importRecords(importContext(context), shop, call.body, requestId, read, {
      by,
      onNamed: (records) => call.concerns?.(records),
    });
    context.wakeOutbox(id);
    return data({ imported, ...warningsOf(imported, format) });
  },
});

/** A file of which nothing comes in is no success to pass over (§8). */
const warningsOf = (counts: Readonly<Record<string, number>>, format: FileFormatName) => {
  if (Object.keys(counts).length > 0) return {};
  const why = format === "ndjson" ? "has no records" : "has no row with anything to import below its head";
  return { warnings: [{ path: "", reason: "no-records", message: `The file ${why}.` }] };
};

export const exportFile = operation({
  name: "shop_export",
  route: { method: "GET", path: "/shops/{shopId}/export" },
  describes: {
    summary: "Exports a shop's records as NDJSON.",
    description: "One record a line, in the order in which an import takes them. It comes in pieces, as it is read.",
    output: { pieces: "application/x-ndjson" },
  },
  input: z.strictObject(inShop),
  async run({ engine, exports }, { shopId: id }, { left }) {
    await engine.read(id, (tx) => shopOf(tx, id));
    const file = exportRecords(engine, id, (read) => exports.run(id, read, left));
    return { file, contentType: "application/x-ndjson" };
  },
});

const shopOrSandbox = z
  .enum(snapshotParts)
  .default("shop")
  .meta({ description: "The shop's own file, or its sandbox's." });

export const snapshotFile = operation({
  name: "shop_snapshot",
  route: { method: "GET", path: "/shops/{shopId}/snapshot" },
  describes: {
    summary: "A copy of a shop's file, for a backup.",
    description: "The embedded engine's file, as of one moment. A backup takes the shop before its sandbox.",
    output: { pieces: "application/vnd.sqlite3" },
  },
  input: z.strictObject({ ...inShop, part: shopOrSandbox }),
  /** A copy of the shop's database, or of its sandbox, for a backup. A backup takes the shop first (B1). */
  async run(context, { shopId: id, part }) {
    if (!(await context.engine.exists(id))) throw noShop(id);
    return { file: context.snapshotOf(part, id), contentType: "application/vnd.sqlite3" };
  },
});

const orderNamed = z.strictObject({ purchaseOrderId: z.string(), poNumber: z.string() });

const ordersNamed = z.strictObject({ count: z.int(), orders: z.array(orderNamed) });

/** Lists are cut, their counts are whole. */
const restoredSchema = z.strictObject({
  hadPresent: z.boolean(),
  changedUntil: z.string().nullable(),
  undoneEvents: z.int(),
  goneOrders: ordersNamed,
  revertedOrders: z.int(),
  unsyncedOrders: ordersNamed,
  pushesOfNoOrder: z.strictObject({
    count: z.int(),
    pushes: z.array(
      z.strictObject({
        purchaseOrderId: z.string(),
        poNumber: z.string().nullable(),
        reference: z.string(),
        isKnown: z.boolean(),
      }),
    ),
  }),
});

export const restoreFile = operation({
  name: "shop_restore",
  hasOwnRow: true,
  route: { method: "POST", path: "/shops/{shopId}/restore" },
  describes: {
    summary: "Restores a shop from its file of a backup.",
    description:
      "The body is the file. The shop answers 503 while it is exchanged. What it held before is kept beside; `restored` names what had changed since.",
    status: 200,
    output: z.strictObject({
      shopId: z.string(),
      part: z.enum(snapshotParts),
      keptAs: z.string().nullable(),
      restored: restoredSchema.nullable().meta({ description: "Null: the sandbox was restored." }),
    }),
  },
  input: z.strictObject({
    ...inShop,
    part: shopOrSandbox,
    confirm: z.string().optional().meta({ description: "The shop's id, where the shop is there." }),
    isDamaged: z
      .boolean()
      .default(false)
      .meta({ query: "boolean", description: "What the shop holds cannot be read: nothing of it is carried over." }),
  }),
  takesFile: true,
  /**
   * Restores the shop from its file of a backup. The shop is refused with 503 for as long as its file is exchanged;
   * others are served.
   *
   * @throws Fault INVALID_INPUT   the shop is there and was not confirmed, or the file is none of it.
   * @throws Fault DO_UNAVAILABLE  what the shop holds now cannot be read.
   */
  async run(context, { shopId: id, part, confirm, isDamaged }, call) {
    const { engine, clock } = context;
    const isThere = await engine.exists(id);
    if (isThere && part === "sandbox")
      throw invalidField(
        "/part",
        `cannot be sandbox: shop ${id} is there, and what its storefront has stays as it is`,
        "Restore the shop alone.",
      );
    if (isThere && confirm !== id)
      throw invalidField(
        "/confirm",
        "must repeat the shop's id",
        `Send ?confirm=${id} to replace what the shop holds by the backup.`,
      );
    const { restored, keptAs } = await context.restoreShop({
      part,
      shopId: id,
      body: call.body,
      isDamaged,
      nowMs: clock.now(),
      requestId: call.requestId,
      method: "POST",
      requestPath: `${adminPrefix}/shops/${id}/restore`,
    });
    if (restored !== null) await resume(context, id);
    return data({ shopId: id, part, keptAs, restored: restored === null ? null : restoredJson(restored) });
  },
});

/** Has everything go on that works on the shop. */
async function resume(context: AdminContext, id: string): Promise<void> {
  await context.engine.write(id, (tx) => tx.batch([recheckStatement(id)]));
  context.wakeOutbox(id);
  context.wakePull?.(id);
  context.webhooks.changed(id);
}

/** Changes of a restore, as answers show them. */
export const restoredJson = ({ changedUntilMs, ...restored }: Restored) => ({
  ...restored,
  changedUntil: instantOrNull(changedUntilMs),
});

/** Returns the dependencies of an import, with the sandbox as the storefront that it fills. */
export const importContext = (context: AdminContext): ImportContext => ({
  engine: context.engine,
  clock: context.clock,
  ids: context.ids,
  loop: context.loop,
  async seedStorefront(id, variants, levels) {
    const sandbox = context.sandboxOf(id);
    await sandbox.seedVariants(variants);
    await sandbox.seedLevels(levels);
    // The shop was deleted meanwhile, so its sandbox goes too.
    if (!(await context.engine.exists(id))) await sandbox.remove();
  },
});
