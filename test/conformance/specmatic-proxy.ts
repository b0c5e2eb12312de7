/**
 * A proxy between Specmatic and the server that replaces generated values with values that the shop has.
 *
 * Specmatic generates values from the document alone and expects a server without state. So before each request the proxy imports the
 * order in the state that the operation needs. It replaces valid values that refer to something or must fit one another: ids of lines,
 * cursors, amounts. Malformed values are forwarded unchanged, so that a malformed request is refused because of them.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { idempotencyKeyLengthMax } from "../../src/core/access/idempotency.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { quantityMax, unitCostMax } from "../../src/core/money/money.ts";
import type { Status } from "../../src/core/order/purchase-order.ts";
import { apiPrefix, createRoutes } from "../../src/http/routes.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { idMax } from "../../src/operations/fields.ts";
import { tagMax } from "../../src/operations/purchase-orders/json.ts";
import { type GoodsServer, lineA, type OrderLine } from "../support/goods-server.ts";
import { ready } from "../support/openapi/ready.ts";
import { listenOnPort, stopListening } from "../support/peers/serving.ts";

/** How many requests had a cursor, and how many of them had a next page. */
interface CursorCount {
  asked: number;
  found: number;
}

interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly cursors: Readonly<CursorCount>;
}

interface Prepared {
  readonly status: Status;
  readonly lines: readonly OrderLine[];
  readonly facts?: object;
}

/** As many line ids as Specmatic generates entries in a list. */
const lineIds = ["a", "b", "c"];
const threeTimes = (line: OrderLine): readonly OrderLine[] =>
  lineIds.map((poLineItemId) => ({ ...line, poLineItemId }));
/** Lines that accept any quantity. */
const roomy = (facts: Partial<OrderLine> = {}): readonly OrderLine[] =>
  threeTimes({ ...lineA, quantityOrdered: quantityMax, unitCost: 0.01, ...facts });

const confirmed = { quantityConfirmed: quantityMax };
const received = { ...confirmed, quantityReceived: quantityMax, quantitySynced: quantityMax };

/** For each status, an order that can be moved to it. */
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

/** Returns the order on which the operation can succeed with this body. */
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

/** Replaces the valid parts of a value with usable ones; `index` is the position in the nearest list. */
function alive(value: Json, name = "", index = 0): Json {
  if (["lineItemId", "itemId", "lineItemIds"].includes(name) && isShorter(value, idMax)) return lineIds[index] ?? value;
  // Specmatic does not support `uniqueItems`.
  if (name === "tags" && isShorter(value, tagMax - 1)) return `${value}${index}`;
  // The number of decimals is documented in words only (D59).
  if (typeof value === "number") return Math.floor(value * 1000) / 1000;
  if (isJsonArray(value)) return value.map((entry, position) => alive(entry, name, position));
  if (!isJsonObject(value)) return value;
  return fitting(
    Object.fromEntries(Object.entries(value).map(([member, each]) => [member, alive(each, member, index)])),
  );
}

/** Adjusts amounts that are valid one by one so that they also fit one another and the largest total. */
function fitting(entry: Readonly<Record<string, Json>>): JsonObject {
  const { quantityOrdered, quantityRejected, quantityCancelled, unitCost, allowOverReceipt = false } = entry;
  const next = { ...entry };
  if (isWithin(quantityRejected, quantityMax)) next["quantityRejected"] = Math.floor(quantityRejected / 2);
  if (isWithin(quantityCancelled, quantityMax)) next["quantityCancelled"] = Math.floor(quantityCancelled / 2);
  if (isWithin(quantityOrdered, quantityMax) && quantityOrdered > 0 && "quantityRejected" in entry)
    next["quantityOrdered"] = quantityMax;
  if (isWithin(unitCost, unitCostMax)) next["unitCost"] = Math.floor(unitCost) % 10;
  // The generated quantity may exceed what is outstanding.
  if (objectsIn(entry["lines"]).some((line) => "quantityReceived" in line) && allowOverReceipt === false)
    next["allowOverReceipt"] = true;
  return next;
}

const nextPage = z.object({ data: z.object({ cursor: z.string() }) });

/** Starts the proxy. It forwards every request unchanged except for the replaced values. */
export async function startProxy(server: GoodsServer): Promise<Proxy> {
  const cursors: CursorCount = { asked: 0, found: 0 };
  const routes = createRoutes(apiPrefix, restOperations);

  /** Replaces the cursor with that of a real first page, or removes it if there is no next page. */
  async function withCursor(target: URL, headers: Headers): Promise<void> {
    // An empty cursor is malformed and stays.
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
      // A repeated idempotency key would get a stored answer.
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
    // The next request must not find a push in flight.
    if (operation?.scope === "write" && operation.name in ready && answered.ok) await server.settled();
    return answered;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answered = await forward(request);
      // `fetch` has decompressed the body.
      const { "content-encoding": _, "content-length": __, ...headers } = Object.fromEntries(answered.headers);
      response.writeHead(answered.status, headers).end(Buffer.from(await answered.arrayBuffer()));
    } catch (error) {
      // An undocumented answer, so that the run fails and shows the error.
      response.writeHead(599).end(String(error));
    }
  }

  const listener = createServer((request, response) => void answer(request, response));
  return {
    url: `http://127.0.0.1:${await listenOnPort(listener)}`,
    cursors,
    [Symbol.asyncDispose]: () => stopListening(listener),
  };
}
