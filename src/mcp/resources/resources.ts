/**
 * Resources: the guides, the view of an order, and every order under its number, with its document (C70a).
 *
 * Does not own: who may read an order (the operation that reads it), the texts of guides, the protocol (protocol.ts).
 */
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type JSONObject,
  ProtocolError,
  type ReadResourceResult,
  type ResourceLink,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { guides } from "../../operations/agent/guides.ts";
import type { Reply } from "../../requests/envelope.ts";
import { inAgentNames } from "../names.ts";
import { orderView, orderViewHtml } from "./order-view.ts";
import { asObject, objectsIn } from "../schemas.ts";
import { othersTextsIn } from "../texts-of-others.ts";

/** Reads for the client that sent the message. */
export interface ResourceReads {
  /** Calls a tool that reads. */
  call(tool: string, input: JsonObject): Promise<Reply>;
  /** The order's document as PDF. @throws Fault */
  pdf(purchaseOrderId: string): Promise<Uint8Array>;
}

/** For a message that reads no resource. */
export const noResources: ResourceReads = {
  call: () => Promise.reject(new Error("no resource is read here")),
  pdf: () => Promise.reject(new Error("no resource is read here")),
};

const ordersUri = "openpo://orders/";
const pdfSuffix = ".pdf";

/** The address of an order, by its number. */
const orderUri = (poNumber: string): string => ordersUri + encodeURIComponent(poNumber);

export const listResources = () => ({
  resources: [
    ...guides.map(({ uri, name, title, description, mimeType }) => ({ uri, name, title, description, mimeType })),
    orderView,
  ],
});

const orderTemplate = {
  uriTemplate: `${ordersUri}{poNumber}`,
  name: "order",
  title: "Purchase order",
  description: "One order with its lines, by its number, as purchase_order_get answers it.",
  mimeType: "application/json",
};

const pdfTemplate = {
  uriTemplate: `${ordersUri}{poNumber}${pdfSuffix}`,
  name: "order-pdf",
  title: "Purchase order as PDF",
  description: "The document that the supplier gets.",
  mimeType: "application/pdf",
};

export const listResourceTemplates = () => ({ resourceTemplates: [orderTemplate, pdfTemplate] });

/** Links to an order and its document, for an answer about it; none for one that has no number yet. */
export const orderLinks = ({ poNumber }: JSONObject): ResourceLink[] =>
  typeof poNumber !== "string"
    ? []
    : [
        { type: "resource_link", uri: orderUri(poNumber), name: poNumber, mimeType: orderTemplate.mimeType },
        {
          type: "resource_link",
          uri: orderUri(poNumber) + pdfSuffix,
          name: `${poNumber}${pdfSuffix}`,
          mimeType: pdfTemplate.mimeType,
        },
      ];

/** Characters of an order that is read as a resource: it is made on the event loop. */
export const orderLettersMax = 200_000;

/** An order changes at any time. */
const neverCached = { ttlMs: 0, cacheScope: "private" } as const;

/** @throws ResourceNotFoundError  @throws ProtocolError for an order that cannot be read now. */
export async function readResource(uri: string, reads: ResourceReads): Promise<ReadResourceResult> {
  const guide = guides.find((each) => each.uri === uri);
  if (guide !== undefined) return { contents: [{ uri, mimeType: guide.mimeType, text: guide.text }] };
  if (uri === orderView.uri)
    return {
      contents: [{ uri, mimeType: orderView.mimeType, text: orderViewHtml, _meta: { ui: { prefersBorder: true } } }],
    };
  const wanted = orderIn(uri);
  if (wanted === null) throw new ResourceNotFoundError(uri);
  const reply = await reads.call("purchase_order_get", { purchaseOrderId: wanted.poNumber });
  if (reply.status === 404) throw new ResourceNotFoundError(uri);
  const body: JSONObject = JSON.parse(inAgentNames(reply.body));
  if (reply.status >= 400) throw refusalOf(reply, body);
  if (!wanted.isPdf && reply.body.length > orderLettersMax)
    throw new ProtocolError(
      INVALID_PARAMS,
      "The order is too long for a resource. Call purchase_order_line_item_list for its lines.",
    );
  const { mimeType } = wanted.isPdf ? pdfTemplate : orderTemplate;
  const content = wanted.isPdf
    ? { blob: Buffer.from(await reads.pdf(idIn(body))).toString("base64") }
    : { text: JSON.stringify({ ...asObject(body["data"]), ...othersTextsIn(asObject(body["data"])) }) };
  return { contents: [{ uri, mimeType, ...content }], ...neverCached };
}

/** The id of the order in an answer of purchase_order_get. */
function idIn(body: JSONObject): string {
  const { purchaseOrderId } = asObject(asObject(body["data"])["purchaseOrder"]);
  if (typeof purchaseOrderId !== "string") throw new Error("an order has no id");
  return purchaseOrderId;
}

/** The order that an address names; null: it names none. */
function orderIn(uri: string): { readonly poNumber: string; readonly isPdf: boolean } | null {
  const name = uri.startsWith(ordersUri) ? uri.slice(ordersUri.length) : "";
  const isPdf = name.endsWith(pdfSuffix);
  try {
    const poNumber = decodeURIComponent(isPdf ? name.slice(0, -pdfSuffix.length) : name);
    return poNumber === "" ? null : { poNumber, isPdf };
  } catch {
    return null;
  }
}

function refusalOf({ status }: Reply, body: JSONObject): ProtocolError {
  const { message, action } = asObject(body["error"]);
  const said = [message, action].filter((text) => typeof text === "string").join(" ");
  return new ProtocolError(status < 500 ? INVALID_PARAMS : INTERNAL_ERROR, said);
}

/** Numbers that a completion offers. */
export const completionsMax = 20;

/** Numbers of orders that have the words of what was typed; the newest where nothing was. */
export async function completeOrder(typed: string, reads: ResourceReads) {
  const search = typed.trim() === "" ? {} : { search: typed };
  const reply = await reads.call("purchase_order_list", { ...search, limit: completionsMax });
  const body: JSONObject = JSON.parse(reply.body);
  if (reply.status >= 400) throw refusalOf(reply, body);
  const { purchaseOrders, totalCount } = asObject(body["data"]);
  const values = objectsIn(purchaseOrders).flatMap(({ poNumber }) => (typeof poNumber === "string" ? poNumber : []));
  return { completion: { values, total: Number(totalCount), hasMore: Number(totalCount) > values.length } };
}
