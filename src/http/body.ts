/**
 * Request bodies as bytes: whole and within the limit of C10, or piece by piece for a file.
 *
 * Owns: how much memory the bodies of all requests take together.
 */
import { Fault } from "../core/fault.ts";
import { bodiesBytesMax, bodyArrivalMs, bodyBytesMax } from "../core/limits.ts";
import type { HttpRequest } from "./surface.ts";

interface BodyLimits {
  /** Of all bodies together. */
  readonly bytesMax: number;
  /** From the first read to the last byte. */
  readonly arrivalMs: number;
}

const defaultLimits: BodyLimits = { bytesMax: bodiesBytesMax, arrivalMs: bodyArrivalMs };

/** The memory that bodies of requests take in a process, from their first byte until the request is answered. */
export class BodyMemory {
  readonly limits: BodyLimits;
  #bytes = 0;

  constructor(limits: Partial<BodyLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Fault DO_OVERLOADED when the bodies of all requests are too large together. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.limits.bytesMax)
      throw new Fault("DO_OVERLOADED", "The server holds as many request bodies as it can; nothing was changed.", {
        action: "Wait, then send the same request again; send fewer large requests in parallel.",
        retryAfterMs: 1_000,
      });
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The body of one request. */
export class RequestBody {
  readonly #request: HttpRequest;
  readonly #memory: BodyMemory;
  #held = 0;

  constructor(request: HttpRequest, memory: BodyMemory) {
    this.#request = request;
    this.#memory = memory;
  }

  /**
   * Reads the whole body.
   *
   * @param goesOn asked once, when a body turns out to be longer than `first.bytes`, with what has been read; false refuses the rest.
   * @throws Fault INVALID_INPUT  it has more than `bodyBytesMax` bytes, is encoded, ends before its announced length, or takes too long to
   *                              arrive (C10).
   * @throws Fault DO_OVERLOADED  the process holds too many bodies.
   */
  async whole(
    first: { readonly bytes: number; readonly goesOn: (read: Uint8Array) => boolean } | null = null,
  ): Promise<Uint8Array> {
    refuseEncoded(this.#request);
    if (Number(this.#request.header("content-length") ?? 0) > bodyBytesMax) throw bodyTooLarge();
    const pieces: Uint8Array[] = [];
    let length = 0;
    let asked = first === null;
    let isOver = false;
    const read = this.#request.readBody((piece) => {
      if (isOver) throw tooSlow();
      length += piece.length;
      if (length > bodyBytesMax) throw bodyTooLarge();
      this.#memory.take(piece.length);
      this.#held += piece.length;
      pieces.push(piece);
      if (asked || first === null || length <= first.bytes) return;
      asked = true;
      if (!first.goesOn(Buffer.concat(pieces))) throw bodyTooLarge(first.bytes);
    });
    try {
      if (read !== null) await inTime(read, this.#memory.limits.arrivalMs);
    } finally {
      isOver = true;
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  /**
   * The body of any length, in pieces as they arrive.
   *
   * @throws Fault INVALID_INPUT when it is encoded or ends before its announced length.
   */
  async *pieces(): AsyncGenerator<Uint8Array> {
    refuseEncoded(this.#request);
    const { body } = this.#request.web();
    if (body === null) return;
    try {
      yield* body;
    } catch (cause) {
      throw endedEarly(cause);
    }
  }

  /** The request has been answered. */
  release(): void {
    this.#memory.give(this.#held);
    this.#held = 0;
  }
}

/** Waits for the last piece. @throws Fault INVALID_INPUT when it has not arrived within this time, or the body breaks off. */
async function inTime(read: Promise<void>, arrivalMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), arrivalMs);
  try {
    await Promise.race([read, late.promise]);
  } catch (error) {
    throw error instanceof Fault ? error : endedEarly(error);
  } finally {
    clearTimeout(timer);
  }
}

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

const bodyTooLarge = (bytesMax = bodyBytesMax): Fault =>
  new Fault("INVALID_INPUT", `The body is larger than ${bytesMax} bytes.`, {
    action: "Split the request into smaller ones.",
  });

const tooSlow = (): Fault =>
  new Fault("INVALID_INPUT", "The body took too long to arrive.", { action: "Send the request again." });
