/** Merging a supplier into another one (C86). REST has it in the admin API. */
import { z } from "zod";
import { Fault, invalidField } from "../../base/fault.ts";
import { refuseMerge } from "../../core/access/limits.ts";
import { operation } from "../../requests/operation.ts";
import { limitsOfKey } from "../../shop/access/accounts.ts";
import {
  type Supplier,
  supplierContactFields,
  supplierRecordFields,
  supplierTable,
} from "../../shop/catalogue/catalogue.ts";
import { shownChanges } from "../../shop/catalogue/record-log.ts";
import { mergedInto, mergeSupplier, rowsToMerge } from "../../shop/catalogue/supplier-merges.ts";
import { recordsByKey } from "../../shop/record-table.ts";
import { fieldMembers, renderer, schemasOf } from "../field-members.ts";
import { id, pathId, shownId } from "../fields.ts";
import { stampOf } from "../purchase-orders/access.ts";
import {
  etagOfRecord,
  historyStatements,
  kept,
  recordFaults,
  recordOf,
  requirePerson,
  requireRecordVersion,
} from "./records.ts";

/** Orders and credits of a supplier that is merged: all go over in one commit, which other writes of the shop await. */
export const mergedRowsMax = 1_000;

const members = fieldMembers(supplierRecordFields);
const supplierJson = renderer<Supplier, typeof members>(members);

const supplierKind = { kind: "supplier", table: supplierTable } as const;

export const mergeSuppliers = operation({
  ...kept,
  name: "supplier_merge",
  title: "Merge two suppliers",
  summary: "Moves a supplier's orders, price list and credits to another supplier, and ends it.",
  description: `Its id leads to the other one from then on. Where both have an entry for a variant, that of the other one stays. No figure of an order changes. A supplier with more than ${mergedRowsMax} orders and credits is refused.`,
  scope: "write",
  route: { method: "POST", path: "/suppliers/{supplierId}/merge" },
  repeat: "refused",
  destructive: true,
  faults: recordFaults,
  input: z.strictObject({ supplierId: pathId, into: id.meta({ description: "The supplier that stays." }) }),
  output: z.strictObject({
    supplier: z.strictObject(schemasOf(members)),
    moved: z
      .strictObject({ orders: z.int(), supplierVariants: z.int(), credits: z.int() })
      .meta({ description: "What the supplier that stays has got." }),
  }),
  run: (call, { supplierId, into: intoId }) =>
    call.commit(async (tx) => {
      const { shopId, currencyCode: shopCurrency } = call.shop;
      const from = await recordOf(tx, shopId, supplierKind, supplierId);
      requireRecordVersion(call, from);
      if (intoId === supplierId) throw invalidField("/into", "is the supplier itself", "Name another supplier.");
      const [into] = await recordsByKey(tx, supplierTable, shopId, [[intoId]]);
      if (into === undefined) {
        const present = await mergedInto(tx, shopId, intoId);
        throw present === null
          ? invalidField("/into", "is no supplier of the shop")
          : invalidField("/into", `was merged into ${shownId(present)}`, `Use the id ${shownId(present)}.`);
      }
      // The orders of one would be mailed to the address of the other.
      requirePerson(call, shownChanges(supplierRecordFields, from, into), supplierContactFields);
      const limits = await limitsOfKey(tx, shopId, call.limitedKeyId);
      if (limits !== null) refuseMerge(limits, [supplierId, intoId]);
      const rows = await rowsToMerge(tx, shopId, supplierId, intoId, mergedRowsMax + 1);
      const { orderIds, credits, newEntries } = rows;
      if (orderIds.length + credits.length > mergedRowsMax)
        throw new Fault(
          "INVALID_INPUT",
          `The supplier has more than ${mergedRowsMax} orders and credits, the most that go over at once.`,
          { action: "Merge the other supplier into this one if it has fewer." },
        );
      await tx.giveWay?.();
      await mergeSupplier(tx, shopId, from, into, from.currencyCode ?? shopCurrency, rows, stampOf(call));
      await tx.batch([
        ...historyStatements(call, "supplier", supplierId, {
          action: "merged",
          changes: [
            ...shownChanges(supplierRecordFields, from, null),
            { field: "mergedInto", before: null, after: intoId },
          ],
        }),
        ...historyStatements(call, "supplier", intoId, {
          action: "merged",
          changes: [{ field: "mergedFrom", before: null, after: supplierId }],
        }),
      ]);
      const moved = { orders: orderIds.length, supplierVariants: newEntries, credits: credits.length };
      return {
        effects: [],
        answer: () => ({ data: { supplier: supplierJson(into), moved }, etag: etagOfRecord(into) }),
      };
    }),
});
