/**
 * The app on a socket of Node: time and size limits, errors of the parser as error bodies, and an orderly stop.
 *
 * Owns: the listening socket and its limits. Does not own: open connections (connections.ts), the words of a refusal
 * (refusals.ts).
 *
 * Invariants:
 * - H6. What the parser refuses (431, 400, 408) carries the error body and `X-Request-Id` too (C2).
 * - H8. A stop ends: a request that has arrived is answered, and no client can delay it by sending or reading nothing.
 */
import { getRequestListener, RequestError } from "@hono/node-server";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createListener, type ListenOptions, type Server as Listener } from "node:net";
import type { Duplex } from "node:stream";
import { asFault, failure, type Reply, respond } from "../../requests/envelope.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Log } from "../../store/store.ts";
import type { App, Transport } from "../app.ts";
import type { Gauge } from "../metrics.ts";
import { headerBytesMax } from "../body.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { isOrdinary, requestFrom, writeReply } from "./reply.ts";
import {
  connectRefused,
  expectationFailed,
  malformedTarget,
  parserRefusal,
  severalHosts,
  stopping,
  tooSlow,
} from "./refusals.ts";

/** Connections that a node serves. A request of a further one is answered 503 if none of them is idle. */
export const connectionsMax = 2_000;

/** Sockets that listen on the port, on Linux. */
export const listeningSockets = 16;

/** From the connection, or the first byte of a later request, to the last of its headers. Then the answer is 408. */
export const headersTimeoutMs = 15_000;

/** From the first byte of a request to the last of its body; a file of 100,000 orders takes its minutes to import. */
export const requestTimeoutMs = 3_600_000;

/** Time for which an idle connection is kept open for the next request. */
export const keepAliveTimeoutMs = 65_000;

/** Interval at which these times are checked: what they end may take so much longer. */
export const timeoutCheckMs = 5_000;

/**
 * Answers that clients have not read yet, of all connections. Beyond it the connection is cut whose answer has waited
 * longest.
 */
export const unreadBytesMax = 67_108_864;

/**
 * A connection on which nothing can be sent, or of whose body nothing arrives, is cut after this time. Where the system
 * has taken a part of a write, Node waits for this time once more.
 */
export const silenceMs = 25_000;

/** Time limits that Node holds. */
export interface ArrivalLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckMs: number;
}

export const defaultArrivalLimits: ArrivalLimits = {
  headersTimeoutMs,
  requestTimeoutMs,
  keepAliveTimeoutMs,
  timeoutCheckMs,
};

/** Time limits that depend on the client's silence or on a stop. */
export interface WaitLimits {
  /** For a body of which nothing arrives, and for an answer of which nothing is read. */
  readonly silenceMs: number;
  /** While stopping: a request of which not all has arrived yet. */
  readonly arrivalMs: number;
  /** While stopping: everything that runs. Longer than the longest wait of an operation with default settings. */
  readonly drainMs: number;
}

export const defaultWaitLimits: WaitLimits = { silenceMs, arrivalMs: 5_000, drainMs: 60_000 };

const defaultConnectionLimits: ConnectionLimits = { connectionsMax, unreadBytesMax };

/**
 * Connections that the system holds for each listening socket until the process accepts them; the system may hold
 * fewer.
 */
const backlog = 4_096;

interface ServerOptions {
  readonly app: App;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ids: Ids;
  readonly log: Log;
  readonly waitLimits?: WaitLimits;
  readonly arrivalLimits?: ArrivalLimits;
  readonly connectionLimits?: ConnectionLimits;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Gauges of its connections. */
  readonly gauges: readonly Gauge[];
  /**
   * Stops accepting, closes idle connections, and resolves when every running request has been answered or its time
   * limit is over (`WaitLimits`).
   */
  stop(): Promise<void>;
}

/** Serves the app. @throws Error with the system's code (`EADDRINUSE`) when it cannot listen. */
export async function startHttpServer(options: ServerOptions): Promise<RunningServer> {
  const { app, host, port, ids, log, waitLimits = defaultWaitLimits, arrivalLimits = defaultArrivalLimits } = options;
  const answer: Parameters<typeof getRequestListener>[0] = async (request, { incoming }) => {
    const response = await app.fetch(request, transportOf(incoming));
    // The listener soon closes the connection of a body of which only a part was read: a client that is told sends
    // nothing more on it.
    if (!incoming.complete && request.bodyUsed) response.headers.set("Connection", "close");
    return response;
  };
  const listener = getRequestListener(answer, {
    overrideGlobalObjects: false,
    // What cannot even be made a `Request`: a missing or bad Host header, a bad request target.
    errorHandler: (error) =>
      respond(failure(ids.next("req"), error instanceof RequestError ? malformedTarget(error) : asFault(error))),
  });
  const connections = new Connections({
    ids,
    log,
    limits: options.connectionLimits ?? defaultConnectionLimits,
    async serve(incoming, outgoing): Promise<void> {
      const [path = ""] = (incoming.url ?? "").split("?", 1);
      if (!app.repliesAt(path) || !isOrdinary(incoming)) {
        await listener(incoming, outgoing);
        return;
      }
      const reply = await app.reply(requestFrom(incoming), transportOf(incoming));
      sendReply(reply, incoming, outgoing, log);
    },
    async refuse(incoming, outgoing, fault): Promise<void> {
      const reply = await app.refuse(requestFrom(incoming), transportOf(incoming), fault);
      sendReply(reply, incoming, outgoing, log);
    },
  });
  const server = createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: arrivalLimits.headersTimeoutMs,
      requestTimeout: arrivalLimits.requestTimeoutMs,
      keepAliveTimeout: arrivalLimits.keepAliveTimeoutMs,
      connectionsCheckingInterval: arrivalLimits.timeoutCheckMs,
      // The listener refuses it instead, with the error body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      // A proxy and this server could each go by a different one.
      if (hostCountOf(incoming) > 1) connections.refuse(incoming.socket, severalHosts);
      connections.begin(incoming, outgoing);
    },
  );
  server.timeout = waitLimits.silenceMs;
  server.on("connection", (socket) => connections.add(socket));
  server.on("timeout", (socket) => connections.silent(socket, tooSlow));
  server.on("connect", (_request, socket) => connections.refuse(socket, connectRefused));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else connections.refuseIncoming(socket, parserRefusal(error));
  });
  server.on("checkExpectation", (_incoming, outgoing) => {
    const requestId = ids.next("req");
    outgoing.writeHead(expectationFailed.status, {
      "X-Request-Id": requestId,
      "Content-Type": "application/json",
      "X-Content-Type-Options": "nosniff",
    });
    outgoing.end(failure(requestId, expectationFailed.fault).body);
  });
  const listeners = await listen(server, port, host);
  return {
    host,
    port: portOf(server, port),
    gauges: gaugesOf(connections),
    stop: () => stop(listeners, connections, waitLimits, log),
  };
}

/** Writes the reply, unless the connection has been closed. */
function sendReply(reply: Reply, incoming: IncomingMessage, outgoing: ServerResponse, log: Log): void {
  if (outgoing.destroyed) return;
  try {
    writeReply(reply, incoming, outgoing);
  } catch (error) {
    log.error({ err: error }, "an answer could not be written");
    incoming.socket.destroy();
  }
}

const gaugesOf = (connections: Connections): readonly Gauge[] => [
  { name: "connections", help: "Open connections.", type: "gauge", value: () => connections.count },
  {
    name: "connections_refused_total",
    help: "Connections refused because too many were open.",
    type: "counter",
    value: () => connections.refusedTotal,
  },
  {
    name: "requests_waiting",
    help: "Requests that have arrived and not started.",
    type: "gauge",
    value: () => connections.requestsWaiting,
  },
  {
    name: "requests_oldest_wait_seconds",
    help: "How long the oldest of them has waited.",
    type: "gauge",
    value: () => connections.oldestWaitMs / 1_000,
  },
  {
    name: "requests_refused_total",
    help: "Requests refused because others had waited for their start for too long.",
    type: "counter",
    value: () => connections.requestsRefusedTotal,
  },
  {
    name: "unread_answer_bytes",
    help: "Bytes of answers that clients have not read yet.",
    type: "gauge",
    value: () => connections.unreadBytes,
  },
  {
    name: "unread_answers_cut_total",
    help: "Connections cut because their client did not read its answer.",
    type: "counter",
    value: () => connections.cutTotal,
  },
];

/**
 * Listens at the address: on Linux with several sockets, since Node accepts one connection of each when the event loop
 * goes on.
 *
 * @returns the server and what else listens for it.
 * @throws Error with the system's code when the address cannot be used.
 */
async function listen(server: Server, port: number, host: string): Promise<readonly Listener[]> {
  if (process.platform !== "linux") {
    await opened(server, { port, host, backlog });
    return [server];
  }
  // Sockets that share a port would share it with another process that does so too.
  if (port !== 0) await closed(await opened(createListener(), { port, host, backlog }));
  await opened(server, { port, host, backlog, reusePort: true });
  const others = Array.from({ length: listeningSockets - 1 }, () =>
    // As Node makes the sockets of an HTTP server.
    createListener({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket)),
  );
  for (const each of others) await opened(each, { port: portOf(server, port), host, backlog, reusePort: true });
  return [server, ...others];
}

function portOf(server: Server, port: number): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** Resolves with the listener when it listens. */
function opened<T extends Listener>(listener: T, options: ListenOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(options, () => {
      listener.off("error", reject);
      resolve(listener);
    });
  });
}

/** Stops accepting. Resolves when every connection has ended. */
function closed(listener: Listener): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** Stops as `RunningServer.stop` says (H8). */
async function stop(
  listeners: readonly Listener[],
  connections: Connections,
  limits: WaitLimits,
  log: Log,
): Promise<void> {
  const ended = Promise.all(listeners.map(closed));
  connections.closeWhenIdle();
  // From here on Node no longer checks its own time limits.
  const arrival = setTimeout(() => connections.refuseAllIncoming(stopping), limits.arrivalMs);
  const drain = setTimeout(() => {
    log.warn({ connections: connections.count }, "connections that did not end in time are cut off");
    connections.destroyAll();
  }, limits.drainMs);
  try {
    await ended;
  } finally {
    clearTimeout(arrival);
    clearTimeout(drain);
  }
}

const hostCountOf = ({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): number =>
  headerLines(rawHeaders, "host").length;

/** The values of the header's lines. Lengths are compared first, since this is asked of every request. */
function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] ?? "";
    if (each.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}

function transportOf(incoming: Pick<IncomingMessage, "url" | "rawHeaders" | "socket">): Transport {
  const target = incoming.url ?? "/";
  return {
    // A client may send the absolute form; the path begins at the first slash after the authority.
    target: target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, ""),
    remoteAddress: incoming.socket.remoteAddress ?? "unknown",
    headerValues: (name) => headerLines(incoming.rawHeaders, name),
  };
}
