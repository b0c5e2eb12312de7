/**
 * The program is killed (-9) about a request for a link to sign in by (C49, J1). A link that is stored is mailed after
 * the next start and works. One that was answered and not stored yet is not: who asks again gets one.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailSenderLimits } from "../../src/mail/sender.ts";
import { mailingEnv } from "../support/peers/mail-shop.ts";
import { type ReceivedMail, type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { pause } from "../support/until.ts";

const adminToken = "an-admin-token-for-links";
const killCount = 5;
/** Time between an answer and the kill: from none to beyond the commit. */
const killAfterMs = (kill: number): number => kill * 25;
const leaseEndsMs = mailSenderLimits.leaseMs + 60_000;
const fromPage = { "Sec-Fetch-Site": "same-origin" };

const ask = (program: RunningProgram, name: string) =>
  program.ask("POST", "/console/sign-in-link", "", { email: `${name}@shop.example` }, fromPage);

const signIn = (program: RunningProgram, credential: object) =>
  program.ask("POST", "/console/session", "", credential, fromPage);

async function invite(program: RunningProgram, name: string): Promise<void> {
  const facts = { name, role: "purchaser", email: `${name}@shop.example` };
  const invited = await program.ask("POST", "/admin/v1/shops/shop/invitations", adminToken, facts);
  const invitation = new URL(String(invited.at("data", "url"))).hash.slice(1);
  assert.equal((await signIn(program, { invitation })).status, 201);
}

const mailsTo = (server: SmtpServerForTests, name: string): readonly ReceivedMail[] =>
  server.taken.filter(({ to }) => to.some((address) => address.includes(`${name}@shop.example`)));

function secretIn(mail: ReceivedMail | undefined): string {
  assert.ok(mail !== undefined);
  return /#(opm_\w+)/.exec(mail.raw)?.[1] ?? assert.fail(mail.raw);
}

/** Plays with a program that can be killed and started again, and the server of its mails. */
async function withMailing(
  play: (server: SmtpServerForTests, start: () => Promise<RunningProgram>) => Promise<void>,
): Promise<void> {
  const server = await startSmtpServer();
  try {
    await withDirectory(async (directory) => {
      const env = {
        ...mailingEnv(directory, server),
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_PUBLIC_URL: "http://localhost:8080",
      };
      await play(server, () => serveProgram(env));
    });
  } finally {
    await server.close();
  }
}

test("a link that was being mailed when the process was killed is mailed after the next start, and works", async () => {
  await withMailing(async (server, start) => {
    let program = await start();
    const made = await program.ask("PUT", "/admin/v1/shops/shop", adminToken, { name: "Shop", currencyCode: "EUR" });
    assert.equal(made.status, 201, made.text);
    await invite(program, "ana");
    server.answer = (step) => (step === "message" ? "hang" : null);
    assert.equal((await ask(program, "ana")).status, 202);
    await server.until(() => server.received.length > 0);
    await program.end("SIGKILL");
    server.answer = () => null;
    program = await start();
    await server.until(() => mailsTo(server, "ana").length > 0, leaseEndsMs);
    const link = secretIn(mailsTo(server, "ana")[0]);
    const first = server.received[0];
    assert.ok(first !== undefined && !first.raw.includes(link), "each attempt has a secret of its own");
    assert.equal((await signIn(program, { link })).status, 201);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});

test("whenever the process is killed after the answer, who asks again gets a link that works", async (context) => {
  await withMailing(async (server, start) => {
    let program = await start();
    const made = await program.ask("PUT", "/admin/v1/shops/shop", adminToken, { name: "Shop", currencyCode: "EUR" });
    assert.equal(made.status, 201, made.text);
    let came = 0;
    for (let kill = 0; kill < killCount; kill += 1) {
      const name = `person${kill}`;
      await invite(program, name);
      assert.equal((await ask(program, name)).status, 202);
      await pause(killAfterMs(kill));
      await program.end("SIGKILL");
      program = await start();
      const before = mailsTo(server, name).length;
      came += before;
      assert.equal((await ask(program, name)).status, 202);
      await server.until(() => mailsTo(server, name).length > before, leaseEndsMs);
      assert.equal((await signIn(program, { link: secretIn(mailsTo(server, name).at(-1)) })).status, 201);
    }
    context.diagnostic(`${killCount} kills, after ${came} of them the first mail had come`);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
