/** Rows that were copied from a sheet, as lines to add. Pure; the look-up of codes comes as a function. */
import type { CatalogueLineInput } from "../../../client/index.ts";

/** Fault of a row, by the cell that it is about. */
type RowFault = "code" | "quantity" | "cost" | "date";

export interface PastedRow {
  /** From 1, as the person counts. */
  readonly row: number;
  readonly code: string;
  readonly quantity: number | null;
  readonly unitCost: number | null;
  readonly date: string | null;
  readonly faults: readonly RowFault[];
}

/**
 * The cells of a line: separated by tab, semicolon, or comma where it has neither. A quoted cell may have separators,
 * and quotes doubled.
 */
function cellsOf(line: string): readonly string[] {
  const plain = line.replaceAll(/"(?:[^"]|"")*"/g, "");
  const separator = plain.includes("\t") ? "\t" : plain.includes(";") ? ";" : ",";
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    if (character === separator && !isQuoted) {
      cells.push(cell);
      cell = "";
    } else cell += character;
  }
  return [...cells, cell].map((each) => {
    const trimmed = each.trim();
    const [, quoted] = /^="([^]*)"$/.exec(trimmed) ?? /^"([^]*)"$/.exec(trimmed) ?? [];
    return (quoted === undefined ? trimmed : quoted.replaceAll('""', '"')).replace(/^'/, "").trim();
  });
}

/** A currency as it stands before or behind an amount: a sign, or three letters. */
const currency = /^(?:\p{Sc}|[A-Z]{3})\s*|\s*(?:\p{Sc}|[A-Z]{3})$/gu;

/** A number whose mark of decimals is that of another country, and can be no other mark. */
const foreign = /^-?\d+[.,](?:\d{1,2}|\d{4})$/;

/** Splits a paste into rows; a first row without a number is a heading. */
export function rowsIn(text: string, numberInText: (text: string) => number | null): readonly PastedRow[] {
  const numberIn = (cell: string): number | null => {
    const bare = cell.replaceAll(currency, "");
    return numberInText(bare) ?? (foreign.test(bare) ? Number(bare.replace(",", ".")) : null);
  };
  const cells = text.split(/\r\n|\r|\n/).map(cellsOf);
  const filled = cells.flatMap((row, index) => (row.some((cell) => cell !== "") ? [{ row, number: index + 1 }] : []));
  const [first] = filled;
  const hasHeading = first !== undefined && filled.length > 1 && !/\d/.test(first.row[1] ?? "");
  return (hasHeading ? filled.slice(1) : filled).map(
    ({ row: [code = "", quantity = "", cost = "", date = ""], number }) => {
      const [count, unitCost] = [numberIn(quantity), numberIn(cost)];
      const faults: RowFault[] = [];
      if (code === "") faults.push("code");
      if (count === null || count <= 0) faults.push("quantity");
      if (cost !== "" && unitCost === null) faults.push("cost");
      if (date !== "" && !/^\d{4}-\d{2}-\d{2}$/.test(date)) faults.push("date");
      return { row: number, code, quantity: count, unitCost, date: date === "" ? null : date, faults };
    },
  );
}

/** The rows as lines; null while a row is wrong or its code is unknown. */
export function linesOf(
  rows: readonly PastedRow[],
  variantIds: ReadonlyMap<string, string>,
): readonly CatalogueLineInput[] | null {
  const lines = rows.map(({ code, quantity, unitCost, date, faults }) => {
    const variantId = variantIds.get(code);
    return variantId === undefined || quantity === null || faults.length > 0
      ? null
      : {
          variantId,
          quantityOrdered: quantity,
          ...(unitCost === null ? {} : { unitCost }),
          ...(date === null ? {} : { expectedDeliveryDate: date }),
        };
  });
  const whole = lines.filter((line) => line !== null);
  return whole.length === lines.length && whole.length > 0 ? whole : null;
}
