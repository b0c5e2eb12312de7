/** Bounds of mails: what one carries, and how many attempts run at a time, of one shop and of all (J2, C63). */
// Only on sqlite: its subject is what is sent to the mail server; mail/kills.slow.test.ts and mail/nodes.slow.test.ts have both engines.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { DueSearch } from "../../src/jobs/due-search.ts";
import { mailAttachedBytesMax } from "../../src/core/supplier/mail.ts";
import { secretRandomBytes } from "../../src/base/secret.ts";
import { createMailSender, mailSenderLimits } from "../../src/mail/sender.ts";
import type { Mailing } from "../../src/requests/operation.ts";
import { saveShop } from "../../src/shop/access/accounts.ts";
import { mailStatements } from "../../src/shop/supplier/mails.ts";
import type { Ids } from "../../src/base/time/clock.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import { update } from "../../src/store/change.ts";
import type { Engine } from "../../src/store/store.ts";
import { tables } from "../../src/shop/tables.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { adminToken } from "../support/server.ts";
import { inPlace, openStore } from "../support/store.ts";
import { pause, quiet, until } from "../support/until.ts";
import { plainShop } from "../support/shops/plain-shop.ts";

const log = { info: () => {}, warn: console.warn, error: console.error };

test("a mail carries up to mailAttachedBytesMax bytes of documents; with one more it is refused, and nothing is stored", async () => {
  let sizes: Readonly<Record<string, number>> = {};
  const mailing: Mailing = {
    perHourMax: 60,
    publicUrl: null,
    documentOf(_shopId, _orderId, kind) {
      const bytes = new Uint8Array(sizes[kind] ?? 0);
      return Promise.resolve({
        fileName: `order.${kind}`,
        contentType: "application/octet-stream",
        tag: '"t"',
        bytes,
        orderVersion: 1,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      });
    },
  };
  await using server = await startGoodsServer({ console: true, perform: () => ({ mailing }) });
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 1 }]);
  const send = () =>
    server.request("POST", `/admin/v1/shops/${server.shopId}/purchase-orders/po_1/send`, {
      key: adminToken,
      body: { to: "orders@supplier.example", attachCsv: true },
      undocumented: true,
    });
  const mailCount = async (): Promise<unknown> => {
    const target = `/admin/v1/shops/${server.shopId}/purchase-orders/po_1/mails`;
    return (await server.request("GET", target, { key: adminToken, undocumented: true })).at("data", "totalCount");
  };
  sizes = { pdf: mailAttachedBytesMax - 1_000, csv: 1_001 };
  const refused = await send();
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.textAt("error", "message"), new RegExp(`${mailAttachedBytesMax + 1} bytes`));
  assert.equal(await mailCount(), 0);
  sizes = { pdf: mailAttachedBytesMax - 1_000, csv: 1_000 };
  const taken = await send();
  assert.equal(taken.status, 200, taken.text);
  assert.equal(await mailCount(), 1);
});

/** A shop with so many mails to send. */
async function shopWithMails(engine: Engine, ids: Ids, shopId: string, count: number): Promise<void> {
  await engine.create(shopId);
  await engine.write(shopId, async (tx) => {
    await saveShop(tx, plainShop(shopId));
    for (let index = 0; index < count; index += 1) {
      const mail = {
        mailId: ids.next("mail"),
        purchaseOrderId: "po_1",
        recipients: [{ address: "a@b.example", role: "to", state: "pending", detail: null }] as const,
        content: { fromName: "Shop", replyTo: null, subject: shopId, text: "." },
        documents: [],
        orderVersion: 1,
      };
      const actor = { type: "system", id: null, name: null } as const;
      const stamp = { actor, operation: null, requestId: null, nowMs: systemClock.now(), ids };
      await tx.batch(mailStatements(shopId, mail, null, stamp));
    }
  });
}

test("perShopMax attempts of a shop run at a time, and attemptsMax of all; every mail is sent, and shops take turns", async () => {
  await inPlace(async (directory) => {
    const store = await openStore(directory);
    const ids = timeOrderedIds(systemClock);
    const shopIds = ["one", "two", "three", "four"];
    const mailsOfShop = 4;
    const running = new Map<string, number>();
    const most = { ofShop: 0, ofAll: 0 };
    const begun: string[] = [];
    const full = Promise.withResolvers<void>();
    const sender = createMailSender({
      engine: store.engine,
      clock: systemClock,
      ids,
      log,
      search: null,
      from: { name: null, address: "po@service.example" },
      random: () => 0.5,
      secretBytes: () => randomBytes(secretRandomBytes),
      shopsToResume: async function* () {
        yield* shopIds;
      },
      server: {
        async send(mail) {
          const shopId = mail.subject;
          begun.push(shopId);
          running.set(shopId, (running.get(shopId) ?? 0) + 1);
          most.ofShop = Math.max(most.ofShop, ...running.values());
          most.ofAll = Math.max(
            most.ofAll,
            [...running.values()].reduce((sum, count) => sum + count, 0),
          );
          // The first ones wait until as many are under way as may be, however long those take to begin.
          if (most.ofAll >= mailSenderLimits.attemptsMax) full.resolve();
          await full.promise;
          await pause(150);
          running.set(shopId, (running.get(shopId) ?? 0) - 1);
          return new Map(mail.recipients.map((address) => [address, { outcome: "sent", detail: null } as const]));
        },
        close: () => Promise.resolve(),
      },
    });
    try {
      for (const shopId of shopIds) {
        await shopWithMails(store.engine, ids, shopId, mailsOfShop);
      }
      await sender.start();
      await until(
        () => `${begun.length} begun`,
        () => begun.length >= shopIds.length * mailsOfShop,
      );
      await quiet(300);
      assert.deepEqual(most, { ofShop: mailSenderLimits.perShopMax, ofAll: mailSenderLimits.attemptsMax });
      for (const shopId of shopIds) assert.equal(begun.filter((each) => each === shopId).length, mailsOfShop);
      const firstOf = shopIds.map((shopId) => begun.indexOf(shopId));
      assert.ok(Math.max(...firstOf) < 2 * mailSenderLimits.attemptsMax, begun.join());
    } finally {
      await sender.close();
      await store.close();
    }
  });
});

test("a node that waits for the end of another one's claim sends as soon as that is given back", async () => {
  await inPlace(async (directory) => {
    const store = await openStore(directory);
    const ids = timeOrderedIds(systemClock);
    let sent = 0;
    const sender = createMailSender({
      engine: store.engine,
      clock: systemClock,
      ids,
      log,
      search: new DueSearch({ engine: store.engine, clock: systemClock, log, random: () => 0.5, everyMs: 50 }),
      from: { name: null, address: "po@service.example" },
      random: () => 0.5,
      secretBytes: () => randomBytes(secretRandomBytes),
      server: {
        send(mail) {
          sent += 1;
          return Promise.resolve(
            new Map(mail.recipients.map((address) => [address, { outcome: "sent", detail: null } as const])),
          );
        },
        close: () => Promise.resolve(),
      },
    });
    const claimedUntil = (dueAtMs: number, owner: string | null): Promise<void> =>
      store.engine.write("s", (tx) =>
        tx.batch([update(tables.mail, "s", {}, { due_at: dueAtMs, lease_owner: owner })]),
      );
    try {
      await shopWithMails(store.engine, ids, "s", 1);
      await claimedUntil(systemClock.now() + 20_000, "node_dead.1");
      sender.wake("s");
      await until("it has looked", () => sender.backlog().queued === 1);
      await claimedUntil(systemClock.now(), null);
      await sender.start();
      await until("it is sent", () => sender.backlog().sentTotal === 1, 10_000);
      assert.equal(sent, 1);
    } finally {
      await sender.close();
      await store.close();
    }
  });
});
