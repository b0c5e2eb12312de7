/** What clients can make the process hold in memory is bounded (H9, H10; docs/limits.md), and others are served meanwhile. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { detailLengthMax, detailsMax } from "../../src/requests/input.ts";
import { pipelinedMax, pipelinedReadMax } from "../../src/http/node/connections.ts";
import { BodyBudget } from "../../src/http/body.ts";
import type { Surface } from "../../src/http/surface.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { assertToldInWords, exchange, sendUnread, statusesIn } from "../support/peers/raw.ts";
import { startServer, type TestServer, type TestServerOptions } from "../support/server.ts";
import { pause, until } from "../support/until.ts";

const crates = "/api/v1/crates";
const start = (options: TestServerOptions = {}) => startServer({ operations: crateOperations(), ...options });
const mebibyte = 1_048_576;

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const keyed = (server: TestServer): string => `Authorization: Bearer ${server.writeKey}\r\n`;
const last = "Connection: close\r\n";

// Connections.

/** Answers requests for `/held` when they are freed. */
function held() {
  const free: (() => void)[] = [];
  const surface: Surface = {
    path: "/held",
    async handle() {
      await new Promise<void>((resolve) => free.push(resolve));
      return new Response("done");
    },
  };
  return { surface, free };
}

test("a connection beyond the limit is told so at its first request, without a reset, and served when there is room (H10)", async () => {
  const { surface, free } = held();
  await using server = await start({
    surfaces: [surface],
    connectionLimits: { connectionsMax: 2, unreadBytesMax: mebibyte },
  });
  const open = [await sendUnread(server.port, get("/held")), await sendUnread(server.port, get("/held"))];
  await until("both ask", () => free.length === 2);
  // Who asks for health decides whether the process is alive, so it is told.
  assert.deepEqual(statusesIn(await exchange(server.port, get("/healthz"))), ["200"]);
  const refused = await exchange(server.port, get(crates));
  assertToldInWords(refused, "503");
  assert.match(refused, /"code":"DO_OVERLOADED"/);
  // The clients that are refused are asked to come back one after the other, after a second and more.
  const retryAfterMs = Number(/"retryAfterMs":(\d+)/.exec(refused)?.[1]);
  assert.ok(retryAfterMs >= 1_000 && retryAfterMs <= 1_100, String(retryAfterMs));
  assert.match(refused, new RegExp(`\\r\\nRetry-After: ${Math.ceil(retryAfterMs / 1_000)}\\r\\n`));
  assert.match(refused, /\r\nConnection: close\r\n/);
  const body = "x".repeat(100_000);
  const upload = `POST ${crates} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  assertToldInWords(await exchange(server.port, upload), "503");
  for (const socket of open) socket.destroy();
  await until("closed", async () => statusesIn(await exchange(server.port, get(crates, last)))[0] === "401");
});

test("a connection that asks takes the place of the one that has been idle for longest, which stays open and takes one back when it asks (H10)", async () => {
  const { surface, free } = held();
  const connectionLimits = { connectionsMax: 2, unreadBytesMax: mebibyte };
  await using server = await start({ surfaces: [surface], connectionLimits });
  const lines = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = await sendUnread(server.port, "");
      let text = "";
      socket.on("data", (part: Buffer) => (text += part.toString())).resume();
      return { socket, answers: () => statusesIn(text) };
    }),
  );
  const ask = async (index: number, path: string): Promise<string | undefined> => {
    const line = lines[index];
    const answered = line?.answers().length ?? 0;
    line?.socket.write(get(path));
    await until(`${index} is answered`, () => (line?.answers().length ?? 0) > answered);
    return line?.answers().at(-1);
  };
  // Twice as many as there are places: each is served in its turn, for as long as it goes on.
  for (let round = 0; round < 3; round += 1)
    for (const index of lines.keys()) assert.equal(await ask(index, crates), "401", `${round} ${index}`);
  // One asks and is not answered: the others share the place that is left.
  lines[0]?.socket.write(get("/held"));
  await until("it asks", () => free.length === 1);
  for (const index of [1, 2, 3, 1]) assert.equal(await ask(index, crates), "401", String(index));
  // Nobody's request gives way.
  lines[1]?.socket.write(get("/held"));
  await until("it asks", () => free.length === 2);
  assert.equal(await ask(2, crates), "503");
  for (const finish of free) finish();
  await until("both are answered", () => lines.slice(0, 2).every(({ answers }) => answers().at(-1) === "200"));
  assert.equal(await ask(3, crates), "401");
  for (const { socket } of lines) socket.destroy();
});

test("a connection runs one request at a time, and the next when its answer has been read (H9)", async () => {
  let running = 0;
  const served: string[] = [];
  const slow: Surface = {
    path: "/slow",
    async handle({ search }) {
      running += 1;
      served.push(search);
      assert.equal(running, 1);
      await pause(5);
      running -= 1;
      return new Response(search);
    },
  };
  await using server = await start({ surfaces: [slow] });
  const numbers = Array.from({ length: pipelinedMax * 3 }, (_, index) => String(index));
  const text = await exchange(
    server.port,
    numbers.map((number) => get(`/slow?${number}`, number === numbers.at(-1) ? last : "")).join(""),
  );
  assert.deepEqual(served, numbers);
  assert.deepEqual(new Set(statusesIn(text)), new Set(["200"]));
  assert.equal(statusesIn(text).length, numbers.length);
});

test("what one read holds beyond the pipelined requests is refused after the answers that are owed (H7)", async () => {
  await using server = await start();
  const many = pipelinedReadMax + 500;
  const text = await exchange(server.port, "GET /healthz HTTP/1.1\r\nHost:x\r\n\r\n".repeat(many));
  const statuses = statusesIn(text);
  assert.equal(statuses.at(-1), "503");
  assertToldInWords(text, "503");
  assert.ok(statuses.length <= pipelinedReadMax + 1, String(statuses.length));
  assert.equal(statusesIn(await exchange(server.port, get("/healthz", last)))[0], "200");
});

test("nothing more is read from a connection on which many requests wait", async () => {
  const gate = Promise.withResolvers<void>();
  const slow: Surface = {
    path: "/slow",
    async handle() {
      await gate.promise;
      return new Response("ok");
    },
  };
  await using server = await start({ surfaces: [slow] });
  const request = get("/slow", `X-Padding: ${"x".repeat(30_000)}\r\n`);
  const count = 2_000;
  // Far more than the system's buffers take, and than requests up to any other bound. The server must stop reading.
  const socket = await sendUnread(server.port, request);
  socket.write(request.repeat(count));
  // Until nothing more is taken.
  let left = socket.writableLength;
  for (let before = Number.POSITIVE_INFINITY; left < before; left = socket.writableLength) {
    before = left;
    await pause(1_000);
  }
  socket.destroy();
  gate.resolve();
  const buffersBytes = 16 * mebibyte;
  const readMax = 2 * pipelinedMax * request.length + buffersBytes;
  assert.ok(count * request.length - left < readMax, `${left} bytes are left`);
});

// Answers.

/** Answers `megabytes` that are as large as an answer of the API may be. */
const large = (megabytes: number): Surface => ({
  path: "/large",
  handle: () => Promise.resolve(new Response("x".repeat(megabytes * mebibyte))),
});

test("an answer of which nothing is read is cut off", async () => {
  const waitLimits = { silenceMs: 300, arrivalMs: 200, drainMs: 600 };
  // Less than all unread answers together may have: it is its silence that ends this one.
  const megabytes = 40;
  await using server = await start({ surfaces: [large(megabytes)], waitLimits });
  const socket = await sendUnread(server.port, get("/large"));
  await until("cut off", () => server.logged.some((line) => line.includes('an answer that nobody reads is cut off"')));
  socket.resume();
  await until("closed", () => socket.closed);
  assert.equal(socket.bytesRead < megabytes * mebibyte, true);
});

test("beyond the memory for unread answers the oldest are cut, and others are served (H9)", async () => {
  const connectionLimits = { connectionsMax: 100, unreadBytesMax: 64 * mebibyte };
  await using server = await start({ surfaces: [large(16)], connectionLimits });
  const sockets: Socket[] = [];
  for (let count = 0; count < 12; count += 1) {
    sockets.push(await sendUnread(server.port, get("/large")));
    assert.equal((await server.get(crates)).status, 200);
  }
  const cuts = () => server.logged.filter((line) => line.includes("too much waits to be read")).length;
  await until("cut off", () => cuts() >= 7);
  assert.ok(cuts() <= 9, String(cuts()));
  for (const socket of sockets) socket.destroy();
});

// Bodies.

test("bodies of all requests together are bounded, and their memory is free again when they are answered", async () => {
  const bodies = new BodyBudget({ bytesMax: 2 * mebibyte });
  await using server = await start({ bodies });
  const half = JSON.stringify({ label: "x" }).padEnd(mebibyte * 0.6);
  const arriving = await sendUnread(
    server.port,
    `POST ${crates} HTTP/1.1\r\nHost: x\r\n${keyed(server)}Content-Length: ${half.length}\r\n\r\n${half.slice(0, -1)}`,
  );
  await until("half read", () => bodies.bytes >= half.length - 1);
  const refused = await server.post(crates, half);
  assert.equal(refused.status, 503);
  assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
  assert.equal((await server.post(crates, { label: "small" })).status, 201);
  arriving.destroy();
  await until("given up", () => bodies.bytes === 0);
  assert.equal((await server.post(crates, half)).status, 201);
  await until("given up", () => bodies.bytes === 0);
});

test("a body that arrives too slowly is refused, however steadily", async () => {
  await using server = await start({ bodies: new BodyBudget({ arrivalMs: 300 }) });
  const socket = await sendUnread(
    server.port,
    `POST ${crates} HTTP/1.1\r\nHost: x\r\n${keyed(server)}Content-Length: 1000\r\n\r\n`,
  );
  const received: string[] = [];
  socket.on("data", (data: Buffer) => received.push(data.toString()));
  socket.resume();
  await until("refused", () => {
    if (received.length === 0) socket.write("{");
    return received.length > 0;
  });
  const text = received.join("");
  assertToldInWords(text, "400");
  assert.match(text, /took too long to arrive/);
  socket.destroy();
});

test("a 400 names at most a hundred mistakes, each in at most some hundred characters", async () => {
  await using server = await start();
  const unknown = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`f${index}`, 1]));
  const many = await server.post(crates, { label: "x", ...unknown });
  assert.equal(many.status, 400);
  assert.equal(many.at("error", "details", "length"), detailsMax);
  assert.match(many.textAt("error", "message"), /\(and 2497 more\)$/);
  const long = await server.post(crates, { label: "x", ["y".repeat(900_000)]: 1 });
  assert.equal(long.status, 400);
  assert.ok(long.text.length < 4 * detailLengthMax, String(long.text.length));
});

// The whole program.

const growthMax = 300 * mebibyte;

/** The greatest growth of the program's memory while `attack` runs and for some seconds after. `/healthz` must answer meanwhile. */
async function growthUnder(program: RunningProgram, attack: () => Promise<void>): Promise<number> {
  const memory = async (): Promise<number> => {
    const text = await (await fetch(`${program.url}/metrics`)).text();
    return Number(/^openpo_resident_memory_bytes (\d+)$/m.exec(text)?.[1]);
  };
  const before = await memory();
  let most = before;
  const running = { value: true };
  const attacking = attack().then(() => pause(3_000));
  void attacking.finally(() => (running.value = false));
  while (running.value) {
    assert.equal((await fetch(`${program.url}/healthz`)).status, 200);
    most = Math.max(most, await memory());
    await pause(50);
  }
  await attacking;
  return most - before;
}

/** As `npm start` and the image run Node (docs/operating.md, "Memory of Node"). */
const asStarted = { NODE_OPTIONS: "--max-semi-space-size=8" };

const portOf = ({ url }: RunningProgram): number => Number(new URL(url).port);

test("unread documents, pipelined or on many connections, cost the program less than 300 MB", async () => {
  await withProgram(async (program) => {
    for (const [connections, requests] of [
      [20, get("/api/v1/openapi.json").repeat(400)],
      [600, get("/docs/reference.js")],
    ] as const) {
      // Made when it is first asked for.
      await (await fetch(program.url + String(requests.split(" ", 2)[1]))).arrayBuffer();
      const sockets: Socket[] = [];
      const growth = await growthUnder(program, async () => {
        for (let count = 0; count < connections; count += 1) sockets.push(await sendUnread(portOf(program), requests));
      });
      for (const socket of sockets) socket.destroy();
      assert.ok(growth < growthMax, `${connections} connections: ${Math.round(growth / mebibyte)} MB`);
    }
  });
});

test("unread answers of a large order cost the program less than 250 MB", async () => {
  await withProgram(async (program, adminToken) => {
    await program.ask("PUT", "/admin/v1/shops/a", adminToken, { name: "A", currencyCode: "EUR" });
    const made = await program.ask("POST", "/admin/v1/shops/a/keys", adminToken, { name: "k", scope: "read" });
    const note = "x".repeat(5_000);
    const lineItems = Array.from({ length: 1_560 }, (_, index) => ({
      variantId: `v-${index}`,
      quantityOrdered: 1,
      unitCost: 1,
      unitCostCurrencyCode: "EUR",
      note,
    }));
    const records = [
      { type: "supplier", supplierId: "s", name: "S" },
      {
        type: "purchaseOrder",
        purchaseOrderId: "large",
        status: "Draft",
        supplierId: "s",
        currencyCode: "EUR",
        lineItems,
      },
    ];
    const imported = await program.ask(
      "POST",
      "/admin/v1/shops/a/import",
      adminToken,
      records.map((record) => JSON.stringify(record)).join("\n"),
    );
    assert.equal(imported.status, 200, imported.text.slice(0, 500));
    const key = `Authorization: Bearer ${String(made.at("data", "apiKey"))}\r\n`;
    const sockets: Socket[] = [];
    const count = 70;
    const answered = async (status: number): Promise<number> => {
      const { text } = await program.ask("GET", "/metrics", "");
      const counted = new RegExp(
        `^openpo_requests_total\\{operation="purchase_order_get",status="${status}"\\} (\\d+)$`,
        "m",
      );
      return Number(counted.exec(text)?.[1] ?? 0);
    };
    // A reader thread starts with the first one.
    await program.ask("GET", "/api/v1/purchase-orders/large", String(made.at("data", "apiKey")));
    const growth = await growthUnder(program, async () => {
      while ((await answered(200)) < count + 1) {
        // Those that waited too long on a busy machine were refused; others ask in their place.
        const wanted = count + (await answered(503));
        while (sockets.length < wanted)
          sockets.push(await sendUnread(portOf(program), get("/api/v1/purchase-orders/large", key)));
        await pause(200);
      }
    });
    for (const socket of sockets) socket.destroy();
    // Here it was 165 MB on PostgreSQL, 187 when bodies that had been sent waited for Node's next collection; 30 to 70 more without the option.
    assert.ok(growth < 250 * mebibyte, `${Math.round(growth / mebibyte)} MB`);
  }, asStarted);
});
