/** Changes of all orders of a shop, in short: a tool without a path on REST (C70a). Its rows are those of C53. */
import { z } from "zod";
import { operation } from "../../requests/operation.ts";
import { cursor, dateFrom, dateTo, id, instant, instantSchema, limit, orderedRange, pageShape } from "../fields.ts";
import { changeCursor, changePage, changePositionFrom } from "../log-pages.ts";
import { readTool } from "./tool.ts";

/** Number of fields that a row names. */
const shownFields = 10;

const rowSchema = z.strictObject({
  at: instantSchema,
  by: z.string().nullable(),
  purchaseOrderId: z.string(),
  poNumber: z.string().optional(),
  action: z.string(),
  message: z.string(),
  fields: z.array(z.string()).optional(),
});

export const listActivity = operation({
  ...readTool,
  name: "activity_list",
  toolSets: ["purchasing", "receiving"],
  title: "What was done",
  summary: "What was done to any order since a day or instant, by whom, newest first; deleted orders' entries too.",
  description: "One row each. With before and after: purchase_order_log_list.",
  faults: [],
  input: z
    .strictObject({
      since: dateFrom.unwrap().meta({ description: "First day (UTC) or instant." }),
      until: dateTo,
      actor: id.optional().meta({ description: "me, or the id of a key or person." }),
      purchaseOrderId: id.optional(),
      limit,
      cursor,
    })
    .check(orderedRange("since", "until"))
    .meta({ example: { since: "2026-01-01", actor: "me" } }),
  output: z.strictObject({ activity: z.array(rowSchema), ...pageShape }),
  async run(call, { limit: rows, cursor: encoded, ...filters }) {
    const scope = { list: call.operation, shopId: call.shop.shopId, filters };
    const after = encoded === undefined ? null : changePositionFrom(scope, encoded);
    const { since, until = null, actor = null, purchaseOrderId = null } = filters;
    const { changes, totalCount, end } = await call.readQuery(changePage, {
      filters: {
        // An id of a person is found among the actors of a key, too.
        keyId: actor === "me" ? call.actor.id : actor,
        personId: null,
        actorTypes: null,
        operation: null,
        requestId: null,
        purchaseOrderId,
        fromMs: since,
        toMs: until,
      },
      after,
      limit: rows,
    });
    return {
      data: {
        activity: changes.map((change) => {
          const fields = [...new Set(change.changes.map(({ field }) => field))].slice(0, shownFields);
          return {
            at: instant(change.occurredAtMs),
            by: change.actor.name ?? change.actor.id,
            purchaseOrderId: change.purchaseOrderId,
            ...(change.poNumber === null ? {} : { poNumber: change.poNumber }),
            action: change.action,
            message: change.message,
            ...(fields.length === 0 ? {} : { fields }),
          };
        }),
        totalCount,
        cursor: changeCursor(scope, end),
      },
    };
  },
});
