/**
 * Bulk operations: Shopify runs a query by itself and writes what it finds into a file of lines, which is read piece by
 * piece.
 *
 * Owns: beginning an operation, looking at it, reading a piece of its file. Does not own: what is asked for, and what a
 * line means (pull.ts).
 *
 * A piece is held in memory, never the file. Where the next one begins is in the cursor, so that any process goes on
 * with it. The file is on another host than the store: only Shopify's is taken, over https, and it gets no token.
 */
import { doubledMs } from "../../base/time/backoff.ts";
import { limitedTo } from "../../base/time/waiting.ts";
import { StorefrontError } from "../storefront.ts";
import type { ShopifyClient } from "./client.ts";
import { type BulkQuery, bulkStateDocument, bulkTime, runBulkDocument } from "./documents.ts";

/** Bytes of a file that are read at a time. */
const pieceBytes = 131_072;

/** The largest piece: what belongs together, like an order with its lines, is read as one. */
export const pieceBytesMax = 4_194_304;

/** Time limit of reading a piece. */
const pieceMsMax = 20_000;

/** Between two looks at an operation that runs: at first, and at most. */
const pollMs = 100;
const pollMsMax = 10_000;

/** Shopify runs so many operations of an app at a time; ours waits its turn. */
const busyMs = 10_000;

/** Times that a failed operation is begun. */
export const begunMax = 3;

/** Where a bulk operation stands. */
export interface BulkCursor {
  /** Null: it is to be begun. */
  readonly operation: string | null;
  /** Bytes of the file that have been read. */
  readonly at: number;
  readonly begun: number;
  readonly looks: number;
}

export const bulkStart: BulkCursor = { operation: null, at: 0, begun: 0, looks: 0 };

/** Lines of a file; `next` null: it was the last piece. */
interface BulkPiece {
  readonly lines: readonly unknown[];
  readonly next: BulkCursor | null;
  readonly waitMs?: number;
  /** Lines of the whole file, or as many as there are so far. */
  readonly total?: number;
}

interface BulkDependencies {
  readonly client: ShopifyClient;
  /** Returns true if a result file may be read at this address. */
  readonly mayDownload: (url: URL) => boolean;
}

/**
 * Goes on with an operation: begins it, looks whether it is done, or reads a piece.
 *
 * @param since what stands in the query's filters.
 * @throws StorefrontError
 */
export async function bulkPiece(
  parts: BulkDependencies,
  query: BulkQuery,
  since: string,
  cursor: BulkCursor,
  signal: AbortSignal | undefined,
): Promise<BulkPiece> {
  const { client } = parts;
  if (cursor.operation === null) return await begin(client, query, since, cursor, signal);
  const { bulkOperation } = await client.ask(
    bulkStateDocument,
    { id: cursor.operation },
    { writes: false, items: 0, signal },
  );
  switch (bulkOperation?.status) {
    case "CREATED":
    case "RUNNING":
      return {
        lines: [],
        next: { ...cursor, looks: cursor.looks + 1 },
        waitMs: doubledMs(cursor.looks + 1, pollMs, pollMsMax),
        total: bulkOperation.objectCount,
      };
    case "COMPLETED": {
      const { url, fileSize, objectCount } = bulkOperation;
      // Nothing was found.
      if (url === null) return { lines: [], next: null, total: 0 };
      const piece = await readPiece(parts, url, cursor.at, fileSize, query.grouped, signal);
      const next = piece.isLast ? null : { ...cursor, at: cursor.at + piece.bytes };
      return { lines: piece.lines, next, total: objectCount };
    }
    case undefined:
    default:
      return restarted(query, cursor, bulkOperation?.errorCode ?? bulkOperation?.status ?? "it is not known any more");
  }
}

/** An operation that has failed is begun anew, a few times. */
function restarted({ name }: BulkQuery, { begun }: BulkCursor, why: string): BulkPiece {
  if (why === "ACCESS_DENIED")
    throw new StorefrontError("auth", `Shopify does not let the app read ${name}: a scope is missing`, {
      landed: "no",
    });
  if (begun >= begunMax) throw new StorefrontError("error", `Shopify could not run ${name}: ${why}`, { landed: "no" });
  return { lines: [], next: { ...bulkStart, begun }, waitMs: busyMs };
}

async function begin(
  client: ShopifyClient,
  { name, text, grouped }: BulkQuery,
  since: string,
  cursor: BulkCursor,
  signal: AbortSignal | undefined,
): Promise<BulkPiece> {
  const variables = { query: text.replaceAll(bulkTime, since), grouped };
  // A lost answer leaves an operation behind that nobody reads. That harms nothing.
  const { bulkOperationRunQuery } = await client.ask(runBulkDocument, variables, { writes: false, items: 0, signal });
  const { bulkOperation, userErrors } = bulkOperationRunQuery;
  const [error] = userErrors;
  if (error?.code === "OPERATION_IN_PROGRESS" || error?.code === "LIMIT_REACHED")
    return { lines: [], next: cursor, waitMs: busyMs };
  if (bulkOperation === null || error !== undefined)
    throw new StorefrontError("error", `Shopify does not run ${name}: ${error?.message ?? "it does not say why"}`, {
      landed: "no",
    });
  return { lines: [], next: { operation: bulkOperation.id, at: 0, begun: cursor.begun + 1, looks: 0 }, waitMs: pollMs };
}

interface FilePiece {
  readonly lines: readonly unknown[];
  /** Of the file, that the lines take. */
  readonly bytes: number;
  readonly isLast: boolean;
}

/** Whole lines of the file from `at` on; of a grouped one whole groups. */
async function readPiece(
  { mayDownload }: BulkDependencies,
  address: string,
  at: number,
  fileSize: number | null,
  grouped: boolean,
  signal: AbortSignal | undefined,
): Promise<FilePiece> {
  const url = URL.parse(address);
  if (url === null || !mayDownload(url))
    throw new StorefrontError("auth", `Shopify names a result file on ${url?.host ?? "no host"}, which is not read`, {
      landed: "no",
    });
  for (let wanted = pieceBytes; wanted <= pieceBytesMax; wanted *= 2) {
    const { bytes, isEnd } = await download(url, at, wanted, signal);
    const isLast = isEnd || (fileSize !== null && at + bytes.byteLength >= fileSize);
    const piece = wholeLines(bytes, isLast, grouped);
    if (piece !== null) return piece;
  }
  throw new StorefrontError("error", `a line of Shopify's result file is larger than ${pieceBytesMax} bytes`, {
    landed: "no",
  });
}

const newline = 0x0a;

/** Null: nothing in the bytes is whole. */
function wholeLines(bytes: Buffer, isLast: boolean, grouped: boolean): FilePiece | null {
  const lines: unknown[] = [];
  /** Where the last group begins: in lines, and in bytes. */
  let group = { lines: 0, bytes: 0 };
  let from = 0;
  while (from < bytes.byteLength) {
    const found = bytes.indexOf(newline, from);
    if (found === -1 && !isLast) break;
    const end = found === -1 ? bytes.byteLength : found;
    if (end > from) {
      const line = lineFrom(bytes.toString("utf8", from, end));
      if (!isPart(line)) group = { lines: lines.length, bytes: from };
      lines.push(line);
    }
    from = end + 1;
  }
  if (isLast) return { lines, bytes: bytes.byteLength, isLast };
  // The last group may go on behind the piece.
  const whole = grouped ? group : { lines: lines.length, bytes: from };
  return whole.lines === 0 ? null : { lines: lines.slice(0, whole.lines), bytes: whole.bytes, isLast };
}

function lineFrom(text: string): unknown {
  try {
    const line: unknown = JSON.parse(text);
    return line;
  } catch {
    throw new StorefrontError("error", "a line of Shopify's result file is not JSON", { landed: "no" });
  }
}

const isPart = (line: unknown): boolean => typeof line === "object" && line !== null && "__parentId" in line;

/** At most `length` bytes of the file from `at` on. No token, no redirects. */
async function download(
  url: URL,
  at: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly bytes: Buffer; readonly isEnd: boolean }> {
  const ends = limitedTo(pieceMsMax, signal);
  try {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { range: `bytes=${at}-${at + length - 1}`, "accept-encoding": "identity" },
      signal: ends,
    });
    if (response.status === 416) {
      await response.body?.cancel();
      return { bytes: Buffer.alloc(0), isEnd: true };
    }
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel();
      throw new StorefrontError("error", `Shopify's result file cannot be read (HTTP ${response.status})`, {
        landed: "no",
      });
    }
    // A host that does not know ranges sends the file from its beginning.
    return await readUpTo(response, response.status === 206 ? 0 : at, length);
  } catch (error) {
    if (error instanceof StorefrontError) throw error;
    const kind = ends.aborted ? "timeout" : "error";
    throw new StorefrontError(kind, "Shopify's result file could not be read", { landed: "no" });
  }
}

async function readUpTo(
  response: Response,
  skip: number,
  length: number,
): Promise<{ readonly bytes: Buffer; readonly isEnd: boolean }> {
  const pieces: Uint8Array[] = [];
  let toSkip = skip;
  let read = 0;
  for await (const piece of response.body ?? []) {
    const rest = piece.subarray(Math.min(toSkip, piece.byteLength));
    toSkip -= piece.byteLength - rest.byteLength;
    pieces.push(rest.subarray(0, length - read));
    read += Math.min(rest.byteLength, length - read);
    // Leaving the loop cancels the rest.
    if (read >= length) break;
  }
  return { bytes: Buffer.concat(pieces), isEnd: read < length };
}
