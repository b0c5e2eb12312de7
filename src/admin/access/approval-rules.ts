/** Approval rules of a shop as its settings show and take them (C79). */
import { z } from "zod";
import { type ApprovalRule, ruleActors } from "../../core/access/approvals.ts";
import { roles } from "../../core/access/role.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import { amount, id, noRepeats, text } from "../../operations/fields.ts";

/** Rules of a shop. */
export const approvalRulesMax = 50;

/** Suppliers, locations or people that a rule names. */
export const ruleIdsMax = 100;

const ruleNameMax = 200;

const ids = z
  .array(id)
  .min(1)
  .max(ruleIdsMax)
  .check(noRepeats((each) => each));

const ruleInput = z.strictObject({
  ruleId: id,
  name: text(ruleNameMax),
  when: z.strictObject({
    totalAbove: amount.nullable().default(null),
    supplierIds: ids.nullable().default(null),
    locationIds: ids.nullable().default(null),
    actors: z.enum(ruleActors).default("any"),
  }),
  approvers: z
    .strictObject({
      roles: z
        .array(z.enum(roles))
        .max(roles.length)
        .check(noRepeats((each) => each))
        .default([]),
      personIds: ids.or(z.array(id).max(0)).default([]),
    })
    .check((context) => {
      const { roles: named, personIds } = context.value;
      if (named.length + personIds.length === 0)
        context.issues.push({ code: "custom", input: context.value, path: [], message: "names nobody" });
    }),
  count: z.literal(1).default(1),
});

/** Rules as they are sent, replaced as a whole. */
export const approvalRulesInput = z
  .array(ruleInput)
  .max(approvalRulesMax)
  .check(noRepeats(({ ruleId }) => ruleId))
  .transform((rules) => rules.map(({ count: _one, ...rule }): ApprovalRule => rule));

export const approvalRuleSchema = z.strictObject({
  ruleId: z.string(),
  name: z.string(),
  when: z
    .strictObject({
      totalAbove: z.number().nullable(),
      supplierIds: z.array(z.string()).nullable(),
      locationIds: z.array(z.string()).nullable(),
      actors: z.enum(ruleActors).meta({ description: "Programs count as agents." }),
    })
    .meta({ description: "All of them hold; null: any." }),
  approvers: z.strictObject({ roles: z.array(z.enum(roles)), personIds: z.array(z.string()) }),
  count: z.literal(1),
});

export const approvalRuleJson = ({
  when: { totalAbove, supplierIds, locationIds, actors },
  approvers,
  ...rule
}: ApprovalRule): z.output<typeof approvalRuleSchema> => ({
  ...rule,
  when: {
    totalAbove: totalAbove === null ? null : moneyToNumber(totalAbove),
    supplierIds: supplierIds === null ? null : [...supplierIds],
    locationIds: locationIds === null ? null : [...locationIds],
    actors,
  },
  approvers: { roles: [...approvers.roles], personIds: [...approvers.personIds] },
  count: 1,
});
