/**
 * The app on a socket of Node: parser limits, errors of the parser in the service's own words, and an orderly stop.
 *
 * Invariant H6: what the parser refuses (431, 400, 408) carries the error body and `X-Request-Id` too (C2).
 */
import { createServer, type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Fault } from "../core/fault.ts";
import { asFault, failure, type Reply, respond } from "../operations/envelope.ts";
import type { Log } from "../operations/perform.ts";
import type { Ids } from "../shop/shop.ts";
import type { App, Transport } from "./app.ts";

/** Request line and headers together; 500 line ids in a query fit (C31). */
const headerBytesMax = 65_536;
/** From the first byte of a request to the last of its headers. */
const headersTimeoutMs = 15_000;
/** From the first byte of a request to the last of its body; a file of 100,000 orders takes its minutes to import. */
const requestTimeoutMs = 3_600_000;
/** How long an idle connection is kept open for the next request. */
const keepAliveTimeoutMs = 65_000;
/** How often the two time limits are looked at. */
const timeoutCheckMs = 5_000;

export interface ServerOptions {
  readonly app: App;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ids: Ids;
  readonly log: Log;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, closes idle connections, and resolves when every running request has been answered. */
  stop(): Promise<void>;
}

/** Listens. @throws Error with the system's code (`EADDRINUSE`) when it cannot. */
export async function startHttpServer({ app, host, port, ids, log }: ServerOptions): Promise<RunningServer> {
  const listener = getRequestListener((request, { incoming }) => app.fetch(request, transportOf(incoming)), {
    overrideGlobalObjects: false,
    // What cannot even be made a `Request` of: a bad Host header or request target.
    errorHandler: (error) =>
      respond(failure(ids.next("req"), error instanceof RequestError ? malformed(error) : asFault(error))),
  });
  let stopping = false;
  const server = createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
    },
    (incoming, outgoing) => {
      // While stopping, a connection must not stay open for a next request.
      outgoing.once("close", () => stopping && setImmediate(() => server.closeIdleConnections()));
      void listener(incoming, outgoing);
    },
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = ids.next("req");
    const { reply, status } = parserReply(requestId, error);
    log.warn({ requestId, status, code: error.code }, "request not understood");
    socket.end(rawAnswer(reply, status));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    host,
    port: typeof address === "object" && address !== null ? address.port : port,
    stop: () =>
      new Promise((resolve, reject) => {
        stopping = true;
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeIdleConnections();
      }),
  };
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
  new Fault("INVALID_INPUT", "The request's target or Host header is malformed.", { cause });

/** What the parser refused, in the service's words. The HTTP status tells more than the code's own. */
function parserReply(
  requestId: string,
  error: NodeJS.ErrnoException,
): { readonly reply: Reply; readonly status: number } {
  switch (error.code ?? "") {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        reply: failure(
          requestId,
          new Fault("INVALID_INPUT", `Request line and headers are larger than ${headerBytesMax} bytes.`, {
            action: "Send fewer or shorter headers and parameters.",
          }),
        ),
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return {
        status: 408,
        reply: failure(
          requestId,
          new Fault("INVALID_INPUT", "The request did not arrive in time.", { action: "Send it again." }),
        ),
      };
    default:
      return {
        status: 400,
        reply: failure(requestId, new Fault("INVALID_INPUT", "This is not a well-formed HTTP request.")),
      };
  }
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
