/**
 * E-mail of orders to suppliers (C63): what is previewed is what is attached, what the mail server says is told, headers hold nothing that a text of
 * others could add, and nothing is sent by itself unless the shop says so.
 */
// Only on sqlite: its subject is what is sent to the mail server; mail/kills.slow.test.ts and mail/nodes.slow.test.ts have both engines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailsPerHourMax } from "../../src/core/supplier/mail.ts";
import { attachedTo, type MailShop, sha256Of, supplierEmail, withMailShop } from "../support/peers/mail-shop.ts";
import { parseMail, type ReceivedMail, type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";

async function withServer(
  use: (server: SmtpServerForTests) => Promise<void>,
  options: Parameters<typeof startSmtpServer>[0] = {},
): Promise<void> {
  const server = await startSmtpServer(options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const only = (mails: readonly ReceivedMail[]): ReceivedMail => {
  const [mail, ...others] = mails;
  assert.ok(mail !== undefined && others.length === 0, `${mails.length} mails`);
  return mail;
};

const header = (mail: ReceivedMail, name: string): string => {
  const [value, ...others] = parseMail(mail).headers.get(name) ?? [];
  assert.ok(value !== undefined && others.length === 0, name);
  return value;
};

/** The messages of the order's log, newest first. */
async function logOf({ program, apiKey }: MailShop, orderId: string): Promise<readonly string[]> {
  const detail = await program.ask("GET", `/api/v1/purchase-orders/${orderId}/log`, apiKey);
  const log: readonly { readonly action: string; readonly message: string }[] = JSON.parse(detail.text).data.log;
  return log.filter(({ action }) => action === "email").map(({ message }) => message);
}

test("the supplier gets the very bytes that were previewed, and the log has their hash", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      const preview = await fetch(`${shop.program.url}/admin/v1/shops/shop/purchase-orders/${id}/document.pdf`, {
        headers: { Authorization: `Bearer ${shop.token}` },
      });
      const previewed = sha256Of(new Uint8Array(await preview.arrayBuffer()));
      const sent = await shop.send(id, { attachCsv: true, documentSha256: previewed });
      assert.equal(sent.status, 200, sent.text);
      assert.deepEqual(sent.at("data", "sideEffects", "email"), { status: "sent" });
      assert.equal(sent.at("data", "recovery"), undefined);
      assert.equal(sent.at("data", "mail", "state"), "sent");
      const mail = only(server.taken);
      assert.deepEqual([mail.from, mail.to], ["po@service.example", [supplierEmail]]);
      assert.equal(header(mail, "to"), supplierEmail);
      assert.equal(header(mail, "from"), "Café Nord via OpenPO <po@service.example>");
      assert.equal(header(mail, "message-id"), `<${String(sent.at("data", "mail", "mailId"))}@service.example>`);
      const poNumber = String(
        (await shop.program.ask("GET", `/api/v1/purchase-orders/${id}`, shop.apiKey)).at(
          "data",
          "purchaseOrder",
          "poNumber",
        ),
      );
      assert.equal(header(mail, "subject"), `Purchase order ${poNumber} from Café Nord`);
      const [text] = parseMail(mail).parts;
      assert.match(text?.bytes.toString() ?? "", new RegExp(`purchase order ${poNumber} attached`));
      const attached = attachedTo(mail);
      const names = [...attached.keys()];
      assert.deepEqual(
        names.map((name) => name.split(".").at(-1)),
        ["pdf", "csv"],
      );
      assert.equal(sha256Of(attached.get(names[0] ?? "") ?? Buffer.from("")), previewed);
      const csv = await shop.ask("GET", `/purchase-orders/${id}/document.csv`);
      // A reader of texts takes the mark at their begin away.
      assert.equal(attached.get(names[1] ?? "")?.toString(), `\ufeff${csv.text}`);
      const log = await logOf(shop, id);
      assert.equal(log.length, 2, log.join("\n"));
      assert.ok(log.some((message) => message.includes(`SHA-256 ${previewed}`) && message.includes(supplierEmail)));
      assert.ok(log.some((message) => message.startsWith("The mail server has taken the e-mail")));
    });
  });
});

test("a document that changed since its preview is not sent: 412", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      const pdf = await fetch(`${shop.program.url}/admin/v1/shops/shop/purchase-orders/${id}/document.pdf`, {
        headers: { Authorization: `Bearer ${shop.token}` },
      });
      const documentSha256 = sha256Of(new Uint8Array(await pdf.arrayBuffer()));
      const changed = await shop.program.ask("PATCH", `/api/v1/purchase-orders/${id}`, shop.apiKey, {
        noteToSupplier: "Please hurry",
      });
      assert.equal(changed.status, 200);
      const refused = await shop.send(id, { documentSha256 });
      assert.equal(refused.status, 412, refused.text);
      assert.equal(refused.at("error", "reason"), "VERSION_MISMATCH");
      assert.equal((await shop.mails(id)).length, 0);
      const stale = await shop.send(id, {}, { "If-Match": '"1"' });
      assert.equal(stale.status, 412, stale.text);
      assert.equal(server.received.length, 0);
    });
  });
});

test("what is wrong with a request is named by its field, and nothing is sent", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      const wrong: readonly (readonly [object, string])[] = [
        [{ to: "nobody" }, "/to"],
        [{ to: [] }, "/to"],
        [{ to: ["a@b.example", "Name <c@d.example>"] }, "/to/1"],
        [{ to: "a@b.example\r\nBcc: thief@evil.example" }, "/to"],
        [{ to: "a@b.example,thief@evil.example" }, "/to"],
        [{ cc: ["a@b.example\n"] }, "/cc/0"],
        [{ cc: `${"a".repeat(65)}@b.example` }, "/cc"],
        [
          { cc: `a@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.${"f".repeat(20)}.example` },
          "/cc",
        ],
        [{ to: Array.from({ length: 21 }, (_, index) => `a${index}@b.example`) }, "/to"],
        [
          {
            to: Array.from({ length: 11 }, (_, index) => `a${index}@b.example`),
            cc: Array.from({ length: 10 }, (_, index) => `c${index}@b.example`),
          },
          "/cc",
        ],
        [{ subject: "Hello\r\nBcc: thief@evil.example" }, "/subject"],
        [{ subject: "Hello\u2028Bcc: thief@evil.example" }, "/subject"],
        [{ subject: "" }, "/subject"],
        [{ subject: "s".repeat(201) }, "/subject"],
        [{ message: "m".repeat(5_001) }, "/message"],
        [{ message: "bell \u0007" }, "/message"],
        [{ documentSha256: "abc" }, "/documentSha256"],
        [{ bcc: "a@b.example" }, "/bcc"],
      ];
      for (const [body, field] of wrong) {
        const refused = await shop.send(id, body);
        assert.equal(refused.status, 400, JSON.stringify(body));
        assert.equal(refused.at("error", "details", 0, "path"), field, `${JSON.stringify(body)}: ${refused.text}`);
      }
      for (const supplierId of ["mute"]) {
        const other = await shop.makeOrder({ supplierId });
        const refused = await shop.send(other);
        assert.equal(refused.status, 400);
        assert.equal(refused.at("error", "details", 0, "path"), "/to", refused.text);
        assert.doesNotMatch(refused.text, /thief/);
      }
      assert.equal((await shop.send("po_none")).status, 404);
      assert.equal(server.connections, 0);
    });
  });
});

/** Gives the order another number, which only an import can. */
async function renumber(shop: MailShop, orderId: string, poNumber: string): Promise<void> {
  const exported = await shop.ask("GET", "/export");
  const records = exported.text
    .trim()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
  const order = records.find((record) => record["purchaseOrderId"] === orderId);
  const imported = await shop.ask("POST", "/import", JSON.stringify({ ...order, poNumber }));
  assert.equal(imported.status, 200, imported.text);
}

test("texts of others add no header and no recipient: shop name, PO number, subject and message", async () => {
  await withServer(async (server) => {
    const name = 'Evil" <thief@evil.example> Bcc: thief@evil.example =?UTF-8?Q?=3Ca@b.example=3E?=';
    await withMailShop(server, async (shop) => {
      const renamed = await shop.ask("PUT", "", { name });
      assert.equal(renamed.status, 200, renamed.text);
      const id = await shop.makeOrder({ poName: "N X-Evil: 1" });
      await renumber(shop, id, 'PO" <thief@evil.example> Bcc: thief@evil.example');
      for (const body of [
        {},
        { subject: "=?UTF-8?Q?a=0D=0ABcc:_thief@evil.example?=", message: "x\r\n.\r\nMAIL FROM:<a@b>\r\n.\n" },
      ]) {
        const sent = await shop.send(id, {
          to: ["Mixed.Case@Supplier.Example", "mixed.case@supplier.example"],
          ...body,
        });
        assert.equal(sent.at("data", "mail", "state"), "sent", sent.text);
      }
      assert.equal(server.taken.length, 2);
      for (const mail of server.taken) {
        assert.deepEqual(mail.to, ["Mixed.Case@supplier.example"]);
        const { headers } = parseMail(mail);
        assert.deepEqual(
          [...headers.keys()].filter((each) => ["bcc", "cc", "x-evil", "sender", "reply-to"].includes(each)),
          [],
        );
        assert.equal(headers.get("from")?.length, 1);
        assert.match(headers.get("from")?.[0] ?? "", /^[^<>@]* via OpenPO"? <po@service\.example>$/);
        // Nor does a reader take them for another text.
        for (const header of ["from", "subject"]) assert.ok(!(headers.get(header)?.[0] ?? "=?").includes("=?"), header);
      }
      const [, written] = server.taken;
      assert.ok(written !== undefined);
      assert.match(parseMail(written).parts[0]?.bytes.toString() ?? "", /^x\r?\n\.\r?\nMAIL FROM:<a@b>\r?\n\.\r?\n/);
    });
  });
});

test("a refusal for good is told with the server's words, and a retry goes only to those who lack it", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      server.answer = (step, address) =>
        step === "RCPT" && address.startsWith("gone") ? "550 5.1.1 no such user here" : null;
      const sent = await shop.send(id, { to: "here@supplier.example", cc: "gone@supplier.example" });
      assert.equal(sent.status, 200, sent.text);
      const email = sent.at("data", "sideEffects", "email");
      assert.deepEqual(email, {
        status: "failed",
        detail: "not delivered to gone@supplier.example: 550 5.1.1 no such user here",
      });
      assert.match(String(sent.at("data", "recovery")), /not everybody has the e-mail/);
      const [failed] = await shop.mails(id);
      assert.deepEqual(
        failed?.recipients.map(({ address, state }) => [address, state]),
        [
          ["here@supplier.example", "sent"],
          ["gone@supplier.example", "refused"],
        ],
      );
      server.answer = () => null;
      const again = await shop.ask("POST", `/purchase-orders/${id}/mails/${failed.mailId}/retry`, {});
      assert.equal(again.at("data", "mail", "state"), "sent", again.text);
      assert.deepEqual(
        server.taken.map(({ to }) => to),
        [["here@supplier.example"], ["gone@supplier.example"]],
      );
      const [first, second] = server.taken;
      assert.ok(first !== undefined && second !== undefined);
      assert.equal(header(first, "message-id"), header(second, "message-id"));
      assert.equal(header(second, "to"), "here@supplier.example");
      assert.equal((await shop.ask("POST", `/purchase-orders/${id}/mails/${failed.mailId}/retry`, {})).status, 400);
      assert.equal((await shop.ask("POST", `/purchase-orders/${id}/mails/mail_none/retry`, {})).status, 404);
      for (const [step, words] of [
        ["MAIL", "553 5.7.1 sender not allowed"],
        ["DATA", "554 5.6.0 no"],
        ["message", "552 5.3.4 message too big"],
      ] as const) {
        server.answer = (at) => (at === step ? words : null);
        const refused = await shop.send(id);
        assert.deepEqual(refused.at("data", "sideEffects", "email"), { status: "failed", detail: words });
      }
    });
  });
});

test("what the server does not take for now is queued and due again, whatever the step, also when it hangs up or the answer is lost", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      for (const [step, answer, words] of [
        ["greeting", "421 4.3.2 too busy", /./],
        ["MAIL", "451 4.7.1 greylisted", /^451 4\.7\.1 greylisted$/],
        ["RCPT", "450 4.2.0 mailbox busy", /^450 4\.2\.0 mailbox busy$/],
        ["DATA", "452 4.3.1 no room", /^452/],
        ["message", "451 4.3.0 try later", /^451 4\.3\.0/],
        ["message", "drop", /ended the connection/],
        ["EHLO", "drop", /ended the connection/],
      ] as const) {
        const id = await shop.makeOrder();
        server.answer = (at) => (at === step ? answer : null);
        const beforeMs = Date.now();
        const sent = await shop.send(id);
        assert.deepEqual(sent.at("data", "sideEffects", "email"), { status: "queued" }, sent.text);
        const mail = await shop.untilMail(id, ({ attempts, detail }) => attempts === 1 && detail !== null);
        const afterMs = Date.now();
        assert.equal(mail.state, "queued");
        assert.match(mail.detail ?? "", words);
        // 30 s after the attempt, within a fifth.
        const dueMs = Date.parse(mail.nextAttemptAt ?? "");
        assert.ok(dueMs >= beforeMs + 24_000 && dueMs <= afterMs + 36_000, `${step} ${answer}: ${dueMs}`);
      }
    });
  });
});

test("a mail server that hangs holds up no other request of the shop, and the answer says queued", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      await shop.ask("PUT", "", { settings: { followOnWaitMs: 300 } });
      server.answer = (step) => (step === "message" ? "hang" : null);
      const ids = await Promise.all([1, 2, 3].map(() => shop.makeOrder()));
      const sent = await Promise.all(ids.map((id) => shop.send(id)));
      for (const each of sent) assert.deepEqual(each.at("data", "sideEffects", "email"), { status: "queued" });
      const moved = await shop.program.ask("POST", `/api/v1/purchase-orders/${ids[0]}/status`, shop.apiKey, {
        status: "Sent",
      });
      assert.equal(moved.status, 200, moved.text);
      assert.equal(moved.at("data", "sideEffects", "email"), undefined);
      for (const id of ids) {
        const [mail] = await shop.mails(id);
        assert.deepEqual([mail?.state, mail?.detail], ["queued", null], "it waited for the mail server");
      }
      const metrics = await shop.program.ask("GET", "/metrics", "");
      const [, queued] = /^openpo_mails_queued (\d+)$/m.exec(metrics.text) ?? [];
      assert.ok(Number(queued) >= 1, `${queued} queued`);
    });
  });
});

test("a request that is sent again with its key sends one mail, and the limit of an hour is told with when it ends", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      const key = { "Idempotency-Key": "send-1" };
      const first = await shop.send(id, { cc: "copy@b.example" }, key);
      const second = await shop.send(id, { cc: "copy@b.example" }, key);
      assert.equal(second.headers.get("idempotent-replayed"), "true", second.text);
      assert.equal(second.text, first.text);
      assert.equal(server.taken.length, 1);
      const reused = await shop.send(id, {}, key);
      assert.equal(reused.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
      const further = await Promise.all(Array.from({ length: mailsPerHourMax - 1 }, () => shop.send(id)));
      for (const sent of further) assert.equal(sent.status, 200, sent.text);
      const refused = await shop.send(id, {}, { "Idempotency-Key": "send-2" });
      assert.equal(refused.status, 429, refused.text);
      assert.equal(refused.at("error", "code"), "RATE_LIMITED");
      const waitS = Number(refused.headers.get("retry-after"));
      assert.ok(waitS > 3_500 && waitS <= 3_600, String(waitS));
      const asked = await shop.ask("GET", `/purchase-orders/${id}/mails`);
      assert.equal(asked.at("data", "totalCount"), mailsPerHourMax);
    });
  });
});

test("a move to Sent mails nothing by itself; with emailOnSent it does, in the same commit, as the answer tells", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const move = (id: string, headers?: Record<string, string>) =>
        shop.program.ask("POST", `/api/v1/purchase-orders/${id}/status`, shop.apiKey, { status: "Sent" }, headers);
      const silent = await move(await shop.makeOrder());
      assert.equal(silent.status, 200, silent.text);
      assert.equal(silent.at("data", "sideEffects", "email"), undefined);
      assert.equal(server.connections, 0);
      const set = await shop.ask("PUT", "", { settings: { emailOnSent: true } });
      assert.equal(set.at("data", "shop", "settings", "emailOnSent"), true);
      const id = await shop.makeOrder();
      const moved = await move(id, { "Idempotency-Key": "move-1" });
      assert.deepEqual(moved.at("data", "sideEffects", "email"), { status: "sent" }, moved.text);
      assert.equal((await move(id, { "Idempotency-Key": "move-1" })).text, moved.text);
      const [mail] = await shop.mails(id);
      assert.equal(mail?.["orderVersion"], moved.at("data", "purchaseOrder", "version"));
      const pdf = await fetch(`${shop.program.url}/admin/v1/shops/shop/purchase-orders/${id}/document.pdf`, {
        headers: { Authorization: `Bearer ${shop.token}` },
      });
      assert.equal(sha256Of(new Uint8Array(await pdf.arrayBuffer())), mail?.documents[0]?.sha256);
      assert.deepEqual([...attachedTo(only(server.taken)).values()].map(sha256Of), [mail?.documents[0]?.sha256]);
      assert.equal(mail?.["supplierLinkId"], null, "nobody knows where the supplier would reach it");
      // Nobody sent it: no answer by itself is wanted, and nobody is answered until the shop says who.
      assert.equal(header(only(server.taken), "auto-submitted"), "auto-generated");
      assert.equal(parseMail(only(server.taken)).headers.get("reply-to"), undefined);
      // A held order that goes back to Sent mails nothing; nor does the move to Draft.
      for (const status of ["On Hold", "Sent", "Draft"]) {
        const path = `/api/v1/purchase-orders/${id}/status`;
        const next = await shop.program.ask("POST", path, shop.apiKey, { status });
        assert.equal(next.status, 200, next.text);
        assert.equal(next.at("data", "sideEffects", "email"), undefined, status);
      }
      assert.equal((await shop.mails(id)).length, 1);
      const mute = await shop.makeOrder({ supplierId: "mute" });
      const unsent = await move(mute);
      assert.equal(unsent.status, 200, unsent.text);
      assert.equal(unsent.at("data", "purchaseOrder", "status"), "Sent");
      assert.deepEqual(unsent.at("data", "sideEffects", "email"), {
        status: "failed",
        detail: "an address is needed: the order's supplier has no e-mail address",
      });
      assert.equal(typeof unsent.at("data", "recovery"), "string");
      assert.equal(server.taken.length, 1);
    });
  });
});

test("with a public address a mail that goes by itself has a link to answer by, which begins with it; so have mails that people send", async () => {
  await withServer(async (server) => {
    const publicUrl = "https://openpo.example.com";
    const linkOf = (mail: ReceivedMail): string =>
      /^https?:\/\/\S+$/m.exec(parseMail(mail).parts[0]?.bytes.toString() ?? "")?.[0] ?? "";
    await withMailShop(
      server,
      async (shop) => {
        const opened = async (url: string): Promise<number> => {
          assert.ok(url.startsWith(`${publicUrl}/s/opl_shop_`), url);
          return (await fetch(url.replace(publicUrl, shop.program.url))).status;
        };
        await shop.ask("PUT", "", { settings: { emailOnSent: true } });
        const id = await shop.makeOrder();
        const body = { status: "Sent" };
        const headers = { "Idempotency-Key": "move-1" };
        const move = () => shop.program.ask("POST", `/api/v1/purchase-orders/${id}/status`, shop.apiKey, body, headers);
        const moved = await move();
        assert.deepEqual(moved.at("data", "sideEffects", "email"), { status: "sent" }, moved.text);
        assert.equal((await move()).text, moved.text);
        assert.equal(await opened(linkOf(only(server.taken))), 200);
        const [mail] = await shop.mails(id);
        const links = await shop.ask("GET", `/purchase-orders/${id}/supplier-links`);
        assert.equal(links.at("data", "totalCount"), 1);
        assert.equal(links.at("data", "supplierLinks", 0, "linkId"), mail?.["supplierLinkId"]);
        assert.equal((await shop.send(id, { supplierLink: true })).status, 200);
        assert.equal(await opened(linkOf(server.taken[1] ?? only([]))), 200);
        assert.equal((await shop.send(id)).status, 200);
        assert.equal(linkOf(server.taken[2] ?? only([])), "", "a person has sent it without one");
      },
      { OPENPO_PUBLIC_URL: publicUrl },
    );
  });
});

test("without a mail server the answer says what to set; with emailOnSent the order moves and the answer tells", async () => {
  await withMailShop(null, async (shop) => {
    const id = await shop.makeOrder();
    const refused = await shop.send(id);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /OPENPO_SMTP_URL and OPENPO_MAIL_FROM/);
    const listed = await shop.ask("GET", `/purchase-orders/${id}/mails`);
    assert.deepEqual([listed.at("data", "next", "isOn"), listed.at("data", "next", "to")], [false, supplierEmail]);
    await shop.ask("PUT", "", { settings: { emailOnSent: true } });
    const moved = await shop.program.ask("POST", `/api/v1/purchase-orders/${id}/status`, shop.apiKey, {
      status: "Sent",
    });
    assert.equal(moved.at("data", "purchaseOrder", "status"), "Sent");
    assert.match(String(moved.at("data", "sideEffects", "email", "detail")), /sends no e-mail/);
  });
});

test("purchasers send, receivers and viewers do not, and keys have no way to it; the answer goes to the person who sent", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      const bearerWith = async (credential: object): Promise<string> => {
        const page = { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
        const session = await fetch(`${shop.program.url}/console/session`, {
          method: "POST",
          headers: page,
          body: JSON.stringify(credential),
        });
        const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
        const token = await fetch(`${shop.program.url}/console/token`, {
          method: "POST",
          headers: { ...page, Cookie: cookie },
        });
        return String(JSON.parse(await token.text()).data.token);
      };
      const bearerOf = async (role: string): Promise<string> => {
        const made = await shop.ask("POST", "/invitations", { name: `A ${role}`, role, email: `${role}@shop.example` });
        return await bearerWith({ invitation: new URL(String(made.at("data", "url"))).hash.slice(1) });
      };
      const path = `/admin/v1/shops/shop/purchase-orders/${id}/send`;
      for (const role of ["viewer", "receiver"]) {
        const refused = await shop.program.ask("POST", path, await bearerOf(role), {});
        assert.equal(refused.status, 403, refused.text);
      }
      assert.equal((await shop.program.ask("POST", path, shop.apiKey, {})).status, 401);
      assert.equal(server.connections, 0);
      const bearer = await bearerOf("purchaser");
      const sent = await shop.program.ask("POST", path, bearer, {}, { "Idempotency-Key": "k" });
      assert.equal(sent.at("data", "mail", "createdBy"), "A purchaser", sent.text);
      assert.equal(header(only(server.taken), "reply-to"), "purchaser@shop.example");
      const replayed = await shop.program.ask("POST", path, bearer, {}, { "Idempotency-Key": "k" });
      assert.equal(replayed.text, sent.text);
      assert.equal(server.taken.length, 1);
      // Whoever signs in with a key sends to the supplier alone.
      const byKey = await bearerWith({ apiKey: shop.apiKey, name: "With a key" });
      for (const body of [{ to: "thief@evil.example" }, { cc: "thief@evil.example" }]) {
        const refused = await shop.program.ask("POST", path, byKey, body);
        assert.equal(refused.status, 403, refused.text);
      }
      assert.equal(server.taken.length, 1);
      const [supplierAddress = ""] = only(server.taken).to;
      for (const body of [{}, { to: supplierAddress.toUpperCase() }])
        assert.equal((await shop.program.ask("POST", path, byKey, body)).status, 200);
      const audit = await shop.ask("GET", "/audit-log?operation=purchase_order_send");
      assert.match(audit.text, /console:purchase_order_send/);
      assert.doesNotMatch(audit.text, /supplier\.example/);
    });
  });
});

test("a supplier's list of addresses gets the mail, each address as the mail server takes it; what is no address is refused at the import", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder({ supplierId: "two" });
      const listed = await shop.ask("GET", `/purchase-orders/${id}/mails`);
      assert.equal(listed.at("data", "next", "to"), "a@x.example, b@xn--mller-kva.example");
      const sent = await shop.send(id);
      assert.equal(sent.status, 200, sent.text);
      assert.deepEqual(only(server.taken).to, ["a@x.example", "b@xn--mller-kva.example"]);
      assert.equal(parseMail(only(server.taken)).headers.get("auto-submitted"), undefined, "somebody sent it");
      const other = await shop.send(id, { to: "info@müller.example" });
      assert.equal(other.status, 200, other.text);
      assert.deepEqual(server.taken.at(-1)?.to, ["info@xn--mller-kva.example"]);
      for (const email of ["nobody", "a@x.example; nobody", "a@x.example b@y.example", " "]) {
        const supplier = { type: "supplier", supplierId: "wrong", name: "Wrong", email };
        const refused = await shop.ask("POST", "/import", JSON.stringify(supplier));
        assert.equal(refused.status, 400, email);
        assert.match(refused.text, /email/, email);
      }
    });
  });
});

test("a changed order that is mailed again says which version it replaces, in its subject and at its head; answers go where the shop says", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const wrong = await shop.ask("PUT", "", { settings: { replyTo: "nobody" } });
      assert.equal(wrong.status, 400);
      assert.match(wrong.text, /settings\/replyTo/);
      const set = await shop.ask("PUT", "", { settings: { replyTo: " Buying <buy@Café.example> " } });
      assert.equal(set.at("data", "shop", "settings", "replyTo"), "buy@xn--caf-dma.example", set.text);
      const id = await shop.makeOrder();
      const first = await shop.send(id, { moveToSent: true });
      assert.equal(first.status, 200, first.text);
      assert.doesNotMatch(header(only(server.taken), "subject"), /replaces/);
      assert.equal(header(only(server.taken), "reply-to"), "buy@xn--caf-dma.example");
      const version = Number(first.at("data", "mail", "orderVersion"));
      const path = `/api/v1/purchase-orders/${id}`;
      const changed = await shop.program.ask("PATCH", path, shop.apiKey, { noteToSupplier: "Blue, please" });
      assert.equal(changed.status, 200, changed.text);
      const next = await shop.ask("GET", `/purchase-orders/${id}/mails`);
      const second = await shop.send(id);
      assert.equal(second.status, 200, second.text);
      const subject = header(server.taken.at(-1) ?? only([]), "subject");
      assert.match(subject, new RegExp(`\\(replaces version ${version} of \\d{1,2} \\w+ \\d{4}\\)$`));
      assert.equal(next.at("data", "next", "subject"), subject);
      const sheet = await shop.ask("GET", `/purchase-orders/${id}/document`);
      assert.match(
        String(sheet.at("data", "document", "replaces")),
        new RegExp(`^Version ${version + 1} replaces version ${version} of `),
      );
      const { length } = sheet.at("data", "document", "facts") as readonly unknown[];
      assert.ok(length > 0 && String(sheet.at("data", "document", "facts", 0, "label")) === "Order date");
    });
  });
});

test("another shop's order is not there", async () => {
  await withServer(async (server) => {
    await withMailShop(server, async (shop) => {
      const id = await shop.makeOrder();
      await shop.program.ask("PUT", "/admin/v1/shops/other", shop.token, { name: "Other" });
      const refused = await shop.program.ask(
        "POST",
        `/admin/v1/shops/other/purchase-orders/${id}/send`,
        shop.token,
        {},
      );
      assert.equal(refused.status, 404, refused.text);
      assert.equal(
        (await shop.program.ask("POST", `/admin/v1/shops/none/purchase-orders/${id}/send`, shop.token, {})).status,
        404,
      );
      assert.equal(server.connections, 0);
    });
  });
});
