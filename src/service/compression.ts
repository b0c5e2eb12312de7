/**
 * Compression: gzip for answers on the wire. For stored texts Brotli at its lowest level, as base64, since both engines
 * store texts only.
 *
 * Measured on answers of 8 MB: 18 to 53 ms with base64, whatever the text holds. The size is a third to a sixtieth
 * unless the text is random. Deflate takes up to five times as long; zstd is as fast, but experimental in Node.
 */
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  type BrotliOptions,
  constants,
  deflateRawSync,
  gzip as gzipBytes,
  inflateRawSync,
} from "node:zlib";
import type { Compression } from "../store/store.ts";

const lowestLevel: BrotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 18 },
};

const compressOnThread = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);

const decompress = promisify(brotliDecompress);

/** Room for all of the text at once, in place of 16 KB a time: what is not used is collected like memory that is. */
const chunkSizeOf = (length: number): number => Math.max(constants.Z_MIN_CHUNK, length + 1);

/** Gzip, by a thread of the platform. */
export const gzip = promisify<string | Uint8Array, Buffer>(gzipBytes);

export const brotli: Compression = {
  compress: (text) => brotliCompressSync(text, lowestLevel).toString("base64"),
  async compressAside(text) {
    const bytes = await compressOnThread(Buffer.from(text), lowestLevel);
    return bytes.toString("base64");
  },
  async expand(compressed) {
    const bytes = await decompress(Buffer.from(compressed, "base64"));
    return bytes.toString("utf8");
  },
  // Deflate: a third of the time of zstd, which is made anew for each call (D398).
  pack(text, dictionary) {
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes, { dictionary, level: 6, chunkSize: chunkSizeOf(bytes.length) });
    return { bytes: packed.toString("latin1"), length: bytes.length };
  },
  unpack: ({ bytes, length }, dictionary) =>
    inflateRawSync(Buffer.from(bytes, "latin1"), { dictionary, chunkSize: chunkSizeOf(length) }).toString(),
};
