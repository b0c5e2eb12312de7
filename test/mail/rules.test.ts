/** What an attempt to send a mail means for it, and what counts as an address (C63). */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterMailAttempt,
  isMailAddress,
  mailAddressesFrom,
  mailAddressFrom,
  type MailRecipient,
  mailDueAheadMsMax,
  mailSubjectMax,
  mailTriedForMs,
  type RecipientResult,
  senderName,
  serverWords,
} from "../../src/core/supplier/mail.ts";
import { languages } from "../../src/base/text/language.ts";
import {
  defaultMailMessage,
  defaultMailSubject,
  linkPlace,
  withLinkPlace,
} from "../../src/core/supplier/mail-texts.ts";

const recipient = (address: string, fields: Partial<MailRecipient> = {}): MailRecipient => ({
  address,
  role: "to",
  state: "pending",
  detail: null,
  ...fields,
});

const results = (each: Readonly<Record<string, RecipientResult>>): ReadonlyMap<string, RecipientResult> =>
  new Map(Object.entries(each));

const sent: RecipientResult = { outcome: "sent", detail: null };
const later: RecipientResult = { outcome: "later", detail: "451 busy" };
const refused: RecipientResult = { outcome: "refused", detail: "550 nobody" };

test("a mail is over when everybody has it or is refused, and who has it is not asked again", () => {
  const recipients = [recipient("a@x"), recipient("b@x", { role: "cc" }), recipient("c@x")];
  const first = afterMailAttempt(
    { recipients, attempts: 1, sinceMs: 0 },
    results({ "a@x": sent, "b@x": later, "c@x": refused }),
    1_000,
    0.5,
  );
  assert.deepEqual(
    [first.state, first.dueAtMs, first.detail],
    ["queued", 31_000, "not delivered to b@x, c@x: 451 busy; 550 nobody"],
  );
  const second = afterMailAttempt(
    { recipients: first.recipients, attempts: 2, sinceMs: 0 },
    results({ "a@x": later, "b@x": sent, "c@x": sent }),
    40_000,
    0.5,
  );
  assert.deepEqual(second, {
    state: "failed",
    recipients: [
      recipient("a@x", { state: "sent" }),
      recipient("b@x", { role: "cc", state: "sent" }),
      recipient("c@x", { state: "refused", detail: "550 nobody" }),
    ],
    detail: "not delivered to c@x: 550 nobody",
    dueAtMs: null,
  });
  assert.equal(
    afterMailAttempt({ recipients: [recipient("a@x")], attempts: 1, sinceMs: 0 }, results({ "a@x": sent }), 0, 0).state,
    "sent",
  );
});

test(`a mail is tried for ${mailTriedForMs / 3_600_000} hours at growing distances, then it has failed`, () => {
  for (const random of [0, 0.999]) {
    let nowMs = 0;
    let attempts = 0;
    const waits: number[] = [];
    for (;;) {
      attempts += 1;
      const after = afterMailAttempt(
        { recipients: [recipient("a@x")], attempts, sinceMs: 0 },
        results({ "a@x": later }),
        nowMs,
        random,
      );
      if (after.dueAtMs === null) {
        assert.equal(after.state, "failed");
        assert.equal(after.detail, `451 busy (tried ${attempts} times in 24 hours)`);
        break;
      }
      waits.push(after.dueAtMs - nowMs);
      nowMs = after.dueAtMs;
    }
    assert.ok(nowMs <= mailTriedForMs && nowMs > mailTriedForMs - mailDueAheadMsMax, String(nowMs));
    assert.ok((waits[0] ?? 0) >= 24_000 && (waits[0] ?? 0) <= 36_000);
    assert.ok(waits.every((wait) => wait <= mailDueAheadMsMax));
    assert.deepEqual(
      waits,
      waits.toSorted((a, b) => a - b),
    );
    assert.ok(attempts > 25 && attempts < 40, String(attempts));
  }
});

test("an address is ASCII, within its lengths, and holds nothing that could end it", () => {
  for (const address of ["a@b.example", "first.last+tag@sub.example.com", "x@localhost", `${"a".repeat(64)}@b.example`])
    assert.ok(isMailAddress(address), address);
  const wrong = [
    "",
    "a",
    "@b.example",
    "a@",
    "a b@c.example",
    "a@b..example",
    ".a@b.example",
    "a.@b.example",
    "a@-b.example",
    "a@b.example\n",
    "a@b.example\r\nBcc: c@d.example",
    "<a@b.example>",
    "N <a@b.example>",
    '"a b"@c.example',
    "a@b.example,c@d.example",
    "a@b@c.example",
    "ä@b.example",
    "a@bü.example",
    "a@[127.0.0.1]",
    `${"a".repeat(65)}@b.example`,
    `a@${`${"b".repeat(60)}.`.repeat(4)}example.com`,
  ];
  for (const address of wrong) assert.ok(!isMailAddress(address), address);
});

test("a server's words are shown on one line, and cut", () => {
  assert.equal(serverWords("550-one\r\n550 two\u0000\u001b[31m"), "550-one 550 two [31m");
  const long = serverWords("x".repeat(10_000));
  assert.equal(long.length, 300);
  assert.ok(serverWords(`${"x".repeat(298)}😀😀`).isWellFormed());
});

test("a subject that nobody has written is one line within its length", () => {
  const shopName = "S\u2028hop".repeat(100);
  const subject = defaultMailSubject({ poNumber: "PO\r\nBcc: x", shopName, language: "en" }, null);
  assert.ok(subject.length <= mailSubjectMax && !/[\r\n\u2028]/.test(subject), subject);
  assert.match(subject, /^Purchase order PO Bcc: x from S hop/);
});

test("a subject says which version it replaces, at its end whatever its length", () => {
  const replaced = { version: 2, day: "2026-11-03" };
  const named = { poNumber: "PO-7", shopName: "Nord", language: "en" } as const;
  assert.equal(
    defaultMailSubject(named, replaced),
    "Purchase order PO-7 from Nord (replaces version 2 of 3 November 2026)",
  );
  const long = defaultMailSubject({ ...named, shopName: "x".repeat(300) }, replaced);
  assert.ok(long.length === mailSubjectMax && long.endsWith("(replaces version 2 of 3 November 2026)"), long);
  for (const language of languages)
    assert.match(defaultMailSubject({ ...named, language }, replaced), / 2 .*2026\)$/, language);
});

test("addresses come as a list, with names and blanks, and with domains of other scripts", () => {
  for (const [text, expected] of [
    ["a@x.example", ["a@x.example"]],
    ["  a@X.Example ", ["a@x.example"]],
    ["a@x.example; b@y.example", ["a@x.example", "b@y.example"]],
    ["a@x.example,b@y.example;", ["a@x.example", "b@y.example"]],
    ['"Doe, Jane" <j@x.example>; Bob <b@y.example>', ["j@x.example", "b@y.example"]],
    ["a@x.example; a@x.example", ["a@x.example"]],
    ["info@müller.example", ["info@xn--mller-kva.example"]],
    ["info@例え.テスト", ["info@xn--r8jz45g.xn--zckzah"]],
  ] as const)
    assert.deepEqual(mailAddressesFrom(text), { addresses: expected, wrong: null }, text);
  for (const [text, wrong] of [
    ["", ""],
    [" ; ", " ; "],
    ["a@x.example; nobody", "nobody"],
    ["a@x.example b@y.example", "a@x.example b@y.example"],
    ["a@müller/.example", "a@müller/.example"],
    ["a@x.example\r\nBcc: c@d.example", "a@x.example\r\nBcc: c@d.example"],
    ["müller@x.example", "müller@x.example"],
    ["a@b.example>", "a@b.example>"],
  ] as const)
    assert.equal(mailAddressesFrom(text).wrong, wrong, JSON.stringify(text));
  assert.equal(mailAddressFrom("Name <a@x.example>"), "a@x.example");
  assert.equal(mailAddressFrom(`${"<".repeat(100_000)}a@x.example>`), "a@x.example");
});

test("the sender's name says that the mail comes by this service, and cannot pass for an address", () => {
  assert.equal(senderName("Café Nord"), "Café Nord via OpenPO");
  assert.equal(senderName('"Bank" <help@bank.example>'), "Bank help bank.example via OpenPO");
  assert.equal(senderName("＂Bank＂ ＜help＠bank.example＞ ﹫ ﹤"), "Bank help bank.example via OpenPO");
  assert.equal(senderName(" \r\n<> "), "OpenPO");
});

test("a text that nobody has written names order and shop in each language, and has one place for a link if it shall", () => {
  const places = (text: string): number => text.split(linkPlace).length - 1;
  const seen = new Set<string>();
  for (const language of languages) {
    const named = { poNumber: "PO-7 {shop}", shopName: "Nord {number}", language };
    const subject = defaultMailSubject(named, null);
    assert.ok(subject.includes("PO-7 {shop}") && subject.includes("Nord {number}"), subject);
    const [plain, linked] = [defaultMailMessage(named, false), defaultMailMessage(named, true)];
    assert.ok(plain.includes("PO-7 {shop}") && plain.trimEnd().endsWith("Nord {number}"), plain);
    assert.deepEqual([places(plain), places(linked)], [0, 1]);
    assert.equal(withLinkPlace(linked, language), linked);
    const own = withLinkPlace("Dear Jo,\n", language);
    assert.ok(own.startsWith("Dear Jo,\n\n") && own.endsWith(`\n${linkPlace}\n`), own);
    seen.add(subject);
  }
  assert.equal(seen.size, languages.length);
});
