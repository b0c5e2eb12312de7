/**
 * Compares the OpenAPI document with that of the latest release, `released.json`: additions are allowed, breaking changes are not. A new
 * release replaces `released.json` (`npm run generate -- --release`).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { documentOf, releases } from "../releases/kept.ts";
import { breakingChanges } from "../support/openapi/breaking.ts";

const released: JsonObject = JSON.parse(readFileSync(path.join(import.meta.dirname, "released.json"), "utf8"));

/** Values that the contract has added to answers: who may change an order (C64a), and what is warned of (C16). */
const added = [
  /\blog\[\]\.actor\.type: \["supplier"\] is not among its values$/,
  /\bdata\.warnings\[\]\.reason: \["not-this-supplier","no-rate","past-date","date-ignored","other-supplier-terms","supplier-has-older-version","discount-above-total","given-up"\] is not among its values$/,
] as const;
const isWanted = (change: string): boolean => added.some((value) => value.test(change));

test("the document has no breaking change against the released one, but for what the contract has added", () => {
  const changes = breakingChanges(released, openApiDocument(operations));
  assert.deepEqual(
    changes.filter((change) => !isWanted(change)),
    [],
  );
});

for (const release of releases.filter((name) => !name.includes("-build-")))
  test(`the document has no breaking change against the one that was kept of ${release}`, () => {
    const kept = documentOf(release);
    assert.ok(JSON.stringify(kept["paths"]).includes("purchase-orders"));
    assert.deepEqual(
      breakingChanges(kept, openApiDocument(operations)).filter((change) => !isWanted(change)),
      [],
    );
  });

const orders = "/api/v1/purchase-orders";
const header = ["components", "schemas", "PurchaseOrderHeader"] as const;
const createBody = ["components", "schemas", "PurchaseOrderCreateBody"] as const;

/** Changes a copy of the released document: `at` returns the object at these steps, `listAt` the list. */
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
  ["a removed path", (at) => delete at("paths")[`${orders}/{purchaseOrderId}/log`], /log is gone/],
  ["a removed method", (at) => delete at("paths", orders)["post"], /POST .* is gone/],
  ["a removed filter", (_, listAt) => listAt("paths", orders, "get", "parameters").shift(), /query status is gone/],
  [
    "a body member that becomes required",
    (_, listAt) => listAt(...createBody, "required").push("poName"),
    /poName: is not always there/,
  ],
  [
    "a body that becomes required",
    (at) => (at("paths", orders, "post", "requestBody")["required"] = true),
    /body is required/,
  ],
  [
    "a body that must not be empty any more",
    (at) => {
      at(...createBody)["minProperties"] = 1;
    },
    /minProperties differs/,
  ],
  [
    "body members that now exclude each other",
    (at) => {
      at(...createBody)["oneOf"] = [{ required: ["poName"] }, { required: ["lineItems"] }];
    },
    /oneOf differs/,
  ],
  [
    "a body that loses one of its forms",
    (_, listAt) => listAt("components", "schemas", "PurchaseOrderConfirmBody", "oneOf").pop(),
    /confirmAll is gone/,
  ],
  ["a removed member of an answer", (at) => delete at(...header, "properties")["poNumber"], /poNumber is gone/],
  [
    "a member of an answer that becomes optional",
    (_, listAt) => listAt(...header, "required").shift(),
    /is not always there/,
  ],
  [
    "a new enumeration value in an answer",
    (_, listAt) => listAt("components", "schemas", "PurchaseOrderStatus", "enum").push("Lost"),
    /"Lost".* is not among its values/,
  ],
  [
    "a list with a smaller maximum",
    (at) => {
      at("components", "schemas", "PurchaseOrderLineItemAddBody", "properties", "lineItems")["maxItems"] = 100;
    },
    /maxItems differs/,
  ],
];

for (const [what, change, fault] of breaks)
  test(`reported: ${what}`, () => {
    const faults = breakingChanges(released, changed(change));
    assert.ok(
      faults.some((each) => fault.test(each)),
      faults.join("\n") || "nothing was reported",
    );
  });

test("additions are not reported", () => {
  const more = changed((at, listAt) => {
    at(...header, "properties")["carbonKg"] = { type: "number" };
    at(...createBody, "properties")["carbonKg"] = { type: "number" };
    at("paths")["/api/v1/suppliers"] = at("paths", orders);
    listAt("paths", orders, "get", "parameters").push({ name: "tag", in: "query", schema: { type: "string" } });
  });
  assert.deepEqual(breakingChanges(released, more), []);
});
