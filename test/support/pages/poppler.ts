/** Reads PDFs back with Poppler (`pdftotext`, `pdfinfo`, `pdftoppm`). */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const isThere = spawnSync("pdftotext", ["-v"]).error === undefined;

/** For `test`: why tests that need Poppler are left out; false when it is there. A run for CI fails instead. */
export const noPoppler: string | false =
  isThere || process.env["CI"] !== undefined
    ? false
    : "POPPLER IS NOT INSTALLED: PDFs are not read back (apt-get install poppler-utils)";

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 * 1_048_576 });
  if (error !== undefined || status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout;
}

function withFile<T>(bytes: Uint8Array, use: (file: string, directory: string) => T): T {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-pdf-"));
  try {
    const file = path.join(directory, "document.pdf");
    writeFileSync(file, bytes);
    return use(file, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The text of the pages, laid out as on paper; `reading`: in the order of the file instead. */
export const textOf = (bytes: Uint8Array, order: "layout" | "reading" = "layout"): string =>
  withFile(bytes, (file) => run("pdftotext", [...(order === "layout" ? ["-layout"] : []), file, "-"]));

/** What `pdfinfo` says of the file, and the tree of its structure. */
export const infoOf = (bytes: Uint8Array): string =>
  withFile(bytes, (file) => run("pdfinfo", ["-isodates", file]) + run("pdfinfo", ["-struct", file]));

/** The first page in grey, one byte a dot. */
export const firstPageOf = (bytes: Uint8Array, dotsPerInch: number): { width: number; height: number; dots: Buffer } =>
  withFile(bytes, (file, directory) => {
    run("pdftoppm", ["-gray", "-r", String(dotsPerInch), "-l", "1", "-singlefile", file, path.join(directory, "page")]);
    const picture = readFileSync(path.join(directory, "page.pgm"));
    const [head = "", width = "", height = ""] =
      /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(picture.toString("latin1", 0, 40)) ?? [];
    return { width: Number(width), height: Number(height), dots: picture.subarray(head.length) };
  });
