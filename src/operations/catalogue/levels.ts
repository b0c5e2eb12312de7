/** Stock that a person sets, in a shop that keeps its stock itself (C84). */
import { z } from "zod";
import { dayIn } from "../../base/time/calendar.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import { keepsStock } from "../../core/goods/guard.ts";
import { asQuantity } from "../../core/money/money.ts";
import { platformName } from "../../core/storefront/storefront-config.ts";
import { operation } from "../../requests/operation.ts";
import {
  type InventoryLevel,
  inventoryLevelFields,
  inventoryLevelTable,
  locationTable,
  variantTable,
} from "../../shop/catalogue/catalogue.ts";
import { shownChanges } from "../../shop/catalogue/record-log.ts";
import { levelNoted } from "../../shop/forecast/stock-days.ts";
import { recordsByKey, replaceRecord } from "../../shop/record-table.ts";
import { effectStatements } from "../../shop/storefront/effects.ts";
import { fieldMembers, renderer, schemasOf } from "../field-members.ts";
import { noteMax, pathId, quantity, textOfLines } from "../fields.ts";
import { etagOfRecord, historyStatements, kept, recordFaults, recordOf, requireRecordVersion } from "./records.ts";

const members = fieldMembers(inventoryLevelFields);
const levelJson = renderer(members);

const answerOf = (level: InventoryLevel, more: { readonly recovery?: string } = {}) => ({
  data: { level: levelJson(level), ...more },
  etag: etagOfRecord(level),
});

export const putLevel = operation({
  ...kept,
  name: "variant_level_put",
  title: "Set stock",
  summary: "Sets what is on hand of a variant at a location.",
  description:
    "For a shop that keeps its stock itself. Receipts that are under way are added to it. The variant's history has it with the reason.",
  scope: "write",
  route: { method: "PUT", path: "/variants/{variantId}/levels/{locationId}" },
  repeat: "safe",
  faults: recordFaults,
  input: z.strictObject({
    variantId: pathId,
    locationId: pathId,
    onHand: quantity,
    reason: textOfLines(noteMax).nullable().default(null),
  }),
  output: z.strictObject({
    level: z.strictObject(schemasOf(members)),
    recovery: z.string().optional().meta({
      description: "What to do where the storefront refused the stock; else absent.",
    }),
  }),
  run: (call, { variantId, locationId, onHand, reason }) =>
    call.commit(async (tx) => {
      const { shopId, storefront, timezone } = call.shop;
      const platform = platformName(storefront);
      if (platform !== null)
        throw new Fault("INVALID_INPUT", `The stock of this shop comes from ${platform}.`, {
          reason: "STOREFRONT_OWNED",
          action: `Count it in ${platform}; the next pull brings the change.`,
        });
      const [[before], { status }] = await Promise.all([
        recordsByKey(tx, inventoryLevelTable, shopId, [[variantId, locationId]]),
        recordOf(tx, shopId, { kind: "variant", table: variantTable }, variantId),
        recordOf(tx, shopId, { kind: "location", table: locationTable }, locationId),
      ]);
      requireRecordVersion(call, before ?? null);
      if (!keepsStock(status))
        throw invalidField(
          "/onHand",
          `cannot be set while the variant is ${status}`,
          "Give the variant the status active, then set its stock.",
        );
      const level = { variantId, locationId, onHand };
      const changes = shownChanges({ onHand: inventoryLevelFields.onHand }, before ?? null, level);
      const delta = asQuantity(onHand - (before?.onHand ?? 0));
      const nowMs = call.clock.now();
      const { effects, statements } = effectStatements(
        shopId,
        delta === 0 ? [] : [{ kind: "keep-level", variantId, locationId, delta }],
        call.ids,
        nowMs,
        call.traceparent,
      );
      await tx.batch([
        ...levelNoted(shopId, level, before?.onHand ?? null, onHand, dayIn(timezone, nowMs)),
        replaceRecord(inventoryLevelTable, shopId, level),
        ...statements,
        ...historyStatements(call, "variant", variantId, { action: "changed", locationId, reason, changes }),
      ]);
      return {
        effects,
        answer: () => answerOf(level),
        async answerAfter(afterTx, outcomes) {
          const refused = [...outcomes.values()].find((outcome) => outcome.state === "failed");
          if (refused === undefined) return null;
          const [now] = await recordsByKey(afterTx, inventoryLevelTable, shopId, [[variantId, locationId]]);
          return now === undefined
            ? null
            : answerOf(now, {
                recovery: `The stock was not set: ${refused.detail} Set it again once that is resolved.`,
              });
        },
      };
    }),
});
