/**
 * The open connections of a server, each with the requests on it that have not been answered.
 *
 * Owns: refusing and closing connections. Does not own: time limits and the listening socket (server.ts), what is answered to a
 * request that could be read (the app).
 *
 * Invariants:
 * - H7. A refusal follows the answers to the requests before it on the same connection; it never takes their place.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { failure } from "../../operations/envelope.ts";
import type { Ids, Log } from "../../store/store.ts";
import { rawAnswer, type Refusal } from "./refusals.ts";

/** How long a refused connection stays open for its client to read why. */
const lingerMs = 1_000;

/** A request whose answer has not been sent to its end. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export class Connections {
  readonly #ids: Ids;
  readonly #log: Log;
  /** Open connections, each with its exchanges in the order of arrival. */
  readonly #exchanges = new Map<Duplex, Exchange[]>();
  /** Refused connections: nothing more is read from them. */
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(ids: Ids, log: Log) {
    this.#ids = ids;
    this.#log = log;
  }

  get count(): number {
    return this.#exchanges.size;
  }

  /** Adds a connection until it closes. */
  add(socket: Duplex): void {
    this.#exchanges.set(socket, []);
    socket.once("close", () => this.#exchanges.delete(socket));
  }

  /** Adds a request to its connection until its answer is sent. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming;
    const exchanges = this.#exchanges.get(socket) ?? [];
    const exchange = { incoming, outgoing };
    exchanges.push(exchange);
    if (this.#closing) announceClose(exchanges);
    outgoing.once("close", () => {
      exchanges.splice(exchanges.indexOf(exchange), 1);
      if (this.#closing && exchanges.length === 0 && !this.#refused.has(socket)) socket.destroySoon();
    });
  }

  /** Ends the connection with this answer, after those that are still owed (H7). */
  refuse(socket: Duplex, refusal: Refusal): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const requestId = this.#ids.next("req");
    this.#log.warn({ requestId, status: refusal.status, code: refusal.code }, "request not understood");
    const owed = this.#exchanges.get(socket)?.findLast(({ incoming }) => incoming.complete);
    const end = (): void => endWith(socket, rawAnswer(failure(requestId, refusal.fault), refusal.status));
    if (owed === undefined) end();
    else owed.outgoing.once("close", end);
  }

  /** Refuses the request that is still arriving; without a word when its answer has begun already. */
  refuseArriving(socket: Duplex, refusal: Refusal): void {
    const arriving = this.#exchanges.get(socket)?.find(({ incoming }) => !incoming.complete);
    if (arriving?.outgoing.headersSent === true) socket.destroy();
    else this.refuse(socket, refusal);
  }

  /** Refuses the requests that are still arriving on any connection. */
  refuseAllArriving(refusal: Refusal): void {
    for (const [socket, exchanges] of this.#exchanges)
      if (exchanges.some(({ incoming }) => !incoming.complete)) this.refuseArriving(socket, refusal);
  }

  /** Nothing was read or written for a while: closes an idle connection, and refuses one whose client owes the rest of a body. */
  silent(socket: Duplex, refusal: Refusal): void {
    const oldest = this.#exchanges.get(socket)?.[0];
    if (oldest === undefined) socket.destroy();
    else if (!oldest.incoming.complete && oldest.incoming.readableLength === 0) this.refuseArriving(socket, refusal);
  }

  /** Closes idle connections now, and each other one after its last answer. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const [socket, exchanges] of this.#exchanges) {
      if (exchanges.length === 0) socket.destroy();
      else announceClose(exchanges);
    }
  }

  destroyAll(): void {
    for (const socket of this.#exchanges.keys()) socket.destroy();
  }
}

/** Tells the client, with the last answer of its connection, to send no more requests on it. */
function announceClose(exchanges: readonly Exchange[]): void {
  for (const [index, { outgoing }] of exchanges.entries()) {
    if (outgoing.headersSent) continue;
    if (index === exchanges.length - 1) outgoing.setHeader("Connection", "close");
    else outgoing.removeHeader("Connection");
  }
}

/** Sends the last bytes and closes: at once on this side, and a moment later whatever the client does. */
function endWith(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
