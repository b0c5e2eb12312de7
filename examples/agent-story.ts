/**
 * A sample purchasing agent that uses only the Model Context Protocol. It reads a forecast view, creates an order with the suggested
 * quantities, sends it, confirms it and receives the goods.
 *
 *     OPENPO_KEY=opo_demo_… node examples/agent-story.ts http://127.0.0.1:8080
 *
 * It needs a write key of a shop with a forecast view; the demo shop has one. A real agent should ask a person before it sends an order.
 */
import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

type Call = (tool: string, input: object) => Promise<unknown>;

/** Returns the member at this path, or undefined if there is none. */
function at(value: unknown, ...steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  return found;
}

function textAt(value: unknown, ...steps: readonly (string | number)[]): string {
  const found = at(value, ...steps);
  if (typeof found !== "string") throw new Error(`no text at ${steps.join(".")}`);
  return found;
}

function listAt(value: unknown, ...steps: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...steps);
  if (!Array.isArray(found)) throw new Error(`no list at ${steps.join(".")}`);
  return found;
}

/** Reads all rows of a forecast view, page by page. The columns come from the first page. */
async function readView(call: Call, viewId: string): Promise<{ columns: ReadonlySet<unknown>; rows: unknown[] }> {
  const rows: unknown[] = [];
  let columns: ReadonlySet<unknown> | null = null;
  let cursor: unknown = null;
  do {
    const page = await call("forecast_view_rows", { viewId, ...(cursor === null ? {} : { cursor }) });
    columns ??= new Set(listAt(page, "columns").map((column) => at(column, "id")));
    rows.push(...listAt(page, "rows"));
    cursor = at(page, "cursor");
  } while (cursor !== null);
  return { columns, rows };
}

/** Reads the rows to order from the first view that suggests quantities, grouped by supplier, largest group first. */
async function suggestions(
  call: Call,
): Promise<readonly (readonly [supplierName: string, rows: readonly unknown[]])[]> {
  for (const view of listAt(await call("forecast_view_list", {}), "forecastViews")) {
    const { columns, rows } = await readView(call, textAt(view, "viewId"));
    if (!columns.has("suggestedOrderQuantity") || !columns.has("supplierName")) continue;
    const wanted = rows.filter(
      (row) => Number(at(row, "suggestedOrderQuantity")) > 0 && at(row, "supplierName") !== null,
    );
    console.log(`  "${textAt(view, "viewName")}" suggests ${wanted.length} of its ${rows.length} variants`);
    const bySupplier = Map.groupBy(wanted, (row) => textAt(row, "supplierName"));
    return [...bySupplier].sort(([, a], [, b]) => b.length - a.length);
  }
  return [];
}

/** Finds supplier and location ids in the supplier's latest order, because the API has no reference data. */
async function earlierOrder(call: Call, supplierName: string): Promise<{ supplierId: string; locationId: string }> {
  const orders = listAt(await call("purchase_order_list", { search: supplierName }), "purchaseOrders");
  const order = orders.find((each) => at(each, "supplierName") === supplierName && at(each, "locationId") !== null);
  return { supplierId: textAt(order, "supplierId"), locationId: textAt(order, "locationId") };
}

/** Runs the agent. Returns the order as it is at the end. */
export async function agentStory(baseUrl: string, apiKey: string): Promise<unknown> {
  const client = new Client({ name: "agent-story", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", baseUrl), {
      requestInit: { headers: { Authorization: `Bearer ${apiKey}` } },
    }),
  );
  const call: Call = async (tool, input) => {
    const { isError, structuredContent } = await client.callTool({ name: tool, arguments: { ...input } });
    console.log(`${tool} → ${isError === true ? textAt(structuredContent, "error", "code") : "done"}`);
    if (isError === true) throw new Error(JSON.stringify(structuredContent));
    return structuredContent;
  };
  /** Sends an idempotency key with a write, so that it can be repeated after a failure without taking effect twice. */
  const write: Call = (tool, input) => call(tool, { ...input, idempotencyKey: randomUUID() });

  try {
    const [largest] = await suggestions(call);
    if (largest === undefined) throw new Error("no forecast view suggests anything to order");
    const [supplierName, rows] = largest;
    const draft = await write("purchase_order_create", {
      ...(await earlierOrder(call, supplierName)),
      poName: `Reorder from ${supplierName}`,
      lineItems: rows.map((row) => ({
        variantId: textAt(row, "variantId"),
        quantityOrdered: at(row, "suggestedOrderQuantity"),
        unitCost: at(row, "unitCost") ?? 0,
        unitCostCurrencyCode: at(row, "unitCostCurrencyCode"),
      })),
    });
    const purchaseOrderId = textAt(draft, "purchaseOrder", "purchaseOrderId");
    console.log(`  ${textAt(draft, "purchaseOrder", "poNumber")} to ${supplierName}, ${rows.length} lines`);

    await write("purchase_order_status", { purchaseOrderId, status: "Sent" });
    const confirmed = await write("purchase_order_confirm", { purchaseOrderId, confirmAll: true });
    const lines = listAt(confirmed, "lineItems");
    const received = await write("purchase_order_receive", {
      purchaseOrderId,
      lines: lines.map((line) => ({
        lineItemId: textAt(line, "lineItemId"),
        quantityReceived: at(line, "quantityConfirmed"),
      })),
    });
    console.log(`  ${textAt(received, "status", "before")} → ${textAt(received, "status", "after")}`);
    const log = await call("purchase_order_log_list", { purchaseOrderId });
    for (const entry of listAt(log, "log")) console.log(`  ${textAt(entry, "message")}`);
    return at(await call("purchase_order_get", { purchaseOrderId }), "purchaseOrder");
  } finally {
    await client.close();
  }
}

if (import.meta.main) {
  const apiKey = process.env["OPENPO_KEY"];
  const [baseUrl = "http://127.0.0.1:8080"] = process.argv.slice(2);
  if (apiKey === undefined) {
    console.error("Set OPENPO_KEY to a write key. The first start printed one for the demo shop.");
    process.exit(1);
  }
  await agentStory(baseUrl, apiKey);
}
