/**
 * Request bodies as bytes: whole and within the limit of C10, or piece by piece for a file.
 */
import { Fault } from "../core/fault.ts";

/** 1 MB of the specification, inclusive (C10). */
export const bodyBytesMax = 1_048_576;

/**
 * Reads the whole body.
 *
 * @throws Fault INVALID_INPUT when it is above `bodyBytesMax`, encoded, or ends before its announced length (C10).
 */
export async function readBody(request: Request): Promise<Uint8Array> {
  refuseEncoded(request);
  if (Number(request.headers.get("content-length") ?? 0) > bodyBytesMax) throw bodyTooLarge();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of arriving(request.body)) {
    length += piece.length;
    if (length > bodyBytesMax) throw bodyTooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * The body of any length, in pieces as they arrive.
 *
 * @throws Fault INVALID_INPUT when it is encoded or ends before its announced length.
 */
export async function* bodyPieces(request: Request): AsyncGenerator<Uint8Array> {
  refuseEncoded(request);
  yield* arriving(request.body);
}

/** A connection that breaks off is the caller's fault, not ours. */
async function* arriving(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    yield* body;
  } catch (cause) {
    throw new Fault("INVALID_INPUT", "The body ended before all of it arrived.", { cause });
  }
}

function refuseEncoded(request: Request): void {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new Fault("INVALID_INPUT", "An encoded body is not supported.", {
      action: "Send it without Content-Encoding.",
    });
}

const bodyTooLarge = (): Fault =>
  new Fault("INVALID_INPUT", `The body is larger than ${bodyBytesMax} bytes.`, {
    action: "Split the request into smaller ones.",
  });
