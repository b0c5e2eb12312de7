/** Files of a directory, or texts, packed small. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

export const packed = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });

/** The text in a packed file. */
export const textIn = (file: string): string => brotliDecompressSync(readFileSync(file)).toString();

/** Packs the files of a directory: a line of JSON with names and lengths, then their bytes. */
export function packDirectory(directory: string): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort();
  const contents = files.map((file) => readFileSync(path.join(directory, file)));
  const names = JSON.stringify(files.map((file, index) => [file, contents[index]?.length]));
  return packed(Buffer.concat([Buffer.from(`${names}\n`), ...contents]));
}

/** Writes the files of an archive below the directory. */
export function unpackInto(directory: string, archive: string): void {
  const bytes = brotliDecompressSync(readFileSync(archive));
  const end = bytes.indexOf("\n");
  const names: readonly (readonly [string, number])[] = JSON.parse(bytes.subarray(0, end).toString());
  let from = end + 1;
  for (const [name, length] of names) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytes.subarray(from, from + length), { mode: 0o600 });
    from += length;
  }
}
