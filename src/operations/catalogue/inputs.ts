/**
 * Fields of suppliers, variants, locations and price lists as callers and files send them. Each has a row with its
 * limits, its description and an example (C82, C83).
 *
 * The members of requests and of import records follow from these rows. Does not own: the fields themselves
 * (shop/catalogue/catalogue.ts), which operation takes them.
 */
import { z } from "zod";
import { languages } from "../../base/text/language.ts";
import { customVariantPrefix } from "../../core/order/purchase-order.ts";
import {
  keptStatuses,
  type locationFields,
  type supplierRecordFields,
  type supplierVariantFields,
  type variantFields,
  variantStatuses,
} from "../../shop/catalogue/catalogue.ts";
import type { InputFields } from "../field-members.ts";
import {
  address,
  codeText,
  currencyCode,
  exampleAddress,
  id,
  imageUrl,
  leadTimeDays,
  mailAddresses,
  noteMax,
  productNameMax,
  reorder,
  shortTextMax,
  supplierVariantDetailsMax,
  text,
  textOfLines,
  unitCost,
} from "../fields.ts";
import { supplierFieldInputs } from "../purchase-orders/json.ts";

const shortText = text(shortTextMax);

export const locationInputs = {
  locationId: { input: id, example: "loc_1" },
  name: { input: shortText, example: "Rotterdam warehouse" },
  address: { input: address, example: exampleAddress },
  status: { input: z.enum(keptStatuses), example: "active" },
} as const satisfies InputFields<typeof locationFields>;

export const supplierInputs = {
  supplierId: { input: id, example: "sup_1" },
  name: { input: shortText, example: "Maasbrand Roasters" },
  email: {
    input: mailAddresses,
    description: "One address or several, parted by ; or ,.",
    example: "orders@maasbrand.example",
  },
  phone: { input: shortText, example: "+31 10 555 0142" },
  contactName: { input: shortText, example: "Anneke Visser" },
  currencyCode: { input: currencyCode, example: "EUR" },
  leadTimeDays: { input: leadTimeDays, example: 14 },
  paymentTerms: { input: shortText, example: "Net 30" },
  incoterm: { input: shortText, example: "DAP" },
  address: { input: address, example: exampleAddress },
  note: { input: textOfLines(noteMax), description: "For the shop's own use.", example: "Closed in August." },
  language: { input: z.enum(languages), example: "en" },
  status: { input: z.enum(keptStatuses), example: "active" },
} as const satisfies InputFields<typeof supplierRecordFields>;

/** Id of a variant. Ids of custom lines are barred, since no catalogue line can name them (C16). */
const variantId = id.refine(
  (sent) => !sent.startsWith(customVariantPrefix),
  `begins with ${customVariantPrefix}, which marks custom lines; use another id`,
);

export const variantInputs = {
  variantId: { input: variantId, example: "var_1" },
  productId: { input: id, example: "prod_1" },
  productName: { input: text(productNameMax), example: "Lighthouse filter coffee" },
  variantName: { input: text(productNameMax), example: "250 g" },
  sku: { input: codeText, example: "LIG-FIL-250" },
  barcode: { input: codeText, example: "8719001002013" },
  unitCost: { input: unitCost, description: "In the shop's currency.", example: 4.2 },
  price: { input: unitCost, description: "In the shop's currency.", example: 8.95 },
  status: { input: z.enum(variantStatuses), example: "active" },
  isArchived: { input: z.boolean(), description: "No longer bought.", example: false },
  imageUrl: { input: imageUrl, description: "Its picture.", example: "https://cdn.example/lighthouse.jpg" },
  reorder: { input: reorder, example: null },
} as const satisfies InputFields<typeof variantFields>;

export const supplierVariantInputs = {
  supplierId: { input: id, example: "sup_1" },
  variantId: { input: id, example: "var_1" },
  unitCost: { input: unitCost, example: 3.9 },
  unitCostCurrencyCode: { input: currencyCode, example: "EUR" },
  ...supplierFieldInputs,
  supplierVariantDetails: {
    input: z.unknown().transform((details, context): string => {
      const json = JSON.stringify(details);
      if (json.length <= supplierVariantDetailsMax) return json;
      const message = `must be at most ${supplierVariantDetailsMax} characters of JSON`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }),
    example: null,
  },
  isPreferred: {
    input: z.boolean(),
    description: "Reorders come from this supplier, whatever the others cost.",
    example: false,
  },
} as const satisfies InputFields<typeof supplierVariantFields>;
