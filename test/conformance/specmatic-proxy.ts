/**
 * Stands between Specmatic and the server and gives its requests what only the shop knows.
 *
 * Specmatic draws values from the document alone and expects a server without a memory. So each request finds its order as it needs
 * it, and well-formed values that name something, or that have to fit one another, are replaced by ones that live: ids of lines,
 * cursors, amounts. What is malformed passes as it is, and everything around it lives too: a malformed request is refused for
 * what is malformed in it.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { idempotencyKeyLengthMax } from "../../src/core/idempotency.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { quantityMax, unitCostMax } from "../../src/core/money.ts";
import type { Status } from "../../src/core/purchase-order.ts";
import { apiPrefix, createRoutes } from "../../src/http/routes.ts";
import { operations } from "../../src/operations/registry.ts";
import { idMax } from "../../src/operations/fields.ts";
import { tagMax } from "../../src/operations/purchase-orders/json.ts";
import { type GoodsServer, lineA, type OrderLine } from "../support/goods-server.ts";
import { ready } from "../support/ready.ts";

/** How many requests had a cursor, and for how many there was a next page. */
export interface CursorCount {
  asked: number;
  found: number;
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly cursors: Readonly<CursorCount>;
}

interface Prepared {
  readonly status: Status;
  readonly lines: readonly OrderLine[];
  readonly facts?: object;
}

/** As many lines as Specmatic puts into a list. */
const lineIds = ["a", "b", "c"];
const threeTimes = (line: OrderLine): readonly OrderLine[] =>
  lineIds.map((poLineItemId) => ({ ...line, poLineItemId }));
/** Lines with room for any quantity. */
const roomy = (facts: Partial<OrderLine> = {}): readonly OrderLine[] =>
  threeTimes({ ...lineA, quantityOrdered: quantityMax, unitCost: 0.01, ...facts });

const confirmed = { quantityConfirmed: quantityMax };
const received = { ...confirmed, quantityReceived: quantityMax, quantitySynced: quantityMax };

/** An order that can be moved to this status. */
const movedFrom: Readonly<Record<string, Prepared>> = {
  Sent: { status: "Draft", lines: roomy() },
  Draft: { status: "Sent", lines: roomy() },
  Cancelled: { status: "Sent", lines: roomy() },
  "On Hold": { status: "Sent", lines: roomy() },
  Disputed: { status: "Sent", lines: roomy() },
  "Partially Confirmed": {
    status: "On Hold",
    lines: roomy({ quantityConfirmed: 1 }),
    facts: { previousStatus: "Partially Confirmed" },
  },
  Confirmed: { status: "In Progress", lines: roomy(confirmed) },
  "In Progress": { status: "Confirmed", lines: roomy(confirmed) },
  "Partially Received": { status: "Completed", lines: roomy(received) },
  Received: { status: "Completed", lines: roomy(received) },
};

const draft: Prepared = { status: "Draft", lines: roomy() };
/** Members that only a custom line has. */
const customMembers = ["productName", "variantName", "sku", "barcode"];

/** The order as the operation needs it for this body. */
function preparedFor(operation: string, body: JsonObject): Prepared {
  const { status, lines } = body;
  switch (operation) {
    case "purchase_order_status":
      return typeof status === "string" ? (movedFrom[status] ?? draft) : draft;
    case "purchase_order_line_item_update":
      return objectsIn(lines).some((line) => customMembers.some((member) => member in line))
        ? { status: "Draft", lines: roomy({ variantId: "CSTM-1", productName: "Pallet" }) }
        : draft;
    case "purchase_order_confirm":
      return { status: "Sent", lines: roomy() };
    case "purchase_order_receive":
      return { status: "In Progress", lines: roomy(confirmed) };
    case "purchase_order_unreceive":
      return { status: "Partially Received", lines: roomy(received) };
    default: {
      const [status, line] = ready[operation] ?? ["Draft", lineA];
      return { status, lines: threeTimes(line) };
    }
  }
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  value !== undefined && isJsonArray(value) ? value.filter((each) => isJsonObject(each)) : [];

const isShorter = (value: Json, max: number): value is string =>
  typeof value === "string" && value !== "" && value.length <= max;
const isWithin = (value: Json | undefined, max: number): value is number =>
  typeof value === "number" && value >= 0 && value <= max;

/** The value with what is well-formed in it made to live; `index` counts the entries of the nearest list. */
function alive(value: Json, name = "", index = 0): Json {
  if (["lineItemId", "itemId", "lineItemIds"].includes(name) && isShorter(value, idMax)) return lineIds[index] ?? value;
  // Specmatic has no `uniqueItems`.
  if (name === "tags" && isShorter(value, tagMax - 1)) return `${value}${index}`;
  // How many decimals there may be is said in words only: `multipleOf: 0.001` would have validators that divide floats refuse 1.005.
  if (typeof value === "number") return Math.floor(value * 1000) / 1000;
  if (isJsonArray(value)) return value.map((entry, position) => alive(entry, name, position));
  if (!isJsonObject(value)) return value;
  return fitting(
    Object.fromEntries(Object.entries(value).map(([member, each]) => [member, alive(each, member, index)])),
  );
}

/** Amounts that are within their bounds one by one, made to fit one another and the largest total. */
function fitting(entry: Readonly<Record<string, Json>>): JsonObject {
  const { quantityOrdered, quantityRejected, quantityCancelled, unitCost, allowOverReceipt = false } = entry;
  const next = { ...entry };
  if (isWithin(quantityRejected, quantityMax)) next["quantityRejected"] = Math.floor(quantityRejected / 2);
  if (isWithin(quantityCancelled, quantityMax)) next["quantityCancelled"] = Math.floor(quantityCancelled / 2);
  if (isWithin(quantityOrdered, quantityMax) && quantityOrdered > 0 && "quantityRejected" in entry)
    next["quantityOrdered"] = quantityMax;
  if (isWithin(unitCost, unitCostMax)) next["unitCost"] = Math.floor(unitCost) % 10;
  // More may come than is left of the order.
  if (objectsIn(entry["lines"]).some((line) => "quantityReceived" in line) && allowOverReceipt === false)
    next["allowOverReceipt"] = true;
  return next;
}

const nextPage = z.object({ data: z.object({ cursor: z.string() }) });

/** Starts the proxy; everything goes on to the server as it came, but for what is made to live. */
export async function startProxy(server: GoodsServer): Promise<Proxy> {
  const cursors: CursorCount = { asked: 0, found: 0 };
  const routes = createRoutes(apiPrefix, operations);

  /** The target with the cursor of the page before it, and without one where there is no next page. */
  async function withCursor(target: URL, headers: Headers): Promise<void> {
    // An empty one is malformed.
    if ((target.searchParams.get("cursor") ?? "") === "") return;
    cursors.asked += 1;
    target.searchParams.delete("cursor");
    const first = new URL(target);
    first.searchParams.set("limit", "1");
    const answer = nextPage.safeParse(await (await fetch(first, { headers })).json());
    if (!answer.success) return;
    cursors.found += 1;
    target.searchParams.set("cursor", answer.data.data.cursor);
  }

  async function forward(request: IncomingMessage): Promise<Response> {
    const { method = "GET", url = "/" } = request;
    const target = new URL(url, server.url);
    const bytes = await buffer(request);
    const headers = new Headers();
    for (const name of ["authorization", "content-type", "idempotency-key"]) {
      const value = request.headers[name];
      if (typeof value !== "string") continue;
      // A key of an earlier request would be answered as that one was.
      const isKey = name === "idempotency-key" && isShorter(value, idempotencyKeyLengthMax);
      headers.set(name, isKey ? randomUUID() : value);
    }
    const operation = routes(target.pathname)?.bindings.get(method)?.operation;
    const sent: Json = bytes.length === 0 ? null : alive(JSON.parse(bytes.toString()));
    if (operation?.route.path.startsWith("/purchase-orders/{") === true) {
      const { status, lines, facts } = preparedFor(operation.name, isJsonObject(sent) ? sent : {});
      await server.bringOrder(status, lines, facts);
    }
    await withCursor(target, headers);
    const body = bytes.length === 0 ? {} : { body: JSON.stringify(sent) };
    const answered = await fetch(target, { method, headers, ...body });
    // The next request finds no push of this one under way.
    if (operation?.scope === "write" && operation.name in ready && answered.ok) await server.settled();
    return answered;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answered = await forward(request);
      // `fetch` has unpacked what came compressed.
      const { "content-encoding": _, "content-length": __, ...headers } = Object.fromEntries(answered.headers);
      response.writeHead(answered.status, headers).end(Buffer.from(await answered.arrayBuffer()));
    } catch (error) {
      // No request is documented to be answered so: the run fails and shows it.
      response.writeHead(599).end(String(error));
    }
  }

  const listener = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    cursors,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}
