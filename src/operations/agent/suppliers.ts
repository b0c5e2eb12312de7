/** Looking up suppliers: a tool without a path on REST (C68). */
import { z } from "zod";
import { lookUpSuppliers } from "../../shop/catalogue/look-ups.ts";
import { type Supplier, supplierRecordFields } from "../../shop/catalogue/catalogue.ts";
import { fieldMembers, renderer, schemasOf } from "../field-members.ts";
import { cursor, limit, pageShape } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { lookUpInput, lookUpPage, lookUpTool } from "./tool.ts";

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
