/**
 * A sample purchasing agent that uses only the Model Context Protocol. It drafts orders from a forecast view, sends the largest one,
 * confirms it and receives the goods.
 *
 *     OPENPO_KEY=opo_demo_… node_modules/.bin/node examples/agent-story.ts http://127.0.0.1:8080
 *
 * It needs a write key of a shop with a forecast view; the demo shop has one. A real agent should show the dry run to a person, and
 * ask before it sends an order.
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

/** Drafts orders from the first view that suggests something to order, and returns the draft with the most lines. */
async function largestDraft(call: Call, write: Call): Promise<unknown> {
  const locationId = textAt(await call("location_list", {}), "locations", 0, "locationId");
  for (const view of listAt(await call("forecast_view_list", {}), "forecastViews")) {
    const asked = { viewId: textAt(view, "viewId"), locationId };
    // A dry run changes nothing. This is where a person would be asked.
    const dry = await call("reorder_from_view", asked);
    if (listAt(dry, "drafts").length === 0) continue;
    for (const draft of listAt(dry, "drafts"))
      console.log(`  ${textAt(draft, "supplierName")}: ${listAt(draft, "lines").length} lines`);
    const made = listAt(await write("reorder_from_view", { ...asked, dryRun: false }), "drafts");
    return made.toSorted((a, b) => listAt(b, "lines").length - listAt(a, "lines").length)[0];
  }
  throw new Error("no forecast view suggests anything to order");
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
    const purchaseOrderId = textAt(await largestDraft(call, write), "purchaseOrderId");
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
