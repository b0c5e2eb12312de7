/**
 * The process is killed (-9) while requests are made and mailed (C80): each request that is kept is in one mail to each
 * approver, which arrives under one Message-ID or waits; no mail tells of a request that is not kept.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailSenderLimits } from "../../src/mail/sender.ts";
import type { ApprovalMailContent } from "../../src/shop/access/approval-mails.ts";
import { mailingEnv } from "../support/peers/mail-shop.ts";
import { parseMail, startSmtpServer } from "../support/peers/smtp.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { openStore } from "../support/store.ts";
import { pause, until } from "../support/until.ts";
import { randomOf } from "../world/random.ts";

const adminToken = "an-admin-token-for-approvals";
const killCount = 8;
const writerCount = 3;
const approverCount = 2;
/** A life of the program after the first answer, at most. */
const lifeMsMax = 60;

const messageIdOf = (mailId: string): string => `<${mailId}@service.example>`;

/** A shop with approvers who have an address, and a key that may only propose. */
async function makeShop(program: RunningProgram, shopId: string): Promise<string> {
  const ask = async (method: string, below: string, body: object) => {
    const answer = await program.ask(method, `/admin/v1/shops/${shopId}${below}`, adminToken, body);
    assert.ok(answer.status < 300, `${method} ${below}: ${answer.text}`);
    return answer;
  };
  await ask("PUT", "", { name: shopId, currencyCode: "EUR" });
  for (let count = 0; count < approverCount; count += 1) {
    const facts = { name: `Anna ${count}`, role: "owner", email: `anna${count}@${shopId}.example` };
    const url = String((await ask("POST", "/invitations", facts)).at("data", "url"));
    const headers = { "Sec-Fetch-Site": "same-origin" };
    const signedIn = await program.ask(
      "POST",
      "/console/session",
      "",
      { invitation: new URL(url).hash.slice(1) },
      headers,
    );
    assert.equal(signedIn.status, 201, signedIn.text);
  }
  return String((await ask("POST", "/keys", { name: "Agent", scope: "propose" })).at("data", "apiKey"));
}

/** What is kept of a shop: its requests, and its mails to people. */
async function keptOf(directory: string, shopIds: readonly string[]) {
  const store = await openStore(directory);
  try {
    const kept = shopIds.map(async (shopId) =>
      store.engine.read(shopId, async (tx) => ({
        shopId,
        requests: await tx.all<{ approval_request_id: string }>(
          "select approval_request_id from approval_request where shop_id = ?",
          [shopId],
        ),
        mails: await tx.all<{ mail_id: string; person_id: string; state: string; content: string }>(
          "select mail_id, person_id, state, content from mail where shop_id = ?",
          [shopId],
        ),
      })),
    );
    return await Promise.all(kept);
  } finally {
    await store.close();
  }
}

test("killed while requests are made, each is in one mail to each approver, which is sent or waits", async (context) => {
  const random = randomOf("approval mails");
  const server = await startSmtpServer();
  try {
    await withDirectory(async (directory) => {
      const env = {
        ...mailingEnv(directory, server),
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_PUBLIC_URL: "https://po.example",
      };
      let program = await serveProgram(env);
      const shopIds: string[] = [];
      const answered = new Set<string>();
      for (let kill = 0; kill < killCount; kill += 1) {
        // Of a new shop: whoever has got a mail gets none for a while.
        const shopId = `life${kill}`;
        shopIds.push(shopId);
        const key = await makeShop(program, shopId);
        const running = program;
        const over = new AbortController();
        const before = answered.size;
        const write = async (writer: number): Promise<void> => {
          for (let count = 0; !over.signal.aborted; count += 1) {
            const headers = { "Idempotency-Key": `${writer}-${count}` };
            const asked = await running.ask("POST", "/api/v1/purchase-orders", key, {}, headers).catch(() => null);
            if (asked?.status !== 202) return;
            answered.add(String(asked.at("data", "approvalRequest", "approvalRequestId")));
          }
        };
        const writers = Array.from({ length: writerCount }, (_, writer) => write(writer));
        await until("a request is answered", () => answered.size > before);
        await pause(random.next() * lifeMsMax);
        await running.end("SIGKILL");
        over.abort();
        await Promise.all(writers);
        program = await serveProgram(env);
      }
      const takenIds = () => new Set(server.taken.map((mail) => parseMail(mail).headers.get("message-id")?.[0] ?? ""));
      await until(
        () => `the first mail of each life has come to each approver: ${takenIds().size}`,
        () => takenIds().size >= killCount * approverCount,
        mailSenderLimits.leaseMs + 60_000,
      );
      // A mail that came just before a kill may not be recorded as sent. The next program sends it again: it is stopped once that has come, and finishes what
      // it is at.
      const kept = await until("what came is recorded", async () => {
        assert.equal((await program.end("SIGTERM")).code, 0);
        const kept = await keptOf(directory, shopIds);
        const came = kept
          .flatMap(({ mails }) => mails)
          .filter(({ mail_id: mailId }) => takenIds().has(messageIdOf(mailId)));
        if (came.every(({ state }) => state === "sent")) return kept;
        const takenBefore = server.taken.length;
        program = await serveProgram(env);
        await until("what is not recorded comes again", () => server.taken.length > takenBefore);
        return null;
      });

      const taken = takenIds();
      const toldIds = new Set<string>();
      for (const { shopId, requests, mails } of kept) {
        const told = mails.flatMap(({ person_id: personId, content }) => {
          const { approvals }: ApprovalMailContent = JSON.parse(content);
          return approvals.asks.map(({ approvalRequestId }) => `${approvalRequestId} ${personId}`);
        });
        assert.equal(new Set(told).size, told.length, `${shopId}: no request is mailed to a person twice`);
        const people = new Set(mails.map(({ person_id: personId }) => personId));
        assert.equal(people.size, approverCount, shopId);
        const due = requests.flatMap(({ approval_request_id: id }) => [...people].map((each) => `${id} ${each}`));
        assert.deepEqual(told.toSorted(), due.toSorted(), `${shopId}: every request is mailed`);
        for (const { mail_id: mailId, state } of mails)
          assert.equal(taken.has(messageIdOf(mailId)), state === "sent", `${shopId}: ${mailId} is ${state}`);
        for (const { mail_id: mailId } of mails) toldIds.add(messageIdOf(mailId));
        for (const { approval_request_id: id } of requests) answered.delete(id);
      }
      assert.deepEqual([...answered], [], "what was answered is kept");
      for (const messageId of taken) assert.ok(toldIds.has(messageId), `${messageId} is a mail that is kept`);
      const count = kept.reduce((sum, { requests }) => sum + requests.length, 0);
      context.diagnostic(
        `${killCount} kills, ${count} requests, ${server.taken.length} mails came, ${taken.size} of them once`,
      );
    });
  } finally {
    await server.close();
  }
});
