/**
 * The app on a socket of Node: parser limits, errors of the parser in the service's own words, and an orderly stop.
 *
 * Invariants:
 * - H6. What the parser refuses (431, 400, 408) carries the error body and `X-Request-Id` too (C2).
 * - H7. A refusal stands behind the answers to the requests before it on the same connection, never in their place.
 * - H8. A stop ends: a request that has arrived is answered, and nobody can hold the process by sending or reading nothing.
 */
import { RequestError, getRequestListener } from "@hono/node-server";
import { type IncomingMessage, STATUS_CODES, type ServerResponse, createServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Fault } from "../../core/fault.ts";
import { type Reply, asFault, failure, respond } from "../../operations/envelope.ts";
import type { Ids, Log } from "../../store/store.ts";
import type { App, Transport } from "../app.ts";
import { headerBytesMax } from "../openapi-components.ts";

/** From the first byte of a request to the last of its headers. */
const headersTimeoutMs = 15_000;

/** From the first byte of a request to the last of its body; a file of 100,000 orders takes its minutes to import. */
const requestTimeoutMs = 3_600_000;

/** How long an idle connection is kept open for the next request. */
const keepAliveTimeoutMs = 65_000;

/** How often the two time limits are looked at. */
const timeoutCheckMs = 5_000;

/** How long a refused connection is kept open for its client to read why. */
const lingerMs = 1_000;

/** Time limits that depend on the client's silence or on a stop. */
export interface WaitLimits {
  /** A body that is waited for and of which nothing arrives. */
  readonly silenceMs: number;
  /** While stopping: a request of which not all has arrived yet. */
  readonly arrivalMs: number;
  /** While stopping: everything that runs; more than the longest wait of an operation with default settings. */
  readonly drainMs: number;
}

const defaultWaitLimits: WaitLimits = { silenceMs: 30_000, arrivalMs: 5_000, drainMs: 60_000 };

export interface ServerOptions {
  readonly app: App;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ids: Ids;
  readonly log: Log;
  readonly waitLimits?: WaitLimits;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /**
   * Stops accepting, closes connections on which nothing runs, and resolves when every running request has been answered or its
   * time is over (`WaitLimits`).
   */
  stop(): Promise<void>;
}

/** A request that has not been answered to its end. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Listens. @throws Error with the system's code (`EADDRINUSE`) when it cannot. */
export async function startHttpServer(options: ServerOptions): Promise<RunningServer> {
  const { app, host, port, ids, log, waitLimits = defaultWaitLimits } = options;
  const listener = getRequestListener((request, { incoming }) => app.fetch(request, transportOf(incoming)), {
    overrideGlobalObjects: false,
    // What cannot even be made a `Request` of: a missing or bad Host header, a bad request target.
    errorHandler: (error) =>
      respond(failure(ids.next("req"), error instanceof RequestError ? malformed(error) : asFault(error))),
  });
  let stopping = false;
  /** Open connections, each with what runs on it in the order of arrival. */
  const connections = new Map<Duplex, Exchange[]>();
  /** Connections that have been refused: nothing more is read from them. */
  const refused = new WeakSet<Duplex>();

  /** Ends the connection with this answer, behind those that are still owed (H7). */
  function refuse(socket: Duplex, refusal: Refusal): void {
    if (refused.has(socket)) return;
    refused.add(socket);
    const requestId = ids.next("req");
    log.warn({ requestId, status: refusal.status, code: refusal.code }, "request not understood");
    const owed = connections.get(socket)?.findLast(({ incoming }) => incoming.complete);
    const end = (): void => endWith(socket, rawAnswer(failure(requestId, refusal.fault), refusal.status));
    if (owed === undefined) end();
    else owed.outgoing.once("close", end);
  }

  /** Gives up a request of which not all has arrived: with a reason, unless its answer is under way already. */
  function giveUp(socket: Duplex, refusal: Refusal): void {
    const exchange = connections.get(socket)?.find(({ incoming }) => !incoming.complete);
    if (exchange?.outgoing.headersSent === true) socket.destroy();
    else refuse(socket, refusal);
  }

  /** Tells clients not to send another request after the last answer of each connection. */
  function announceClose(exchanges: readonly Exchange[]): void {
    for (const [index, { outgoing }] of exchanges.entries()) {
      if (outgoing.headersSent) continue;
      if (index === exchanges.length - 1) outgoing.setHeader("Connection", "close");
      else outgoing.removeHeader("Connection");
    }
  }

  const server = createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      // Refused by the listener instead, in the service's words.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      const { socket } = incoming;
      const exchanges = connections.get(socket) ?? [];
      const exchange = { incoming, outgoing };
      exchanges.push(exchange);
      if (stopping) announceClose(exchanges);
      outgoing.once("close", () => {
        exchanges.splice(exchanges.indexOf(exchange), 1);
        if (stopping && exchanges.length === 0 && !refused.has(socket)) socket.destroySoon();
      });
      void listener(incoming, outgoing);
    },
  );
  server.timeout = waitLimits.silenceMs;
  server.on("connection", (socket) => {
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  // Nothing has been read or written for a while: it matters only where the client is waited for.
  server.on("timeout", (socket: Socket) => {
    const waiting = connections.get(socket)?.[0];
    if (waiting === undefined) socket.destroy();
    else if (!waiting.incoming.complete && waiting.incoming.readableLength === 0) giveUp(socket, tooSlow);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else giveUp(socket, refusalOf(error));
  });
  server.on("checkExpectation", (_incoming, outgoing) => {
    const requestId = ids.next("req");
    outgoing.writeHead(expectationFailed.status, { "X-Request-Id": requestId, "Content-Type": "application/json" });
    outgoing.end(failure(requestId, expectationFailed.fault).body);
  });
  server.on("connect", (_request, socket) => refuse(socket, noTunnel));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();

  async function stop(): Promise<void> {
    stopping = true;
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    for (const [socket, exchanges] of connections) {
      if (exchanges.length === 0) socket.destroy();
      else announceClose(exchanges);
    }
    // From here on Node no longer looks at its own time limits.
    const arrival = setTimeout(() => {
      for (const [socket, exchanges] of connections)
        if (exchanges.some(({ incoming }) => !incoming.complete)) giveUp(socket, stopped);
    }, waitLimits.arrivalMs);
    const drain = setTimeout(() => {
      log.warn({ connections: connections.size }, "connections that would not end are cut off");
      for (const socket of connections.keys()) socket.destroy();
    }, waitLimits.drainMs);
    try {
      await closed;
    } finally {
      clearTimeout(arrival);
      clearTimeout(drain);
    }
  }

  return { host, port: typeof address === "object" && address !== null ? address.port : port, stop };
}

function transportOf(incoming: Pick<IncomingMessage, "url" | "rawHeaders">): Transport {
  const target = incoming.url ?? "/";
  return {
    // A client may send the absolute form; the path begins at the first slash after the authority.
    target: target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, ""),
    headerValues: (name) =>
      incoming.rawHeaders.filter(
        (_, index) => index % 2 === 1 && incoming.rawHeaders[index - 1]?.toLowerCase() === name,
      ),
  };
}

const malformed = (cause: unknown): Fault =>
  new Fault("INVALID_INPUT", "The request's target or Host header is missing or malformed.", { cause });

/** What is answered where there is no response object. The HTTP status tells more than the code's own. */
interface Refusal {
  readonly status: number;
  readonly fault: Fault;
  /** What Node calls it, for the log. */
  readonly code?: string | undefined;
}

const tooSlow: Refusal = {
  status: 408,
  fault: new Fault("INVALID_INPUT", "The request did not arrive in time.", { action: "Send it again." }),
};

const stopped: Refusal = {
  status: 503,
  fault: new Fault("DO_UNAVAILABLE", "The service is stopping.", { action: "Send it again.", retryAfterMs: 5_000 }),
};

const expectationFailed: Refusal = {
  status: 417,
  fault: new Fault("INVALID_INPUT", "The Expect header asks for something that is not supported.", {
    action: "Leave it out, or send `Expect: 100-continue`.",
  }),
};

const noTunnel: Refusal = {
  status: 400,
  fault: new Fault("INVALID_INPUT", "CONNECT is not supported: this is no proxy."),
};

/** What the parser refused, in the service's words. */
function refusalOf({ code }: NodeJS.ErrnoException): Refusal {
  switch (code ?? "") {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        fault: new Fault("INVALID_INPUT", `Request line and headers are larger than ${headerBytesMax} bytes.`, {
          action: "Send fewer or shorter headers and parameters.",
        }),
        code,
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { ...tooSlow, code };
    default:
      return { status: 400, fault: new Fault("INVALID_INPUT", "This is not a well-formed HTTP request."), code };
  }
}

/** Sends the last words and closes: at once on our side, and a moment later whatever the client does. */
function endWith(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** An answer for a connection that has no response object; it is closed behind it. */
function rawAnswer(reply: Reply, status: number): string {
  const headers = {
    ...reply.headers,
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(reply.body)),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${reply.body}`;
}
