/**
 * Mails of three nodes on one database: what a node was sending when it died or froze is sent by another one soon, under the same
 * Message-ID; what nobody was sending comes once (J1, J2, C63).
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailSenderLimits } from "../../src/mail/sender.ts";
import { adminToken, hangUp } from "../support/clients.ts";
import { mailEnv } from "../support/peers/mail-shop.ts";
import { withNodes } from "../support/programs/nodes.ts";
import { freshDatabase } from "../support/postgres/postgres.ts";
import type { RunningProgram } from "../support/process.ts";
import { parseMail, type ReceivedMail, startSmtpServer } from "../support/peers/smtp.ts";
import { quiet, until } from "../support/until.ts";

const mailsOfShop = 5;
const takeoverMsMax = 40_000;

const mailIdOf = (mail: ReceivedMail): string =>
  (parseMail(mail).headers.get("message-id")?.[0] ?? "").replace(/^<(.*)@service\.example>$/, "$1");

/** Makes a shop whose mails all go to this address. @returns the ids of the mails that were asked for. */
async function askForMails(program: RunningProgram, shopId: string): Promise<readonly string[]> {
  const below = `/admin/v1/shops/${shopId}`;
  const put = await program.ask("PUT", below, adminToken, { name: shopId, settings: { followOnWaitMs: 0 } });
  assert.equal(put.status, 201, put.text);
  const order = { type: "purchaseOrder", purchaseOrderId: "po_1", status: "Draft", lineItems: [] };
  const brought = await program.ask("POST", `${below}/import`, adminToken, JSON.stringify(order));
  assert.equal(brought.status, 200, brought.text);
  const ids: string[] = [];
  for (let count = 0; count < mailsOfShop; count += 1) {
    const sent = await program.ask("POST", `${below}/purchase-orders/po_1/send`, adminToken, {
      to: `${shopId}@supplier.example`,
    });
    assert.equal(sent.status, 200, sent.text);
    ids.push(String(sent.at("data", "mail", "mailId")));
  }
  return ids;
}

test("a node dies and another freezes while they send: a third sends all of it, under the same Message-IDs", async (context) => {
  const database = await freshDatabase();
  const server = await startSmtpServer();
  // The messages of both shops come to their end and are not answered.
  server.answer = (step) => (step === "message" ? "hang" : null);
  try {
    await withNodes(
      database.url,
      3,
      async ([dying, frozen, other]) => {
        assert.ok(dying?.program && frozen?.program && other?.program);
        const heldOf = (shopId: string): readonly ReceivedMail[] =>
          server.received.filter(({ to }) => to.includes(`${shopId}@supplier.example`));
        const asked = new Map<string, readonly string[]>();
        for (const [shopId, node] of [
          ["killed", dying],
          ["halted", frozen],
        ] as const) {
          assert.ok(node.program);
          asked.set(shopId, await askForMails(node.program, shopId));
          await until(`${shopId} is being sent`, () => heldOf(shopId).length >= mailSenderLimits.perShopMax);
        }
        frozen.program.signal("SIGSTOP");
        await dying.end("SIGKILL");
        // Nodes that look for what is due send some of it too.
        const underWay = new Map([...asked.keys()].map((shopId) => [shopId, heldOf(shopId).map(mailIdOf)]));
        server.answer = () => null;
        const takenOf = (shopId: string): readonly string[] =>
          server.taken.filter(({ to }) => to.includes(`${shopId}@supplier.example`)).map(mailIdOf);
        const statesOf = async (shopId: string): Promise<readonly unknown[]> => {
          const target = `/admin/v1/shops/${shopId}/purchase-orders/po_1/mails`;
          const listed = await other.program?.ask("GET", target, adminToken);
          const mails = listed?.at("data", "mails");
          return Array.isArray(mails) ? mails.map((mail: { readonly state: unknown }) => mail.state) : [];
        };
        const startedMs = performance.now();
        for (const [shopId, ids] of asked) {
          const isDone = async (): Promise<boolean> => (await statesOf(shopId)).every((state) => state === "sent");
          await until(`${shopId} is sent`, isDone, mailSenderLimits.leaseMs + takeoverMsMax);
          assert.deepEqual(takenOf(shopId).toSorted(), ids.toSorted(), `${shopId}: each once, none lost`);
          const again = [...ids, ...(underWay.get(shopId) ?? [])];
          assert.deepEqual(
            heldOf(shopId).map(mailIdOf).toSorted(),
            again.toSorted(),
            "only what was under way came again",
          );
        }
        context.diagnostic(`all sent ${Math.round((performance.now() - startedMs) / 1_000)} s after the kill`);
        // The frozen node goes on: what it was sending is no longer its own, and it sends nothing more of it.
        const before = server.taken.length;
        frozen.program.signal("SIGCONT");
        await quiet(5_000);
        assert.equal(server.taken.length, before);
        for (const shopId of asked.keys()) assert.ok((await statesOf(shopId)).every((state) => state === "sent"));
        assert.equal(await frozen.end("SIGTERM"), 0);
      },
      mailEnv(server),
    );
  } finally {
    hangUp();
    await server.close();
    await database.drop();
  }
});
