/**
 * Commands on a shop's records: import and export.
 */
import { memberOf } from "../../base/json.ts";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { CommandError, commandErrorOf, exitCodes, usageError } from "../errors.ts";
import {
  type CommandContext,
  commonOptions,
  dataOf,
  given,
  progressOption,
  type RunnableCommand,
  shopOption,
  withOperator,
} from "../command.ts";
import { bytesShown, listIn, type Output, shown } from "../output.ts";

/** The name of stdin and stdout, where a file is named. */
const standard = "-";

/** The bytes of a file or of stdin, with progress. */
async function* fileBytes(file: string, { stdin, output }: CommandContext): AsyncGenerator<Uint8Array> {
  const total = file === standard ? null : await sizeOf(file);
  let read = 0;
  for await (const piece of file === standard ? stdin() : createReadStream(file)) {
    yield piece;
    read += piece.length;
    const of = total === null ? "" : ` of ${bytesShown(total)}`;
    output.progress(
      read === total ? `All ${bytesShown(read)} are read; importing the records …` : `Read ${bytesShown(read)}${of}`,
    );
  }
}

/** @throws CommandError when there is no such file. */
async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new CommandError(exitCodes.failed, `${file} is a directory, not a file.`);
    return found.size;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${String(memberOf(error, "code"))}.`);
  }
}

/** A refusal that names lines, each below the other, with the name of the file before them. */
function inFile(file: string, thrown: unknown): unknown {
  const error = commandErrorOf(thrown);
  if (error === null || !/^line \d/.test(error.message)) return thrown;
  const { exitCode, message, action, body } = error;
  const mistakes = listIn(body, "details").map((detail) => String(memberOf(detail, "message")));
  const listedMistakes = mistakes.length > 1 ? mistakes.map((mistake) => `\n  ${mistake}`).join("") : ` ${message}`;
  return new CommandError(exitCode, `${file === standard ? "stdin" : file}:${listedMistakes}`, { action, body });
}

export const importFile: RunnableCommand = {
  name: "import",
  parameters: ["FILE"],
  summary: "import a file of records into a shop, all or nothing",
  details: `FILE may be - for stdin. A record replaces the existing one with the same key. If rows are bad, their lines and columns are shown and
nothing is imported.

Formats:
  ndjson             what openpo export writes (the default)
  shopify-products   Shopify's product CSV
  shopify-inventory  Shopify's inventory CSV; import the products first
  supplier-prices    CSV: Unit cost, and Supplier or Supplier ID unless --supplier names the supplier; optional Currency,
                     Supplier SKU, Supplier barcode, Supplier product name, Supplier product URL, MOQ, Pack size, Lead time days
  suppliers          CSV: Supplier; optional Supplier ID, Email, Phone, Contact, Currency, Lead time days, Payment terms, Incoterm, Note,
                     Language, Status, Address 1, Address 2, City, Province, ZIP, Country, Country code
  sales              CSV: Date (YYYY-MM-DD), Quantity; optional Location or Location ID. One row per variant, location and day

CSV rows name a variant by Variant ID, by Handle and Option1 Value to Option3 Value, or by a code that one variant alone has: SKU, Barcode
and, in prices, Supplier SKU or Supplier barcode. A column that is missing in the file changes nothing. Separators are commas, semicolons or
tabs; numbers have a decimal point, or a decimal comma where semicolons separate.`,
  options: {
    ...shopOption,
    format: { value: "FORMAT", help: "format of the file (ndjson)" },
    supplier: { value: "SUPPLIER_ID", help: "the supplier of a price list (supplier-prices)", member: "supplierId" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    const file = args.parameter(0);
    const format = args.text("format") ?? "ndjson";
    const { fileFormatNames } = await import("../../exchange/csv-formats.ts");
    if (!fileFormatNames.some((name) => name === format))
      throw usageError(`--format must be one of ${fileFormatNames.join(", ")}.`, "See openpo import --help.");
    const input = given({ shopId, format, supplierId: args.text("supplier") });
    if (file !== standard) await sizeOf(file);
    await withOperator(context, async (ask) => {
      const answer = await ask("shop_import", input, fileBytes(file, context)).catch((error: unknown) => {
        throw inFile(file, error);
      });
      const data = dataOf(answer);
      const counts = Object.entries(memberOf(data, "imported") ?? {}).map(([type, count]) => `${shown(count)} ${type}`);
      const warnings = listIn(data, "warnings").map((warning) => ` ${String(memberOf(warning, "message"))}`);
      context.output.result(
        data,
        `Imported into ${shopId}: ${counts.length === 0 ? "nothing" : counts.join(", ")}.${warnings.join("")}`,
      );
    });
  },
};

/** A command that writes what an operation sends as a file. */
export const exporting = ({
  operation,
  what,
  ...described
}: Pick<RunnableCommand, "name" | "summary" | "details"> & {
  readonly operation: string;
  readonly what: "records" | "lines";
}): RunnableCommand => ({
  ...described,
  parameters: [],
  options: {
    ...shopOption,
    output: { value: "FILE", help: "write to this file instead of stdout; it appears when it is complete" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const answer = await ask(operation, { shopId });
      if (!("file" in answer)) throw new Error("an export is a file");
      await fileOrStdout(args.text("output"), answer.file, { shopId, what }, context.output);
    });
  },
});

export const exportFile = exporting({
  name: "export",
  summary: "export all records of a shop as NDJSON, for openpo import",
  operation: "shop_export",
  what: "records",
});

/**
 * Writes lines to the file that was named, or to stdout, with progress. `what` they are is a member of the result, too.
 */
async function fileOrStdout(
  named: string | null,
  file: AsyncIterable<string | Uint8Array>,
  { shopId, what }: { readonly shopId: string; readonly what: "records" | "lines" },
  output: Output,
): Promise<void> {
  const target = named ?? standard;
  let bytes = 0;
  let lines = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of file) {
      const buffer = Buffer.from(piece);
      bytes += buffer.length;
      for (let at = buffer.indexOf("\n"); at !== -1; at = buffer.indexOf("\n", at + 1)) lines += 1;
      yield buffer;
      output.progress(`Written ${lines} ${what}, ${bytesShown(bytes)}`);
    }
  };
  if (target === standard) {
    for await (const piece of counted()) await output.piece(piece);
    return;
  }
  await writeWhole(target, counted());
  output.result({ shopId, file: target, [what]: lines, bytes }, `${lines} ${what} of ${shopId} are in ${target}.`);
}

/** Writes a file that appears under its name only when it is complete and synced. */
export async function writeWhole(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${file}.partial`;
  const handle = await open(partial, "w").catch((error: unknown) => {
    throw new CommandError(exitCodes.failed, `${file} cannot be written: ${String(memberOf(error, "code"))}.`);
  });
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await handle.sync();
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close();
    await rm(partial, { force: true });
    throw error;
  }
}
