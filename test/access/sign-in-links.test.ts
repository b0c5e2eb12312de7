/** Links by mail with which people come back (C49): who gets one, what it is worth, and how often it is mailed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  linkedPeopleMax,
  linkedShopsMax,
  mayGetLink,
  signInLinkMs,
  signInLinksOfPersonMax,
  signInLinksOfShopMax,
  signInLinksCountedMs,
  signInMailText,
} from "../../src/core/access/sign-in-link.ts";
import { languages } from "../../src/base/text/language.ts";
import { mailSubjectMax } from "../../src/core/supplier/mail.ts";
import {
  Attempts,
  signInLinkEveryMs,
  signInLinkOfAllEveryMs,
  signInLinksMax,
  signInLinksOfAll,
  signInLinksOfAllMax,
} from "../../src/http/attempts.ts";
import type { OutgoingMail } from "../../src/mail/smtp.ts";
import { mailedSince, waitingApprovalMails } from "../../src/shop/access/approval-mails.ts";
import { mailTimesSince } from "../../src/shop/supplier/mails.ts";
import { sessionIdleMs } from "../../src/requests/sessions.ts";
import {
  askAdmin,
  cookieOf,
  fromPage,
  sendingFrom,
  type SignedInPerson,
  signInAs,
  signInWith,
} from "../support/people.ts";
import { assertFault, startServer, type TestResponse, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

/** A server that mails links, and the shops whose sender it has woken. */
async function mailingServer(options: Parameters<typeof startServer>[0] = {}) {
  const woken: string[] = [];
  const signInMails = { wake: (shopId: string) => void woken.push(shopId) };
  const server = await startServer({ console: true, signInMails, ...options });
  return { server, woken, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function personAt(
  server: TestServer,
  name: string,
  email = `${name.toLowerCase()}@shop.example`,
): Promise<SignedInPerson> {
  const person = await signInAs(server, "purchaser", name);
  const path = `/shops/${server.shopId}/people/${person.personId}`;
  const set = await askAdmin(server, "PATCH", path, { email });
  assert.equal(set.status, 200, set.text);
  return person;
}

const ask = (server: TestServer, email: unknown, headers = {}): Promise<TestResponse> =>
  fromPage(server, "POST", "/sign-in-link", { body: { email }, headers });

/** Asks, and waits until the search has come to this shop so often. */
async function asked(server: TestServer, woken: readonly string[], email: string, times = 1): Promise<void> {
  const before = woken.length;
  const answered = await ask(server, email);
  assert.equal(answered.status, 202, answered.text);
  await until("the shops are woken", () => woken.length >= before + times);
}

/** The link in the mail. */
function linkIn(mail: OutgoingMail | undefined): string {
  const link = /\S+#opm_\S+/.exec(mail?.text ?? "")?.[0];
  assert.ok(link !== undefined, mail?.text);
  return link;
}

const use = (server: TestServer, link: string): Promise<TestResponse> =>
  fromPage(server, "POST", "/session", { body: { link } });

const rowsOf = (server: TestServer, table: string): Promise<readonly object[]> =>
  server.engine.read(server.shopId, (tx) => tx.all(`select * from ${table} where shop_id = ?`, [server.shopId]));

test("a person whose session has ended comes back by a mailed link, once; its secret is nowhere but in the mail", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  const ana = await personAt(server, "Ana");
  server.clock.advance(sessionIdleMs + 1);
  assertFault(await fromPage(server, "POST", "/token", { cookie: ana.cookie }), 401, "UNAUTHORIZED");
  await asked(server, woken, " ANA@Shop.example ");
  const queued = JSON.stringify([await rowsOf(server, "mail"), await rowsOf(server, "sign_in_link")]);
  assert.ok(!queued.includes("opm_"), queued);
  const [mail, ...others] = await mails.send();
  assert.deepEqual(others, []);
  assert.deepEqual(mail?.to, ["ana@shop.example"]);
  const url = new URL(linkIn(mail));
  assert.equal(url.origin + url.pathname + url.search, `${server.url}/console`);

  // What a mail server does that looks at links.
  for (const method of ["GET", "HEAD"])
    assert.equal((await server.request(method, url.pathname, { key: null, undocumented: true })).status, 200);
  const begun = await use(server, url.href);
  assert.equal(begun.status, 201, begun.text);
  assert.equal(begun.at("data", "session", "personId"), ana.personId);
  const token = await fromPage(server, "POST", "/token", { cookie: cookieOf(begun) });
  assert.equal(token.at("data", "person", "role"), "purchaser");
  const sessions = await askAdmin(server, "GET", `/shops/${server.shopId}/sessions`);
  assert.equal(sessions.at("data", "sessions", 0, "signedInWith"), "link");

  const again = await use(server, url.hash.slice(1));
  assertFault(again, 401, "UNAUTHORIZED");
  assert.match(again.textAt("error", "message"), /was used already/);
  assert.match(again.textAt("error", "action"), /new one/);
  const secret = url.hash.slice(1).split("_")[2] ?? "";
  for (const table of ["mail", "sign_in_link", "console_session", "audit_log", "purchase_order_log", "event"])
    assert.ok(!JSON.stringify(await rowsOf(server, table)).includes(secret), table);
  assert.ok(!server.logged.join("\n").includes(secret), "the log");
  assert.deepEqual(await rowsOf(server, "mail"), [], "a mail that has gone leaves no row");
  const row = (await server.audit()).find(({ tag }) => tag === "console:session_begin");
  assert.equal(row?.personId, ana.personId);
  const requests = (await server.audit()).filter(({ tag }) => tag === "console:sign_in_link");
  assert.deepEqual(
    requests.map(({ personId, keyId, status, path }) => ({ personId, keyId, status, path })),
    [{ personId: ana.personId, keyId: null, status: 202, path: "/console/sign-in-link" }],
  );
  await mails.close();
});

test("who has an e-mail here cannot be told from the answer, and only people who were invited get a link", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  await personAt(server, "Ana");
  const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Kim" });
  const path = `/shops/${server.shopId}/people/${byKey.personId}`;
  assert.equal((await askAdmin(server, "PATCH", path, { email: "kim@shop.example" })).status, 200);
  const answers = [];
  for (const email of ["nobody@shop.example", "kim@shop.example", "ana@shop.example"]) {
    const { status, text, headers } = await ask(server, email);
    const { meta: _meta, ...body } = JSON.parse(text) as Record<string, unknown>;
    answers.push({ status, body, headers: Object.keys(headers) });
  }
  assert.deepEqual(answers[0], answers[2]);
  assert.deepEqual(answers[1], answers[2]);
  assert.deepEqual(answers[0]?.body["data"], { linkMinutes: 15 });
  await until("the last one is found", () => woken.length > 0);
  assert.deepEqual(woken, [server.shopId]);
  assert.deepEqual(
    (await mails.send()).flatMap(({ to }) => to),
    ["ana@shop.example"],
  );
  const rows = (await server.audit()).filter(({ tag }) => tag === "console:sign_in_link");
  assert.equal(rows.length, 1, "strangers leave no row");
  for (const email of ["ana", "", 7, "a@b\nc", `${"a".repeat(300)}@b`])
    assertFault(await ask(server, email), 400, "INVALID_INPUT");
  for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }]) {
    assertFault(await ask(server, "ana@shop.example", headers), 403, "FORBIDDEN_SCOPE");
    const foreign = await fromPage(server, "POST", "/session", { body: { link: "opm_x" }, headers });
    assertFault(foreign, 403, "FORBIDDEN_SCOPE");
  }
  assertFault(await fromPage(server, "GET", "/sign-in-link", {}), 405, "METHOD_NOT_ALLOWED");
  await mails.close();
});

test("a link is of no use when it is late, when its person is gone or has another e-mail, and beside one that was used", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  const ana = await personAt(server, "Ana");
  const link = async (email = "ana@shop.example"): Promise<string> => {
    await asked(server, woken, email);
    return linkIn((await mails.send())[0]);
  };
  const late = await link();
  server.clock.advance(signInLinkMs);
  const refused = await use(server, late);
  assertFault(refused, 401, "UNAUTHORIZED");
  assert.match(refused.textAt("error", "message"), /has expired/);

  const [first, second] = [await link(), await link()];
  assert.equal((await use(server, second)).status, 201);
  assertFault(await use(server, first), 401, "UNAUTHORIZED");

  const path = `/shops/${server.shopId}/people/${ana.personId}`;
  const old = await link();
  await asked(server, woken, "ana@shop.example");
  assert.equal((await askAdmin(server, "PATCH", path, { email: "ana@new.example", role: "viewer" })).status, 200);
  assert.deepEqual(await mails.send(), [], "a mail that waits does not go to the old e-mail");
  assertFault(await use(server, old), 401, "UNAUTHORIZED");

  const moved = await use(server, await link("ana@new.example"));
  const token = await fromPage(server, "POST", "/token", { cookie: cookieOf(moved) });
  assert.equal(token.at("data", "person", "role"), "viewer");
  server.clock.advance(signInLinksCountedMs);
  const last = await link("ana@new.example");
  assert.equal((await askAdmin(server, "DELETE", path)).status, 200);
  assert.deepEqual(await rowsOf(server, "sign_in_link"), []);
  assertFault(await use(server, last), 401, "UNAUTHORIZED");
  assertFault(await fromPage(server, "POST", "/token", { cookie: cookieOf(moved) }), 401, "UNAUTHORIZED");

  for (const forged of [
    "opm_",
    last.slice(0, -1),
    last.replace(server.shopId, "no-shop"),
    "opm_-_x",
    "x".repeat(1_000),
  ])
    assertFault(await use(server, forged), 401, "UNAUTHORIZED");
  await mails.close();
});

test("whichever attempt to mail a link arrives, its link works, and one of them alone; after the link's end none is made", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  await personAt(server, "Ana");
  mails.state.answer = { outcome: "later", detail: "451 busy" };
  await asked(server, woken, "ana@shop.example");
  const attempts = [...(await mails.send())];
  server.clock.advance(60_000);
  attempts.push(...(await mails.send()));
  const [first, second] = attempts.map(linkIn);
  assert.ok(first !== undefined && second !== undefined && first !== second);
  server.clock.advance(signInLinkMs - 120_000);
  const both = await Promise.all([use(server, first), use(server, second)]);
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 401],
  );
  server.clock.advance(signInLinkMs);
  mails.state.answer = { outcome: "sent", detail: null };
  assert.deepEqual(await mails.send(), [], "the link was used, so its mail is not tried again");
  await asked(server, woken, "ana@shop.example");
  server.clock.advance(signInLinkMs);
  assert.deepEqual(await mails.send(), []);
  assert.deepEqual(await rowsOf(server, "mail"), []);
  await mails.close();
});

test("a person gets so many links an hour, and so does a shop; they are none of the mails to suppliers and approvers", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  const { personId } = await personAt(server, "Ana");
  await asked(server, woken, "ana@shop.example");
  const others = await server.engine.read(server.shopId, async (tx) => [
    await mailTimesSince(tx, server.shopId, 0),
    await waitingApprovalMails(tx, server.shopId),
    [...(await mailedSince(tx, server.shopId, [personId], 0))],
  ]);
  assert.deepEqual(others, [[], [], []]);
  let sent = (await mails.send()).length;
  for (let count = 0; count < signInLinksOfPersonMax + 2; count += 1) {
    await asked(server, woken, "ana@shop.example");
    sent += (await mails.send()).length;
  }
  assert.equal(sent, signInLinksOfPersonMax);
  server.clock.advance(signInLinksCountedMs);
  await asked(server, woken, "ana@shop.example");
  assert.equal((await mails.send()).length, 1);
  assert.equal((await rowsOf(server, "sign_in_link")).length, 2, "older ones are deleted");
  await mails.close();

  const linked = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `per_${index}`);
  assert.ok(mayGetLink("me", linked(signInLinksOfShopMax - 1)));
  assert.ok(!mayGetLink("me", linked(signInLinksOfShopMax)));
});

test("people with one e-mail get a link each, in every shop, those who were there last", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  const twins: string[] = [];
  for (let count = 0; count <= linkedPeopleMax; count += 1) {
    server.clock.advance(1_000);
    twins.push((await personAt(server, `Twin ${count}`, "twin@shop.example")).personId);
  }
  const elsewhere: string[] = [];
  for (let count = 0; count < linkedShopsMax; count += 1) {
    const shopId = `other-${count}`;
    elsewhere.push(shopId);
    assert.equal((await askAdmin(server, "PUT", `/shops/${shopId}`, { name: shopId })).status, 201);
    const made = await askAdmin(server, "POST", `/shops/${shopId}/invitations`, {
      name: "Twin",
      role: "viewer",
      email: "twin@shop.example",
    });
    await signInWith(server, { invitation: made.textAt("data", "url") });
  }
  await asked(server, woken, "twin@shop.example", linkedShopsMax);
  await personAt(server, "Ana");
  await asked(server, woken, "ana@shop.example");
  assert.deepEqual(woken, [...elsewhere.toSorted(), server.shopId].slice(0, linkedShopsMax).concat(server.shopId));
  await asked(server, woken, "ana@shop.example");
  const own = await mails.send();
  assert.equal(
    own.filter(({ to }) => to[0] === "twin@shop.example").length,
    0,
    "beyond so many shops nobody is linked",
  );

  for (const shopId of elsewhere.slice(1))
    assert.equal((await askAdmin(server, "DELETE", `/shops/${shopId}?confirm=${shopId}`)).status, 200);
  await asked(server, woken, "twin@shop.example", 2);
  const links = (await mails.send()).map(linkIn);
  assert.equal(links.length, linkedPeopleMax);
  const linked: string[] = [];
  for (const link of links) linked.push((await use(server, link)).textAt("data", "session", "personId"));
  assert.deepEqual(linked.toSorted(), twins.slice(1).toSorted());
  await mails.close();
});

test("an address asks for so many links at once, all together for so many, and one more after a while", async () => {
  await using mailed = await mailingServer({ isClockStill: true });
  const { server } = mailed;
  for (let count = 0; count < signInLinksMax; count += 1)
    assert.equal((await ask(server, `p${count}@shop.example`)).status, 202);
  assertFault(await ask(server, "ana@shop.example"), 429, "RATE_LIMITED");
  server.clock.advance(signInLinkEveryMs);
  assert.equal((await ask(server, "ana@shop.example")).status, 202);
  const all = new Attempts(server.clock, signInLinksOfAll);
  for (let count = 0; count < signInLinksOfAllMax; count += 1) all.take("");
  assert.throws(() => all.take(""), /Too many links/);
  server.clock.advance(signInLinkOfAllEveryMs);
  all.take("");
});

test("without a mail server the page offers no link, and a request for one says what to do", async () => {
  await using server = await startServer({ console: true });
  const refused = await ask(server, "ana@shop.example");
  assertFault(refused, 400, "INVALID_INPUT");
  assert.match(refused.textAt("error", "action"), /invitation/);
  const offers = async (from: TestServer): Promise<boolean> =>
    (await from.request("GET", "/console", { key: null, undocumented: true })).text.includes('data-sign-in="link"');
  assert.equal(await offers(server), false);
  await using mailed = await mailingServer();
  assert.equal(await offers(mailed.server), true);
});

test("the mail is in the language that the person has chosen, else in that of the shop's documents", async () => {
  await using mailed = await mailingServer();
  const { server, woken } = mailed;
  const mails = sendingFrom(server);
  const settings = `/shops/${server.shopId}/document-settings`;
  assert.equal((await askAdmin(server, "PUT", settings, { language: "es" })).status, 200);
  const ana = await personAt(server, "Ana");
  await personAt(server, "Ben");
  await fromPage(server, "PUT", "/language", { cookie: ana.cookie, body: { language: "nl" } });
  await asked(server, woken, "ana@shop.example");
  assert.match((await mails.send())[0]?.text ?? "", /hier log je in/);
  await asked(server, woken, "ben@shop.example");
  assert.match((await mails.send())[0]?.text ?? "", /inicie sesión/);
  await mails.close();
});

test("the mail names the person and the shop in each language, and no name of theirs makes a link", () => {
  for (const language of languages) {
    const { subject, text } = signInMailText("Ana\r\nhttps://evil.example {link}", {
      language,
      shopName: "{link} Nord",
    });
    assert.equal(text.split("{link}").length - 1, 1, text);
    assert.match(text, /\n\{link\}\n/);
    assert.match(text, /\b15\b/);
    assert.match(subject, /Nord/);
    assert.doesNotMatch(subject, /[\r\n{]/);
    assert.doesNotMatch(text, /\nhttps:/);
    const long = signInMailText("Ana", { language, shopName: "x".repeat(500) });
    assert.equal(long.subject.length, mailSubjectMax);
  }
});
