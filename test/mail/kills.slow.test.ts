/**
 * The program is killed (-9) again and again while it mails: every mail that was asked for is sent at least once, always under one Message-ID with the
 * same bytes, and no mail is sent that was not asked for (J1, C63).
 *
 * On PostgreSQL what the last process was sending waits for the end of its lease. `OPENPO_TEST_MAIL_KILLS` is the number of kills
 * (`npm run test:kills` has more), `OPENPO_TEST_MAIL_SEED` seeds their times.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailSenderLimits } from "../../src/mail/sender.ts";
import { attachedTo, mailEnv, mailShopOn, sha256Of } from "../support/peers/mail-shop.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { parseMail, type ReceivedMail, startSmtpServer } from "../support/peers/smtp.ts";
import { pause, until } from "../support/until.ts";
import { randomOf } from "../world/random.ts";

const killCount = Number(process.env["OPENPO_TEST_MAIL_KILLS"] ?? 4);
const seed = Number(process.env["OPENPO_TEST_MAIL_SEED"] ?? 20_261_123);
const writerCount = 4;
const orderCount = 4;
/** A life of the program after its first mails, at most. */
const lifeMsMax = 200;
const drainMsMax = mailSenderLimits.leaseMs + 60_000;

const messageIdOf = (mail: ReceivedMail): string => parseMail(mail).headers.get("message-id")?.[0] ?? "";

test("every mail that was asked for is sent at least once under one Message-ID, whenever the process is killed", async (context) => {
  const random = randomOf(String(seed));
  const server = await startSmtpServer();
  // Some answers are lost after the mail was taken, and some connections before.
  server.answer = (step) => (random.next() < 0.05 && (step === "message" || step === "RCPT") ? "drop" : null);
  try {
    await withDirectory(async (directory) => {
      const env = {
        OPENPO_DATA_DIR: directory,
        OPENPO_DEMO: "0",
        PORT: "0",
        OPENPO_LOG_LEVEL: "fatal",
        ...mailEnv(server),
      };
      const service = { program: await serveProgram(env) };
      const token = service.program.adminToken;
      /** Paths of the orders that writers mail now: those of a new shop in each life, since one may send mailsPerHourMax. */
      let orders: readonly string[] = [];
      const makeShop = async (shopId: string): Promise<void> => {
        const shop = await mailShopOn(service.program, token, "Café Nord", shopId);
        const set = await shop.ask("PUT", "", {
          settings: { followOnWaitMs: 0, rateLimit: { capacity: 100_000, refillPerSecond: 10_000 } },
        });
        assert.equal(set.status, 200, set.text);
        const made: string[] = [];
        for (let count = 0; count < orderCount; count += 1)
          made.push(`/admin/v1/shops/${shopId}/purchase-orders/${await shop.makeOrder()}`);
        orders = made;
      };
      await makeShop("first");
      const asked = new Map<string, string>();
      const over = new AbortController();
      const write = async (writer: number): Promise<void> => {
        for (let count = 0; !over.signal.aborted; count += 1) {
          const order = orders[(writer + count) % orderCount] ?? "";
          const headers = { "Idempotency-Key": `${writer}-${count}` };
          for (;;) {
            const { program } = service;
            const sent = await program.ask("POST", `${order}/send`, token, {}, headers).catch(() => null);
            if (sent?.status === 200) {
              asked.set(String(sent.at("data", "mail", "mailId")), order);
              break;
            }
            if (sent?.status === 429) break;
            assert.ok(sent === null || sent.status >= 500 || sent.at("error", "retryable") === true, sent?.text);
            await pause(20);
          }
          await pause(random.next() * 30);
        }
      };
      const writers = Array.from({ length: writerCount }, (_, writer) => write(writer));
      for (let kill = 0; kill < killCount; kill += 1) {
        // Somewhere between two commits, or a commit and an attempt, or within one.
        await makeShop(`life-${kill}`);
        const before = asked.size;
        await until(
          () => `${asked.size - before} mails in a life`,
          () => asked.size >= before + writerCount,
        );
        await pause(random.next() * lifeMsMax);
        await service.program.end("SIGKILL");
        service.program = await serveProgram(env);
      }
      over.abort();
      await Promise.all(writers);
      server.answer = () => null;
      const isSent = async (program: RunningProgram): Promise<boolean> => {
        const metrics = await program.ask("GET", "/metrics", token);
        if (!/^openpo_mails_queued 0$/m.test(metrics.text)) return false;
        const taken = new Set(server.taken.map(messageIdOf));
        return [...asked.keys()].every((mailId) => taken.has(`<${mailId}@service.example>`));
      };
      await until(
        () => `all sent: ${asked.size} asked, ${server.taken.length} taken`,
        () => isSent(service.program),
        drainMsMax,
      );
      const bytesOf = new Map<string, string>();
      for (const mail of server.received) {
        const messageId = messageIdOf(mail);
        const bytes = [...attachedTo(mail)].map(([name, file]) => `${name} ${sha256Of(file)}`).join();
        assert.equal(bytesOf.get(messageId) ?? bytes, bytes, `${messageId} is always the same mail`);
        bytesOf.set(messageId, bytes);
      }
      assert.equal([...bytesOf.values()].filter((bytes) => bytes === "").length, 0);
      // Each Message-ID is of a mail that was asked for: with an answer, or by a request whose repetition found it stored.
      for (const messageId of bytesOf.keys())
        assert.ok(asked.has(messageId.slice(1, messageId.indexOf("@"))), `${messageId} was asked for`);
      const twice = server.received.length - bytesOf.size;
      context.diagnostic(`${killCount} kills, ${asked.size} mails, ${twice} of them came again`);
      assert.ok(asked.size > killCount);
      assert.equal((await service.program.end("SIGTERM")).code, 0);
    });
  } finally {
    await server.close();
  }
});
