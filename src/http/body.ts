/**
 * Request bodies as bytes: whole and within the limit of C10, or piece by piece for a file.
 *
 * Owns: how much memory the bodies of all requests take together, and whose they are.
 *
 * Invariants:
 * - H15. Nobody's bodies take more memory than they leave free for those of others. So one shop, or whoever sends no
 *        key, takes half of it at most, and a shop that sends few always finds some.
 */
import { JoinedBytes } from "../base/joined-bytes.ts";
import { pieceRounds } from "../base/time/rounds.ts";
import { inTime } from "../base/time/waiting.ts";
import { Fault } from "../base/fault.ts";
import type { HttpRequest } from "./surface.ts";

/** Request line and headers together; 500 line ids in a query fit (C31). More is answered 431. */
export const headerBytesMax = 65_536;

/** The body of a request: 1 MB of the specification, inclusive (C10). */
export const bodyBytesMax = 1_048_576;

/** Bodies of all requests that are being read or served. */
export const bodiesBytesMax = 67_108_864;

/** Time in which the body of a request must arrive. Files that are imported may take `requestTimeoutMs`. */
export const bodyArrivalMs = 60_000;

const lineFeed = 0x0a;

/** Whose memory a body takes if its sender is not known: all of them share it. */
export const unauthenticated = "unauthenticated";

/** Whose memory the bodies of a shop's keys, people and suppliers take, once their sender is known. */
export const ofShop = (shopId: string | null): string => (shopId === null ? "operator" : `shop ${shopId}`);

interface BodyLimits {
  /** Of all bodies together. */
  readonly bytesMax: number;
  /** From the first read to the last byte. */
  readonly arrivalMs: number;
}

const defaultLimits: BodyLimits = { bytesMax: bodiesBytesMax, arrivalMs: bodyArrivalMs };

/** The memory that bodies of requests take in a process, from their first byte until the request is answered. */
export class BodyBudget {
  readonly limits: BodyLimits;
  /** Rounds of the pieces of files. */
  readonly pieceRounds = pieceRounds();
  /** Holders of bodies, each with the bytes of theirs. */
  readonly #heldBy = new Map<string, number>();
  #bytes = 0;

  constructor(limits: Partial<BodyLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Fault DO_OVERLOADED when the holder's bodies would take more than they leave free (H15). */
  take(holder: string, bytes: number): void {
    const held = (this.#heldBy.get(holder) ?? 0) + bytes;
    if (held > this.limits.bytesMax - this.#bytes - bytes)
      throw new Fault("DO_OVERLOADED", "The server holds as many request bodies as it can; nothing was changed.", {
        action: "Wait, then send the same request again; send fewer large requests in parallel.",
        retryAfterMs: 1_000,
      });
    this.#bytes += bytes;
    this.#heldBy.set(holder, held);
  }

  give(holder: string, bytes: number): void {
    this.#bytes -= bytes;
    const held = (this.#heldBy.get(holder) ?? 0) - bytes;
    if (held === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, held);
  }
}

/** The body of one request. */
export class RequestBody {
  readonly #request: HttpRequest;
  readonly #budget: BodyBudget;
  #holder = unauthenticated;
  #held = 0;

  constructor(request: HttpRequest, budget: BodyBudget) {
    this.#request = request;
    this.#budget = budget;
  }

  /**
   * Reads the whole body.
   *
   * @param holder whose memory it takes: `ofShop` of a sender who is known, or `unauthenticated`.
   * @param bytesMax of this body.
   * @param goesOn asked once, when a body turns out to be longer than `first.bytes`, with what has been read; false
   *   refuses the rest.
   * @throws Fault INVALID_INPUT  it has more than `bytesMax` bytes, is encoded, ends before its announced length, or
   *                              takes too long to arrive (C10).
   * @throws Fault DO_OVERLOADED  the process holds too many bodies, or too many of this holder.
   */
  async whole(
    holder: string,
    {
      bytesMax = bodyBytesMax,
      first = null,
    }: {
      readonly bytesMax?: number;
      readonly first?: { readonly bytes: number; readonly goesOn: (read: Uint8Array) => boolean } | null;
    } = {},
  ): Promise<Uint8Array> {
    this.#holder = holder;
    refuseEncoded(this.#request);
    if (Number(this.#request.header("content-length") ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
    const bytes = new JoinedBytes();
    let continued = first === null;
    let isOver = false;
    const read = this.#request.readBody((piece) => {
      if (isOver) throw tooSlow();
      if (bytes.length + piece.length > bytesMax) throw bodyTooLarge(bytesMax);
      this.#budget.take(holder, piece.length);
      this.#held += piece.length;
      bytes.add(piece);
      if (continued || first === null || bytes.length <= first.bytes) return;
      continued = true;
      if (!first.goesOn(bytes.joined())) throw bodyTooLarge(first.bytes);
    });
    try {
      if (read !== null) await arrived(read, this.#budget.limits.arrivalMs);
    } finally {
      isOver = true;
    }
    return bytes.joined();
  }

  /**
   * The body of any length, in pieces as they arrive. The line that has not ended yet takes memory, since its reader
   * holds it. The event loop goes on between pieces, of which megabytes may have arrived.
   *
   * @param lineBytesMax the most that a reader holds of a line.
   * @throws Fault INVALID_INPUT  it is encoded or ends before its announced length.
   * @throws Fault DO_OVERLOADED  as `whole`.
   */
  async *pieces(holder: string, lineBytesMax: number): AsyncGenerator<Uint8Array> {
    this.#holder = holder;
    refuseEncoded(this.#request);
    const { body } = this.#request.web();
    if (body === null) return;
    const arriving = body[Symbol.asyncIterator]();
    const next = () =>
      arriving.next().catch((cause: unknown) => {
        throw endedEarly(cause);
      });
    try {
      for (let read = await next(); read.done !== true; read = await next()) {
        const { value: piece } = read;
        const ended = piece.lastIndexOf(lineFeed) + 1;
        this.#hold(Math.min(ended === 0 ? this.#held + piece.length : piece.length - ended, lineBytesMax));
        await this.#budget.pieceRounds.turn();
        yield piece;
      }
    } finally {
      await arriving.return?.();
    }
  }

  /** Takes or gives memory, so that this body has so much. @throws Fault DO_OVERLOADED when there is not so much. */
  #hold(bytes: number): void {
    if (bytes > this.#held) this.#budget.take(this.#holder, bytes - this.#held);
    else this.#budget.give(this.#holder, this.#held - bytes);
    this.#held = bytes;
  }

  /** The request has been answered. */
  release(): void {
    this.#budget.give(this.#holder, this.#held);
    this.#held = 0;
  }
}

/**
 * Waits for the last piece. @throws Fault INVALID_INPUT when it has not arrived within this time, or the body breaks
 * off.
 */
const arrived = (read: Promise<void>, arrivalMs: number): Promise<void> =>
  inTime(arrivalMs, () => read, tooSlow).catch((error: unknown) => {
    throw error instanceof Fault ? error : endedEarly(error);
  });

/** A connection that breaks off is the caller's fault, not ours. */
const endedEarly = (cause: unknown): Fault =>
  new Fault("INVALID_INPUT", "The body ended before all of it arrived.", { cause });

function refuseEncoded(request: HttpRequest): void {
  const encoding = request.header("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new Fault("INVALID_INPUT", "An encoded body is not supported.", {
      action: "Send it without Content-Encoding.",
    });
}

const bodyTooLarge = (bytesMax: number): Fault =>
  new Fault("INVALID_INPUT", `The body is larger than ${bytesMax} bytes.`, {
    action: "Split the request into smaller ones.",
  });

const tooSlow = (): Fault =>
  new Fault("INVALID_INPUT", "The body took too long to arrive.", { action: "Send the request again." });
