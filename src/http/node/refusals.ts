/**
 * Refusals of the server itself, before there is a request or a response object: the reasons, and the bytes of the
 * answers (H6).
 */
import { STATUS_CODES } from "node:http";
import { Fault } from "../../base/fault.ts";
import type { Reply } from "../../requests/envelope.ts";
import { headerBytesMax } from "../body.ts";

/** A reason with its HTTP status, which is more exact than that of the fault's code. */
export interface Refusal {
  readonly status: number;
  readonly fault: Fault;
  /** Node's name for it, for the log. */
  readonly code?: string | undefined;
}

export const tooSlow: Refusal = {
  status: 408,
  fault: new Fault("INVALID_INPUT", "The request did not arrive in time.", { action: "Send it again." }),
};

export const stopping: Refusal = {
  status: 503,
  fault: new Fault("DO_UNAVAILABLE", "The service is stopping.", { action: "Send it again.", retryAfterMs: 5_000 }),
};

export const tooManyConnections = (retryAfterMs: number): Refusal => ({
  status: 503,
  fault: new Fault("DO_OVERLOADED", "This server has as many connections as it serves.", {
    action: "Wait, then send the request again; keep connections open and use fewer.",
    retryAfterMs,
  }),
});

/** Requests before this one have waited for too long. */
export const overloaded = (retryAfterMs: number): Fault =>
  new Fault("DO_OVERLOADED", "This server has more requests than it can answer in time.", {
    action: "Wait, then send the request again. Nothing was changed.",
    retryAfterMs,
  });

export const tooManyRequests: Refusal = {
  status: 503,
  fault: new Fault("DO_OVERLOADED", "Too many requests wait for their answers.", {
    action: "Wait for answers before sending more requests on one connection.",
    retryAfterMs: 1_000,
  }),
};

export const expectationFailed: Refusal = {
  status: 417,
  fault: new Fault("INVALID_INPUT", "The Expect header asks for something that is not supported.", {
    action: "Leave it out, or send `Expect: 100-continue`.",
  }),
};

export const connectRefused: Refusal = {
  status: 400,
  fault: new Fault("INVALID_INPUT", "CONNECT is not supported: this is no proxy."),
};

export const severalHosts: Refusal = {
  status: 400,
  fault: new Fault("INVALID_INPUT", "The request has more than one Host header."),
};

/** A request of which not even a `Request` can be made. */
export const malformedTarget = (cause: unknown): Fault =>
  new Fault("INVALID_INPUT", "The request's target or Host header is missing or malformed.", { cause });

/** Returns the refusal for an error of Node's parser. */
export function parserRefusal({ code }: NodeJS.ErrnoException): Refusal {
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

/** The bytes of an answer on a connection that has no response object; the connection is closed after it. */
export function rawAnswer(reply: Reply, status: number): string {
  const headers = {
    ...reply.headers,
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Content-Length": String(Buffer.byteLength(reply.body)),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${reply.body}`;
}
