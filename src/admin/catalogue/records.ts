/**
 * Suppliers, their price lists, variants, locations and stock, with their history (C82 to C85). Purchasers
 * and owners write them, everybody of the shop reads them.
 */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { locations, suppliers, variants } from "../../operations/catalogue/kinds.ts";
import { deletePrice, listPrices, putPrice } from "../../operations/catalogue/price-list.ts";
import { updatePrices } from "../../operations/catalogue/price-rows.ts";
import { mergeSuppliers } from "../../operations/catalogue/merge.ts";
import { fieldBeforeAfter } from "../../operations/catalogue/records.ts";
import { putLevel } from "../../operations/catalogue/levels.ts";
import { cursor, id, instant, instantSchema, limit, pageShape } from "../../operations/fields.ts";
import { logEntrySchema, shownActor } from "../../operations/purchase-orders/attachments.ts";
import type { Operation } from "../../requests/operation.ts";
import { pageOfRecordLog, type RecordEntry, recordKinds } from "../../shop/catalogue/record-log.ts";
import { type AdminOperation, data, inShop, operation, performed, shopOf } from "../operation.ts";

const entrySchema = z.strictObject({
  logId: z.string(),
  occurredAt: instantSchema,
  action: z.enum(["created", "changed", "deleted", "merged"]),
  actor: logEntrySchema.shape.actor,
  approvedBy: logEntrySchema.shape.actor
    .optional()
    .meta({ description: "Who has approved what an agent had proposed." }),
  operation: z.string(),
  requestId: z.string(),
  variantId: z.string().nullable().meta({ description: "The variant of a supplier's entry; null: the record itself." }),
  locationId: z
    .string()
    .nullable()
    .meta({ description: "The location of a variant's stock; null: the record itself." }),
  reason: z.string().nullable(),
  changes: z.array(fieldBeforeAfter),
});

const entryJson = ({
  occurredAtMs,
  actor,
  approvedBy,
  changes,
  ...entry
}: RecordEntry): z.output<typeof entrySchema> => ({
  ...entry,
  occurredAt: instant(occurredAtMs),
  actor: shownActor(actor),
  ...(approvedBy === undefined ? {} : { approvedBy: shownActor(approvedBy) }),
  changes: changes.map((change) => ({ ...change })),
});

const listHistory = operation({
  name: "record_history_list",
  route: { method: "GET", path: "/shops/{shopId}/history" },
  role: "viewer",
  describes: {
    summary: "Changes of a supplier, a variant or a location, newest first.",
    description:
      "Who changed what, with before and after. Changes of a supplier's price list stand with the supplier. Deleted records keep theirs.",
    output: z.strictObject({ history: z.array(entrySchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, kind: z.enum(recordKinds), id, limit, cursor }),
  run: ({ engine }, { shopId, kind, id: recordId, limit: rows, cursor: encoded }) =>
    engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      const scope = { list: "history", shopId, filters: { kind, id: recordId } };
      const after = encoded === undefined ? null : decodeCursor(scope, encoded, ["string"])[0];
      const { entries, totalCount, end } = await pageOfRecordLog(tx, shopId, { kind, recordId }, after, rows);
      return data({
        history: entries.map(entryJson),
        totalCount,
        cursor: end === null ? null : encodeCursor(scope, [end]),
      });
    }),
});

const kept = (shape: Operation): AdminOperation => performed(shape.scope === "read" ? "viewer" : "purchaser", shape);

export const recordOperations: readonly AdminOperation[] = [
  ...[
    ...[suppliers, variants, locations].flatMap(({ create, get, update, remove }): readonly Operation[] => [
      create,
      get,
      update,
      remove,
    ]),
    listPrices,
    putPrice,
    updatePrices,
    deletePrice,
    putLevel,
    mergeSuppliers,
  ].map(kept),
  listHistory,
];
