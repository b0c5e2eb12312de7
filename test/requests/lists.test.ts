/** Lists of both APIs and of the tools, without naming any: filters (C13) and pages (C55a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { operations } from "../../src/operations/registry.ts";
import { askAdmin, invite, signInWith } from "../support/people.ts";
import { startServer } from "../support/server.ts";

/** Enumerations of lists that filter nothing, so that there is one of them. */
const noFilters: readonly string[] = [
  // The order of the rows.
  "sort",
  // The date that the range is about.
  "dateField",
  // What the rows stand for.
  "groupBy",
  // Whose history it is, with the id.
  "kind",
];

const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? inner(schema.unwrap()) : schema;

const lists = [...operations, ...adminOperations].filter(
  ({ name, route }) => (route === null || route.method === "GET") && /_(?:list|rows|report)$/.test(name),
);

test("every enumeration that filters a list takes several values", () => {
  assert.ok(lists.length > 30, String(lists.length));
  const single = lists.flatMap(({ name, input }) =>
    Object.entries(input.shape).flatMap(([member, schema]) =>
      inner(schema) instanceof z.ZodEnum && !noFilters.includes(member) ? [`${name}: ${member}`] : [],
    ),
  );
  assert.deepEqual(single, []);
});

/** Lists with another way to go on. */
const unpaged: readonly string[] = [
  // It is the latest of them, beside the next one.
  "purchase_order_mail_list",
  // Its cursor is a sequence, and is sent as `after`.
  "event_list",
];

const adminLists = adminOperations.filter(({ name, route, describes }) => {
  const output = describes.output;
  const isCounted = output instanceof z.ZodObject && "totalCount" in output.shape;
  return route.method === "GET" && isCounted && !unpaged.includes(name);
});

test("every list of the admin API has a cursor, and takes limit and cursor", () => {
  assert.ok(adminLists.length > 20, String(adminLists.length));
  const other = adminLists.filter(({ input, describes }) => {
    const output = describes.output;
    return !(
      "limit" in input.shape &&
      "cursor" in input.shape &&
      output instanceof z.ZodObject &&
      "cursor" in output.shape
    );
  });
  assert.deepEqual(
    other.map(({ name }) => name),
    [],
  );
});

test("lists that are loaded as a whole are the same row by row, and a cursor after a row that is gone is refused", async () => {
  await using server = await startServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  for (const name of ["One", "Two", "Three"]) {
    await signInWith(server, { invitation: await invite(server, "viewer", name) });
    await askAdmin(server, "POST", `${shop}/webhook-endpoints`, {
      url: `https://example.com/${name}`,
      eventTypes: ["*"],
    });
    await askAdmin(server, "PUT", `${shop}/console-views/${name}`, {
      viewName: name,
      query: "status=Draft",
      isShared: true,
    });
  }
  await askAdmin(server, "PUT", "/shops/another", { name: "Another", currencyCode: "EUR" });
  const lists = {
    "/shops": ["shops", 2],
    [`${shop}/keys`]: ["keys", 2],
    [`${shop}/people`]: ["people", 3],
    [`${shop}/invitations`]: ["invitations", 3],
    [`${shop}/sessions`]: ["sessions", 3],
    [`${shop}/webhook-endpoints`]: ["endpoints", 3],
    [`${shop}/console-views`]: ["consoleViews", 3],
  } as const;
  for (const [path, [member, count]] of Object.entries(lists)) {
    const whole = await askAdmin(server, "GET", path);
    assert.equal(whole.at("data", "totalCount"), count, `${path} ${whole.text}`);
    assert.equal(whole.at("data", "cursor"), null);
    const rows: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await askAdmin(server, "GET", `${path}?limit=1${after}`);
      assert.deepEqual(
        [page.status, page.at("data", "totalCount"), page.at("data", member, "length")],
        [200, count, 1],
      );
      rows.push(page.at("data", member, 0));
      const next = page.at("data", "cursor");
      cursor = typeof next === "string" ? next : null;
    }
    assert.deepEqual(rows, whole.at("data", member), path);
  }
  const first = await askAdmin(server, "GET", `${shop}/console-views?limit=1`);
  const gone = first.textAt("data", "consoleViews", 0, "viewId");
  assert.equal((await askAdmin(server, "DELETE", `${shop}/console-views/${gone}`)).status, 200);
  const cursor = first.textAt("data", "cursor");
  for (const list of ["console-views", "people"])
    assert.equal((await askAdmin(server, "GET", `${shop}/${list}?limit=1&cursor=${cursor}`)).status, 400, list);
});
