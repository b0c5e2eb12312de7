import assert from "node:assert/strict";
import { test } from "node:test";
import { globSync, readFileSync } from "node:fs";
import { Fault, invalidField } from "../../../src/base/fault.ts";
import { inWords, mention, mentionedOperations } from "../../../src/core/order/guidance.ts";
import { failure, success } from "../../../src/requests/envelope.ts";
import { worded } from "../../../src/requests/wording.ts";
import { operations } from "../../../src/operations/registry.ts";

test("every operation that a text mentions is in the registry, and every one of the list is mentioned", () => {
  const names = new Set(operations.map(({ name }) => name));
  const sources = globSync("src/**/*.ts")
    .filter((file) => !file.endsWith("core/order/guidance.ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  for (const name of mentionedOperations) {
    assert.ok(names.has(name), `${name} is no operation`);
    assert.match(sources, new RegExp(`"${name}"`), `${name} is mentioned nowhere`);
  }
});

test("REST writes a mention as method and path, with the record's id in full; MCP as the tool's name", () => {
  const text = `Use ${mention("purchase_order_receive")} or ${mention("purchase_order_status", "po_1")}.`;
  assert.equal(
    worded(text, "rest"),
    "Use POST /purchase-orders/{id}/receive or POST /api/v1/purchase-orders/po_1/status.",
  );
  assert.equal(worded(text, "mcp"), "Use purchase_order_receive or purchase_order_status.");
  const key = `This ${mention("idempotencyKey")} was used; wait as ${mention("retryAfter")} says.`;
  assert.equal(worded(key, "rest"), "This Idempotency-Key was used; wait as Retry-After says.");
  assert.equal(worded(key, "mcp"), "This idempotencyKey was used; wait as retryAfterMs says.");
});

test("a text without mentions, or with a name that only looks like one, stays as it is", () => {
  for (const text of [
    "",
    "purchase_order_receive",
    "{purchase_order_receive}",
    "\\u0000purchase_order_receive\\u0000",
  ]) {
    assert.equal(worded(text, "rest"), text);
    const body = JSON.parse(success("req_1", { note: text }).body);
    assert.equal(body.data.note, text);
  }
  assert.equal(
    inWords(mention("purchase_order_list"), (name) => `<${name}>`),
    "<purchase_order_list>",
  );
});

test("every text of an answer is in the words of the surface that asked: messages, actions, details and members of data", () => {
  const fault = invalidField(
    "/lines/0",
    `use ${mention("purchase_order_confirm")}`,
    `Use ${mention("purchase_order_confirm")}.`,
  );
  const refused = (surface: "rest" | "mcp") => JSON.parse(failure("req_1", fault, surface).body).error;
  assert.deepEqual(refused("mcp").details, [{ path: "/lines/0", message: "use purchase_order_confirm" }]);
  assert.equal(refused("rest").message, "/lines/0: use POST /purchase-orders/{id}/confirm");
  assert.equal(refused("rest").action, "Use POST /purchase-orders/{id}/confirm.");
  const data = { failed: [{ message: `lower it with ${mention("purchase_order_confirm")}` }], recovery: "none" };
  const answered = JSON.parse(success("req_1", data, { surface: "mcp" }).body).data;
  assert.deepEqual(answered, { failed: [{ message: "lower it with purchase_order_confirm" }], recovery: "none" });
  assert.equal(
    JSON.parse(failure("req_1", new Fault("NOT_FOUND", "None.")).body).error.message,
    "None.",
    "what mentions nothing is left alone",
  );
});
