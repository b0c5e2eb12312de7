/**
 * Sending an order as a whole (C63, C64): the move to Sent with the mail, the preview of a draft as it will be sent, the supplier's link in the message, and
 * the document among the order's.
 */
// Only on sqlite: its subject is what is sent to the mail server; mail/kills.slow.test.ts and mail/nodes.slow.test.ts have both engines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { supplierLinksOfOrderMax } from "../../src/operations/purchase-orders/supplier-link.ts";
import { attachedTo, type MailShop, sha256Of, withMailShop } from "../support/peers/mail-shop.ts";
import { parseMail, type ReceivedMail, type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";

async function withServer(use: (server: SmtpServerForTests, shop: MailShop) => Promise<void>): Promise<void> {
  const server = await startSmtpServer();
  try {
    await withMailShop(server, (shop) => use(server, shop));
  } finally {
    await server.close();
  }
}

const last = (mails: readonly ReceivedMail[]): ReceivedMail => {
  const mail = mails.at(-1);
  assert.ok(mail !== undefined);
  return mail;
};

const textOf = (mail: ReceivedMail): string => parseMail(mail).parts[0]?.bytes.toString() ?? "";

const linkIn = (mail: ReceivedMail): string => {
  const [url, ...others] = textOf(mail).match(/https?:\/\/\S+\/s\/\S+/g) ?? [];
  assert.ok(url !== undefined && others.length === 0, textOf(mail));
  return url;
};

const order = async ({ program, apiKey }: MailShop, id: string) =>
  await program.ask("GET", `/api/v1/purchase-orders/${id}`, apiKey);

/** The document's bytes with their ETag. */
async function preview({ program, token }: MailShop, id: string, query: string) {
  const answer = await fetch(`${program.url}/admin/v1/shops/shop/purchase-orders/${id}/document.pdf${query}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 200);
  return { bytes: Buffer.from(await answer.arrayBuffer()), etag: answer.headers.get("etag") };
}

test("a draft is moved to Sent with its mail, which attaches the bytes that were previewed before", async () => {
  await withServer(async (server, shop) => {
    const id = await shop.makeOrder();
    const draft = await preview(shop, id, "");
    const shown = await preview(shop, id, "?status=Sent");
    assert.notEqual(sha256Of(shown.bytes), sha256Of(draft.bytes));
    assert.equal(shown.etag, `"${sha256Of(shown.bytes)}"`);
    const refused = await shop.send(id, { moveToSent: true, documentSha256: sha256Of(draft.bytes) });
    assert.equal(refused.status, 412, refused.text);
    assert.equal((await order(shop, id)).at("data", "purchaseOrder", "status"), "Draft");
    const asked = { moveToSent: true, attachCsv: true, documentSha256: sha256Of(shown.bytes) };
    const key = { "Idempotency-Key": "send" };
    const sent = await shop.send(id, asked, key);
    assert.equal(sent.status, 200, sent.text);
    assert.deepEqual(sent.at("data", "transition"), { from: "Draft", to: "Sent" });
    assert.deepEqual(sent.at("data", "sideEffects", "email"), { status: "sent" });
    assert.equal((await shop.send(id, asked, key)).text, sent.text);
    assert.equal(server.taken.length, 1);
    const [pdf] = [...attachedTo(last(server.taken)).values()];
    assert.equal(Buffer.compare(pdf ?? Buffer.from(""), shown.bytes), 0);
    const after = await order(shop, id);
    assert.equal(after.at("data", "purchaseOrder", "status"), "Sent");
    assert.equal(after.at("data", "purchaseOrder", "version"), sent.at("data", "mail", "orderVersion"));
    assert.equal(Buffer.compare((await preview(shop, id, "")).bytes, shown.bytes), 0);
    assert.equal(Buffer.compare((await preview(shop, id, "?status=Sent")).bytes, shown.bytes), 0);
    // Sent already: it is mailed and stays.
    const again = await shop.send(id, { moveToSent: true });
    assert.equal(again.at("data", "transition"), undefined, again.text);
    assert.equal(
      (await order(shop, id)).at("data", "purchaseOrder", "version"),
      after.at("data", "purchaseOrder", "version"),
    );
    const events = await shop.ask("GET", "/events?types=purchase_order.sent");
    assert.equal((events.at("data", "events") as readonly unknown[]).length, 1);
  });
});

test("a change of an order that was mailed warns that its supplier has an older version (C16)", async () => {
  await withServer(async (_server, shop) => {
    const { program, apiKey } = shop;
    const change = async (id: string, noteToSupplier: string): Promise<readonly string[]> => {
      const path = `/api/v1/purchase-orders/${id}`;
      const answer = await program.ask("PATCH", path, apiKey, { noteToSupplier });
      assert.equal(answer.status, 200, answer.text);
      const warnings = (answer.at("data", "warnings") ?? []) as readonly { readonly reason: string }[];
      return warnings.map(({ reason }) => reason).filter((reason) => reason === "supplier-has-older-version");
    };
    const id = await shop.makeOrder();
    assert.deepEqual(await change(id, "never mailed"), []);
    assert.equal((await shop.send(id, { moveToSent: true })).status, 200);
    assert.deepEqual(await change(id, "after the mail"), ["supplier-has-older-version"]);
    assert.deepEqual(await change(id, "and again"), ["supplier-has-older-version"]);
    assert.equal((await shop.send(id)).status, 200);
    assert.deepEqual(await change(id, "after the second mail"), ["supplier-has-older-version"]);
  });
});

test("what stands before the move stands before the mail: no location, a variant that is not active", async () => {
  await withServer(async (server, shop) => {
    const placeless = await shop.makeOrder({ locationId: null });
    const refused = await shop.send(placeless, { moveToSent: true });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /locationId/);
    const variant = { type: "variant", variantId: "gone", productId: "p", productName: "Gone" };
    assert.equal((await shop.ask("POST", "/import", JSON.stringify(variant))).status, 200);
    const standing = await shop.ask("PATCH", "/sandbox/variants/gone", { status: "inactive" });
    assert.ok(standing.status < 300, standing.text);
    const id = await shop.makeOrder({ lineItems: [{ variantId: "gone", quantityOrdered: 1, unitCost: 1 }] });
    const guarded = await shop.send(id, { moveToSent: true });
    assert.equal(guarded.at("error", "code"), "INVENTORY_GUARD_ISSUES", guarded.text);
    assert.equal((await shop.mails(id)).length, 0);
    const itemId = String(guarded.at("error", "details", 0, "itemId"));
    const sent = await shop.send(id, { moveToSent: true, resolutions: [{ itemId, action: "skip" }] });
    assert.equal(sent.at("data", "mail", "state"), "sent", sent.text);
    assert.equal(server.taken.length, 1);
  });
});

test("a mail has a link by which its supplier answers, and nothing that is stored, logged or answered has its secret", async () => {
  await withServer(async (server, shop) => {
    const id = await shop.makeOrder();
    const sent = await shop.send(id, { moveToSent: true, supplierLink: true, message: "Dear Jo,\n\n{link}\n\nBye" });
    assert.equal(sent.status, 200, sent.text);
    const url = linkIn(last(server.taken));
    assert.match(textOf(last(server.taken)), /^Dear Jo,\r?\n\r?\nhttp\S+\r?\n\r?\nBye/);
    assert.ok(url.startsWith(`${shop.program.url}/s/opl_shop_`), url);
    const page = await fetch(url);
    assert.equal(page.status, 200);
    const linkId = sent.at("data", "mail", "supplierLinkId");
    const listed = await shop.ask("GET", `/purchase-orders/${id}/supplier-links`);
    assert.deepEqual(
      (listed.at("data", "supplierLinks") as readonly { linkId: string; status: string }[]).map((link) => [
        link.linkId,
        link.status,
      ]),
      [[linkId, "open"]],
    );
    const answer = { reference: "SO-1" };
    const proposed = await fetch(`${url}/proposal`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(answer),
    });
    assert.equal(proposed.status, 201);
    const proposals = await shop.ask("GET", `/purchase-orders/${id}/proposals`);
    assert.equal(proposals.at("data", "proposals", 0, "linkId"), linkId);
    const token = new URL(url).pathname.slice("/s/".length);
    const told = [
      sent.text,
      proposals.text,
      listed.text,
      JSON.stringify(await shop.mails(id)),
      (await shop.program.ask("GET", `/api/v1/purchase-orders/${id}/log`, shop.apiKey)).text,
      (await shop.ask("GET", "/audit-log?limit=50")).text,
      (await shop.ask("GET", "/export")).text,
      shop.program.stderr,
    ];
    for (const text of told) assert.ok(!text.includes(token) && !text.includes(token.slice(-34)), text);
    const revoked = await shop.ask("DELETE", `/purchase-orders/${id}/supplier-links/${String(linkId)}`);
    assert.equal(revoked.status, 200, revoked.text);
    assert.equal((await fetch(url)).status, 404);
    // One that nobody has placed stands at the end, in the language of the shop's documents.
    await shop.ask("PUT", "/document-settings", { language: "de" });
    await shop.send(id, { supplierLink: true, message: "Nur kurz." });
    assert.match(textOf(last(server.taken)), /^Nur kurz\.\r?\n\r?\nDas geht hier, ohne Anmeldung:\r?\nhttp/);
    await shop.send(id, { supplierLink: true });
    const next = (await shop.ask("GET", `/purchase-orders/${id}/mails`)).at("data", "next", "messageWithLink");
    const plain = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd();
    assert.equal(plain(textOf(last(server.taken))), plain(String(next)).replace("{link}", linkIn(last(server.taken))));
    assert.match(plain(textOf(last(server.taken))), /^Guten Tag/);
    // Without a link the words stay as they are.
    await shop.send(id, { message: "{link}" });
    assert.equal(plain(textOf(last(server.taken))), "{link}");
  });
});

test("every attempt at a mail has a link that works, and revoking the link ends all of them", async () => {
  await withServer(async (server, shop) => {
    const id = await shop.makeOrder();
    server.answer = (step) => (step === "message" ? "554 5.6.0 no" : null);
    const failed = await shop.send(id, { moveToSent: true, supplierLink: true });
    assert.equal(failed.at("data", "mail", "state"), "failed", failed.text);
    server.answer = () => null;
    const expiry = async (): Promise<number> => {
      const links = await shop.ask("GET", `/purchase-orders/${id}/supplier-links`);
      return Date.parse(String(links.at("data", "supplierLinks", 0, "expiresAt")));
    };
    const expiresAtMs = await expiry();
    const mailId = String(failed.at("data", "mail", "mailId"));
    const again = await shop.ask("POST", `/purchase-orders/${id}/mails/${mailId}/retry`, {});
    assert.equal(again.at("data", "mail", "state"), "sent", again.text);
    assert.ok((await expiry()) > expiresAtMs, "its 14 days begin with the retry");
    const urls = server.received.map(linkIn);
    assert.equal(new Set(urls).size, 2);
    assert.deepEqual(await Promise.all(urls.map(async (url) => (await fetch(url)).status)), [200, 200]);
    const linkId = String(again.at("data", "mail", "supplierLinkId"));
    const listed = await shop.ask("GET", `/purchase-orders/${id}/supplier-links`);
    assert.equal(listed.at("data", "totalCount"), 1, listed.text);
    await shop.ask("DELETE", `/purchase-orders/${id}/supplier-links/${linkId}`);
    assert.deepEqual(await Promise.all(urls.map(async (url) => (await fetch(url)).status)), [404, 404]);
  });
});

test("a mail's link counts among the order's links: beyond supplierLinksOfOrderMax nothing is sent", async () => {
  await withServer(async (server, shop) => {
    const id = await shop.makeOrder();
    for (let count = 0; count < supplierLinksOfOrderMax; count += 1)
      assert.equal((await shop.ask("POST", `/purchase-orders/${id}/supplier-links`, {})).status, 201);
    const refused = await shop.send(id, { moveToSent: true, supplierLink: true });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /open links/);
    assert.equal((await order(shop, id)).at("data", "purchaseOrder", "status"), "Draft");
    assert.equal(server.connections, 0);
    assert.equal((await shop.send(id, { moveToSent: true })).status, 200);
  });
});

test("a document that was sent is among the order's documents, once for the same bytes; one that was only looked at is not", async () => {
  await withServer(async (server, shop) => {
    const id = await shop.makeOrder();
    const documents = async () =>
      (await shop.program.ask("GET", `/api/v1/purchase-orders/${id}/documents`, shop.apiKey)).at(
        "data",
        "documents",
      ) as readonly Readonly<Record<string, unknown>>[];
    await preview(shop, id, "?status=Sent");
    assert.deepEqual(await documents(), []);
    const sent = await shop.send(id, { moveToSent: true, attachCsv: true });
    const made = sent.at("data", "mail", "documents") as readonly Readonly<Record<string, unknown>>[];
    const listed = await documents();
    assert.deepEqual(
      listed.map(({ fileName, contentType, fileSizeBytes, documentType, version, uploadedBy }) => ({
        fileName,
        contentType,
        fileSizeBytes,
        documentType,
        version,
        uploadedBy,
      })),
      made.map(({ fileName, contentType, sizeBytes }) => ({
        fileName,
        contentType,
        fileSizeBytes: sizeBytes,
        documentType: "purchase-order",
        version: sent.at("data", "mail", "orderVersion"),
        uploadedBy: "operator",
      })),
    );
    assert.deepEqual(
      listed.map(({ documentId }) => documentId),
      made.map(({ sha256 }) => `doc_${String(sha256).slice(0, 32)}`),
    );
    assert.deepEqual((await order(shop, id)).at("data", "purchaseOrder", "documents"), listed);
    await shop.send(id, { attachCsv: true });
    assert.deepEqual(await documents(), listed);
    // An export carries them, and an import of it changes nothing.
    const exported = await shop.ask("GET", "/export");
    const record = exported.text.split("\n").find((line) => line.includes(`"purchaseOrderId":"${id}"`)) ?? "";
    const imported = await shop.ask("POST", "/import", record);
    assert.equal(imported.status, 200, imported.text);
    assert.deepEqual(await documents(), listed);
    const changed = await shop.program.ask("PATCH", `/api/v1/purchase-orders/${id}`, shop.apiKey, {
      noteToSupplier: "Please hurry",
    });
    assert.equal(changed.status, 200, changed.text);
    await shop.send(id);
    assert.deepEqual(
      (await documents()).map(({ version }) => version),
      [...listed.map(({ version }) => version), changed.at("data", "purchaseOrder", "version")],
    );
    assert.equal(server.taken.length, 3);
  });
});

test("no 304 hides a document that was mailed at the version that a client knows", async () => {
  await withServer(async (_server, shop) => {
    const id = await shop.makeOrder();
    const read = async (below: string, etag?: string) => {
      const headers = {
        Authorization: `Bearer ${shop.apiKey}`,
        ...(etag === undefined ? {} : { "If-None-Match": etag }),
      };
      const answer = await fetch(`${shop.program.url}/api/v1/purchase-orders/${id}${below}`, { headers });
      const text = await answer.text();
      const documents = /"documents":\[(.*?)\]/.exec(text)?.[1]?.split('"documentId"').length ?? 0;
      return { status: answer.status, etag: answer.headers.get("etag") ?? "", documents: Math.max(0, documents - 1) };
    };
    const before = await read("");
    assert.deepEqual(await read("", before.etag), { status: 304, etag: before.etag, documents: 0 });
    // The draft is mailed as it is: it keeps its version.
    assert.equal((await shop.send(id)).status, 200);
    assert.deepEqual(await read("", before.etag), { status: 200, etag: before.etag, documents: 1 });
    assert.equal((await shop.send(id, { attachCsv: true })).status, 200);
    const after = await read("", before.etag);
    assert.deepEqual(after, { status: 200, etag: before.etag, documents: 2 });
    // Read again, from what is remembered, and below the order.
    assert.deepEqual(await read("", before.etag), after);
    assert.equal((await read("/documents", before.etag)).documents, 2);
    assert.equal((await read("/line-items", before.etag)).status, 304);
    const moved = await shop.program.ask("PATCH", `/api/v1/purchase-orders/${id}`, shop.apiKey, { note: "Later" });
    const etag = `"${String(moved.at("data", "purchaseOrder", "version"))}"`;
    assert.deepEqual(await read("", etag), { status: 304, etag, documents: 0 });
    assert.deepEqual(await read("", before.etag), { status: 200, etag, documents: 2 });
  });
});

test("an order that is edited while its document is made is sent as it then is, or not at all", async () => {
  await withServer(async (_server, shop) => {
    let edited = 0;
    for (let count = 0; count < 4; count += 1) {
      const id = await shop.makeOrder();
      const sending = shop.send(id, { moveToSent: true });
      for (let edits = 0; edits < 8; edits += 1)
        await shop.program.ask("PATCH", `/api/v1/purchase-orders/${id}`, shop.apiKey, { note: `Edit ${edits}` });
      const sent = await sending;
      const [mail] = await shop.mails(id);
      if (sent.status !== 200) {
        assert.ok(["ORDER_EDITED", undefined].includes(sent.at("error", "reason") as undefined), sent.text);
        assert.equal(mail, undefined);
        continue;
      }
      const events = await shop.ask("GET", "/events?types=purchase_order.sent&limit=100");
      const moved = (events.at("data", "events") as readonly { data: { purchaseOrderId: string; version: number } }[])
        .map(({ data }) => data)
        .find(({ purchaseOrderId }) => purchaseOrderId === id);
      assert.equal(mail?.["orderVersion"], moved?.version);
      // The draft with its line has version 2.
      if ((moved?.version ?? 0) > 3) edited += 1;
    }
    assert.ok(edited > 0, "no edit came between");
  });
});
