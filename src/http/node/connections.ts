/**
 * The open connections of a server, each with the requests on it that have not been answered.
 *
 * Owns: which request runs next, how much of a connection is held in memory, refusing and closing connections. Does not
 * own: time limits and the listening socket (server.ts), what is answered to a request that could be read (the app).
 *
 * Invariants:
 * - H7. A refusal follows the answers to the requests before it on the same connection; it never takes their place.
 * - H9. A connection runs one request at a time, and the next only when its client has read the answer. So it holds one
 *       answer. All connections together hold at most `unreadBytesMax` of answers that nobody has read yet: beyond that
 *       the oldest ones are cut.
 * - H10. At most `connectionsMax` connections have a place, besides those that ask only how the process is. One that
 *   asks takes the place of the one that has been idle for longest. It is refused only if none is idle.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Fault } from "../../base/fault.ts";
import { failure } from "../../requests/envelope.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Log } from "../../store/store.ts";
import { Admission, type AdmissionLimits, RetryTimes } from "./admission.ts";
import { overloaded, rawAnswer, type Refusal, tooManyConnections, tooManyRequests } from "./refusals.ts";
import { Rounds } from "../../base/time/rounds.ts";

/**
 * Further connections that ask for nothing now. Beyond them the one that has been so for longest is refused without
 * being asked anything.
 */
export const connectionsRefusedAtOnceMax = 1_000;

/**
 * Requests of one connection that may wait for their turn before nothing more is read from it. One of them runs at a
 * time.
 */
export const pipelinedMax = 16;

/** Requests of one connection that may wait for their turn: what one read of 64 KiB can hold beyond `pipelinedMax`. */
export const pipelinedReadMax = 1_000;

/** Requests of all connections that may wait behind another one of their connection. Each takes some kilobytes. */
export const requestsWaitingMax = 20_000;

/**
 * Clients whose connection is refused are asked to retry at this rate, which takes about a tenth of the event loop's
 * time.
 */
export const refusedConnectionsPerSecond = 500;

/**
 * Time for which a refused connection stays open for its client to read why. On a busy machine a client takes seconds
 * to do so, and what it sends to a closed connection would reset it.
 */
const lingerMs = 5_000;

/** A request whose answer has not been sent to its end. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Limits that an operator may set. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly unreadBytesMax: number;
  /** Default: as the program has them. */
  readonly admission?: AdmissionLimits;
}

interface ConnectionsOptions {
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: ConnectionLimits;
  /** Answers a request; settles when the answer has been written, though not yet read. */
  readonly serve: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<unknown>;
  /** Answers a request with this fault, without looking into it. */
  readonly refuse: (incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault) => Promise<unknown>;
}

/**
 * Paths that are answered before anything that waits, and never refused. Their readers decide if the process is alive,
 * and see why it is slow.
 */
const healthPaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

const asksForHealth = ({ url = "" }: IncomingMessage): boolean => healthPaths.has(url);

export class Connections {
  readonly #options: ConnectionsOptions;
  /** Open connections, each with its exchanges in the order of arrival. */
  readonly #exchanges = new Map<Duplex, Exchange[]>();
  /** Refused connections: nothing more is read from them. */
  readonly #refused = new WeakSet<Duplex>();
  /** Connections with a place and without a request, the one that has been so for longest first. */
  readonly #idle = new Set<Duplex>();
  /** Connections without a place. */
  readonly #surplus = new Set<Duplex>();
  /** Surplus connections that ask for nothing now, the oldest first. */
  readonly #surplusUndecided = new Set<Duplex>();
  readonly #retryTimes = new RetryTimes();
  readonly #rounds = new Rounds();
  readonly #admission: Admission;
  /** Bytes of written answers that their connections have not taken yet, the oldest first. */
  readonly #unread = new Map<Exchange, number>();
  #unreadBytes = 0;
  #waiting = 0;
  #refusedTotal = 0;
  #cutTotal = 0;
  #closing = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#admission = new Admission(options.limits.admission);
  }

  get count(): number {
    return this.#exchanges.size;
  }

  /** Bytes of answers that have been written and not been read. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Connections that were refused because there were too many. */
  get refusedTotal(): number {
    return this.#refusedTotal;
  }

  /** Requests that have arrived and not started. */
  get requestsWaiting(): number {
    return this.#rounds.waiting;
  }

  /** Time for which the oldest of them has waited. */
  get oldestWaitMs(): number {
    return this.#rounds.oldestWaitMs(performance.now());
  }

  /** Requests that were refused because others had waited for too long. */
  get requestsRefusedTotal(): number {
    return this.#admission.refusedTotal;
  }

  /** Connections that were cut because nobody read their answer. */
  get cutTotal(): number {
    return this.#cutTotal;
  }

  /**
   * Adds a connection until it closes. One beyond `connectionsMax` is refused at its first request, unless that asks
   * for health or a place is free by then (H10).
   */
  add(socket: Duplex): void {
    const hasRoom = this.#hasRoom();
    this.#exchanges.set(socket, []);
    this.#rounds.accepted();
    socket.once("close", () => this.#gone(socket));
    // Node reads on when a request has ended.
    socket.on("resume", () => this.#readOnlyWhatMayWait(socket));
    if (hasRoom) this.#idle.add(socket);
    else this.#addSurplus(socket);
  }

  /** With many of them the oldest is refused without being asked: it has had the most time to send a request. */
  #addSurplus(socket: Duplex): void {
    this.#surplus.add(socket);
    this.#surplusUndecided.add(socket);
    const [oldest] = this.#surplusUndecided;
    if (oldest !== undefined && this.#surplusUndecided.size > connectionsRefusedAtOnceMax) this.#refuseSurplus(oldest);
  }

  /** Takes the place of the connection that has been idle for longest, which stays open. Returns false if none is. */
  #takePlace(): boolean {
    const [idle] = this.#idle;
    if (idle === undefined) return false;
    this.#idle.delete(idle);
    this.#addSurplus(idle);
    return true;
  }

  #hasRoom(): boolean {
    return this.#exchanges.size - this.#surplus.size < this.#options.limits.connectionsMax;
  }

  #refuseSurplus(socket: Duplex): void {
    if (this.#refused.has(socket)) return;
    this.#surplusUndecided.delete(socket);
    this.#refusedTotal += 1;
    const retryAfterMs = this.#retryTimes.next(performance.now(), refusedConnectionsPerSecond);
    this.refuse(socket, tooManyConnections(retryAfterMs));
  }

  /** Node does not close the answers that wait behind another one, so they are forgotten here. */
  #gone(socket: Duplex): void {
    const exchanges = this.#exchanges.get(socket) ?? [];
    this.#waiting -= Math.max(0, exchanges.length - 1);
    for (const exchange of exchanges) this.#forgetUnread(exchange);
    this.#exchanges.delete(socket);
    this.#idle.delete(socket);
    this.#surplus.delete(socket);
    this.#surplusUndecided.delete(socket);
  }

  /**
   * Adds a request to its connection until its answer is sent. It runs when those before it have been answered (H9).
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming;
    const exchanges = this.#exchanges.get(socket) ?? [];
    this.#idle.delete(socket);
    if (this.#surplus.has(socket)) this.#surplusQuestion(socket, incoming);
    const waits = exchanges.length > 0;
    if (waits && (exchanges.length >= pipelinedReadMax || this.#waiting >= requestsWaitingMax))
      this.refuse(socket, tooManyRequests);
    if (this.#refused.has(socket)) {
      // Closing a connection with unread bytes would make the system drop the refusal.
      incoming.resume();
      return;
    }
    const exchange = { incoming, outgoing };
    exchanges.push(exchange);
    if (this.#closing || this.#surplus.has(socket)) announceClose(exchanges);
    if (exchanges.length === 1) this.#run(exchange);
    else this.#waiting += 1;
    this.#readOnlyWhatMayWait(socket);
    outgoing.once("close", () => this.#end(exchange, exchanges));
  }

  /** A request on a connection without a place. */
  #surplusQuestion(socket: Duplex, incoming: IncomingMessage): void {
    this.#surplusUndecided.delete(socket);
    if (this.#refused.has(socket) || asksForHealth(incoming)) return;
    if (this.#hasRoom() || this.#takePlace()) this.#surplus.delete(socket);
    else this.#refuseSurplus(socket);
  }

  #run(exchange: Exchange): void {
    const { incoming, outgoing } = exchange;
    if (asksForHealth(incoming)) {
      void this.#serve(exchange);
      return;
    }
    const nowMs = performance.now();
    const queue = { waiting: this.#rounds.waiting, oldestWaitMs: this.#rounds.oldestWaitMs(nowMs) };
    const retryAfterMs = this.#admission.refuses(queue, nowMs);
    if (retryAfterMs !== null) {
      void this.#options.refuse(incoming, outgoing, overloaded(retryAfterMs));
      return;
    }
    const start = (): void => {
      this.#admission.started(performance.now());
      void this.#serve(exchange);
    };
    this.#rounds.run(start);
    outgoing.once("close", () => this.#rounds.forget(start));
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { incoming, outgoing } = exchange;
    await this.#options.serve(incoming, outgoing);
    const bytes = incoming.socket.writableLength;
    if (bytes === 0 || outgoing.closed) return;
    this.#unread.set(exchange, bytes);
    this.#unreadBytes += bytes;
    for (const [oldest] of this.#unread) {
      if (this.#unreadBytes <= this.#options.limits.unreadBytesMax) return;
      this.#cut(oldest, "an answer that nobody reads is cut off: too much waits to be read");
    }
  }

  #cut(exchange: Exchange, message: string): void {
    this.#options.log.warn({ remoteAddress: exchange.incoming.socket.remoteAddress }, message);
    this.#cutTotal += 1;
    this.#forgetUnread(exchange);
    exchange.incoming.socket.destroy();
  }

  #forgetUnread(exchange: Exchange): void {
    this.#unreadBytes -= this.#unread.get(exchange) ?? 0;
    this.#unread.delete(exchange);
  }

  /** The answer has been sent, or its connection is closed. */
  #end(exchange: Exchange, exchanges: Exchange[]): void {
    const { socket } = exchange.incoming;
    if (!this.#exchanges.has(socket)) return;
    this.#forgetUnread(exchange);
    const index = exchanges.indexOf(exchange);
    exchanges.splice(index, 1);
    if (exchanges.length > 0) this.#waiting -= 1;
    else if (!this.#surplus.has(socket) && !this.#refused.has(socket)) this.#idle.add(socket);
    if (this.#closing && exchanges.length === 0 && !this.#refused.has(socket)) socket.destroySoon();
    const [next] = exchanges;
    if (index === 0 && next !== undefined && !socket.destroyed) this.#run(next);
    if (exchanges.length < pipelinedMax && socket.isPaused()) socket.resume();
  }

  /** Nothing more is read from a connection on which `pipelinedMax` requests wait. */
  #readOnlyWhatMayWait(socket: Duplex): void {
    if ((this.#exchanges.get(socket)?.length ?? 0) >= pipelinedMax) socket.pause();
  }

  /** Ends the connection with this answer, after those that are still owed (H7). */
  refuse(socket: Duplex, refusal: Refusal): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    this.#idle.delete(socket);
    const { ids, log } = this.#options;
    const requestId = ids.next("req");
    log.warn({ requestId, status: refusal.status, code: refusal.code }, "request not understood");
    const owed = this.#exchanges.get(socket)?.findLast(({ incoming }) => incoming.complete);
    const end = (): void => endWith(socket, rawAnswer(failure(requestId, refusal.fault), refusal.status));
    if (owed === undefined) end();
    else owed.outgoing.once("close", end);
  }

  /** Refuses the request that is still arriving; without a word when its answer has begun already. */
  refuseIncoming(socket: Duplex, refusal: Refusal): void {
    const unfinished = this.#exchanges.get(socket)?.find(({ incoming }) => !incoming.complete);
    if (unfinished?.outgoing.headersSent === true) socket.destroy();
    else this.refuse(socket, refusal);
  }

  /** Refuses the requests that are still arriving on any connection. */
  refuseAllIncoming(refusal: Refusal): void {
    for (const [socket, exchanges] of this.#exchanges)
      if (exchanges.some(({ incoming }) => !incoming.complete)) this.refuseIncoming(socket, refusal);
  }

  /**
   * Nothing was read or written for a while. Closes an idle connection, cuts one whose client reads nothing of its
   * answer, and refuses one whose client owes the rest of a body.
   */
  silent(socket: Duplex, refusal: Refusal): void {
    const oldest = this.#exchanges.get(socket)?.[0];
    if (oldest === undefined) socket.destroy();
    else if (socket.writableLength > 0) this.#cut(oldest, "an answer that nobody reads is cut off");
    else if (!oldest.incoming.complete && oldest.incoming.readableLength === 0) this.refuseIncoming(socket, refusal);
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
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(timer));
}
