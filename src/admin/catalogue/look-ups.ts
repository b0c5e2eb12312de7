/**
 * Questions of the console about a shop that REST has no path for: suppliers, locations, variants, lines of open orders
 * by a code (C52). The changes of all orders are among them (C53). Everybody of the shop may ask.
 */
import { z } from "zod";
import { actorTypes } from "../../core/access/actor.ts";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { Fault } from "../../base/fault.ts";
import { quantityToNumber } from "../../core/money/money.ts";
import { listLocations } from "../../operations/agent/locations.ts";
import { listSuppliers } from "../../operations/agent/suppliers.ts";
import { lookUpInput } from "../../operations/agent/tool.ts";
import { foundVariantSchema, searchVariants } from "../../operations/agent/variants.ts";
import { ReaderThreadNeeded, readingCall } from "../../requests/broad-read.ts";
import { changeCursor, changePage, changePositionFrom } from "../../operations/log-pages.ts";
import { countsAsReasons, matchedBys } from "../../core/goods/codes.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { actorOf } from "../../requests/caller.ts";
import {
  cursor,
  dateFrom,
  dateTo,
  id,
  limit,
  listParameter,
  orderedRange,
  pageShape,
  pageSizeMax,
  shortTextMax,
  soughtText,
} from "../../operations/fields.ts";
import type { OperationShape } from "../../requests/operation.ts";
import { logEntryJson, logEntrySchema } from "../../operations/purchase-orders/attachments.ts";
import { responseBytesMax } from "../../requests/envelope.ts";
import type { Change } from "../../shop/order/changes.ts";
import { archivedOf, variantIdsWith } from "../../shop/catalogue/look-ups.ts";
import { inListMax } from "../../store/in-lists.ts";
import { type OpenLine, openLinesWith } from "../../shop/order/open-lines.ts";
import {
  type AdminAnswer,
  type AdminCall,
  type AdminContext,
  data,
  inShop,
  operation,
  readQuery,
  shopOf,
} from "../operation.ts";

const ids = lookUpInput.ids.meta({ query: "list", description: "Only these ids." });
const code = soughtText(shortTextMax).optional();

/** Answers what the agents' tool of the same name answers, on a reader thread where that reads much. */
async function asTool<Input extends object>(
  { engine, clock }: AdminContext,
  shopId: string,
  { requestId, person, readers }: AdminCall,
  tool: OperationShape<Input, unknown>,
  input: Input,
): Promise<{ readonly status: 200; readonly data: object }> {
  const shop = await engine.peek(shopId, (tx) => shopOf(tx, shopId));
  const actor = actorOf(person);
  const call = readingCall({
    shop,
    actor,
    operation: tool.name,
    requestId,
    clock,
    ifMatch: null,
    read: (work) => engine.read(shopId, work),
    leaveLoop: () => {
      if (readers !== null) throw new ReaderThreadNeeded();
    },
  });
  try {
    return { status: 200, data: Object(await tool.run(call, input).then((answer) => answer.data)) };
  } catch (error) {
    if (readers === null || !(error instanceof ReaderThreadNeeded)) throw error;
    const incoming = { requestId, surface: "rest", ifNoneMatch: null } as const;
    const nowMs = clock.now();
    const { reply, bug } = await readers.read({
      operation: tool.name,
      input,
      shop,
      actor,
      ifMatch: null,
      incoming,
      nowMs,
      responseBytesMax,
      asBytes: false,
    });
    if (reply.errorCode !== null)
      throw new Error(`a look-up failed on a reader thread: ${bug ?? reply.body}`, { cause: error });
    const body: { readonly data: object } = JSON.parse(reply.body);
    return { status: 200, data: body.data };
  }
}

export const lookUpSuppliers = operation({
  name: "supplier_list",
  route: { method: "GET", path: "/shops/{shopId}/suppliers" },
  role: "viewer",
  describes: {
    summary: "Suppliers by name.",
    description: "Suppliers with currency and terms, filtered by a part of the name or by ids, in pages.",
    output: listSuppliers.output,
  },
  input: z.strictObject({ ...inShop, search: lookUpInput.search, ids, limit, cursor }),
  /** Suppliers by name. */
  run: (context, { shopId, ...input }, call) => asTool(context, shopId, call, listSuppliers, input),
});

export const lookUpLocations = operation({
  name: "location_list",
  route: { method: "GET", path: "/shops/{shopId}/locations" },
  role: "viewer",
  describes: {
    summary: "Locations by name.",
    description: "Locations, filtered by a part of the name or by ids, in pages.",
    output: listLocations.output,
  },
  input: z.strictObject({ ...inShop, search: lookUpInput.search, ids, limit, cursor }),
  /** Locations by name. */
  run: (context, { shopId, ...input }, call) => asTool(context, shopId, call, listLocations, input),
});

export const lookUpVariants = operation({
  name: "variant_search",
  route: { method: "GET", path: "/shops/{shopId}/variants" },
  role: "viewer",
  describes: {
    summary: "Variants by product name, with stock and a supplier's terms.",
    description:
      "Variants by a part of the name, by SKU, barcode, several codes or ids, in pages. With `supplierId` each has that supplier's SKU, cost, minimum and pack size.",
    output: z.strictObject({
      variants: z.array(z.strictObject({ ...foundVariantSchema.shape, isArchived: z.boolean() })),
      ...pageShape,
    }),
  },
  input: z.strictObject({
    ...inShop,
    search: lookUpInput.search,
    ids,
    sku: code.meta({ description: "Only variants with this SKU." }),
    barcode: code.meta({ description: "Only variants with this barcode." }),
    codes: z.array(soughtText(shortTextMax)).min(1).max(pageSizeMax).optional().meta({
      query: "list",
      description: "Only variants with one of these as SKU or barcode. Not together with ids.",
    }),
    supplierId: id.optional(),
    limit,
    cursor,
  }),
  /**
   * Variants by product name, with stock and, with `supplierId`, that supplier's terms.
   *
   * @throws Fault INVALID_INPUT  `codes` stands beside `ids`, or finds too many variants.
   */
  async run(context, { shopId, codes, ...input }, call) {
    const search = async (by: Parameters<typeof searchVariants.run>[1]): Promise<AdminAnswer> => {
      const answer = await asTool(context, shopId, call, searchVariants, by);
      const { variants, ...page }: z.output<typeof searchVariants.output> = Object(answer.data);
      const ids = variants.map(({ variantId }) => variantId);
      const archived = await context.engine.read(shopId, (tx) => archivedOf(tx, shopId, ids));
      return data({
        variants: variants.map((each) => ({ ...each, isArchived: archived.has(each.variantId) })),
        ...page,
      });
    };
    if (codes === undefined) return await search(input);
    if (input.ids !== undefined)
      throw new Fault("INVALID_INPUT", "codes and ids cannot be sent together.", { action: "Send one of them." });
    const found = await context.engine.read(shopId, (tx) => variantIdsWith(tx, shopId, codes, inListMax + 1));
    if (found.length > inListMax)
      throw new Fault("INVALID_INPUT", `More than ${inListMax} variants have these codes.`, {
        action: "Ask for fewer codes at a time.",
      });
    if (found.length === 0) return data({ variants: [], totalCount: 0, cursor: null });
    return await search({ ...input, ids: [...found] });
  },
});

const nullable = z.string().nullable();

const openLineSchema = z.strictObject({
  purchaseOrderId: z.string(),
  poNumber: z.string(),
  status: z.enum(statuses),
  supplierId: nullable,
  supplierName: nullable,
  locationId: nullable,
  locationName: nullable,
  nextExpectedDate: nullable,
  poLineItemId: z.string(),
  variantId: z.string(),
  productName: nullable,
  variantName: nullable,
  sku: nullable,
  barcode: nullable,
  supplierSku: nullable,
  supplierBarcode: nullable,
  quantityOrdered: z.number(),
  quantityReceived: z.number(),
  quantityPending: z.number(),
  matchedBy: z.enum(matchedBys),
  countsAs: z.number().meta({ description: "The pieces of one scan." }),
  countsAsReason: z.enum(countsAsReasons).meta({
    description:
      "piece; pack: one scan is a pack; count: as many as the code says; unknown-pack: a pack of which the size is not known, so it counts one.",
  }),
});

const openLineJson = (line: OpenLine): z.output<typeof openLineSchema> => ({
  ...line,
  quantityOrdered: quantityToNumber(line.quantityOrdered),
  quantityReceived: quantityToNumber(line.quantityReceived),
  quantityPending: quantityToNumber(line.quantityPending),
  countsAs: quantityToNumber(line.countsAs),
});

export const listOpenLines = operation({
  name: "open_line_list",
  route: { method: "GET", path: "/shops/{shopId}/open-lines" },
  role: "viewer",
  describes: {
    summary: "Lines of open orders with this code, most pending first.",
    description:
      "Which open orders wait for this box: lines whose barcode, supplier's barcode, SKU or supplier's SKU is the code, or the article in the case that it stands for.",
    output: z.strictObject({ openLines: z.array(openLineSchema), ...pageShape }),
  },
  input: z.strictObject({
    ...inShop,
    code: soughtText(shortTextMax).meta({
      description:
        "A barcode or SKU, the shop's or a supplier's, whatever its case; or what a scanner reads, a GS1 element string or Digital Link included.",
    }),
    limit,
    cursor,
  }),
  /** Lines of open orders with this barcode, supplier's barcode, SKU or supplier's SKU, most pending first. */
  async run({ engine }, { shopId, code: rawCode, limit: rows, cursor: encoded }) {
    const scope = { list: "open-lines", shopId, filters: { code: rawCode } };
    const [from] = encoded === undefined ? [0] : decodeCursor(scope, encoded, ["number"]);
    const lines = await engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      return await openLinesWith(tx, shopId, rawCode);
    });
    const end = from + rows;
    return data({
      openLines: lines.slice(from, end).map(openLineJson),
      totalCount: lines.length,
      cursor: end < lines.length ? encodeCursor(scope, [end]) : null,
    });
  },
});

const changeSchema = z.strictObject({ purchaseOrderId: z.string(), poNumber: nullable, ...logEntrySchema.shape });

const changeJson = ({ purchaseOrderId, poNumber, ...entry }: Change): z.output<typeof changeSchema> => ({
  purchaseOrderId,
  poNumber,
  ...logEntryJson(entry),
});

export const listChanges = operation({
  name: "change_list",
  route: { method: "GET", path: "/shops/{shopId}/changes" },
  role: "viewer",
  describes: {
    summary: "Entries of the activity logs of all orders, newest first.",
    description:
      "What changed in the orders of the shop, and by whom: each entry has the order, the actor and the values before and after. Deleted orders are included. `totalCount` is counted for the first page, up to 10,000.",
    output: z.strictObject({ changes: z.array(changeSchema), ...pageShape }),
  },
  input: z
    .strictObject({
      ...inShop,
      keyId: id.optional(),
      personId: id.optional(),
      actorType: listParameter(z.enum(actorTypes), "Type of the actor."),
      operation: id.optional(),
      requestId: id.optional(),
      purchaseOrderId: id.optional(),
      from: dateFrom,
      to: dateTo,
      limit,
      cursor,
    })
    .check(orderedRange("from", "to")),
  /**
   * Entries of the activity logs of all orders, deleted ones included, newest first. They are counted for the first
   * page, up to 10,000.
   */
  async run(context, { shopId, limit: rows, cursor: encoded, ...filters }, call) {
    const scope = { list: "changes", shopId, filters };
    const after = encoded === undefined ? null : changePositionFrom(scope, encoded);
    const { keyId, personId } = filters;
    await context.engine.peek(shopId, (tx) => shopOf(tx, shopId));
    const { changes, totalCount, end } = await readQuery(context, call, shopId, changePage, {
      filters: {
        keyId: keyId ?? null,
        personId: personId ?? null,
        actorTypes: filters.actorType === undefined ? null : [...new Set(filters.actorType)],
        operation: filters.operation ?? null,
        requestId: filters.requestId ?? null,
        purchaseOrderId: filters.purchaseOrderId ?? null,
        fromMs: filters.from ?? null,
        toMs: filters.to ?? null,
      },
      after,
      limit: rows,
    });
    return data({
      changes: changes.map(changeJson),
      totalCount,
      cursor: changeCursor(scope, end),
    });
  },
});
