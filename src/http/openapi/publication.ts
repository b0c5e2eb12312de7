/**
 * A text or file that is the same for everyone, ready to be sent. It is compressed when the client accepts gzip, and
 * has a strong ETag for each of its two forms. A client that has it already gets 304. All answers share its bytes,
 * whether or not their clients read them.
 */
import { pieceRounds } from "../../base/time/rounds.ts";
import type { HttpRequest } from "../surface.ts";

/** Bytes sent at a time of a document that is the same for everyone (openapi.json, the reference page). */
export const publishedPieceBytes = 16_384;

export interface Publication {
  /** The answer to a GET or HEAD. */
  answer(request: HttpRequest): Promise<Response>;
}

interface Form {
  readonly etag: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Publishes a text, or a file; it is compressed and hashed once, when it is first asked for. */
export function publish(content: string | Uint8Array<ArrayBuffer>, contentType: string): Publication {
  let made: Promise<{ readonly plain: Form; readonly gzip: Form }> | null = null;

  async function make() {
    const plain = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const stream = new Blob([plain]).stream().pipeThrough(new CompressionStream("gzip"));
    const gzip = new Uint8Array(await new Response(stream).arrayBuffer());
    const hash = Buffer.from(await crypto.subtle.digest("SHA-256", plain)).toString("base64url");
    const form = (body: Form["body"], etag: string, encoding: Form["headers"]): Form => ({
      etag,
      body,
      headers: {
        "Content-Type": contentType,
        "Cache-Control": "no-cache",
        Vary: "Accept-Encoding",
        ETag: etag,
        "Content-Length": String(body.length),
        ...encoding,
      },
    });
    return {
      plain: form(plain, `"${hash}"`, {}),
      gzip: form(gzip, `"${hash}-gzip"`, { "Content-Encoding": "gzip" }),
    };
  }

  return {
    async answer(request) {
      made ??= make();
      const forms = await made;
      const form = takesGzip(request.header("accept-encoding") ?? "") ? forms.gzip : forms.plain;
      const known = (request.header("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
      if (known.includes(form.etag) || known.includes("*")) {
        const {
          "Content-Type": _type,
          "Content-Encoding": _encoding,
          "Content-Length": _length,
          ...headers
        } = form.headers;
        return new Response(null, { status: 304, headers });
      }
      return new Response(piecesOf(form.body), { headers: form.headers });
    },
  };
}

/**
 * Publishes a text that is loaded when it is first asked for.
 *
 * @param load  null: this installation does not carry it.
 */
export function publishLater(
  load: () => Promise<string | null>,
  contentType: string,
): () => Promise<Publication | null> {
  let loading: Promise<Publication | null> | null = null;
  return () => (loading ??= load().then((text) => (text === null ? null : publish(text, contentType))));
}

/** Pieces of all documents are sent in the order in which their readers ask. */
const rounds = pieceRounds();

/**
 * The bytes as a stream, a piece for each that the client has read. A `Response` of the bytes themselves would copy
 * them. The system takes megabytes for a reader who stalls: without rounds, each would hold the event loop meanwhile.
 */
function piecesOf(body: Form["body"]): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  let hasLeft = false;
  return new ReadableStream(
    {
      async pull(controller) {
        await rounds.turn();
        if (hasLeft) return;
        controller.enqueue(body.subarray(sent, sent + publishedPieceBytes));
        sent += publishedPieceBytes;
        if (sent >= body.length) controller.close();
      },
      cancel: () => void (hasLeft = true),
    },
    { highWaterMark: 0 },
  );
}

/** True if an Accept-Encoding allows gzip: by name or by `*`, and not with a weight of zero. */
export function takesGzip(acceptEncoding: string): boolean {
  const weights = new Map(
    acceptEncoding.split(",").map((entry): [string, number] => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
