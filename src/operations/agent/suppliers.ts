/** Looking up suppliers, and asking for a change of one: tools without a path on REST (C68, C85). */
import { z } from "zod";
import { lookUpSuppliers } from "../../shop/catalogue/look-ups.ts";
import { type Supplier, supplierRecordFields } from "../../shop/catalogue/catalogue.ts";
import { memberOf } from "../../base/json.ts";
import { Fault } from "../../base/fault.ts";
import { elsewhereStep } from "../../core/order/advice/next-step.ts";
import { supplierInputs } from "../catalogue/inputs.ts";
import { suppliers } from "../catalogue/kinds.ts";
import { changeOf, fieldBeforeAfter } from "../catalogue/records.ts";
import { fieldMembers, fieldObject, renderer, schemasOf } from "../field-members.ts";
import { cursor, id, limit, pageShape, shortTextMax, text } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { lookUpInput, lookUpPage, lookUpTool, tool } from "./tool.ts";

const { address: _address, ...members } = fieldMembers(supplierRecordFields);

const supplierJson = renderer<Supplier, typeof members>(members);

export const listSuppliers = operation({
  ...lookUpTool,
  name: "supplier_list",
  toolSets: ["purchasing", "reorder"],
  title: "Look up suppliers",
  summary: "Suppliers by name, with contact, currency and terms.",
  description: "Finds the supplierId that orders need.",
  faults: [],
  input: z.strictObject({ ...lookUpInput, limit, cursor }).meta({ example: { search: "nord", limit: 10 } }),
  output: z.strictObject({ suppliers: z.array(z.strictObject(schemasOf(members))), ...pageShape }),
  async run(call, input) {
    const filters = { search: input.search ?? null, ids: input.ids ?? null };
    const { rows, page } = await lookUpPage(call, input, (tx, after, max) =>
      lookUpSuppliers(tx, call.shop.shopId, filters, after, max),
    );
    return { data: { suppliers: rows.map(supplierJson), ...page } };
  },
});

/** The fields as agents send them: the members of an address would be a third of the tool. */
const proposedInputs = {
  ...supplierInputs,
  note: { input: supplierInputs.note.input, example: supplierInputs.note.example },
  address: {
    ...supplierInputs.address,
    input: supplierInputs.address.input.meta({ namesMembers: true }),
    description: `Whole: ${Object.keys(supplierInputs.address.input.shape).join(", ")}.`,
  },
};

export const updateSupplier = operation({
  ...tool,
  scope: "write",
  repeat: "safe",
  isProposed: true,
  name: "supplier_update",
  toolSets: ["purchasing"],
  title: "Change a supplier",
  summary: "Asks people to change a supplier.",
  description: "Nothing is changed before somebody approves it.",
  faults: ["NOT_FOUND"],
  nextStep: () => elsewhereStep("The supplier is changed."),
  input: fieldObject(supplierRecordFields, proposedInputs, "changes", {
    supplierId: id,
    reason: text(shortTextMax).optional(),
  }).meta({ example: { supplierId: "sup_gear", leadTimeDays: 28, reason: "Its new terms say so." } }),
  output: z.strictObject({
    supplier: z.strictObject({ supplierId: z.string(), name: z.string() }),
    changes: z.array(fieldBeforeAfter),
    reason: z.string().nullable(),
  }),
  run: (call, sent) =>
    call.commit(async (tx) => {
      const given = memberOf(sent, "reason");
      const reason = typeof given === "string" ? given : null;
      const { before, changes, save } = await changeOf(tx, call, suppliers.form, sent, reason);
      const { supplierId, name } = before;
      if (changes.length === 0)
        throw new Fault("INVALID_INPUT", `The supplier ${name} is like that already.`, {
          action: "Look it up, and send what differs.",
        });
      const shown = changes.map((change) => ({ ...change }));
      return {
        effects: await save(),
        record: { name, changes },
        answer: () => ({ data: { supplier: { supplierId, name }, changes: shown, reason } }),
      };
    }),
});
