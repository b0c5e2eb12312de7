/**
 * What was released stays: the document may add, not take away. `released.json` is the document of the latest release; it is replaced
 * when one is made (`npm run generate -- --release`).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import { openApiDocument } from "../../src/http/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { breakingChanges } from "../support/breaking.ts";

const released: JsonObject = JSON.parse(readFileSync(path.join(import.meta.dirname, "released.json"), "utf8"));

test("the document breaks nothing that the released one promised", () => {
  assert.deepEqual(breakingChanges(released, openApiDocument(operations)), []);
});

const orders = "/api/v1/purchase-orders";
const header = ["components", "schemas", "PurchaseOrderHeader"] as const;
const bodyOf = (path: string) =>
  ["paths", path, "post", "requestBody", "content", "application/json", "schema"] as const;

/** A change to a copy of the released document: `at` gives the object, `listAt` the list at these steps. */
type Change = (
  at: (...steps: readonly string[]) => Record<string, unknown>,
  listAt: (...steps: readonly string[]) => unknown[],
) => void;

function changed(change: Change): JsonObject {
  const copy: JsonObject = JSON.parse(JSON.stringify(released));
  const found = (steps: readonly string[]): object => {
    let value: unknown = copy;
    for (const step of steps)
      value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
    assert.ok(typeof value === "object" && value !== null, steps.join("."));
    return value;
  };
  change(
    (...steps) => found(steps) as Record<string, unknown>,
    (...steps) => found(steps) as unknown[],
  );
  return copy;
}

const breaks: readonly (readonly [what: string, change: Change, fault: RegExp])[] = [
  ["a path that goes", (at) => delete at("paths")[`${orders}/{purchaseOrderId}/log`], /log is gone/],
  ["a method that goes", (at) => delete at("paths", orders)["post"], /POST .* is gone/],
  ["a filter that goes", (_, listAt) => listAt("paths", orders, "get", "parameters").shift(), /query status is gone/],
  [
    "a body member that becomes required",
    (_, listAt) => listAt(...bodyOf(orders), "required").push("poName"),
    /poName: is not always there/,
  ],
  [
    "a body that becomes required",
    (at) => (at("paths", orders, "post", "requestBody")["required"] = true),
    /body is required/,
  ],
  [
    "a body that may not be empty any more",
    (at) => {
      at(...bodyOf(orders))["minProperties"] = 1;
    },
    /minProperties differs/,
  ],
  [
    "members that exclude each other",
    (at) => {
      at(...bodyOf(orders))["oneOf"] = [{ required: ["poName"] }, { required: ["lineItems"] }];
    },
    /oneOf differs/,
  ],
  ["a member of an answer that goes", (at) => delete at(...header, "properties")["poNumber"], /poNumber is gone/],
  [
    "a member of an answer that need not be there any more",
    (_, listAt) => listAt(...header, "required").shift(),
    /is not always there/,
  ],
  [
    "a value that answers did not have",
    (_, listAt) => listAt(...header, "properties", "status", "enum").push("Lost"),
    /"Lost".* is not among its values/,
  ],
  [
    "a list that takes fewer",
    (at) => {
      at(...bodyOf(`${orders}/{purchaseOrderId}/line-items`), "properties", "lineItems")["maxItems"] = 100;
    },
    /maxItems differs/,
  ],
];

for (const [what, change, fault] of breaks)
  test(`${what} is told`, () => {
    const faults = breakingChanges(released, changed(change));
    assert.ok(
      faults.some((each) => fault.test(each)),
      faults.join("\n") || "nothing was told",
    );
  });

test("what is added is not told", () => {
  const more = changed((at, listAt) => {
    at(...header, "properties")["carbonKg"] = { type: "number" };
    at(...bodyOf(orders), "properties")["carbonKg"] = { type: "number" };
    at("paths")["/api/v1/suppliers"] = at("paths", orders);
    listAt("paths", orders, "get", "parameters").push({ name: "tag", in: "query", schema: { type: "string" } });
  });
  assert.deepEqual(breakingChanges(released, more), []);
});
