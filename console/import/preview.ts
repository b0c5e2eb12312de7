/**
 * The beginning of a table as a person sees it, and what it is, by its head. Pure. The service reads the file anew and
 * decides.
 */

/** A row with the line that it begins on. */
interface PreviewRow {
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Preview {
  readonly head: readonly string[];
  readonly rows: readonly PreviewRow[];
}

const separators = [",", ";", "\t"] as const;

/** Rows of CSV, at most so many. The last one may be cut off. */
function rowsOf(text: string, separator: string, rowsMax: number): readonly PreviewRow[] {
  const rows: PreviewRow[] = [];
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  let line = 1;
  let began = 1;
  const endRow = (): void => {
    if (cells.length > 0 || cell !== "") rows.push({ line: began, cells: [...cells, cell] });
    cells = [];
    cell = "";
    began = line;
  };
  for (let at = 0; at < text.length && rows.length < rowsMax; at += 1) {
    const character = text[at] ?? "";
    if (character === "\n") line += 1;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r") cell += character;
  }
  if (rows.length < rowsMax) endRow();
  return rows;
}

/** A first line that only names the separator. */
const separatorLine = /^"?sep=([,;\t|])"?\n/i;

/** The head and the first rows of a table, whatever separates its cells; records of JSON have no head. */
export function previewOf(text: string, rowsMax: number): Preview {
  // Lines end with LF, CR LF or CR, as the service reads them.
  const plain = text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  if (plain.startsWith("{")) {
    const lines = plain.split("\n", rowsMax).filter((line) => line.trim() !== "");
    return { head: [], rows: lines.map((line, index) => ({ line: index + 1, cells: [line] })) };
  }
  const [alone = "", named] = separatorLine.exec(plain) ?? [];
  const table = plain.slice(alone.length);
  const tables = (named === undefined ? separators : [named]).map((separator) =>
    rowsOf(table, separator, rowsMax + 1).map((row) => (alone === "" ? row : { ...row, line: row.line + 1 })),
  );
  const widest = tables.reduce((one, other) =>
    (other[0]?.cells.length ?? 0) > (one[0]?.cells.length ?? 0) ? other : one,
  );
  const [head, ...rows] = widest;
  return { head: head?.cells.map((cell) => cell.trim()) ?? [], rows };
}

export const kinds = [
  "shopify-products",
  "shopify-inventory",
  "supplier-prices",
  "suppliers",
  "sales",
  "ndjson",
] as const;

export type Kind = (typeof kinds)[number];

/** Returns the most likely kind of a file; null when its head has no sign of one. */
export function kindOf(fileName: string, { head }: Preview): Kind | null {
  if (/\.(?:ndjson|jsonl)$/i.test(fileName) || head.length === 0) return "ndjson";
  const names = head.map((name) => name.toLowerCase().replaceAll(/[\s_-]/g, ""));
  const has = (...wanted: readonly string[]): boolean =>
    wanted.some((name) => names.some((each) => each === name || each.startsWith(`${name}(`)));
  if (has("onhand")) return "shopify-inventory";
  if (has("date", "day") && has("quantity", "quantitysold", "netquantity")) return "sales";
  if (has("unitcost", "suppliersku", "moq") || (has("supplier") && has("cost", "price"))) return "supplier-prices";
  if (has("supplier", "name", "vendor") && has("email", "phone", "contact", "paymentterms", "city")) return "suppliers";
  return has("handle", "urlhandle") && has("title") ? "shopify-products" : null;
}

/** A mistake in a file. Null: it is of no line, or of the whole of it. */
export interface Mistake {
  readonly line: number | null;
  readonly column: string | null;
  readonly text: string;
}

/** The mistake that the service names, with line and column apart from what is wrong there. */
export function mistakeIn(message: string): Mistake {
  const [place = "", line, column = null] = /^line (\d+)(?:, column "((?:[^"\\]|\\.)*)")?: /.exec(message) ?? [];
  return { line: line === undefined ? null : Number(line), column, text: message.slice(place.length) };
}

/** The text of one line of a file; null when it is not there. */
export async function lineOf(file: Blob, wanted: number): Promise<string | null> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let before = 0;
  let line = "";
  for (let isReturned = false; ;) {
    const { done, value } = await reader.read();
    if (done) return before + 1 === wanted && line !== "" ? line : null;
    // A line feed behind a carriage return that the piece before ended with ends no further line.
    const text = isReturned && value.startsWith("\n") ? value.slice(1) : value;
    isReturned = value.endsWith("\r");
    const [first = "", ...rest] = text.split(/\r\n|\r|\n/);
    line += first;
    for (const next of rest) {
      before += 1;
      if (before === wanted) return line;
      line = next;
    }
  }
}
