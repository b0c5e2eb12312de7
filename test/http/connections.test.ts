/**
 * Raw connections: order of answers, clients that stop sending or reading, and a stop of the service (C2, H6–H8).
 *
 * Only on sqlite: its subject is how requests come in, not where their data are.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import {
  defaultArrivalLimits,
  defaultWaitLimits,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  requestTimeoutMs,
  silenceMs,
  timeoutCheckMs,
} from "../../src/http/node/server.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { assertToldInWords, statusesIn } from "../support/peers/raw.ts";
import { pause, until } from "../support/until.ts";
import { startServer, type TestServer, type TestServerOptions } from "../support/server.ts";

const crates = "/api/v1/crates";
const start = (options: TestServerOptions = {}) => startServer({ operations: crateOperations(), ...options });
const shortWaits = { silenceMs: 200, arrivalMs: 200, drainMs: 600 };

/** Waits until the server, which is in this process, has read what was written to it: each round of the event loop looks for it. */
async function arrived(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await nextRound();
}

interface Line {
  write(part: string | Uint8Array): void;
  /** Resolves with all received bytes when the server has closed the connection. */
  readonly closed: Promise<string>;
  /** Resolves with the received bytes as soon as they contain this text. */
  until(part: string): Promise<string>;
  destroy(): void;
}

async function open(server: TestServer, read = true): Promise<Line> {
  const socket = connect(server.port, "127.0.0.1");
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  let text = "";
  socket.once("connect", () => opened.resolve());
  if (read) socket.on("data", (data) => (text += data.toString()));
  else socket.pause();
  socket.once("error", () => {});
  socket.once("close", () => closed.resolve(text));
  await opened.promise;
  return {
    write: (part) => void socket.write(part),
    closed: closed.promise,
    destroy: () => void socket.destroy(),
    async until(part) {
      await until(part, () => text.includes(part));
      return text;
    },
  };
}

const head = (server: TestServer, method: string, target: string, more = ""): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.writeKey}\r\n${more}\r\n`;

test("a request without Host or with two, an unknown Expect header and a CONNECT get the service's error body (C2)", async () => {
  await using server = await start();
  for (const [text, status] of [
    [`GET ${crates} HTTP/1.1\r\nConnection: close\r\n\r\n`, "400"],
    [head(server, "POST", crates, "Expect: coffee\r\nConnection: close\r\n"), "417"],
    [`GET /healthz HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n`, "400"],
    ["CONNECT other:443 HTTP/1.1\r\nHost: other\r\n\r\n", "400"],
  ] as const) {
    const line = await open(server);
    line.write(text);
    const answer = await line.closed;
    assertToldInWords(answer, status);
    assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/i);
  }
});

test("garbage after a request is refused after the answer to the request, not instead of it (H7)", async () => {
  await using server = await start();
  const line = await open(server);
  const body = '{"label":"first"}';
  line.write(`${head(server, "POST", crates, `Content-Length: ${body.length}\r\n`)}${body}nonsense\r\n\r\n`);
  const text = await line.closed;
  assert.deepEqual(statusesIn(text), ["201", "400"]);
  assertToldInWords(text, "400");
});

test("pipelined requests are answered in their order", async () => {
  await using server = await start();
  const line = await open(server);
  line.write(
    head(server, "GET", "/healthz") +
      head(server, "GET", crates) +
      head(server, "GET", "/nowhere", "Connection: close\r\n"),
  );
  assert.deepEqual(statusesIn(await line.closed), ["200", "200", "404"]);
});

test("a body is the same in one piece with its headers, after them, in pieces, and behind another request", async () => {
  await using server = await start();
  const label = "é".repeat(40);
  const body = Buffer.from(`{"label":"${label}"${" ".repeat(300)}}`);
  const post = (more = ""): Buffer =>
    Buffer.from(head(server, "POST", crates, `Content-Length: ${body.length}\r\n${more}`));
  const last = post("Connection: close\r\n");
  for (const pieces of [
    [Buffer.concat([post(), body, last, body])],
    [Buffer.concat([post(), body]), Buffer.concat([last, body])],
    [post(), body, last, body],
    // Within a character of two bytes.
    [Buffer.concat([post(), body.subarray(0, 12)]), body.subarray(12, 300), body.subarray(300), last, body],
  ]) {
    const line = await open(server);
    for (const piece of pieces) {
      line.write(piece);
      await arrived();
    }
    const text = await line.closed;
    assert.deepEqual(statusesIn(text), ["201", "201"], text);
    assert.equal(text.split(`"label":"${label}"`).length, 3, text);
  }
  // What has arrived of a body that breaks off is nobody's request.
  const before = (await server.get(crates)).text.split(label).length;
  assert.equal(before, 9);
  const socket = connect(server.port, "127.0.0.1");
  socket.end(Buffer.concat([post(), body.subarray(0, 100)]));
  await once(socket.resume(), "close");
  assert.equal((await server.get(crates)).text.split(label).length, before);
});

/** The times that Node holds, each so short that a test can wait for it, or as it is. */
const arrivals = (short: Partial<typeof defaultArrivalLimits>) => ({
  ...defaultArrivalLimits,
  timeoutCheckMs: 20,
  ...short,
});

test("the service holds silenceMs, headersTimeoutMs, requestTimeoutMs and keepAliveTimeoutMs, and looks at them every timeoutCheckMs", () => {
  assert.deepEqual(defaultArrivalLimits, { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, timeoutCheckMs });
  assert.equal(defaultWaitLimits.silenceMs, silenceMs);
});

test("headers that have not arrived after headersTimeoutMs are 408, on a connection that says nothing too", async () => {
  await using server = await start({ arrivalLimits: arrivals({ headersTimeoutMs: 100 }) });
  const [slow, silent] = [await open(server), await open(server)];
  slow.write("GET /healthz HTTP/1.1\r\nHo");
  assertToldInWords(await slow.closed, "408");
  await silent.closed;
});

test("a request whose body has not arrived after requestTimeoutMs is 408, though something arrives all the time", async () => {
  await using server = await start({
    arrivalLimits: arrivals({ requestTimeoutMs: 200, headersTimeoutMs: 200 }),
  });
  const slow = await open(server);
  slow.write(head(server, "POST", crates, "Content-Length: 100000\r\n"));
  const dripping = setInterval(() => slow.write(" "), 10);
  assertToldInWords(await slow.closed.finally(() => clearInterval(dripping)), "408");
});

test("an idle connection is closed after keepAliveTimeoutMs", async () => {
  // The silence of a connection that is in use would close it too, far later.
  const waitLimits = { ...shortWaits, silenceMs: 600_000 };
  await using server = await start({ waitLimits, arrivalLimits: arrivals({ keepAliveTimeoutMs: 300 }) });
  const line = await open(server);
  line.write(head(server, "GET", "/healthz"));
  assert.deepEqual(statusesIn(await line.closed), ["200"]);
});

test("a body that stops arriving is 408; a slow one is accepted", async () => {
  await using server = await start({ waitLimits: { ...shortWaits, silenceMs: 600_000 } });
  await using impatient = await start({ waitLimits: shortWaits });
  const silent = await open(impatient);
  silent.write(`${head(impatient, "POST", crates, "Content-Length: 20\r\n")}{`);
  assertToldInWords(await silent.closed, "408");
  const slow = await open(server);
  slow.write(head(server, "POST", crates, "Content-Length: 13\r\nConnection: close\r\n"));
  for (const part of ['{"la', 'bel":', '"x"}', " "]) {
    await pause(120);
    slow.write(part);
  }
  assert.deepEqual(statusesIn(await slow.closed), ["201"]);
});

test("an answer that takes longer than the body timeout is not cut off", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await start({
    operations: crateOperations({ beforeSeal: () => gate.promise }),
    waitLimits: shortWaits,
  });
  const crateId = (await server.post(crates, { label: "x" })).textAt("data", "crate", "crateId");
  const line = await open(server);
  line.write(head(server, "POST", `${crates}/${crateId}/seal`, "Connection: close\r\n"));
  void pause(500).then(() => gate.resolve());
  assert.deepEqual(statusesIn(await line.closed), ["200"]);
});

test("the memory of a long answer is given back when it has been sent, and when its connection is closed instead", async () => {
  const made: Uint8Array[] = [];
  const large = {
    path: "/large",
    reply: () => {
      const bytes = new Uint8Array(32 * 1_048_576).fill(120);
      made.push(bytes);
      return Promise.resolve({ status: 200, headers: {}, body: "", bytes, errorCode: null });
    },
  };
  await using server = await start({ surfaces: [large] });
  const [read, unread] = [await open(server), await open(server, false)];
  read.write(head(server, "GET", "/large", "Connection: close\r\n"));
  const text = await read.closed;
  assert.equal(text.slice(text.indexOf("\r\n\r\n") + 4), "x".repeat(32 * 1_048_576));
  await until("given back", () => made[0]?.byteLength === 0);
  unread.write(head(server, "GET", "/large"));
  await until("asked", () => made.length === 2);
  await arrived();
  assert.equal(made[1]?.byteLength, 32 * 1_048_576, "it is still to be sent");
  unread.destroy();
  await until("given back", () => made[1]?.byteLength === 0);
});

test("a stop closes idle connections at once, and refuses requests that have not fully arrived (H8)", async () => {
  const server = await start({ waitLimits: { ...shortWaits, silenceMs: 60_000 } });
  const [silent, unfinishedHead, idle, unfinishedBody] = [
    await open(server),
    await open(server),
    await open(server),
    await open(server),
  ];
  unfinishedHead.write("GET / HTTP/1.1\r\nHo");
  idle.write(head(server, "GET", "/healthz"));
  await idle.until('"status":"ok"');
  unfinishedBody.write(`${head(server, "POST", crates, "Content-Length: 20\r\n")}{`);
  await arrived();
  await server.stop();
  assert.equal(await silent.closed, "");
  assert.equal(await unfinishedHead.closed, "");
  assert.deepEqual(statusesIn(await idle.closed), ["200"]);
  const told = await unfinishedBody.closed;
  assertToldInWords(told, "503");
  assert.match(told, /\r\nRetry-After: 5\r\n/);
});

test("a stop answers all requests that have arrived, and closes the connections after that", async () => {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = await start({
    operations: crateOperations({
      beforeSeal: () => {
        reached.resolve();
        return gate.promise;
      },
    }),
  });
  const crateId = (await server.post(crates, { label: "x" })).textAt("data", "crate", "crateId");
  const line = await open(server);
  line.write(head(server, "POST", `${crates}/${crateId}/seal`));
  await reached.promise;
  const stopped = server.stop();
  line.write(head(server, "GET", crates));
  await arrived();
  gate.resolve();
  const text = await line.closed;
  assert.deepEqual(statusesIn(text), ["200", "200"]);
  const [first = "", second = ""] = text.split(/(?<=.)(?=HTTP\/1\.1 )/s);
  assert.doesNotMatch(first, /\r\nConnection: close\r\n/i);
  assert.match(second, /\r\nConnection: close\r\n/i);
  await stopped;
});

test("a client that does not read its answer cannot delay a stop forever (H8)", async () => {
  const answered = Promise.withResolvers<void>();
  const large = {
    path: "/large",
    handle: () => {
      answered.resolve();
      return Promise.resolve(new Response("x".repeat(64 * 1_048_576)));
    },
  };
  const server = await start({ surfaces: [large], waitLimits: shortWaits });
  const line = await open(server, false);
  line.write(head(server, "GET", "/large"));
  await answered.promise;
  const stop = server.stop().then(() => "stopped");
  assert.equal(await stop, "stopped");
});
