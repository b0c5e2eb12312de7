/**
 * The sender of webhooks among receivers that misbehave (C60, C61): they hold up nobody, and no name leads it to an address that is shut.
 */
// Only on sqlite: its subject is receivers; webhooks/nodes.crash.test.ts has the sender on PostgreSQL.
import { SecretBox } from "../../src/base/secret-box.ts";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { receiveWebhooks } from "../../examples/webhook-receiver.ts";
import type { EventDraft } from "../../src/core/events/events.ts";
import { type Delivery, listDeliveries } from "../../src/shop/events/deliveries.ts";
import { announcing } from "../../src/shop/events/announcements.ts";
import { eventStatements } from "../../src/shop/events/events.ts";
import { saveShop } from "../../src/shop/access/accounts.ts";
import { endpointStatements, type WebhookEndpoint } from "../../src/shop/events/webhook-endpoints.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import { type ConnectPolicy, parseAllowed } from "../../src/webhooks/addresses.ts";
import type { Resolve } from "../../src/webhooks/names.ts";
import { createSender, type Sender, senderLimits } from "../../src/webhooks/sender.ts";
import { makeSecret } from "../../src/webhooks/signature.ts";
import type { Statement } from "../../src/store/store.ts";
import { freePort } from "../support/programs/ports.ts";
import { type Receiver, startReceiver } from "../support/peers/receiver.ts";
import { runCommand, withProgram } from "../support/process.ts";
import { makePlace, openStore } from "../support/store.ts";
import { pause, quiet, until } from "../support/until.ts";
import { plainShop } from "../support/shops/plain-shop.ts";

const ids = timeOrderedIds(systemClock);
const shopId = "shop";
const otherShopId = "other";

interface Setting {
  /** Adds an endpoint. @returns its id. */
  add(url: string, ofShopId?: string): Promise<string>;
  /** Adds events for every endpoint of the shop, all in one change. */
  tell(ofShopId?: string, count?: number): Promise<void>;
  deliveries(endpointId: string): Promise<readonly Delivery[]>;
  /** Ends the sender and starts another on the same shop, after a statement if one is given. */
  restart(before?: Statement): Promise<void>;
}

interface SettingOptions {
  readonly allow?: string;
  readonly resolve?: Resolve;
  readonly attemptMsMax?: number;
}

async function withSender(
  {
    allow = "127.0.0.0/8",
    resolve = () => Promise.reject(new Error("no names here")),
    attemptMsMax = 2_000,
  }: SettingOptions,
  use: (setting: Setting) => Promise<void>,
): Promise<void> {
  const place = await makePlace();
  const store = await openStore(place.directory);
  const policy: ConnectPolicy = { http: true, ...(parseAllowed(allow) ?? assert.fail(allow)) };
  const running: { sender: Sender | null } = { sender: null };
  const { engine, onEvents } = announcing(store.engine);
  onEvents((id) => running.sender?.wake(id));
  const start = async (): Promise<void> => {
    const sender = createSender({
      engine,
      clock: systemClock,
      ids,
      log: { info: () => {}, warn: console.warn, error: console.error },
      search: null,
      policy,
      secrets: new SecretBox(null),
      resolve,
      random: () => 0.5,
      limits: { attemptMsMax, leaseMs: Math.max(senderLimits.leaseMs, 2 * attemptMsMax) },
    });
    running.sender = sender;
    await sender.start();
  };
  try {
    for (const id of [shopId, otherShopId]) {
      await engine.create(id);
      await engine.write(id, (tx) => saveShop(tx, plainShop(id)));
    }
    await start();
    await use({
      async add(url, ofShopId = shopId) {
        const endpoint: WebhookEndpoint = {
          endpointId: ids.next("we"),
          url,
          eventTypes: ["*"],
          description: null,
          signature: "hmac",
          secret: makeSecret("hmac").stored,
          previousSecret: null,
          previousUntilMs: null,
          status: "enabled",
          disabledReason: null,
          createdAtMs: systemClock.now(),
          lastDeliveredAtMs: null,
          failures: 0,
          failingSinceMs: null,
        };
        await engine.write(ofShopId, (tx) => tx.batch(endpointStatements(ofShopId, endpoint)));
        running.sender?.endpointsChanged(ofShopId);
        return endpoint.endpointId;
      },
      async tell(ofShopId = shopId, count = 1) {
        const draft: EventDraft = { type: "import.completed", data: {} };
        const stamp = {
          actor: { type: "system", id: null, name: null } as const,
          requestId: null,
          nowMs: systemClock.now(),
          ids,
        };
        await engine.write(ofShopId, (tx) =>
          tx.batch(Array.from({ length: count }, () => eventStatements(ofShopId, draft, stamp)).flat()),
        );
      },
      deliveries: (endpointId) =>
        engine.read(
          shopId,
          async (tx) =>
            (await listDeliveries(tx, shopId, endpointId, { states: null, types: null }, null, 1_000)).deliveries,
        ),
      async restart(before) {
        await running.sender?.close();
        if (before !== undefined) await engine.write(shopId, (tx) => tx.batch([before]));
        await start();
      },
    });
  } finally {
    await running.sender?.close();
    await store.close();
    await place.remove();
  }
}

/** A server that does this with each connection. */
async function badServer(handle: (socket: Socket) => void): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    handle(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Without the event that tells of an endpoint which is gone. */
const told = ({ received }: Receiver) => received.filter(({ type }) => type === "import.completed");

const eventsTold = (receiver: Receiver): number => new Set(told(receiver).map(({ eventId }) => eventId)).size;

/** Longer than the file may take: who waits for an attempt that hangs waits for ever. */
const foreverMs = 3_600_000;

const badServers = () =>
  Promise.all([
    badServer(() => {}),
    badServer((socket) => void socket.once("data", () => socket.resetAndDestroy())),
    badServer(
      (socket) => void socket.end("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    ),
    badServer((socket) => void socket.end("HTTP/1.1 429 Too Many\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")),
    badServer((socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")),
    badServer((socket) => void socket.end("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")),
  ]);

test("receivers that hang, reset, redirect, are gone, refuse or are slow delay none of the 19 good ones", async () => {
  const bad = await badServers();
  const good = await Promise.all(Array.from({ length: 19 }, () => startReceiver()));
  const events = 30;
  try {
    await withSender({ attemptMsMax: foreverMs }, async (setting) => {
      const badIds: string[] = [];
      for (const { url } of bad) badIds.push(await setting.add(url));
      for (const { url } of good) await setting.add(url);
      for (let count = 0; count < events; count += 1) await setting.tell();
      for (const receiver of good) await receiver.until(() => eventsTold(receiver) === events);
      const hanging = await setting.deliveries(badIds[0] ?? "");
      assert.ok(
        hanging.every(({ state, lastMs }) => state === "pending" && lastMs === null),
        "it hangs still",
      );
    });
  } finally {
    await Promise.all([...bad, ...good].map((each) => each.close()));
  }
});

test("what a bad receiver did is told of each attempt", async () => {
  const bad = await badServers();
  try {
    await withSender({ attemptMsMax: 10_000 }, async (setting) => {
      const badIds: string[] = [];
      for (const { url } of bad) badIds.push(await setting.add(url));
      await setting.tell();
      const ended = await until("each has ended an attempt", async () => {
        const tried = await Promise.all(
          badIds.map(async (id) => (await setting.deliveries(id)).find((each) => each.lastMs !== null)),
        );
        return tried.every((each) => each !== undefined) && tried;
      });
      assert.deepEqual(
        ended.map((delivery) => [delivery?.lastStatus, delivery?.lastError]),
        [
          [null, "no answer within 10 s"],
          [null, "could not be reached: ECONNRESET"],
          [302, "HTTP 302: redirects are not followed"],
          [429, "HTTP 429"],
          [200, null],
          [410, "HTTP 410"],
        ],
      );
    });
  } finally {
    await Promise.all(bad.map((each) => each.close()));
  }
});

/** Receivers of one shop, which answer after this time, or never; `most.later` counts from when it is set. */
async function slowReceivers(answerMs: number | null) {
  const receivers = await Promise.all(Array.from({ length: 24 }, () => startReceiver()));
  const most = { running: 0, ever: 0, later: 0, begun: 0 };
  const endLater = async (response: ServerResponse, ms: number): Promise<void> => {
    await pause(ms);
    // Before the sender can know.
    most.running -= 1;
    response.writeHead(204).end();
  };
  for (const receiver of receivers)
    receiver.answer = (response) => {
      most.begun += 1;
      most.running += 1;
      most.ever = Math.max(most.ever, most.running);
      most.later = Math.max(most.later, most.running);
      if (answerMs !== null) void endLater(response, answerMs);
    };
  return { receivers, most };
}

test("a shop whose receivers take nothing delays no other shop", async () => {
  const { receivers, most } = await slowReceivers(null);
  const good = await startReceiver();
  try {
    await withSender({ attemptMsMax: foreverMs }, async (setting) => {
      for (const { url } of receivers) await setting.add(url);
      await setting.add(good.url, otherShopId);
      for (let count = 0; count < 20; count += 1) await setting.tell();
      await until("the shop has what it may have", () => most.running === senderLimits.perShopMax);
      for (let count = 1; count <= 40; count += 1) {
        await setting.tell(otherShopId);
        await good.until(() => eventsTold(good) === count);
      }
      assert.equal(most.ever, senderLimits.perShopMax);
    });
  } finally {
    await Promise.all([...receivers, good].map((each) => each.close()));
  }
});

test("a shop whose receivers have shown that they take their time has fewer attempts at a time", async () => {
  const { receivers, most } = await slowReceivers(1_200);
  try {
    await withSender({ attemptMsMax: foreverMs }, async (setting) => {
      const ids: string[] = [];
      for (const { url } of receivers) ids.push(await setting.add(url));
      for (let count = 0; count < 20; count += 1) await setting.tell();
      await until("each has shown that it is slow", async () => {
        const of = await Promise.all(ids.map((id) => setting.deliveries(id)));
        return of.every((deliveries) => deliveries.some(({ lastMs }) => lastMs !== null));
      });
      // Attempts that had begun, or were claimed, before that was known may be more at a time.
      let begun = most.begun;
      await until("twice as many have begun since there were too many", () => {
        if (most.later > senderLimits.slowPerShopMax) [most.later, begun] = [most.running, most.begun];
        return most.begun >= begun + 2 * senderLimits.slowPerShopMax;
      });
      assert.ok(most.later <= senderLimits.slowPerShopMax, `${most.later} at a time`);
    });
  } finally {
    await Promise.all(receivers.map((each) => each.close()));
  }
});

test("endpoints and shops with much to send have turns: each is sent about as much, and what comes later does not wait", async () => {
  const receivers = await Promise.all(Array.from({ length: 24 }, () => startReceiver()));
  const good = await startReceiver();
  const events = 60;
  for (const receiver of receivers)
    receiver.answer = (response) => void pause(20).then(() => response.writeHead(204).end());
  try {
    await withSender({}, async (setting) => {
      for (const { url } of receivers) await setting.add(url);
      await setting.add(good.url, otherShopId);
      await setting.tell(shopId, events);
      await setting.tell(otherShopId);
      await good.until(() => good.received.length === 1);
      const counts = (): readonly number[] => receivers.map(({ received }) => received.length);
      assert.ok(Math.min(...counts()) < events, "the other shop's came before the end of the first one's");
      await receivers[0]?.until(() => Math.max(...counts()) >= events / 2);
      assert.ok(Math.min(...counts()) >= events / 4, counts().join());
      // An attempt that a stall made too late is repeated.
      for (const receiver of receivers) await receiver.until(() => eventsTold(receiver) === events);
    });
  } finally {
    await Promise.all([...receivers, good].map((each) => each.close()));
  }
});

test("a shop's deliveries that were under way are sent again by the next process, with the same ids", async () => {
  const receiver = await startReceiver();
  try {
    let isUp = false;
    receiver.answer = (response) => {
      if (isUp) response.writeHead(204).end();
    };
    await withSender({ attemptMsMax: 20_000 }, async (setting) => {
      const endpointId = await setting.add(receiver.url);
      for (let count = 0; count < 10; count += 1) await setting.tell();
      await receiver.until(() => receiver.received.length === 4);
      await quiet(200);
      assert.equal(receiver.received.length, senderLimits.perEndpointMax);
      const restarted = setting.restart();
      isUp = true;
      await restarted;
      await receiver.until(() => new Set(receiver.received.map((each) => each.eventId)).size === 10);
      await until("all delivered", async () =>
        (await setting.deliveries(endpointId)).every(({ state }) => state === "delivered"),
      );
      const deliveries = await setting.deliveries(endpointId);
      assert.deepEqual([...new Set(deliveries.map(({ state, attempts }) => `${state} ${attempts}`))], ["delivered 1"]);
    });
  } finally {
    await receiver.close();
  }
});

test("a delivery that was put off is sent when the clock was set back by more than a day before a start (D98)", async () => {
  const receiver = await startReceiver();
  try {
    receiver.answer = (response) => response.writeHead(500).end();
    await withSender({}, async (setting) => {
      await setting.add(receiver.url);
      await setting.tell();
      await receiver.until(() => receiver.received.length === 1);
      receiver.answer = (response) => response.writeHead(204).end();
      // 40 days: more than a timer takes.
      const dueAt = systemClock.now() + 40 * 86_400_000;
      await setting.restart({ sql: "update delivery set due_at = ? where due_at is not null", params: [dueAt] });
      await receiver.until(() => receiver.received.length === 2);
      assert.equal(new Set(receiver.received.map(({ eventId }) => eventId)).size, 1);
    });
  } finally {
    await receiver.close();
  }
});

test("no name and no form of an address leads to what is shut; every attempt is judged anew", async () => {
  // They listen where a webhook must never come.
  const canary = await startReceiver("127.0.0.1");
  const canaryOnIpv6 = await startReceiver("::1", canary.port).catch(() => null);
  const answers = new Map<string, readonly (readonly string[])[]>([
    ["rebinds.example", [["127.0.0.2"], ["127.0.0.1"]]],
    ["both.example", [["127.0.0.2", "127.0.0.1"]]],
    ["inside.example", [["127.0.0.1"]]],
    ["mapped.example", [["::ffff:127.0.0.1"]]],
    ["metadata.example", [["169.254.169.254"]]],
    ["nat64.example", [["64:ff9b::7f00:1"]]],
    ["ipv6.example", [["::1"]]],
  ]);
  const asked = new Map<string, number>();
  const resolve: Resolve = (host) => {
    const times = asked.get(host) ?? 0;
    asked.set(host, times + 1);
    const each = answers.get(host);
    return Promise.resolve(each?.[Math.min(times, each.length - 1)] ?? []);
  };
  const open = await startReceiver("127.0.0.2", canary.port);
  open.answer = (response) => void response.writeHead(503, { "Retry-After": "1" }).end();
  try {
    // 127.0.0.2 stands for a public address: it is opened, its neighbour is not.
    await withSender({ allow: "127.0.0.2/32", resolve }, async (setting) => {
      const { port } = canary;
      const urls = [
        ...[...answers.keys()].map((host) => `http://${host}:${port}/`),
        ...["127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0", "[::1]", "[::]"].map(
          (host) => `http://${host}:${port}/`,
        ),
        ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"].map((host) => `http://${host}:${port}/`),
        ...["169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]"].map(
          (host) => `http://${host}:${port}/`,
        ),
      ];
      const endpointIds: string[] = [];
      for (const url of urls) endpointIds.push(await setting.add(url));
      await setting.tell();
      await open.until(() => open.received.length === 1);
      const of = async (index: number) => (await setting.deliveries(endpointIds[index] ?? ""))[0];
      await until("tried twice", async () => (await of(0))?.attempts === 2);
      await until("each has been tried", async () =>
        (await Promise.all(urls.map((_, index) => of(index)))).every(
          (delivery) => (delivery?.lastError ?? null) !== null,
        ),
      );
      await quiet(300);
      const first = await of(0);
      assert.deepEqual([first?.attempts, first?.lastError], [2, "the host is at an address that is not allowed"]);
      for (let index = 1; index < urls.length; index += 1) {
        const delivery = await of(index);
        assert.equal(delivery?.lastStatus, null, urls[index]);
        assert.match(delivery?.lastError ?? "", /at an address that is not allowed$/, urls[index]);
      }
      assert.equal(open.received.length, 1);
      assert.deepEqual([canary.received.length, canaryOnIpv6?.received.length ?? 0], [0, 0], "no canary was touched");
    });
  } finally {
    await canary.close();
    await canaryOnIpv6?.close();
    await open.close();
  }
});

test("the command adds an endpoint, tests it, shows its deliveries, sends them again and replaces its secret", async () => {
  const receiver = await startReceiver();
  try {
    await withProgram(
      async (program, token) => {
        const openpo = async (...args: readonly string[]): Promise<string> => {
          const { code, stdout, stderr } = await runCommand([...args, "--url", program.url, "--token", token]);
          assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
          return stdout.trim();
        };
        await openpo("shop", "create", "acme", "--name", "Acme");
        const webhook = (name: string, ...args: readonly string[]) =>
          openpo("webhook", name, "--shop", "acme", ...args);
        const secret = await webhook("create", receiver.url, "--events", "api_key.*,test.ping", "--description", "ERP");
        assert.match(secret, /^whsec_/);
        const listed: { readonly endpoints: readonly { readonly endpointId: string }[] } = JSON.parse(
          await webhook("list", "--json"),
        );
        const endpointId = listed.endpoints[0]?.endpointId ?? "";
        assert.match(await webhook("test", endpointId), /: delivered, HTTP 204\.$/);
        await openpo("key", "create", "--shop", "acme", "--name", "bot");
        await receiver.until(() => receiver.received.length === 2);
        assert.match(await webhook("deliveries", endpointId, "--events", "api_key.created"), /api_key\.created/);
        const [delivery = ""] = /dlv_\w+/.exec(await webhook("deliveries", endpointId)) ?? [];
        await webhook("retry", endpointId, delivery);
        await receiver.until(() => receiver.received.length === 3);
        assert.equal(await webhook("replay", endpointId, "--after", "0"), "2 events are sent again.");
        await receiver.until(() => receiver.received.length === 5);
        assert.notEqual(await webhook("rotate", endpointId, "--overlap", "1"), secret);
        assert.match(await webhook("update", endpointId, "--status", "disabled"), /is changed and disabled\.$/);
        assert.match(await webhook("list"), /by-hand/);
        await webhook("delete", endpointId);
        assert.equal(await webhook("list"), "There are no webhook endpoints.");
      },
      { OPENPO_WEBHOOK_ALLOW: "127.0.0.1", OPENPO_WEBHOOK_HTTP: "1" },
    );
  } finally {
    await receiver.close();
  }
});

test("the receivers in examples take what is signed, once, and refuse everything else", async () => {
  const [inTypeScript, inPython] = [await freePort(), await freePort()];
  await withProgram(
    async (program, token) => {
      const ask = (method: string, path: string, body: object) =>
        program.ask(method, `/admin/v1/shops/acme${path}`, token, body);
      await ask("PUT", "", { name: "Acme" });
      const add = async (port: number, signature: string) => {
        const made = await ask("POST", "/webhook-endpoints", {
          url: `http://127.0.0.1:${port}/`,
          eventTypes: ["api_key.*"],
          signature,
        });
        return { endpointId: String(made.at("data", "endpointId")), secret: String(made.at("data", "secret")) };
      };
      const [keyed, shared] = [await add(inTypeScript, "ed25519"), await add(inPython, "hmac")];
      const events: unknown[] = [];
      const server = receiveWebhooks(keyed.secret, inTypeScript, (event) => events.push(event));
      const printed: string[] = [];
      const python = spawn("python3", ["examples/webhook_receiver.py", String(inPython)], {
        env: { ...process.env, WEBHOOK_SECRET: shared.secret },
        stdio: ["ignore", "pipe", "inherit"],
      });
      python.stdout.on("data", (part: Buffer) => printed.push(part.toString()));
      try {
        await until("the receiver in Python answers", () =>
          fetch(`http://127.0.0.1:${inPython}/`, { method: "POST" }).catch(() => null),
        );
        await ask("POST", "/keys", { name: "bot", scope: "read" });
        await until("both have the event", () => events.length > 0 && printed.length > 0);
        for (const { endpointId } of [keyed, shared])
          await ask("POST", `/webhook-endpoints/${endpointId}/replay`, { afterSequence: 0 });
        await quiet(500);
        assert.deepEqual(
          [events.length, printed.join("").trim().split("\n").length],
          [1, 1],
          "an event that comes again counts once",
        );
        assert.deepEqual(JSON.parse(printed.join("")), events[0]);
        for (const port of [inTypeScript, inPython]) {
          const headers = { "webhook-id": "evt_x", "webhook-timestamp": String(Math.floor(Date.now() / 1000)) };
          const forged = {
            method: "POST",
            headers: { ...headers, "webhook-signature": "v1,AAAA v1a,AAAA" },
            body: "{}",
          };
          assert.equal((await fetch(`http://127.0.0.1:${port}/`, forged)).status, 401);
          assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" })).status, 400);
        }
      } finally {
        server.closeAllConnections();
        server.close();
        python.kill();
        await once(python, "close");
      }
    },
    { OPENPO_WEBHOOK_ALLOW: "127.0.0.1", OPENPO_WEBHOOK_HTTP: "1" },
  );
});
