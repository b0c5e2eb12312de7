/** Files of a shop's records, in and out, and copies of its database for a backup. */
import { z } from "zod";
import { fileFormat, fileFormatNames } from "../exchange/csv-formats.ts";
import { exportRecords } from "../exchange/export.ts";
import { checkRecords, importRecords } from "../exchange/import.ts";
import type { ImportContext } from "../exchange/import-run.ts";
import { id } from "../operations/fields.ts";
import { type AdminContext, data, inShop, noShop, operation, shopOf, snapshotParts } from "./operation.ts";

export const importFile = operation({
  name: "shop_import",
  route: { method: "POST", path: "/shops/{shopId}/import" },
  role: "owner",
  describes: {
    summary: "Imports a file of records, all or nothing.",
    description:
      "The body is a file: records as NDJSON, or a CSV table that merchants have (`format`). Everything is imported or nothing. A mistake is named with line, column and value. With `dryRun=true` the file is only checked.",
    output: z.strictObject({
      imported: z.record(z.string(), z.int()),
      wouldImport: z.record(z.string(), z.int()).optional(),
      replaced: z.record(z.string(), z.int()).optional(),
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
    if (dryRun) {
      const { counts, replaced } = await checkRecords(importContext(context), shop, call.body, call.requestId, read);
      return data({ imported: {}, wouldImport: counts, replaced });
    }
    const imported = await importRecords(importContext(context), shop, call.body, call.requestId, read);
    context.wakeOutbox(id);
    return data({ imported });
  },
});

export const exportFile = operation({
  name: "shop_export",
  route: { method: "GET", path: "/shops/{shopId}/export" },
  input: z.strictObject(inShop),
  async run({ engine }, { shopId: id }) {
    await engine.read(id, (tx) => shopOf(tx, id));
    return { file: exportRecords(engine, id), contentType: "application/x-ndjson" };
  },
});

export const snapshotFile = operation({
  name: "shop_snapshot",
  route: { method: "GET", path: "/shops/{shopId}/snapshot" },
  input: z.strictObject({ ...inShop, part: z.enum(snapshotParts).default("shop") }),
  /** A copy of the shop's database, or of its sandbox, for a backup. A backup takes the shop first (B1). */
  async run(context, { shopId: id, part }) {
    if (!(await context.engine.exists(id))) throw noShop(id);
    return { file: context.snapshotOf(part, id), contentType: "application/vnd.sqlite3" };
  },
});

/** What an import needs, with the sandbox as the storefront that it fills. */
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
