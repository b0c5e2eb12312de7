/** Mails to the people who may decide a request (C80): who gets one, what it says, how often, and what becomes of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  approvalMailEveryMs,
  approvalMailText,
  approversMailedMax,
  askInWords,
  mailedApprovers,
  mailedAsksMax,
} from "../../src/core/access/approval-mail.ts";
import { consoleWords } from "../../src/core/access/console-words.ts";
import { type ApprovalCause, approvalDefaults } from "../../src/core/access/approvals.ts";
import { asMoney } from "../../src/core/money/money.ts";
import { languages } from "../../src/base/text/language.ts";
import { mailSubjectMax, mailWindowMs } from "../../src/core/supplier/mail.ts";
import type { OutgoingMail } from "../../src/mail/smtp.ts";
import type { Mailing } from "../../src/requests/operation.ts";
import { approvalRequestsKeptMs } from "../../src/shop/access/approval-requests.ts";
import { askAdmin, fromPage, sendingFrom, type SignedInPerson, signInAs } from "../support/people.ts";
import { startServer, type TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";
const publicUrl = "https://po.example";

const mailing: Mailing = {
  perHourMax: 60,
  publicUrl,
  documentOf: () => Promise.reject(new Error("no mail of these tests has a document")),
};

const agent = { type: "agent", id: "key_1", name: "Agent" } as const;

test("who may decide is mailed, each address once, those who were there last, and nobody about what he has asked himself", () => {
  const person = (personId: string, facts: object = {}) => ({
    personId,
    name: personId,
    email: `${personId}@shop.example`,
    role: "owner" as const,
    keyId: null,
    language: null,
    lastSeenAtMs: null,
    ...facts,
  });
  const people = [
    person("anna"),
    person("ben", { role: "purchaser" }),
    person("mute", { email: null }),
    person("key", { keyId: "key_2" }),
    person("twin", { email: "ANNA@shop.example" }),
  ];
  const of = (asker: Parameters<typeof mailedApprovers>[1], causes: readonly ApprovalCause[], settings = {}) =>
    mailedApprovers(people, asker, causes, { ...approvalDefaults, ...settings }).map(({ personId }) => personId);
  const byAgent = { actor: agent, personId: "anna" };
  assert.deepEqual(of(byAgent, [{ cause: "scope" }]), ["anna"]);
  assert.deepEqual(of(byAgent, [{ cause: "scope" }], { approverRoles: ["owner", "purchaser"] }), ["anna", "ben"]);
  assert.deepEqual(of(byAgent, [{ cause: "scope" }], { approveOwnAgents: false }), ["twin"]);
  const rule = { cause: "rule", ruleId: "r", name: "R", approvers: { roles: [], personIds: ["ben"] } } as const;
  assert.deepEqual(of(byAgent, [rule]), ["ben"]);
  const byAnna = { actor: { type: "user", id: "anna", name: "Anna" }, personId: null } as const;
  assert.deepEqual(of(byAnna, [{ cause: "scope" }]), ["twin"]);
  const many = Array.from({ length: approversMailedMax + 1 }, (_, index) =>
    person(`p${index}`, { lastSeenAtMs: index + 1 }),
  );
  const mailed = mailedApprovers(many, byAgent, [{ cause: "scope" }], approvalDefaults);
  assert.equal(mailed.length, approversMailedMax);
  assert.ok(!mailed.some(({ personId }) => personId === "p0"), "who was there longest ago is left out");
});

test("a mail says what is asked, by whom, why and until when, in each language, and describes so many requests", () => {
  const causes: readonly ApprovalCause[] = [
    { cause: "scope" },
    { cause: "limit", limit: "dayValueMax", allowed: 100, used: 60, asked: 60 },
    { cause: "limit", limit: "unitCostRisePercentMax", allowed: 7, used: null, asked: 9 },
    { cause: "rule", ruleId: "r", name: "Above {amount}\r\n100", approvers: { roles: ["owner"], personIds: [] } },
  ];
  const order = {
    poNumber: "PO-1031",
    supplierName: "Maasbrand",
    grandTotal: asMoney(12_840_000),
    currencyCode: "EUR",
    movesTo: "Sent",
  };
  const request = {
    approvalRequestId: "apr_1",
    operation: "purchase_order_status",
    purchaseOrderId: "po_1",
    summary: "Move",
    order,
    causes,
  };
  for (const language of languages) {
    const surroundings = { language, shopName: "Café Nord", timezone: "Pacific/Auckland", currencyCode: "EUR" };
    const asked = { ...request, requestedBy: agent, expiresAtMs: Date.UTC(2026, 11, 24, 12) };
    const ask = askInWords(asked, "Mara", surroundings);
    const { subject, text } = approvalMailText("Anna", [ask], surroundings, publicUrl);
    assert.match(subject, /PO-1031.*Café Nord/);
    assert.doesNotMatch(subject + text, /\{(?!amount)/, language);
    for (const part of [
      /Anna/,
      /Maasbrand/,
      /1.284[.,]00|1284,00/,
      /Agent.*Mara/,
      /\b7 ?%/,
      /25/,
      /Above \{amount\} 100/,
    ])
      assert.match(text, part, language);
    assert.ok(text.includes(`${publicUrl}/console/approvals/apr_1\n`), text);
    const unlinked = approvalMailText("Anna", [ask], surroundings, null).text;
    assert.doesNotMatch(unlinked, /https?:/, "no address is known");
    const { approvals, statuses } = consoleWords[language];
    assert.ok(unlinked.includes(approvals) && text.includes(statuses["Sent"] ?? "Sent"), unlinked);
    const many = Array.from({ length: mailedAsksMax + 3 }, () => ask);
    const ofMany = approvalMailText("Anna", many, surroundings, publicUrl);
    assert.match(ofMany.subject, new RegExp(`${mailedAsksMax + 3}`));
    assert.equal(ofMany.text.split("approvals/apr_1").length - 1, mailedAsksMax);
    assert.match(ofMany.text, /\b3\b/);
    const long = approvalMailText("Anna", [ask], { ...surroundings, shopName: "x".repeat(500) }, publicUrl);
    assert.equal(long.subject.length, mailSubjectMax);
    const dinars = askInWords({ ...asked, order: { ...order, currencyCode: "IQD" } }, "Mara", surroundings);
    const inDinars = approvalMailText("Anna", [dinars], surroundings, publicUrl).text;
    assert.match(inDinars, /1.284[.,]000|1284,000/, "a dinar has 1000 fils (ISO 4217)");
  }
});

test("what would be done is said in the language of the mail, with the order or the record", () => {
  const asked = {
    approvalRequestId: "apr_1",
    purchaseOrderId: "po_1",
    causes: [],
    requestedBy: agent,
    expiresAtMs: 0,
    order: {
      poNumber: "PO-7",
      supplierName: null,
      grandTotal: asMoney(0),
      currencyCode: "EUR",
      movesTo: null,
    },
  };
  const record = { ...asked, purchaseOrderId: null, order: null };
  for (const [language, request, title] of [
    [
      "en",
      { ...asked, operation: "purchase_order_line_item_update", summary: "Change lines: PO-7" },
      "Change lines: PO-7",
    ],
    ["nl", { ...asked, operation: "purchase_order_line_item_update", summary: "" }, "Regels wijzigen: PO-7"],
    ["de", { ...asked, purchaseOrderId: null, operation: "purchase_order_create", summary: "" }, "Bestellung anlegen"],
    [
      "fr",
      { ...record, operation: "supplier_update", summary: "Change: A: B, email" },
      "Modifier un fournisseur : A: B, email",
    ],
    ["es", { ...record, operation: "reorder_from_view", summary: "Reorder" }, "Reponer según una vista"],
    ["es", { ...record, operation: "other", summary: "Something\nelse" }, "Something else"],
  ] as const) {
    const surroundings = { language, shopName: "Nord", timezone: "UTC", currencyCode: "EUR" };
    assert.equal(askInWords(request, null, surroundings).title, title);
  }
});

async function personWith(
  server: TestServer,
  name: string,
  role: "owner" | "purchaser" = "owner",
): Promise<SignedInPerson> {
  const person = await signInAs(server, role, name);
  const path = `/shops/${server.shopId}/people/${person.personId}`;
  const set = await askAdmin(server, "PATCH", path, { email: `${name.toLowerCase()}@shop.example` });
  assert.equal(set.status, 200, set.text);
  return person;
}

async function proposingKey(server: TestServer, maker?: SignedInPerson): Promise<string> {
  const options = maker === undefined ? {} : { key: await maker.bearer() };
  const made = await askAdmin(
    server,
    "POST",
    `/shops/${server.shopId}/keys`,
    { name: "Agent", scope: "propose" },
    options,
  );
  assert.equal(made.status, 201, made.text);
  return made.textAt("data", "apiKey");
}

let askedCount = 0;

/** Asks for another order each time: the same one again is the same request. */
async function ask(
  server: TestServer,
  key: string,
  body: object = { noteToSupplier: `${(askedCount += 1)}` },
  headers = {},
): Promise<string> {
  const asked = await server.post(orders, body, { key, headers });
  assert.equal(asked.status, 202, asked.text);
  return asked.textAt("data", "approvalRequest", "approvalRequestId");
}

const addressed = (mails: readonly OutgoingMail[]): readonly string[] => mails.flatMap(({ to }) => to).toSorted();

const queued = async ({ engine, shopId }: TestServer): Promise<number> =>
  (await engine.read(shopId, (tx) => tx.all("select 1 as found from mail where shop_id = ?", [shopId]))).length;

test("each approver gets one mail of a request, also when it is sent again, and nobody where that is off", async () => {
  await using server = await startServer({ console: true, perform: () => ({ mailing }) });
  const mails = sendingFrom(server);
  const anna = await personWith(server, "Anna");
  await personWith(server, "Ben", "purchaser");
  await personWith(server, "Cleo");
  const key = await proposingKey(server, anna);
  const id = await ask(server, key, { supplierId: "sup_a" }, { "Idempotency-Key": "one" });
  assert.equal(await ask(server, key, { supplierId: "sup_a" }, { "Idempotency-Key": "one" }), id);
  const sent = await mails.send();
  assert.deepEqual(addressed(sent), ["anna@shop.example", "cleo@shop.example"]);
  const [mail] = sent;
  assert.ok(mail !== undefined);
  assert.ok(mail.text.includes(`${publicUrl}/console/approvals/${id}\n`), mail.text);
  assert.match(mail.text, /Agent, for Anna/);
  assert.equal(mail.isByPerson, false);
  assert.equal(mail.replyTo, null);
  await mails.close();
  server.clock.advance(approvalMailEveryMs);
  const off = await askAdmin(server, "PUT", `/shops/${server.shopId}`, { settings: { approvalMails: false } });
  assert.equal(off.at("data", "shop", "settings", "approvalMails"), false, off.text);
  await ask(server, key);
  assert.equal(await queued(server), 2);
});

test("without a mail server nothing is queued, and an address by which an agent asks is no link", async () => {
  await using server = await startServer({ console: true });
  await personWith(server, "Anna");
  await ask(server, await proposingKey(server));
  assert.equal(await queued(server), 0);
  await using other = await startServer({
    console: true,
    perform: () => ({ mailing: { ...mailing, publicUrl: null } }),
  });
  const mails = sendingFrom(other);
  await personWith(other, "Anna");
  await ask(other, await proposingKey(other));
  assert.match((await mails.send())[0]?.text ?? "", /in the console, at Approvals/);
  await mails.close();
});

test("each person is mailed in the language that he has chosen, else in that of the shop's documents", async () => {
  await using server = await startServer({ console: true, perform: () => ({ mailing }) });
  const mails = sendingFrom(server);
  const settings = `/shops/${server.shopId}/document-settings`;
  assert.equal((await askAdmin(server, "PUT", settings, { language: "fr" })).status, 200);
  const anna = await personWith(server, "Anna");
  await personWith(server, "Ben");
  await fromPage(server, "PUT", "/language", { cookie: anna.cookie, body: { language: "nl" } });
  const key = await proposingKey(server);
  const mailTo = (sent: readonly OutgoingMail[], address: string): string => {
    const found = sent.find(({ to }) => to.includes(address));
    return `${found?.subject}\n${found?.text}`;
  };
  await ask(server, key);
  const first = await mails.send();
  assert.match(mailTo(first, "anna@shop.example"), /^Goedkeuring nodig: Bestelling aanmaken [^]*Wacht tot: /);
  assert.match(mailTo(first, "ben@shop.example"), /^Approbation requise : Créer une commande [^]*Attend jusqu/);
  const decided = await ask(server, key);
  await ask(server, key);
  const path = `/shops/${server.shopId}/approval-requests/${decided}/reject`;
  assert.equal((await askAdmin(server, "POST", path, {})).status, 200);
  server.clock.advance(approvalMailEveryMs + 1_000);
  const second = await mails.send();
  assert.match(
    mailTo(second, "anna@shop.example"),
    /^Goedkeuring nodig: [^]*Hallo Anna/,
    "said anew without what was decided",
  );
  assert.match(mailTo(second, "ben@shop.example"), /^Approbation requise : [^]*Bonjour Ben/);
  await mails.close();
});

test("a burst of requests is two mails: what comes within approvalMailEveryMs waits together, but for what was decided", async () => {
  await using server = await startServer({ console: true, perform: () => ({ mailing }) });
  const mails = sendingFrom(server);
  const anna = await personWith(server, "Anna");
  const key = await proposingKey(server);
  const first = await ask(server, key);
  assert.equal((await mails.send()).length, 1);
  const later: string[] = [];
  for (let count = 0; count < 30; count += 1) later.push(await ask(server, key));
  assert.deepEqual(await mails.send(), []);
  assert.equal(await queued(server), 2);
  const path = `/shops/${server.shopId}/approval-requests/${later[0]}/reject`;
  assert.equal((await askAdmin(server, "POST", path, {}, { key: await anna.bearer() })).status, 200);
  server.clock.advance(approvalMailEveryMs + 1_000);
  const [mail, ...others] = await mails.send();
  assert.deepEqual(others, []);
  assert.ok(mail !== undefined);
  assert.match(mail.subject, /^29 requests wait for your approval/);
  for (const id of [first, later[0] ?? ""]) assert.ok(!mail.text.includes(id), "it was mailed before, or decided");
  for (const id of later.slice(1, 1 + mailedAsksMax)) assert.ok(mail.text.includes(id), mail.text);
  const last = await ask(server, key);
  const withdrawn = await askAdmin(server, "POST", `/shops/${server.shopId}/approval-requests/${last}/reject`, {});
  assert.equal(withdrawn.status, 200);
  assert.equal(await queued(server), 2, "of what is decided no mail is left");
  await mails.close();
});

test("while the mail server refuses for now, what is asked joins what is tried, under a new Message-ID", async () => {
  await using server = await startServer({ console: true, isClockStill: true, perform: () => ({ mailing }) });
  const mails = sendingFrom(server);
  await personWith(server, "Anna");
  const key = await proposingKey(server);
  mails.state.answer = { outcome: "later", detail: "451 busy" };
  const ids = [await ask(server, key)];
  const [tried] = await mails.send();
  for (let count = 0; count < 3; count += 1) {
    server.clock.advance(approvalMailEveryMs);
    ids.push(await ask(server, key));
    await mails.send();
  }
  mails.state.answer = { outcome: "sent", detail: null };
  server.clock.advance(mailWindowMs);
  const sent = await mails.send();
  assert.equal(sent.length, 1);
  for (const id of ids) assert.ok(sent[0]?.text.includes(id), id);
  assert.notEqual(sent[0]?.messageId, tried?.messageId);
  await mails.close();
});

test("mails to approvers take half of the shop's mails of an hour; beyond that they wait", async () => {
  await using server = await startServer({
    console: true,
    perform: () => ({ mailing: { ...mailing, perHourMax: 4 } }),
  });
  const mails = sendingFrom(server);
  for (const name of ["Anna", "Ben", "Cleo"]) await personWith(server, name);
  await ask(server, await proposingKey(server));
  assert.equal((await mails.send()).length, 2);
  server.clock.advance(mailWindowMs + 1_000);
  assert.equal((await mails.send()).length, 1);
  await mails.close();
});

test("a mail that has failed stands in the log of its order; it goes with its person, and after so long", async () => {
  await using server = await startServer({ console: true, perform: () => ({ mailing }) });
  const mails = sendingFrom(server);
  const anna = await personWith(server, "Anna");
  const key = await proposingKey(server);
  const made = await server.post(orders, { locationId: "loc_a", supplierId: "sup_a" });
  const order = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  mails.state.answer = { outcome: "refused", detail: "550 nobody here" };
  const asked = await server.patch(`${orders}/${order}`, { noteToSupplier: "Hello" }, { key });
  assert.equal(asked.status, 202, asked.text);
  await mails.send();
  const log = await server.get(`${orders}/${order}/log`);
  assert.equal(log.at("data", "log", 0, "message"), "The e-mail to Anna about an approval failed: 550 nobody here.");
  await ask(server, key);
  assert.equal(await queued(server), 2);
  const path = `/shops/${server.shopId}/people/${anna.personId}`;
  await personWith(server, "Ben");
  assert.equal((await askAdmin(server, "DELETE", path)).status, 200);
  assert.equal(await queued(server), 1, "what waited for Anna is gone");
  server.clock.advance(approvalRequestsKeptMs + approvalMailEveryMs);
  await ask(server, key);
  assert.equal(await queued(server), 1, "the mail to Ben alone");
  await mails.close();
});
