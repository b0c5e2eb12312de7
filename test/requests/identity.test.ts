/** Parsing of idempotency keys, API keys and cursors, and fingerprints of requests. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { apiKeyRandomBytes, makeApiKey, parseApiKey } from "../../src/core/access/api-key.ts";
import { shopIdPattern } from "../../src/base/secret.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "../../src/base/cursor.ts";
import { Fault } from "../../src/base/fault.ts";
import {
  idempotencyKeyProblem,
  parseIdempotencyKey,
  type RequestIdentity,
  requestFingerprint,
} from "../../src/core/access/idempotency.ts";

const invalid = (error: unknown): boolean => error instanceof Fault && error.code === "INVALID_INPUT";

test("an idempotency key is one string of 1 to 255 characters (C21)", () => {
  assert.equal(parseIdempotencyKey([]), null);
  assert.equal(parseIdempotencyKey(["k"]), "k");
  assert.equal(parseIdempotencyKey(["k".repeat(255)]), "k".repeat(255));
  for (const values of [[""], ["a", "a"], ["k".repeat(256)]]) assert.throws(() => parseIdempotencyKey(values), invalid);
});

test("a wrong idempotency key is told what is wrong with it", () => {
  const problems: readonly (readonly [readonly string[], string])[] = [
    [["a", "a"], "is given more than once"],
    [["", ""], "is given more than once"],
    [[""], "is empty"],
    [["k".repeat(256)], "is longer than 255 characters"],
  ];
  for (const [values, problem] of problems) {
    assert.equal(idempotencyKeyProblem(values), problem);
    assert.throws(
      () => parseIdempotencyKey(values),
      (error) => error instanceof Fault && error.message.includes(problem),
    );
  }
  for (const values of [[], ["k"], ["k".repeat(255)]]) assert.equal(idempotencyKeyProblem(values), null);
});

const request: RequestIdentity = {
  method: "POST",
  path: "/api/v1/purchase-orders",
  query: [],
  body: { json: { poName: "x", lineItems: [{ variantId: "v", quantityOrdered: 1 }] } },
};

test("the order of members and of differently named parameters does not change the fingerprint (C17)", () => {
  const same: RequestIdentity = {
    ...request,
    body: { json: { lineItems: [{ quantityOrdered: 1, variantId: "v" }], poName: "x" } },
  };
  assert.equal(requestFingerprint(same), requestFingerprint(request));
  const query = (...pairs: [string, string][]): string => requestFingerprint({ ...request, query: pairs });
  assert.equal(query(["b", "1"], ["a", "2"]), query(["a", "2"], ["b", "1"]));
  assert.notEqual(query(["a", "1"], ["a", "2"]), query(["a", "2"], ["a", "1"]));
});

test("another method, path, query or body changes the fingerprint, and raw bytes never equal JSON", () => {
  const others: readonly Partial<RequestIdentity>[] = [
    { method: "PATCH" },
    { path: "/api/v1/purchase-orders/po_1" },
    { query: [["a", "1"]] },
    { body: { json: {} } },
    { body: { json: [] } },
    { body: { bytes: new TextEncoder().encode("{}") } },
    { body: { bytes: new TextEncoder().encode("{") } },
  ];
  const prints = [request, ...others.map((other) => ({ ...request, ...other }))].map(requestFingerprint);
  assert.equal(new Set(prints).size, prints.length);
});

test("the bytes of which a fingerprint is made are fixed: a stored answer may be from the release before", () => {
  const sha256 = (...parts: readonly (string | Uint8Array)[]): string =>
    createHash("sha256")
      .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
      .digest("hex");
  const query: readonly (readonly [string, string])[] = [
    ["b", "3"],
    ["a", "2"],
    ["c", "4"],
    ["a", "1"],
    ["b", "0"],
  ];
  const head = '["PATCH","/a",[["a","2"],["a","1"],["b","3"],["b","0"],["c","4"]]]';
  const asked = { method: "PATCH", path: "/a", query };
  assert.equal(
    requestFingerprint({ ...asked, body: { json: { y: 1, x: [null] } } }),
    sha256(head, '\njson\n{"x":[null],"y":1}'),
  );
  const bytes = Uint8Array.of(0xff, 0x00, 0x7b);
  assert.equal(requestFingerprint({ ...asked, body: { bytes } }), sha256(head, "\nbytes\n", bytes));
});

const randomBytes = fc.uint8Array({ minLength: apiKeyRandomBytes, maxLength: apiKeyRandomBytes });
const shopIds = fc.stringMatching(shopIdPattern);

test("a key names its shop, and its secret is found by its hash alone (S7)", () => {
  fc.assert(
    fc.property(shopIds, randomBytes, (shopId, random) => {
      const made = makeApiKey(shopId, random);
      assert.match(made.apiKey, /^opo_[a-z0-9-]+_[0-9A-Za-z]{34}$/);
      assert.deepEqual(parseApiKey(made.apiKey), { shopId, secretHash: made.secretHash });
      assert.ok(!made.apiKey.includes(made.secretHash));
      assert.ok(made.apiKey.endsWith(made.lastFour));
    }),
  );
});

test("a mistyped or cut-off key, or one with another shop's id, is invalid", () => {
  fc.assert(
    fc.property(randomBytes, fc.nat({ max: 38 }), fc.constantFrom("a", "B", "7", "_", " "), (random, at, typo) => {
      const { apiKey } = makeApiKey("shop", random);
      const place = apiKey.length - 1 - (at % 34);
      if (apiKey[place] !== typo)
        assert.equal(parseApiKey(apiKey.slice(0, place) + typo + apiKey.slice(place + 1)), null);
      assert.equal(parseApiKey(apiKey.slice(0, -1)), null);
      assert.equal(parseApiKey(apiKey.replace("opo_shop_", "opo_shops_")), null);
      assert.equal(parseApiKey(apiKey.replace("opo_shop_", "opo_SHOP_")), null);
    }),
  );
  for (const text of ["", "opo", "opo__x", "opo_shop_", "x".repeat(10_000)]) assert.equal(parseApiKey(text), null);
});

const scope: CursorScope = {
  list: "purchase-orders",
  shopId: "demo",
  filters: { status: ["Draft"], search: undefined },
};

const otherKind = (kind: "string" | "number"): "string" | "number" => (kind === "string" ? "number" : "string");

test("a cursor is valid for its own list, shop and filters only (C12)", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }), (position) => {
      const cursor = encodeCursor(scope, position);
      assert.match(cursor, /^[\w.-]+$/);
      const kinds = position.map((key) => (typeof key === "string" ? ("string" as const) : ("number" as const)));
      assert.deepEqual(decodeCursor({ ...scope, filters: { status: ["Draft"] } }, cursor, kinds), position);
      for (const others of [kinds.slice(1), [...kinds, "string" as const], kinds.map(otherKind)])
        if (others.join() !== kinds.join()) assert.throws(() => decodeCursor(scope, cursor, others), invalid);
      for (const other of [{ list: "log" }, { shopId: "other" }, { filters: {} }, { filters: { status: ["Sent"] } }])
        assert.throws(() => decodeCursor({ ...scope, ...other }, cursor, kinds), invalid);
    }),
  );
});

test("a cursor with any changed character is refused", () => {
  const kinds = ["number", "string"] as const;
  const cursor = encodeCursor(scope, [1_700_000_000_000, "po_1"]);
  for (let at = 0; at < cursor.length; at += 1) {
    assert.throws(() => decodeCursor(scope, cursor.slice(0, at), kinds), invalid);
    assert.throws(
      () =>
        decodeCursor(scope, `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`, kinds),
      invalid,
    );
  }
  for (const text of ["", ".", "a.b.c", "null", `${cursor}.`, `${cursor}A`])
    assert.throws(() => decodeCursor(scope, text, kinds), invalid);
});
