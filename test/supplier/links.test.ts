/** The supplier's link: what it shows, what it takes, and that nothing else is reached by it (C64, C64a). */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { supplierLinkKeptMs, supplierLinkMs } from "../../src/core/supplier/supplier-links.ts";
import { linkGuessesMax, linkRequestsMax } from "../../src/http/attempts.ts";
import { supplierLinksOfOrderMax } from "../../src/operations/purchase-orders/supplier-link.ts";
import { makeSecret, secretRandomBytes } from "../../src/base/secret.ts";
import { type GoodsServer, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import type { TestServerOptions } from "../support/server.ts";
import { adminOrder, byLink, makeLink, propose, sendForm } from "../support/peers/supplier-link.ts";

const start = (options: TestServerOptions = {}): Promise<GoodsServer & AsyncDisposable> =>
  startGoodsServer({ console: true, ...options });

test("a link shows its order, without script, to whoever has it; only its hash is stored", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB], {
    note: "our own words",
    noteToSupplier: "Ring <the> bell & wait",
    tags: ["own-tag"],
  });
  const link = await makeLink(server);
  assert.match(link.token, /^opl_test-shop_[0-9A-Za-z]{34}$/);
  const shown = await byLink(server, "GET", link.path);
  assert.equal(shown.status, 200, shown.text);
  assert.match(shown.text, /The Mill/);
  assert.match(shown.text, /Ring &lt;the&gt; bell &amp; wait/);
  assert.doesNotMatch(shown.text, /<script|javascript:|\son\w+=|our own words|own-tag/);
  assert.doesNotMatch(shown.text, /(?:src|href|action)="(?:https?:)?\/\//, "no other origin is named");
  assert.equal(shown.headers["cache-control"], "no-store");
  assert.equal(shown.headers["referrer-policy"], "no-referrer");
  assert.equal(shown.headers["x-robots-tag"], "noindex, nofollow");
  const policy = String(shown.headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|script-src/);
  const head = await byLink(server, "HEAD", link.path);
  assert.deepEqual([head.status, head.text], [200, ""]);
  const rows = await server.engine.read(server.shopId, (tx) =>
    tx.all<{ secret_hash: string }>("select secret_hash from supplier_link where shop_id = ?", [server.shopId]),
  );
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(link.token.slice(-34)));
});

test("the page speaks the language that the browser asks for", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const cases = [
    ["de-AT,de;q=0.9,en;q=0.5", "de", /Ihre Antwort/],
    ["pl, fr;q=0.7, es;q=0.8", "es", /Su respuesta/],
    ["fr-CA", "fr", /Votre réponse/],
    ["nl-BE,fr;q=0.5", "nl", /Uw antwoord/],
    ["pl", "en", /Your answer/],
    ["de;q=0, en", "en", /Your answer/],
  ] as const;
  for (const [accepted, language, text] of cases) {
    const shown = await byLink(server, "GET", link.path, { headers: { "Accept-Language": accepted } });
    assert.match(shown.text, new RegExp(`<html lang="${language}">`), accepted);
    assert.match(shown.text, text);
  }
});

test("every link that leads nowhere is answered alike: unknown, of no shop, expired, revoked, its order deleted, cancelled or another supplier's", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const other = (kind: "opl" | "opi", shopId: string): string =>
    makeSecret(kind, shopId, randomBytes(secretRandomBytes)).text;
  const revoked = await makeLink(server);
  await askAdmin(server, "DELETE", adminOrder(server, `/supplier-links/${revoked.linkId}`));
  const again = await askAdmin(server, "DELETE", adminOrder(server, `/supplier-links/${revoked.linkId}`));
  assert.equal(again.at("data", "supplierLink", "status"), "revoked");
  const moved = await makeLink(server);
  await server.patch(server.order(), { supplierId: null });
  const answers = new Map<string, string>();
  const ask = async (name: string, path: string): Promise<void> => {
    const shown = await byLink(server, "GET", path);
    assert.equal(shown.status, 404, name);
    const { "x-request-id": _id, date: _date, ...headers } = shown.headers;
    answers.set(name, JSON.stringify([shown.text, headers]));
  };
  await ask("unknown", `/s/${other("opl", server.shopId)}`);
  await ask("no shop", `/s/${other("opl", "nobody")}`);
  await ask("an invitation", `/s/${other("opi", server.shopId)}`);
  await ask("mistyped", `${revoked.path}x`);
  await ask("nothing", "/s/");
  await ask("revoked", revoked.path);
  await ask("another supplier", moved.path);
  const cancelled = await makeLink(server);
  await server.post(server.order("/status"), { status: "Cancelled" });
  await ask("cancelled", cancelled.path);
  await server.delete(server.order());
  await ask("deleted", cancelled.path);
  assert.equal(new Set(answers.values()).size, 1, [...answers].map(([name, text]) => `${name}: ${text}`).join("\n"));
  assert.match([...answers.values()][0] ?? "", /new link/);
});

test("a link works for 14 days", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  server.clock.advance(supplierLinkMs - 60_000);
  assert.equal((await byLink(server, "GET", link.path)).status, 200);
  server.clock.advance(60_001);
  assert.equal((await byLink(server, "GET", link.path)).status, 404);
  assert.equal((await propose(server, link, { lines: [], reference: "R" })).status, 404);
  const listed = await askAdmin(server, "GET", adminOrder(server, "/supplier-links"));
  assert.equal(listed.at("data", "supplierLinks", 0, "status"), "expired");
  assert.equal(supplierLinkMs, 14 * 24 * 3_600_000);
});

test("a link is listed for 30 days after it has expired, and then forgotten", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const linkIds = async (): Promise<readonly unknown[]> => {
    const listed = await askAdmin(server, "GET", adminOrder(server, "/supplier-links"));
    return (listed.at("data", "supplierLinks") as readonly { linkId: string }[]).map(({ linkId }) => linkId).sort();
  };
  const first = await makeLink(server);
  server.clock.advance(supplierLinkMs + supplierLinkKeptMs - 60_000);
  const second = await makeLink(server);
  assert.deepEqual(await linkIds(), [first.linkId, second.linkId].sort());
  server.clock.advance(120_000);
  const third = await makeLink(server);
  assert.deepEqual(await linkIds(), [second.linkId, third.linkId].sort());
  assert.equal(supplierLinkKeptMs, 30 * 24 * 3_600_000);
});

test("guessing links is refused with 429 within 200 tries of an address, whatever forwarding headers say; a good link still works", async () => {
  await using server = await start({ isClockStill: true });
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const statuses: number[] = [];
  for (let index = 0; index < 40; index += 1) {
    const guess = makeSecret("opl", server.shopId, randomBytes(secretRandomBytes)).text;
    const headers = {
      "X-Forwarded-For": `10.0.0.${index}`,
      Forwarded: `for=10.0.0.${index}`,
      "X-Real-IP": `10.1.0.${index}`,
    };
    const shown = await byLink(
      server,
      index % 2 === 0 ? "GET" : "POST",
      `/s/${guess}${index % 2 === 0 ? "" : "/proposal"}`,
      {
        headers,
      },
    );
    statuses.push(shown.status);
    if (shown.status === 429) assert.ok(Number(shown.headers["retry-after"]) >= 1);
  }
  assert.deepEqual([statuses[0], statuses[linkGuessesMax - 1], statuses[linkGuessesMax]], [404, 404, 429]);
  assert.equal((await byLink(server, "GET", link.path)).status, 200);
});

test("a link that is asked for too often has to wait", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const [link, other] = [await makeLink(server), await makeLink(server)];
  // More than are allowed again while they are answered.
  const asked = await Promise.all(Array.from({ length: linkRequestsMax * 2 }, () => byLink(server, "GET", link.path)));
  const refused = asked.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0 && refused.length <= linkRequestsMax, `${refused.length} were refused`);
  assert.match(refused[0]?.text ?? "", /Please wait/);
  assert.equal((await byLink(server, "GET", other.path)).status, 200);
  server.clock.advance(5_000);
  assert.equal((await byLink(server, "GET", link.path)).status, 200);
});

test("purchasers and owners make, see and revoke links; others do not; an order has a bounded number of open ones", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  for (const [role, status] of [
    ["viewer", 403],
    ["receiver", 403],
    ["purchaser", 201],
    ["owner", 201],
  ] as const) {
    const person = await signInAs(server, role);
    const key = await person.bearer();
    const made = await askAdmin(server, "POST", adminOrder(server, "/supplier-links"), {}, { key });
    assert.equal(made.status, status, role);
    const listed = await askAdmin(server, "GET", adminOrder(server, "/supplier-links"), undefined, { key });
    assert.equal(listed.status, status === 201 ? 200 : 403);
    assert.doesNotMatch(listed.text, /opl_/, "a list shows no link");
  }
  for (let count = 2; count < supplierLinksOfOrderMax; count += 1) await makeLink(server);
  const beyond = await askAdmin(server, "POST", adminOrder(server, "/supplier-links"), {});
  assert.equal(beyond.status, 400);
  assert.match(beyond.textAt("error", "action"), /Revoke/);
  const unknown = await askAdmin(server, "POST", adminOrder(server, "/supplier-links", "po_none"), {});
  assert.equal(unknown.status, 404);
});

test("a cancelled order gets no link", async () => {
  await using server = await start();
  await server.bringOrder("Cancelled", [lineA], { previousStatus: "Sent" });
  const refused = await askAdmin(server, "POST", adminOrder(server, "/supplier-links"), {});
  assert.equal(refused.status, 400, refused.text);
});

test("a Draft that would not go out without an approval is handed to nobody by a link", async () => {
  await using server = await start();
  const held = { ruleId: "all", name: "All", when: {}, approvers: { roles: ["owner"] } };
  const rules = async (approvalRules: readonly object[]): Promise<void> => {
    const set = await askAdmin(server, "PUT", `/shops/${server.shopId}`, { settings: { approvalRules } });
    assert.equal(set.status, 200, set.text);
  };
  const owner = { key: await (await signInAs(server, "owner")).bearer() };
  const path = adminOrder(server, "/supplier-links");
  const linked = async (options = owner): Promise<number> => (await askAdmin(server, "POST", path, {}, options)).status;
  await server.bringOrder("Draft", [lineA]);
  await rules([held]);
  const refused = await askAdmin(server, "POST", path, {}, owner);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /needs somebody's approval/);
  assert.equal((await askAdmin(server, "GET", path)).at("data", "totalCount"), 0);
  const asked = await server.post(server.order("/status"), { status: "Sent" });
  const request = asked.textAt("data", "approvalRequest", "approvalRequestId");
  const approve = `/shops/${server.shopId}/approval-requests/${request}/approve`;
  assert.equal((await askAdmin(server, "POST", approve, {}, owner)).status, 200);
  assert.equal(await linked(), 201, "it is Sent");
  assert.equal((await server.post(server.order("/status"), { status: "Draft" })).status, 200);
  assert.equal(await linked(), 201, "what was approved is held back no more");
  await rules([{ ...held, when: { actors: "agents" } }]);
  await server.bringOrder("Draft", [{ ...lineA, quantityOrdered: 11 }]);
  assert.equal(await linked(), 201, "the rule is about others");
  await rules([]);
  const limits = { orderValueMax: 10, beyond: "refuse" };
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, { name: "A", scope: "write", limits });
  const somebody = await signInWith(server, { apiKey: made.textAt("data", "apiKey"), name: "Somebody" });
  const beyond = await askAdmin(server, "POST", path, {}, { key: await somebody.bearer() });
  assert.equal(beyond.at("error", "reason"), "LIMIT_EXCEEDED", beyond.text);
});

test("an answer is kept beside the order, which stays as it is; repeated it is one; a newer one replaces it", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const link = await makeLink(server);
  const before = (await server.get(server.order())).text;
  const body = {
    lines: [
      { lineItemId: "a", quantityConfirmed: 8, expectedDeliveryDate: "2099-12-24" },
      { lineItemId: "b", cannotDeliver: true },
    ],
    reference: "SO-7",
    trackingNumber: "1Z",
  };
  const sent = await propose(server, link, body);
  assert.equal(sent.status, 201, sent.text);
  const repeated = await propose(server, link, body);
  assert.deepEqual(
    [repeated.status, repeated.at("data", "proposal", "proposalId")],
    [200, sent.at("data", "proposal", "proposalId")],
  );
  const { data } = JSON.parse((await server.get(server.order())).text) as { data: unknown };
  assert.deepEqual(data, (JSON.parse(before) as { data: unknown }).data);
  const newer = await propose(server, link, { lines: [{ lineItemId: "a", quantityConfirmed: 10 }] });
  assert.equal(newer.status, 201);
  const viewer = await (await signInAs(server, "viewer")).bearer();
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"), undefined, { key: viewer });
  assert.equal(listed.status, 200, listed.text);
  assert.deepEqual(
    [0, 1].map((index) => listed.at("data", "proposals", index, "status")),
    ["open", "replaced"],
  );
  assert.deepEqual(listed.at("data", "proposals", 1, "lines", 1), {
    lineItemId: "b",
    quantityConfirmed: 0,
    expectedDeliveryDate: null,
    cannotDeliver: true,
    status: "open",
    order: { quantityOrdered: 5.5, quantityConfirmed: 0, quantityCancelled: 0, expectedDeliveryDate: null },
  });
  const events = await askAdmin(server, "GET", `/shops/${server.shopId}/events?after=0&types=purchase_order.proposed`);
  assert.equal(events.at("data", "totalCount"), 2, events.text);
  assert.deepEqual(events.at("data", "events", 0, "actor"), { type: "supplier", id: "mill", name: "The Mill" });
});

test("answers are checked: unknown lines, wrong values, too much, nothing at all", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{ lines: [{ lineItemId: "z", quantityConfirmed: 1 }] }, /\/lines\/0\/lineItemId: z is not a line/],
    [{ lines: [{ lineItemId: "a", quantityConfirmed: -1 }] }, /\/lines\/0\/quantityConfirmed/],
    [{ lines: [{ lineItemId: "a", quantityConfirmed: 1.2345 }] }, /3 decimals/],
    [{ lines: [{ lineItemId: "a", quantityConfirmed: 2, cannotDeliver: true }] }, /must be 0/],
    [{ lines: [{ lineItemId: "a", expectedDeliveryDate: "soon" }] }, /\/lines\/0\/expectedDeliveryDate/],
    [{ lines: [{ lineItemId: "a" }] }, /says nothing/],
    [
      {
        lines: [
          { lineItemId: "a", quantityConfirmed: 1 },
          { lineItemId: "a", quantityConfirmed: 2 },
        ],
      },
      /given twice/,
    ],
    [{ lines: [], reference: "x".repeat(201) }, /\/reference/],
    [{ lines: [{ lineItemId: "a", quantityConfirmed: 1 }], status: "Completed" }, /unknown field/],
    [{ lines: [] }, /is empty/],
    [{}, /is empty/],
  ];
  for (const [body, message] of refused) {
    const answered = await propose(server, link, body);
    assert.equal(answered.status, 400, JSON.stringify(body));
    assert.match(answered.textAt("error", "message"), message);
  }
  const large = await propose(server, link, { lines: [], reference: "x".repeat(2_000_000) });
  assert.equal(large.status, 400);
  assert.equal((await byLink(server, "GET", `${link.path}/proposal`)).status, 405);
  assert.equal((await byLink(server, "PUT", link.path)).status, 405);
  assert.equal((await byLink(server, "GET", `${link.path}/other`)).status, 404);
});

test("an order that is not sent, held, or over shows itself and takes no answer", async () => {
  for (const [status, more] of [
    ["Draft", {}],
    ["On Hold", { previousStatus: "Sent" }],
    ["Received", {}],
    ["Completed", {}],
  ] as const) {
    await using server = await start();
    const received =
      status === "Received" || status === "Completed" ? { quantityReceived: 10, quantitySynced: 10 } : {};
    await server.bringOrder(status, [{ ...lineA, ...received }], more);
    const link = await makeLink(server);
    const shown = await byLink(server, "GET", link.path);
    assert.equal(shown.status, 200);
    assert.doesNotMatch(shown.text, /<form/, status);
    const answered = await propose(server, link, { lines: [{ lineItemId: "a", quantityConfirmed: 1 }] });
    assert.equal(answered.status, 400, status);
    assert.match(answered.textAt("error", "message"), new RegExp(`The order is ${status}`));
  }
});

test("the form of the page sends an answer; sent again it is one; mistakes are shown in it with what was typed", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const link = await makeLink(server);
  const wrong = await sendForm(server, link, {
    line: "a",
    "quantity.a": "ten",
    "date.a": "tomorrow",
    reference: "SO<8>",
  });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /role="alert"/);
  assert.match(wrong.text, /value="ten"[^>]*aria-invalid="true"/s);
  assert.match(wrong.text, /value="SO&lt;8&gt;"/);
  const body = new URLSearchParams([
    ["line", "a"],
    ["line", "b"],
    ["language", "de"],
    ["quantity.a", "9,5"],
    ["date.a", "2099-12-24"],
    ["quantity.b", "5.5"],
    ["cannot.b", "1"],
    ["reference", " SO-8 "],
    ["trackingNumber", ""],
  ]).toString();
  const post = (headers: Readonly<Record<string, string>>) =>
    byLink(server, "POST", `${link.path}/proposal`, {
      body,
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    });
  for (const headers of [
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Origin: "https://evil.example" },
  ])
    assert.equal((await post(headers)).status, 403, JSON.stringify(headers));
  for (let count = 0; count < 2; count += 1) {
    // A page that hides where it is sends this beside it.
    const sent = await post({ "Sec-Fetch-Site": "same-origin", Origin: "null" });
    assert.equal(sent.status, 303, sent.text);
    assert.equal(sent.headers.location, `${link.path}?sent=1`);
  }
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.equal(listed.at("data", "totalCount"), 1);
  assert.deepEqual(
    [
      listed.at("data", "proposals", 0, "reference"),
      listed.at("data", "proposals", 0, "trackingNumber"),
      listed.at("data", "proposals", 0, "lines", 0, "quantityConfirmed"),
      listed.at("data", "proposals", 0, "lines", 0, "expectedDeliveryDate"),
      listed.at("data", "proposals", 0, "lines", 1, "cannotDeliver"),
    ],
    ["SO-8", null, 9.5, "2099-12-24", true],
  );
  const shown = await byLink(server, "GET", `${link.path}?sent=1`);
  assert.match(shown.text, /role="status"/);
  assert.match(shown.text, /name="quantity.a"[^>]*value="9.5"/s, "the open answer can be corrected");
});

test("one day holds for all articles that come, a message goes with the answer, and the order's total stands above them", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [{ ...lineA, expectedDeliveryDate: "2099-12-01" }, lineB]);
  const link = await makeLink(server);
  const shown = await byLink(server, "GET", link.path);
  const [above = ""] = shown.text.split("<form");
  assert.match(above, /Total of the order<\/dt>\s*<dd class="figure">\D*\d/);
  await server.patch(server.order(), { currencyCode: "IQD", fxRateOverride: 0.1 });
  const inDinars = await byLink(server, "GET", link.path);
  assert.match(inDinars.text, /Total of the order<\/dt>\s*<dd class="figure">IQD\s537\.500</, "by ISO 4217");
  const lines = { line: "a", "quantity.a": "9", "date.a": "2099-12-01" };
  const past = await sendForm(server, link, { ...lines, date: "2020-01-03", message: "By the\r\nold road" });
  assert.equal(past.status, 400);
  assert.match(past.text, /name="date"[^>]*value="2020-01-03"[^>]*aria-invalid="true"/s);
  assert.match(past.text, /name="message"[^>]*>By the\r?\nold road<\/textarea/s);
  const body = new URLSearchParams([
    ...Object.entries(lines),
    ["line", "b"],
    ["quantity.b", "2"],
    ["cannot.b", "1"],
    ["date", "2099-12-24"],
    ["message", " By the\r\nold road "],
  ]).toString();
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin" };
  for (let count = 0; count < 2; count += 1)
    assert.equal((await byLink(server, "POST", `${link.path}/proposal`, { body, headers })).status, 303);
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.equal(listed.at("data", "totalCount"), 1);
  assert.deepEqual(
    [
      listed.at("data", "proposals", 0, "message"),
      listed.at("data", "proposals", 0, "lines", 0, "expectedDeliveryDate"),
      listed.at("data", "proposals", 0, "lines", 1, "expectedDeliveryDate"),
    ],
    ["By the\nold road", "2099-12-24", null],
  );
  assert.equal((await propose(server, link, { message: "Not before March" })).status, 201);
  const latest = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.equal(latest.at("data", "proposals", 0, "message"), "Not before March");
});

test("a day before the shop's today is refused with a sentence, by the form and by JSON; the order's own past day says nothing new", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [{ ...lineA, expectedDeliveryDate: "2020-01-02" }]);
  const link = await makeLink(server);
  const past = await sendForm(server, link, { line: "a", "quantity.a": "9", "date.a": "2020-01-03" });
  assert.equal(past.status, 400);
  assert.match(past.text, /The date is over\. Choose today or a later day\./);
  assert.match(past.text, /value="2020-01-03"[^>]*aria-invalid="true"/s);
  const refused = await propose(server, link, { lines: [{ lineItemId: "a", expectedDeliveryDate: "2020-01-03" }] });
  assert.equal(refused.status, 400);
  assert.equal(refused.at("error", "details", 0, "path"), "/lines/0/expectedDeliveryDate");
  assert.match(refused.textAt("error", "message"), /2020-01-03 is over; the shop's day is \d{4}-\d{2}-\d{2}/);
  assert.equal((await sendForm(server, link, { line: "a", "quantity.a": "9", "date.a": "2020-01-02" })).status, 303);
});

test("quantities are read as the page writes them, in the language that it had", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [{ ...lineA, quantityOrdered: 1_500 }]);
  const link = await makeLink(server);
  const shown = await byLink(server, "GET", link.path, { headers: { "Accept-Language": "de" } });
  assert.match(shown.text, /name="quantity.a"[^>]*value="1\.500"/s, shown.text);
  assert.match(shown.text, /name="language" value="de"/);
  assert.equal((await sendForm(server, link, { line: "a", language: "de", "quantity.a": "1.500" })).status, 303);
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.equal(listed.at("data", "proposals", 0, "lines", 0, "quantityConfirmed"), 1_500, listed.text);
});

test("an order with many lines is answered page by page, and each page keeps what the others said", async () => {
  await using server = await start();
  const lines = Array.from({ length: 450 }, (_, index) => ({ ...lineA, poLineItemId: `l${index}` }));
  await server.bringOrder("Sent", lines);
  const link = await makeLink(server);
  const seen: string[] = [];
  let path: string | null = link.path;
  while (path !== null) {
    const shown = await byLink(server, "GET", path);
    const ids = [...shown.text.matchAll(/name="line" value="([^"]+)"/g)].map(([, id = ""]) => id);
    seen.push(...ids);
    const [first = ""] = ids;
    const after = /name="after" value="(\d+)"/.exec(shown.text)?.[1];
    const sent = await sendForm(server, link, {
      line: first,
      [`quantity.${first}`]: "3",
      ...(after === undefined ? {} : { after }),
    });
    assert.equal(sent.status, 303);
    path = new RegExp(`href="(${link.path}\\?after=\\d+)"`).exec(shown.text)?.[1] ?? null;
  }
  assert.deepEqual(
    seen,
    lines.map(({ poLineItemId }) => poLineItemId),
  );
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.equal(listed.at("data", "proposals", 0, "lines", "length"), 3);
  assert.equal(listed.at("data", "proposals", 0, "status"), "open");
});

test("by a link nothing but its order is reached", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  for (const key of [link.token, link.url])
    for (const target of [
      "/api/v1/purchase-orders",
      `/admin/v1${adminOrder(server, "/proposals")}`,
      `/admin/v1/shops/${server.shopId}/people`,
    ]) {
      const refused = await server.get(target, { key: key.replaceAll(/\s/g, ""), undocumented: true });
      assert.equal(refused.status, 401, target);
    }
  await server.bring([
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_2",
      status: "Sent",
      locationId: "warehouse",
      lineItems: [{ ...lineA, poLineItemId: "other" }],
    },
  ]);
  const other = await propose(server, link, { lines: [{ lineItemId: "other", quantityConfirmed: 1 }] });
  assert.equal(other.status, 400);
});

test("the token is written down nowhere: not in logs, audit rows, traces, metrics, events, answers to others or the store", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const { path, token } = link;
  const answers = [
    await byLink(server, "GET", `${path}/nothing`),
    await byLink(server, "GET", `${path}x`),
    await byLink(server, "GET", path.replace("opl_", "%6fpl_")),
    await byLink(server, "PUT", path),
    await byLink(server, "POST", `${path}/proposal`, { body: "{", headers: { "Content-Type": "application/json" } }),
    await byLink(server, "GET", `/api/v1${path}`),
    await byLink(server, "GET", `/console${path}`),
    await askAdmin(server, "GET", adminOrder(server, `/proposals?cursor=${token}`)),
    await askAdmin(server, "DELETE", adminOrder(server, `/supplier-links/${link.linkId}x`)),
    await propose(server, link, { lines: [{ lineItemId: "a", quantityConfirmed: 8 }], reference: "R" }),
    await sendForm(server, link, { line: "a", "quantity.a": "9" }, { "Sec-Fetch-Site": "cross-site" }),
  ];
  await server.get(`/api/v1/purchase-orders/${token}`, { undocumented: true });
  await byLink(server, "GET", path, { headers: { Referer: link.url } });
  assert.equal((await sendForm(server, link, { line: "a", "quantity.a": "9" })).status, 303);
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  await askAdmin(
    server,
    "POST",
    adminOrder(server, `/proposals/${listed.textAt("data", "proposals", 0, "proposalId")}/accept`),
    {},
  );
  const told = [
    ...server.logged,
    ...answers.map(({ text, headers }) => text + JSON.stringify(headers)),
    listed.text,
    JSON.stringify(await server.audit()),
    (await byLink(server, "GET", "/metrics")).text,
    (await server.get(server.order())).text,
    (await server.get(server.order("/log"))).text,
    (await askAdmin(server, "GET", `/shops/${server.shopId}/events?after=0`)).text,
    (await askAdmin(server, "GET", adminOrder(server, "/supplier-links"))).text,
  ];
  const secret = token.slice(-34);
  for (const each of told) assert.ok(!each.includes(secret), each.slice(0, 2_000));
  assert.ok(
    server.logged.some((line) => line.includes("/s/opl_***/proposal")),
    "the path is logged, masked",
  );
  assert.ok((await server.audit()).some((entry) => entry.path === "/s/opl_***/proposal"));
});
