/**
 * Ordinary requests for a `ReplySurface` on Node's own objects. Every other request takes the web's form (server.ts).
 * Such are those with a body of unknown or excessive length, with a target or a Host to check closely, or for another
 * surface.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyBytesMax } from "../body.ts";
import { giveBack, type Reply } from "../../requests/envelope.ts";
import type { HttpRequest } from "../surface.ts";

const ordinaryTarget = /^\/[\w\-.~%!$&'()*+,;=:@/]*(?:\?[\w\-.~%!$&'()*+,;=:@/?]*)?$/;

const ordinaryHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i;

const ordinaryMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]);

/** Time in which the rest of a body may arrive that nobody wants: a refusal was answered before it was read. */
const unwantedBodyMs = 500;

/**
 * Longer bodies are written as bytes: Node joins a text with the headers and copies it once more, and holds that until
 * it is read.
 */
const textMax = 65_536;

export const isOrdinary = ({ method = "", url = "", headers }: IncomingMessage): boolean =>
  ordinaryMethods.has(method) &&
  ordinaryTarget.test(url) &&
  ordinaryHost.test(headers.host ?? "") &&
  headers["transfer-encoding"] === undefined &&
  Number(headers["content-length"] ?? 0) <= bodyBytesMax;

export function requestFrom(incoming: IncomingMessage): HttpRequest {
  return {
    method: incoming.method ?? "",
    header(name) {
      const value = incoming.headers[name];
      return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
    },
    readBody: (take) => readBody(incoming, take),
    web: () => {
      throw new Error("a request for a reply has no web form");
    },
  };
}

function readBody(incoming: IncomingMessage, take: (piece: Uint8Array) => void): Promise<void> | null {
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (length === 0) return null;
  // As a rule it came with the headers. Listeners, a time limit and a promise for it are a third of what a replay takes
  // beyond a read.
  const arrived: Uint8Array | null = incoming.readableLength === length && !incoming.destroyed ? incoming.read() : null;
  if (arrived !== null) {
    incoming.resume();
    take(arrived);
    return null;
  }
  return new Promise((resolve, reject) => {
    const onData = (piece: Uint8Array): void => {
      try {
        take(piece);
      } catch (error) {
        incoming.off("data", onData);
        incoming.resume();
        reject(error);
      }
    };
    // Every request closes; an error of one that has ended would be made for nobody.
    const brokenOff = (): void => {
      if (!incoming.readableEnded) reject(new Error("the connection was closed"));
    };
    incoming.on("data", onData).once("end", resolve).once("error", brokenOff).once("close", brokenOff);
  });
}

/** Writes the reply, headers and body in one piece. */
export function writeReply(
  { status, headers, body, bytes: made }: Reply,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const lines = ["X-Content-Type-Options", "nosniff"];
  for (const name in headers) lines.push(name, headers[name] ?? "");
  const bytes = made ?? (body.length < textMax ? null : Buffer.from(body));
  const length = bytes?.length ?? Buffer.byteLength(body);
  if (length > 0) lines.push("Content-Type", "application/json", "Content-Length", String(length));
  outgoing.writeHead(status, lines);
  // Of ASCII the bytes are the same, and Node need not look for others.
  if (bytes === null) outgoing.end(body, length === body.length ? "latin1" : "utf8");
  else {
    outgoing.end(bytes);
    // It closes when the system has taken all of it or its socket is closed: nothing reads the bytes after that.
    outgoing.once("close", () => giveBack(bytes));
  }
  if (incoming.complete) return;
  incoming.resume();
  setTimeout(() => {
    if (!incoming.complete) incoming.socket.destroySoon();
  }, unwantedBodyMs).unref();
}
