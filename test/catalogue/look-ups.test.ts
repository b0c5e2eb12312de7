/** What the console asks beside the API: look-ups, lines by a code, changes of all orders, saved views (contract §10, C52–C54). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportRecords } from "../../src/exchange/export.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";

const catalogue: readonly object[] = [
  { type: "location", locationId: "loc_1", name: "Main hall" },
  { type: "supplier", supplierId: "sup_1", name: "Nord", currencyCode: "EUR", leadTimeDays: 5 },
  { type: "supplier", supplierId: "sup_2", name: "Süd" },
  { type: "variant", variantId: "var_1", productId: "p", productName: "Mug", sku: "MUG-1", barcode: "4001", price: 9 },
  { type: "variant", variantId: "var_2", productId: "p", productName: "Plate", sku: "PLATE", barcode: "4002" },
  { type: "supplierVariant", supplierId: "sup_1", variantId: "var_1", unitCost: 3, moq: 6 },
  { type: "inventoryLevel", variantId: "var_1", locationId: "loc_1", onHand: 7 },
];

const shopPath = (server: TestServer, path: string): string => `/shops/${server.shopId}${path}`;

async function withCatalogue(records: readonly object[] = []) {
  const server = await startServer({ console: true });
  const body = [...catalogue, ...records].map((record) => `${JSON.stringify(record)}\n`).join("");
  const brought = await askAdmin(server, "POST", shopPath(server, "/import"), body);
  assert.equal(brought.status, 200, brought.text);
  return server;
}

async function orderOf(server: TestServer, key: string, lines: readonly object[]): Promise<string> {
  const made = await server.post("/api/v1/purchase-orders", { supplierId: "sup_1", locationId: "loc_1" }, { key });
  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const added = await server.post(
    `/api/v1/purchase-orders/${purchaseOrderId}/line-items`,
    { lineItems: lines },
    { key },
  );
  assert.equal(added.status, 201, added.text);
  return purchaseOrderId;
}

async function send(server: TestServer, purchaseOrderId: string): Promise<void> {
  const path = `/api/v1/purchase-orders/${purchaseOrderId}/status`;
  const sent = await server.post(path, { status: "Sent" });
  assert.equal(sent.status, 200, sent.text);
}

test("suppliers, locations and variants are looked up by text, id and code, a page at a time", async () => {
  await using server = await withCatalogue();
  const key = await (await signInAs(server, "viewer")).bearer();
  const ask = (path: string) => askAdmin(server, "GET", shopPath(server, path), undefined, { key });
  const suppliers = await ask("/suppliers?search=no");
  assert.deepEqual(
    [suppliers.at("data", "totalCount"), suppliers.at("data", "suppliers", 0, "supplierId")],
    [1, "sup_1"],
  );
  assert.equal((await ask("/suppliers?ids=sup_2,sup_1,none")).at("data", "suppliers", "length"), 2);
  assert.equal((await ask("/locations")).at("data", "locations", 0, "name"), "Main hall");
  const first = await ask("/variants?limit=1");
  assert.equal(first.at("data", "variants", 0, "productName"), "Mug");
  const second = await ask(`/variants?limit=1&cursor=${first.textAt("data", "cursor")}`);
  assert.deepEqual([second.at("data", "variants", 0, "variantId"), second.at("data", "cursor")], ["var_2", null]);
  for (const path of [
    "/variants?barcode=4001",
    "/variants?sku=MUG-1",
    "/variants?search=mug",
    "/variants?supplierId=sup_1",
  ])
    assert.deepEqual((await ask(path)).at("data", "totalCount"), 1, path);
  const withTerms = await ask("/variants?supplierId=sup_1");
  assert.deepEqual(withTerms.at("data", "variants", 0, "levels"), [{ locationId: "loc_1", onHand: 7, incoming: 0 }]);
  assert.deepEqual(withTerms.at("data", "variants", 0, "terms", "moq"), 6);
  assert.equal((await ask("/variants?barcode=400")).at("data", "totalCount"), 0);
  const coded = await ask("/variants?codes=4002,MUG-1,none&supplierId=sup_1");
  assert.deepEqual([coded.at("data", "totalCount"), coded.at("data", "variants", 0, "variantId")], [1, "var_1"]);
  assert.equal((await ask("/variants?codes=4002,MUG-1,none")).at("data", "totalCount"), 2);
  assert.equal((await ask("/variants?codes=none")).at("data", "totalCount"), 0);
  assert.equal((await ask("/variants?codes=4002&ids=var_1")).status, 400);
  assert.equal((await ask("/variants?limit=51")).status, 400);
  assert.equal((await askAdmin(server, "GET", "/shops/none/variants")).status, 404);
});

test("look-ups find words, without accents, in suppliers' names, contacts and codes too (C13)", async () => {
  await using server = await withCatalogue([
    {
      type: "supplier",
      supplierId: "sup_3",
      name: "Łódź Ceramika",
      contactName: "Zoë Müller",
      email: "orders@lodz.example",
    },
    {
      type: "variant",
      variantId: "sea",
      productId: "m",
      productName: "Tideline Mug",
      variantName: "Sea",
      sku: "TM-S_1",
    },
    { type: "variant", variantId: "cafe", productId: "c", productName: "Café Dockside 250 g", barcode: "036000291452" },
    {
      type: "supplierVariant",
      supplierId: "sup_3",
      variantId: "sea",
      supplierSku: "CER-é-77",
      supplierBarcode: "8719001002013",
    },
  ]);
  const key = await (await signInAs(server, "viewer")).bearer();
  const idsOf = async (list: "variants" | "suppliers" | "locations", search: string) => {
    const path = shopPath(server, `/${list}?search=${encodeURIComponent(search)}`);
    const answered = await askAdmin(server, "GET", path, undefined, { key });
    assert.equal(answered.status, 200, answered.text);
    const id = { variants: "variantId", suppliers: "supplierId", locations: "locationId" }[list];
    return Array.from({ length: Number(answered.at("data", "totalCount")) }, (_, index) =>
      answered.textAt("data", list, index, id),
    );
  };
  for (const [search, found] of [
    ["Tideline Mug Sea", ["sea"]],
    ["sea tideline", ["sea"]],
    ["dockside 250", ["cafe"]],
    ["cafe", ["cafe"]],
    ["cer-e-77", ["sea"]],
    ["8719001", ["sea"]],
    ["lodz mug", ["sea"]],
    ["lodz dockside", []],
    ["36000291", ["cafe"]],
    ["_", ["sea"]],
    ["%", []],
  ] as const)
    assert.deepEqual(await idsOf("variants", search), found, search);
  for (const search of ["lodz", "ceramika muller", "zoe", "orders@lodz"])
    assert.deepEqual(await idsOf("suppliers", search), ["sup_3"], search);
  assert.deepEqual(await idsOf("suppliers", "sud"), ["sup_2"]);
  assert.deepEqual(await idsOf("locations", "hall main"), ["loc_1"]);
  // The supplier's new name is found at once.
  const renamed = `${JSON.stringify({ type: "supplier", supplierId: "sup_3", name: "Gdańsk" })}\n`;
  assert.equal((await askAdmin(server, "POST", shopPath(server, "/import"), renamed)).status, 200);
  assert.deepEqual([await idsOf("variants", "gdansk"), await idsOf("variants", "lodz")], [["sea"], []]);
});

test("codes are the same whatever their case, blanks, zeros and symbology, and a scan of a pack counts its pieces (C52)", async () => {
  await using server = await withCatalogue([
    {
      type: "variant",
      variantId: "tea",
      productId: "t",
      productName: "Tea",
      sku: " TEA-1 ",
      barcode: " 036000291452\t",
    },
    { type: "variant", variantId: "pen", productId: "p", productName: "Pen", sku: "PEN", barcode: "4006381333931" },
    {
      type: "supplierVariant",
      supplierId: "sup_1",
      variantId: "pen",
      supplierBarcode: " 8719001002013 ",
      packSize: 12,
    },
  ]);
  const order = await orderOf(server, server.writeKey, [
    { variantId: "tea", quantityOrdered: 5, supplierSku: " ro-9 " },
    { variantId: "pen", quantityOrdered: 60 },
  ]);
  const custom = await server.post(`/api/v1/purchase-orders/${order}/line-items/custom`, {
    productName: "Sign",
    sku: " Sign-1 ",
    barcode: "14006381333938 ",
    quantityOrdered: 1,
    unitCost: 1,
  });
  assert.equal(custom.status, 201, custom.text);
  assert.equal(
    custom.at("data", "lineItem", "sku") ?? custom.at("data", "purchaseOrder", "lineItems", 2, "sku"),
    "Sign-1",
  );
  await send(server, order);
  const key = await (await signInAs(server, "receiver")).bearer();
  const ask = (path: string) => askAdmin(server, "GET", shopPath(server, path), undefined, { key });
  const lines = async (code: string) => {
    const answered = await ask(`/open-lines?code=${encodeURIComponent(code)}`);
    assert.equal(answered.status, 200, answered.text);
    return Array.from({ length: Number(answered.at("data", "totalCount")) }, (_, index) =>
      ["variantId", "matchedBy", "countsAs", "countsAsReason"]
        .map((name) => JSON.stringify(answered.at("data", "openLines", index, name)).replaceAll('"', ""))
        .map((text) => (text.startsWith("CSTM-") ? "custom" : text))
        .join(" "),
    );
  };
  for (const code of [
    "0036000291452",
    "036000291452",
    " 00036000291452 ",
    "]C10100036000291452",
    "https://x.example/01/0036000291452",
  ])
    assert.deepEqual(await lines(code), ["tea barcode 1 piece"], code);
  assert.deepEqual(await lines("tea-1"), ["tea sku 1 piece"]);
  assert.deepEqual(await lines("RO-9"), ["tea supplierSku 1 piece"]);
  assert.deepEqual(await lines("8719001002013"), ["pen supplierBarcode 12 pack"]);
  assert.deepEqual(await lines("14006381333938"), ["pen barcode 12 pack", "custom barcode 1 piece"]);
  assert.deepEqual(await lines("^0104006381333931^3012"), ["pen barcode 12 count"]);
  assert.deepEqual(await lines("0036000291453"), [], "a wrong check digit");

  const variants = async (query: string) => {
    const answered = await ask(`/variants?${query}`);
    assert.equal(answered.status, 200, answered.text);
    return Array.from({ length: Number(answered.at("data", "totalCount")) }, (_, index) =>
      answered.textAt("data", "variants", index, "variantId"),
    );
  };
  assert.deepEqual(await variants("sku=tea-1"), ["tea"]);
  assert.deepEqual(await variants("barcode=00036000291452"), ["tea"]);
  assert.deepEqual(await variants("codes=pen,0036000291452"), ["pen", "tea"]);
  for (const code of ["14006381333938", "0114006381333938", "04006381333931"]) {
    assert.deepEqual(await variants(`barcode=${code}`), ["pen"], code);
    assert.deepEqual(await variants(`codes=${code}`), ["pen"], code);
    assert.deepEqual(await variants(`search=${code}`), ["pen"], code);
    assert.deepEqual(await variants(`search=pen%20${code}`), ["pen"], code);
    assert.deepEqual(await variants(`search=tea%20${code}`), [], code);
  }
  for (const by of ["barcode", "codes", "search"])
    assert.deepEqual(await variants(`${by}=14006381333939`), [], "a wrong check digit");
  const tea = await ask("/variants?ids=tea");
  assert.deepEqual(
    [tea.at("data", "variants", 0, "sku"), tea.at("data", "variants", 0, "barcode")],
    ["TEA-1", "036000291452"],
  );
  const list = async (sku: string) =>
    (await server.get(`/api/v1/purchase-orders?sku=${encodeURIComponent(sku)}`)).at("data", "totalCount");
  assert.deepEqual([await list(" tea-1 "), await list("SIGN-1"), await list("TEA")], [1, 1, 0]);
});

test("a variant is found with its suppliers and their terms: 20, cheapest in the shop's currency first (C52)", async () => {
  const entry = (supplierId: string, unitCost: number | null, terms: object = {}) => [
    { type: "supplier", supplierId, name: supplierId.toUpperCase(), currencyCode: "USD", leadTimeDays: 4 },
    { type: "supplierVariant", supplierId, variantId: "var_2", unitCost, ...terms },
  ];
  await using server = await withCatalogue([
    ...entry("dear", 8),
    ...entry("unknown", null),
    ...entry("no-rate", 0.5, { unitCostCurrencyCode: "GBP" }),
    ...entry("b", 6, { leadTimeDays: 9, packSize: 6, moq: 12, supplierSku: "P-6", supplierBarcode: "BOX" }),
    ...entry("euro", 4.9, { unitCostCurrencyCode: "EUR" }),
    ...entry("a", 6),
    ...Array.from({ length: 16 }, (_, index) => entry(`more-${10 + index}`, 20 + index)).flat(),
  ]);
  const rates = await askAdmin(server, "PUT", shopPath(server, ""), { settings: { fxRates: { USD: 0.8 } } });
  assert.equal(rates.status, 200, rates.text);
  const ask = async (query: string) => await askAdmin(server, "GET", shopPath(server, `/variants?${query}`));
  const found = await ask("ids=var_2");
  assert.equal(found.status, 200, found.text);
  const suppliers = Array.from({ length: Number(found.at("data", "variants", 0, "suppliers", "length")) }, (_, index) =>
    found.textAt("data", "variants", 0, "suppliers", index, "supplierId"),
  );
  const more = Array.from({ length: 16 }, (_, index) => `more-${10 + index}`);
  assert.deepEqual(suppliers, ["a", "b", "euro", "dear", ...more]);
  assert.deepEqual(found.at("data", "variants", 0, "suppliers", 1), {
    supplierId: "b",
    supplierName: "B",
    terms: {
      unitCost: 6,
      unitCostCurrencyCode: "USD",
      supplierSku: "P-6",
      supplierBarcode: "BOX",
      moq: 12,
      packSize: 6,
      leadTimeDays: 9,
    },
  });
  assert.equal(found.at("data", "variants", 0, "suppliers", 0, "terms", "leadTimeDays"), 4);
  const beyond = await ask("supplierId=no-rate");
  assert.equal(beyond.at("data", "variants", 0, "terms", "unitCost"), 0.5, "also of one that is not among the 20");
});

test("a code finds the lines of open orders that carry it, custom lines too, most pending first", async () => {
  await using server = await withCatalogue();
  const few = await orderOf(server, server.writeKey, [{ variantId: "var_1", quantityOrdered: 2 }]);
  const many = await orderOf(server, server.writeKey, [
    { variantId: "var_1", quantityOrdered: 9, supplierBarcode: "BOX" },
  ]);
  const draft = await orderOf(server, server.writeKey, [{ variantId: "var_1", quantityOrdered: 50 }]);
  const custom = await server.post(`/api/v1/purchase-orders/${few}/line-items/custom`, {
    productName: "Sign",
    sku: "MUG-1",
    quantityOrdered: 1,
    unitCost: 1,
  });
  assert.equal(custom.status, 201, custom.text);
  await send(server, few);
  await send(server, many);
  const key = await (await signInAs(server, "receiver")).bearer();
  const lines = async (code: string) => {
    const path = shopPath(server, `/open-lines?code=${encodeURIComponent(code)}`);
    const answered = await askAdmin(server, "GET", path, undefined, { key });
    assert.equal(answered.status, 200, answered.text);
    const count = Number(answered.at("data", "totalCount"));
    return Array.from({ length: count }, (_, index) => [
      answered.at("data", "openLines", index, "purchaseOrderId"),
      answered.at("data", "openLines", index, "quantityPending"),
      answered.at("data", "openLines", index, "matchedBy"),
    ]);
  };
  assert.deepEqual(await lines("4001"), [
    [many, 9, "barcode"],
    [few, 2, "barcode"],
  ]);
  assert.deepEqual(await lines("MUG-1"), [
    [many, 9, "sku"],
    [few, 2, "sku"],
    [few, 1, "sku"],
  ]);
  assert.deepEqual(await lines("BOX"), [[many, 9, "supplierBarcode"]]);
  assert.deepEqual(await lines("400"), []);
  assert.notEqual(draft, many);
});

test("changes of all orders are found by who made them, by request, order, operation and time, newest first", async () => {
  await using server = await withCatalogue();
  const { keyId, apiKey } = await server.addKey("write");
  const ana = await signInAs(server, "purchaser", "Ana");
  const byAgent = await orderOf(server, apiKey, [{ variantId: "var_1", quantityOrdered: 2 }]);
  const byAna = await orderOf(server, await ana.bearer(), [{ variantId: "var_2", quantityOrdered: 3 }]);
  const patched = await server.patch(`/api/v1/purchase-orders/${byAgent}`, { note: "by the other key" });
  const key = await (await signInAs(server, "viewer")).bearer();
  const ask = async (query: string) => {
    const answered = await askAdmin(server, "GET", shopPath(server, `/changes?${query}`), undefined, { key });
    assert.equal(answered.status, 200, answered.text);
    return answered;
  };
  const orders = async (query: string): Promise<unknown[]> => {
    const answered = await ask(query);
    const length = Number(answered.at("data", "changes", "length"));
    assert.equal(answered.at("data", "totalCount"), length, query);
    return Array.from({ length }, (_, index) => answered.at("data", "changes", index, "purchaseOrderId"));
  };
  assert.deepEqual(await orders(`keyId=${keyId}`), [byAgent, byAgent]);
  assert.deepEqual(await orders(`personId=${ana.personId}`), [byAna, byAna]);
  assert.deepEqual(await orders(`personId=${ana.personId}&keyId=${keyId}`), []);
  assert.deepEqual(await orders("actorType=user"), [byAna, byAna]);
  assert.equal((await orders("actorType=user,api-key,user")).length, 5, "several types, as in C13");
  assert.equal((await orders("actorType=user&actorType=api-key")).length, 5);
  assert.deepEqual(await orders("operation=purchase_order_line_item_add"), [byAna, byAgent]);
  assert.deepEqual(await orders(`purchaseOrderId=${byAgent}`), [byAgent, byAgent, byAgent]);
  assert.deepEqual(await orders(`requestId=${patched.textAt("meta", "requestId")}`), [byAgent]);
  assert.deepEqual(await orders("to=2020-01-01"), []);
  assert.equal((await orders("from=2020-01-01")).length, 5);
  assert.equal((await orders("from=2020-01-01&to=2099-12-31")).length, 5);
  assert.deepEqual(await orders("from=2020-01-01&to=2020-01-01"), []);
  for (const query of ["from=2020-01-02&to=2020-01-01", "from=2020-01-01T10:00:00.001Z&to=2020-01-01T10:00:00Z"]) {
    const refused = await askAdmin(server, "GET", shopPath(server, `/changes?${query}`), undefined, { key });
    assert.equal(refused.status, 400, query);
    assert.deepEqual(refused.at("error", "details", 0), { path: "/to", message: "must not be before from" });
  }
  const newest = await ask("limit=1");
  assert.equal(newest.at("data", "changes", 0, "poNumber"), "PO-1001");
  assert.deepEqual(newest.at("data", "changes", 0, "changes", 0, "after"), "by the other key");
  const next = await ask(`limit=1&cursor=${newest.textAt("data", "cursor")}`);
  assert.equal(next.at("data", "changes", 0, "purchaseOrderId"), byAna);

  assert.equal((await server.delete(`/api/v1/purchase-orders/${byAna}`)).status, 200);
  assert.deepEqual(await orders(`purchaseOrderId=${byAna}`), [byAna, byAna, byAna], "a deleted order's entries stay");
});

test("requests are found by surface, by outcome and by what else may be filtered by, at once, page by page", async () => {
  await using server = await startServer({ console: true });
  const rows = Array.from({ length: 240 }, (_, index) => {
    const surface = ["rest", "mcp", "console"][index % 3] ?? "";
    return {
      auditId: `aud_0${1_000 + index}`,
      requestId: `req_${index}`,
      surface,
      operation: ["purchase_order_list", "purchase_order_receive"][index % 2] ?? "",
      keyId: surface === "console" ? null : `key_${index % 4}`,
      personId: surface === "console" ? `person_${index % 4}` : null,
      status: [200, 201, 304, 400, 404, 499, 500, 503][index % 8] ?? 0,
    };
  });
  await server.engine.write(server.shopId, (tx) =>
    tx.batch(
      rows.map((row, at) => ({
        sql: `insert into audit_log (shop_id, audit_id, at, request_id, tag, key_id, person_id, method, path, status, duration_ms, replayed)
              values (?, ?, ?, ?, ?, ?, ?, 'GET', '/', ?, 1, 0)`,
        params: [
          server.shopId,
          row.auditId,
          at,
          row.requestId,
          `${row.surface}:${row.operation}`,
          row.keyId,
          row.personId,
          row.status,
        ],
      })),
    ),
  );
  const least = { done: 0, refused: 400, failed: 500 };
  const below = { done: 400, refused: 500, failed: 600 };
  type Row = (typeof rows)[number];
  const filters: Readonly<Record<string, (row: Row) => boolean>> = {
    "surface=rest": (row) => row.surface === "rest",
    "outcome=failed,done": (row) => row.status < 400 || row.status >= 500,
    "surface=mcp,rest,mcp": (row) => row.surface !== "console",
    ...Object.fromEntries(
      (["done", "refused", "failed"] as const).map((outcome) => [
        `outcome=${outcome}`,
        (row: Row) => row.status >= least[outcome] && row.status < below[outcome],
      ]),
    ),
    "status=404": (row) => row.status === 404,
    "status=500": (row) => row.status === 500,
    "keyId=key_1": (row) => row.keyId === "key_1",
    "personId=person_2": (row) => row.personId === "person_2",
    "operation=purchase_order_receive": (row) => row.operation === "purchase_order_receive",
  };
  const found = async (query: string): Promise<readonly string[]> => {
    const requestIds: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await askAdmin(server, "GET", shopPath(server, `/audit-log?limit=50&${query}${after}`));
      assert.equal(page.status, 200, page.text);
      for (let row = 0; row < Number(page.at("data", "auditLog", "length")); row += 1)
        requestIds.push(page.textAt("data", "auditLog", row, "requestId"));
      const next = page.at("data", "cursor");
      cursor = typeof next === "string" ? next : null;
      if (cursor === null) assert.equal(page.at("data", "totalCount"), requestIds.length, query);
    }
    return requestIds;
  };
  const named = Object.entries(filters);
  for (const [index, [query, passes]] of named.entries())
    for (const [other, alsoPasses] of named.slice(index)) {
      const name = query.split("=")[0];
      if (other !== query && other.startsWith(`${name}=`)) continue;
      const wanted = rows.filter((row) => passes(row) && alsoPasses(row)).map((row) => row.requestId);
      const asked = other === query ? query : `${query}&${other}`;
      assert.deepEqual(await found(asked), wanted.toReversed(), asked);
    }
  const three = rows.filter((row) => row.surface === "mcp" && row.status === 503 && row.operation.endsWith("receive"));
  assert.ok(three.length > 0);
  assert.deepEqual(
    await found("surface=mcp&outcome=failed&operation=purchase_order_receive&status=503"),
    three.map((row) => row.requestId).toReversed(),
  );
});

test("a person saves views and shares them; whoever did not make one cannot change it", async () => {
  await using server = await startServer({ console: true });
  const [ana, ben] = [await signInAs(server, "viewer", "Ana"), await signInAs(server, "purchaser", "Ben")];
  const [anasKey, bensKey] = [await ana.bearer(), await ben.bearer()];
  const ownersKey = await (await signInAs(server, "owner")).bearer();
  const view = (key: string, method: string, viewId: string, body?: object) =>
    askAdmin(server, method, shopPath(server, `/console-views/${viewId}`), body, { key });
  const seenBy = async (key: string): Promise<unknown> =>
    (await askAdmin(server, "GET", shopPath(server, "/console-views"), undefined, { key })).at("data", "totalCount");
  const late = { viewName: "Late", query: "status=Sent&expectedBefore=today" };
  const made = await view(anasKey, "PUT", "late", late);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.at("data", "consoleView"), {
    viewId: "late",
    ...late,
    isShared: false,
    personId: ana.personId,
  });
  assert.deepEqual([await seenBy(anasKey), await seenBy(bensKey), await seenBy(adminToken)], [1, 0, 1]);
  assert.equal((await view(bensKey, "PUT", "late", late)).status, 404);
  assert.equal((await view(anasKey, "PUT", "late", { ...late, isShared: true })).status, 200);
  assert.equal(await seenBy(bensKey), 1);
  assert.equal((await view(bensKey, "DELETE", "late")).status, 403);
  assert.equal(
    (await view(ownersKey, "PUT", "late", { ...late, isShared: true })).at("data", "consoleView", "personId"),
    ana.personId,
  );

  let exported = "";
  for await (const part of exportRecords(server.engine, server.shopId)) exported += part;
  const records = exported.split("\n").filter((line) => line.includes('"consoleView"'));
  assert.equal(records.length, 1, exported);
  await askAdmin(server, "PUT", "/shops/elsewhere", { name: "Elsewhere" });
  for (const shopId of [server.shopId, "elsewhere"])
    assert.equal((await askAdmin(server, "POST", `/shops/${shopId}/import`, `${records[0]}\n`)).status, 200);
  const moved = await askAdmin(server, "GET", "/shops/elsewhere/console-views");
  assert.deepEqual(moved.at("data", "consoleViews", 0), { viewId: "late", ...late, isShared: true, personId: null });
  assert.equal((await view(anasKey, "DELETE", "late")).status, 200);
  assert.equal((await view(anasKey, "DELETE", "late")).status, 404);
});
