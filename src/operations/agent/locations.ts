/** Looking up the shop's locations: a tool without a path on REST (C68). */
import { z } from "zod";
import { lookUpLocations } from "../../shop/catalogue/look-ups.ts";
import { addressJson, addressSchema, cursor, limit, pageShape } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { toolSets } from "../../requests/tool-sets.ts";
import { lookUpInput, lookUpPage, lookUpTool } from "./tool.ts";

export const listLocations = operation({
  ...lookUpTool,
  name: "location_list",
  toolSets,
  title: "Look up locations",
  summary: "The shop's locations by name.",
  description: "An order needs one, its goods' place, before it is sent.",
  faults: [],
  input: z.strictObject({ ...lookUpInput, limit, cursor }).meta({ example: { limit: 10 } }),
  output: z.strictObject({
    locations: z.array(
      z.strictObject({
        locationId: z.string(),
        name: z.string(),
        address: addressSchema.nullable(),
        status: z.string(),
      }),
    ),
    ...pageShape,
  }),
  async run(call, input) {
    const filters = { search: input.search ?? null, ids: input.ids ?? null };
    const { rows, page } = await lookUpPage(call, input, (tx, after, max) =>
      lookUpLocations(tx, call.shop.shopId, filters, after, max),
    );
    const locations = rows.map(({ locationId, name, address, status }) => ({
      locationId,
      name,
      address: addressJson(address),
      status,
    }));
    return { data: { locations, ...page } };
  },
});
