/**
 * One attempt at a webhook against servers on this machine (C60, C61). Every connection goes to them, whatever its address: so what only a
 * public host may do is seen too, and which addresses are tried.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";
import { after, test } from "node:test";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import type { AttemptResult } from "../../src/core/events/webhooks.ts";
import { type ConnectPolicy, onlyGlobal, parseAllowed } from "../../src/webhooks/addresses.ts";
import { excerptBytesMax, post, webhookAnswerBytesMax } from "../../src/webhooks/post.ts";

const here = "127.0.0.1";
const publicHost = "hooks.example";
const publicAddress = "93.184.215.14";

/** Addresses to which connections were tried. */
const tried: string[] = [];
const connect: unknown = Reflect.get(Socket.prototype, "connect");
assert.ok(typeof connect === "function");

/** Leads every connection to this machine. A name is looked up as the caller wants it. */
Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const { host, lookup } = options;
  const notice = (found: string | readonly { readonly address: string }[]): void =>
    void tried.push(...(typeof found === "string" ? [found] : found.map(({ address }) => address)));
  if (lookup === undefined || /^[\d.]+$|:/.test(host)) notice(host);
  else
    lookup(host, { all: true }, (_error: Error | null, found: readonly { readonly address: string }[]) =>
      notice(found),
    );
  return connect.call(this, { ...options, host: here, lookup: undefined });
};
after(() => {
  Reflect.set(Socket.prototype, "connect", connect);
});

interface Attempt {
  readonly policy?: ConnectPolicy;
  readonly host?: string;
  readonly addresses?: readonly string[];
  readonly timeoutMs?: number;
}

const overHttp = { ...onlyGlobal, http: true };

const opening = (text: string): ConnectPolicy => ({ http: true, ...(parseAllowed(text) ?? assert.fail(text)) });

async function portOf(server: Server): Promise<number> {
  server.listen(0, here);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const send = (
  scheme: string,
  port: number,
  { policy = overHttp, host = publicHost, addresses = [publicAddress], timeoutMs = 2_000 }: Attempt,
) =>
  post(`${scheme}://${host}:${port}/hook?a=b`, { "webhook-id": "evt_1" }, "{}", {
    policy,
    resolve: () => Promise.resolve(addresses),
    timeoutMs,
    aborting: new AbortController().signal,
  });

/** Sends to a server that does this with a connection once it has the request. Returns when the connection has ended. */
async function answered(
  handle: (socket: Socket) => void,
  attempt: Attempt = {},
): Promise<{ readonly result: AttemptResult | null; readonly requests: readonly string[] }> {
  const requests: string[] = [];
  const closed: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      requests.push(bytes.toString());
      handle(socket);
    });
  });
  try {
    const result = await send("http", await portOf(server), attempt);
    // No connection outlives its attempt.
    await Promise.all(closed);
    return { result, requests };
  } finally {
    server.close();
  }
}

const says = (text: string) => (socket: Socket) => void socket.write(text);

test("an attempt ends whatever the answer is: protocols switched, only interim answers, nothing, rubbish, too many headers", async () => {
  const outcome = async (handle: (socket: Socket) => void) => {
    const { result } = await answered(handle, { timeoutMs: 300 });
    return result?.kind === "answered" ? result.status : result?.reason;
  };
  const switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
  assert.equal(await outcome(says(switched)), "the connection ended without an answer");
  const late = "no answer within 0.3 s";
  assert.equal(await outcome(says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")), late);
  assert.equal(await outcome(says("HTTP/1.1 200 OK\r\n")), late);
  assert.equal(await outcome(() => {}), late);
  assert.equal(await outcome((socket) => void socket.end()), "could not be reached: ECONNRESET");
  assert.equal(await outcome(says("220 mail.example ESMTP\r\n\r\n")), "could not be reached: HPE_INVALID_CONSTANT");
  const header = `X: ${"x".repeat(1_000)}\r\n`;
  assert.equal(
    await outcome(says(`HTTP/1.1 200 OK\r\n${header.repeat(100)}\r\n`)),
    "could not be reached: HPE_HEADER_OVERFLOW",
  );
});

test("of an answer no more than webhookAnswerBytesMax bytes are read, and the first excerptBytesMax are kept; of a host that was opened none", async () => {
  const endless = (socket: Socket): void => {
    const part = Buffer.alloc(webhookAnswerBytesMax, "a");
    const go = (): void => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.write("HTTP/1.1 500 No\r\n\r\n");
    socket.on("drain", go);
    go();
  };
  // The endless answer would be read until the file's time is over.
  const whole = await answered(endless, { timeoutMs: 3_600_000 });
  assert.ok(whole.result?.kind === "answered");
  assert.deepEqual([whole.result.status, whole.result.excerpt], [500, "a".repeat(excerptBytesMax)]);
  const strange = await answered(
    (socket) => void socket.end(Buffer.from("HTTP/1.1 500 No\r\n\r\na\0b\xffc", "latin1")),
  );
  assert.equal(strange.result?.kind === "answered" && strange.result.excerpt, "abc", "what is no text is left out");
  for (const [allowed, addresses] of [
    ["10.0.0.0/8", ["10.1.2.3"]],
    [publicHost, ["10.1.2.3"]],
    ["10.0.0.0/8", [publicAddress, "10.1.2.3"]],
  ] as const) {
    const { result } = await answered(says("HTTP/1.1 500 No\r\nContent-Length: 6\r\n\r\nsecret"), {
      policy: opening(allowed),
      addresses,
    });
    assert.deepEqual([result?.kind, result?.kind === "answered" && result.excerpt], ["answered", null], allowed);
  }
});

test("it connects to the addresses that were judged and to no other, a literal one too; else it does not connect", async () => {
  const ok = says("HTTP/1.1 204 No\r\n\r\n");
  const reached = async (attempt: Attempt) => {
    tried.length = 0;
    const { result, requests } = await answered(ok, attempt);
    return { status: result?.kind === "answered" ? result.status : result?.reason, requests, tried: [...tried] };
  };
  const both = [publicAddress, "2606:4700::1111"];
  const found = await reached({ addresses: both });
  assert.deepEqual([found.status, found.tried], [204, both]);
  assert.match(
    found.requests[0] ?? "",
    new RegExp(`^POST /hook\\?a=b HTTP/1.1\r\n(?:.*\r\n)*Host: ${publicHost}:\\d+\r\n`),
  );
  assert.deepEqual((await reached({ host: publicAddress })).tried, [publicAddress]);
  const refused = "the host is at an address that is not allowed";
  for (const attempt of [
    { addresses: [publicAddress, "127.0.0.1"] },
    { addresses: ["::ffff:a9fe:a9fe"], policy: opening(publicHost) },
    { addresses: [] },
    ...["127.0.0.1", "0x7f.1", "169.254.169.254", "[::1]", "[64:ff9b::7f00:1]"].map((host) => ({ host })),
  ]) {
    const { status, tried: to } = await reached(attempt);
    assert.deepEqual([status, to], [refused, []], JSON.stringify(attempt));
  }
  assert.deepEqual(await reached({ policy: onlyGlobal }), {
    status: "the URL must begin with https://",
    requests: [],
    tried: [],
  });
});

// A certificate for hooks.example that nobody trusts, valid for a hundred years.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNZHH3B37dJWoNW95
eVttuV0YRNog7axoe4eiM5FbWHehRANCAATqG3YLp0wDtvdhNV1nqFl2bcGSEmEY
9CiauoH29Bie3EH7isQ+Oh+FBhdJpQ3dL8j7+wkx5Q5uTekjL9h6GCgW
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBojCCAUegAwIBAgIUWQdYQ8mk75fC+rWOGKeESCp8A6EwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTAgFw0yNjExMjIyMDMxMzZaGA8yMTI2
MTAyOTIwMzEzNlowGDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABOobdgunTAO292E1XWeoWXZtwZISYRj0KJq6gfb0GJ7c
QfuKxD46H4UGF0mlDd0vyPv7CTHlDm5N6SMv2HoYKBajbTBrMB0GA1UdDgQWBBTW
oyTIF5ox9pQ1ukwHDxT+s4TKHjAfBgNVHSMEGDAWgBTWoyTIF5ox9pQ1ukwHDxT+
s4TKHjAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDWhvb2tzLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSQAwRgIhAM0OgKvuQGKr9XMbsjW7K9dkIa6vLcPr2qhUFSIo
55xxAiEAl8ZCM7Dbk3+nCTXs967AbwBousOURBoHu18pHE32qqY=
-----END CERTIFICATE-----`;

test("over https the receiver has to prove its name: one that cannot is sent nothing", async () => {
  const bodies: string[] = [];
  const server = createTlsServer({ key, cert }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      bodies.push(`${String(socket.servername)} ${bytes.toString()}`);
      socket.end("HTTP/1.1 204 No\r\n\r\n");
    });
  }).on("tlsClientError", () => {});
  const trusted = getCACertificates();
  try {
    const port = await portOf(server);
    const outcome = async (host: string) => {
      const result = await send("https", port, { host, policy: onlyGlobal });
      return result?.kind === "answered" ? result.status : result?.reason;
    };
    assert.equal(await outcome(publicHost), "could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT");
    setDefaultCACertificates([cert]);
    assert.equal(await outcome("other.example"), "could not be reached: ERR_TLS_CERT_ALTNAME_INVALID");
    assert.deepEqual(bodies, []);
    assert.equal(await outcome(publicHost), 204);
    assert.match(bodies[0] ?? "", /^hooks\.example POST \/hook/);
  } finally {
    setDefaultCACertificates(trusted);
    server.close();
  }
});
