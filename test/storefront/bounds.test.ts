/**
 * What a storefront and a mail server can make the process wait for or read, each bound with the value that the program has
 * (docs/limits.md).
 */
import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import {
  openMailServer,
  smtpAnswerBytesMax,
  smtpConnectionsMax,
  smtpConnectMsMax,
  smtpIdleMs,
  smtpSilenceMsMax,
} from "../../src/mail/smtp.ts";
import { storefrontAnswerBytesMax, storefrontRequestMsMax } from "../../src/storefront/http.ts";
import { sendToMedusa } from "../../src/storefront/medusa/transport.ts";
import { askForGrant, fixedToken, grantAnswerBytesMax, grantMsMax } from "../../src/storefront/shopify/token.ts";
import { sendToShopify } from "../../src/storefront/shopify/transport.ts";
import { shortened } from "../support/programs/shortened.ts";
import { startSmtpServer } from "../support/peers/smtp.ts";
import { until } from "../support/until.ts";

const silent = { info: () => {}, warn: () => {}, error: assert.fail };
const clock = { now: () => 1_000 };

/** What is waited for must end long before this: a bound that is gone is told, and not waited for. */
const endsWithinMs = 45_000;

async function ends<T>(t: TestContext, what: string, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  t.after(() => late.abort());
  const never = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} never ended`)), endsWithinMs);
    late.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  return await Promise.race([promise, never]);
}

/** A platform that answers every request in this way. */
async function platform(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : assert.fail();
}

const silentWays: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "never answers": () => {},
  "begins an answer and stops": (response) => void response.writeHead(200).write("{"),
};

/** An answer that is longer than `bytesMax` and never ends. */
const endless =
  (bytesMax: number) =>
  (response: ServerResponse): void => {
    response.on("error", () => {});
    response.writeHead(200).write(Buffer.alloc(bytesMax + 1, " "));
  };

const askers: Readonly<Record<string, (origin: string) => Promise<unknown>>> = {
  Shopify: (origin) =>
    sendToShopify({ origin, apiVersion: "2026-10", tokens: fixedToken("t") }, "{}", "t", {
      writes: false,
      signal: undefined,
    }),
  Medusa: (origin) =>
    sendToMedusa(
      { origin, secretKey: "sk" },
      { method: "GET", path: "/admin/x" },
      { writes: false, signal: undefined },
    ),
};
const grant = (origin: string): Promise<unknown> =>
  askForGrant(origin, { clientId: "id", clientSecret: "secret" }, clock);

for (const [name, ask] of Object.entries(askers)) {
  for (const [way, answer] of Object.entries(silentWays))
    test(`a request of ${name} that ${way} is given up after storefrontRequestMsMax`, async (t) => {
      const origin = await platform(t, answer);
      const asked = shortened(t, [storefrontRequestMsMax]);
      await assert.rejects(ends(t, "the request", ask(origin)), { kind: "timeout" });
      assert.deepEqual(asked, [storefrontRequestMsMax]);
    });

  test(`of an answer of ${name} at most storefrontAnswerBytesMax bytes are read`, async (t) => {
    const origin = await platform(t, endless(storefrontAnswerBytesMax));
    await assert.rejects(ends(t, "the answer", ask(origin)), /is larger than 8388608 bytes/);
  });
}

for (const [way, answer] of Object.entries(silentWays))
  test(`an exchange for a token that ${way} is given up after grantMsMax`, async (t) => {
    const origin = await platform(t, answer);
    const asked = shortened(t, [grantMsMax]);
    await assert.rejects(ends(t, "the exchange", grant(origin)), { kind: "timeout" });
    assert.deepEqual(asked, [grantMsMax]);
  });

test("of the answer to an exchange for a token at most grantAnswerBytesMax bytes are read", async (t) => {
  const origin = await platform(t, endless(grantAnswerBytesMax));
  await assert.rejects(ends(t, "the exchange", grant(origin)), /is too large/);
});

// Mail.

const supplier = "supplier@shop.test";

const mail = (number: number) => ({
  messageId: `<${number}@shop.test>`,
  from: { name: "Shop", address: "shop@shop.test" },
  replyTo: null,
  isByPerson: false,
  to: [supplier],
  cc: [],
  recipients: [supplier],
  subject: "Order",
  text: "An order.",
  attachments: [],
});

/** A mail server in the tests' process, and the service's way to it. */
async function withMailServer(t: TestContext) {
  const smtp = await startSmtpServer();
  const server = openMailServer({ host: "127.0.0.1", port: smtp.port, tls: "none", user: null, password: "" }, silent);
  t.after(async () => {
    await server.close();
    await smtp.close();
  });
  const send = async (number = 1) =>
    (await ends(t, "the mail", server.send(mail(number), new AbortController().signal))).get(supplier);
  return { smtp, send, server };
}

test("a connection to the mail server that is never made is given up after smtpConnectMsMax", async (t) => {
  const second = openMailServer({ host: "127.0.0.1", port: 1, tls: "none", user: null, password: "" }, silent);
  t.after(() => second.close());
  t.mock.method(Socket.prototype, "connect", function (this: Socket) {
    return this;
  });
  const asked = shortened(t, [smtpConnectMsMax]);
  const sent = await ends(t, "the mail", second.send(mail(2), new AbortController().signal));
  assert.equal(sent.get(supplier)?.detail, "the mail server did not answer in time");
  assert.ok(asked.includes(smtpConnectMsMax));
});

test("a mail server whose name is never found is given up after smtpConnectMsMax", async (t) => {
  const server = openMailServer({ host: "mail.shop.test", port: 25, tls: "none", user: null, password: "" }, silent);
  t.after(() => server.close());
  for (const method of ["resolve4", "resolve6"] as const) t.mock.method(dns.Resolver.prototype, method, () => {});
  t.mock.method(dns, "lookup", () => {});
  const asked = shortened(t, [smtpConnectMsMax]);
  const sent = await ends(t, "the mail", server.send(mail(1), new AbortController().signal));
  assert.equal(sent.get(supplier)?.outcome, "later");
  assert.ok(asked.includes(smtpConnectMsMax));
});

test("a mail server that does not greet is given up after smtpConnectMsMax", async (t) => {
  const { smtp, send } = await withMailServer(t);
  smtp.answer = (step) => (step === "greeting" ? "hang" : null);
  const asked = shortened(t, [smtpConnectMsMax]);
  assert.deepEqual(await send(), { outcome: "later", detail: "the mail server did not answer in time" });
  assert.ok(asked.includes(smtpConnectMsMax));
});

for (const step of ["EHLO", "message"] as const)
  test(`a mail server that falls silent at ${step} is given up after smtpSilenceMsMax`, async (t) => {
    const { smtp, send } = await withMailServer(t);
    smtp.answer = (asked) => (asked === step ? "hang" : null);
    const asked = shortened(t, [smtpSilenceMsMax]);
    assert.equal((await send())?.outcome, "later");
    assert.ok(asked.includes(smtpSilenceMsMax));
  });

test("of an answer of the mail server at most smtpAnswerBytesMax bytes are read", async (t) => {
  const { smtp, send } = await withMailServer(t);
  smtp.answer = (step) => (step === "MAIL" ? `250 ${"x".repeat(3 * smtpAnswerBytesMax)}` : null);
  assert.equal((await send())?.outcome, "later");
  assert.equal(smtp.received.length, 0);
  smtp.answer = (step) => (step === "MAIL" ? `250 ${"x".repeat(smtpAnswerBytesMax / 2)}` : null);
  assert.equal((await send())?.outcome, "sent");
});

test("a connection to the mail server is closed after smtpIdleMs without a mail", async (t) => {
  const { smtp, send } = await withMailServer(t);
  const asked = shortened(t, [smtpIdleMs], { shortMs: 20, ofSockets: false });
  assert.equal((await send(1))?.outcome, "sent");
  assert.ok(asked.includes(smtpIdleMs));
  await until("a connection is closed and another one opened", async () => {
    await send(4);
    return smtp.connections > 1;
  });
});

test("there are at most smtpConnectionsMax connections to the mail server", async (t) => {
  const { smtp, server } = await withMailServer(t);
  const stop = new AbortController();
  smtp.answer = (step) => (step === "message" ? "hang" : null);
  const sending = Array.from({ length: 2 * smtpConnectionsMax }, (_, number) => server.send(mail(number), stop.signal));
  await until("connections", () => smtp.received.length >= smtpConnectionsMax);
  stop.abort();
  assert.equal(smtp.connections, smtpConnectionsMax);
  await Promise.all(sending);
});
