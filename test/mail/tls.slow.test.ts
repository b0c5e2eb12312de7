/**
 * E-mail over TLS (C63): from the first byte or by STARTTLS, to a server whose certificate is trusted; nothing goes to any other, and the reason is told.
 *
 * Only on sqlite: the connection to the mail server does not depend on the engine.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type MailShop, mailEnv, type ShownMail, withMailShop } from "../support/peers/mail-shop.ts";
import { smtpCertificateFile, type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";

const trusting = { NODE_EXTRA_CA_CERTS: smtpCertificateFile };

async function withServer(
  options: Parameters<typeof startSmtpServer>[0],
  use: (server: SmtpServerForTests) => Promise<void>,
): Promise<void> {
  const server = await startSmtpServer(options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

/** Sends a mail and waits for its first attempt. */
async function attempted(shop: MailShop): Promise<ShownMail> {
  const id = await shop.makeOrder();
  const asked = await shop.send(id);
  assert.equal(asked.status, 200, asked.text);
  return await shop.untilMail(id, ({ state, detail }) => state !== "queued" || detail !== null, 30_000);
}

for (const tls of ["implicit", "starttls"] as const)
  test(`a trusted server gets mails and credentials over ${tls} TLS only`, async () => {
    await withServer({ tls, user: "openpo", password: "s3cret" }, async (server) => {
      await withMailShop(
        server,
        async (shop) => {
          const mail = await attempted(shop);
          assert.equal(mail.state, "sent", JSON.stringify(mail));
          assert.deepEqual(
            server.taken.map(({ isEncrypted, user }) => [isEncrypted, user]),
            [[true, "openpo"]],
          );
        },
        trusting,
      );
    });
  });

for (const tls of ["implicit", "starttls"] as const)
  test(`a server whose certificate nobody vouches for gets nothing over ${tls} TLS, and the mail says why`, async () => {
    await withServer({ tls, user: "openpo", password: "s3cret" }, async (server) => {
      await withMailShop(server, async (shop) => {
        const mail = await attempted(shop);
        assert.equal(mail.state, "queued");
        assert.equal(mail.detail, "the mail server's certificate is not trusted");
        assert.equal(server.received.length, 0);
      });
    });
  });

// 127.1 is another way to write the address, and not the one that the certificate names.
test("a certificate of another name is not trusted, though its authority is", async () => {
  await withServer({ tls: "implicit" }, async (server) => {
    await withMailShop(
      null,
      async (shop) => {
        const mail = await attempted(shop);
        assert.equal(mail.state, "queued");
        assert.equal(mail.detail, "the mail server's certificate is not trusted");
        assert.equal(server.received.length, 0);
      },
      { ...mailEnv(server), ...trusting, OPENPO_SMTP_URL: server.url.replace("127.0.0.1", "127.1") },
    );
  });
});

test("where STARTTLS is taken out on the way nothing is sent, and the mail says why", async () => {
  await withServer({ tls: "none" }, async (server) => {
    server.answer = (step) => (step === "STARTTLS" ? "502 5.5.1 not here" : null);
    await withMailShop(
      null,
      async (shop) => {
        const mail = await attempted(shop);
        assert.equal(mail.state, "queued");
        assert.equal(mail.detail, "there is no encrypted connection to the mail server");
        assert.equal(server.received.length, 0);
      },
      { ...mailEnv({ url: `smtp://openpo:s3cret@localhost:${server.port}` }), ...trusting },
    );
  });
});
