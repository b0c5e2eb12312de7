/** A supplier's link to an order of a goods server, and what a browser or a program does with it. */
import assert from "node:assert/strict";
import type { GoodsServer } from "../goods-server.ts";
import { askAdmin } from "../people.ts";
import type { RequestOptions, TestResponse, TestServer } from "../server.ts";

export const adminOrder = (server: TestServer, below = "", purchaseOrderId = "po_1"): string =>
  `/shops/${server.shopId}/purchase-orders/${purchaseOrderId}${below}`;

interface MadeLink {
  readonly linkId: string;
  readonly url: string;
  /** `/s/<token>`. */
  readonly path: string;
  readonly token: string;
}

/** Makes a link of the order, as the operator. */
export async function makeLink(server: TestServer, purchaseOrderId = "po_1"): Promise<MadeLink> {
  const made = await askAdmin(server, "POST", adminOrder(server, "/supplier-links", purchaseOrderId), {});
  assert.equal(made.status, 201, made.text);
  const url = made.textAt("data", "url");
  const path = new URL(url).pathname;
  return { linkId: made.textAt("data", "linkId"), url, path, token: path.slice("/s/".length) };
}

/** A request without a key. */
export const byLink = (
  server: TestServer,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<TestResponse> => server.request(method, path, { key: null, undocumented: true, ...options });

/** Answers an order as a program of the supplier does. */
export const propose = (server: TestServer, { path }: MadeLink, body: unknown): Promise<TestResponse> =>
  byLink(server, "POST", `${path}/proposal`, { body });

/** Sends the form as a browser does. */
export const sendForm = (
  server: TestServer,
  { path }: MadeLink,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  byLink(server, "POST", `${path}/proposal`, {
    body: new URLSearchParams(fields).toString(),
    headers: { "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin", ...headers },
  });

/** The order's newest proposal. */
export const newestProposal = (server: GoodsServer): Promise<TestResponse> =>
  askAdmin(server, "GET", adminOrder(server, "/proposals"));

/** Accepts a proposal as the operator. */
export const accept = (
  server: TestServer,
  proposalId: string,
  body: object = {},
  options: RequestOptions = {},
): Promise<TestResponse> =>
  askAdmin(server, "POST", adminOrder(server, `/proposals/${proposalId}/accept`), body, options);
