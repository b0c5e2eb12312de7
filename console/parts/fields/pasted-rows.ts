/** Rows that were copied from a sheet, by the columns that somebody wants of them. Pure. */

export interface PasteColumn {
  readonly name: string;
  /**
   * Left out: a text. `number`: 0 or more. `amount`: the same with a currency or without. `count`: above 0, and needed.
   */
  readonly kind?: "amount" | "number" | "count" | "date";
  /** Heading of the column, in small letters. */
  readonly head: RegExp;
  /** Text about a cell that cannot be read. */
  readonly fault: string;
}

export interface PastedRow {
  /** From 1, as the person counts. */
  readonly row: number;
  /** From the first column. */
  readonly code: string;
  /** Values of the other columns that the row has. */
  readonly values: Readonly<Record<string, number | string>>;
  /** Columns whose cell cannot be read. */
  readonly faults: readonly string[];
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

/** Where each column stands: by its heading if the first row names it and another one, else in their order. */
function placesIn(columns: readonly PasteColumn[], heading: readonly string[]) {
  const named = columns.map(({ head }) => heading.findIndex((cell) => head.test(cell.toLowerCase())));
  const isNamed = named[0] !== -1 && named.filter((at) => at !== -1).length > 1;
  // A column without a heading has its place in the order, if no other heading stands there.
  const places = named.map((at, index) => (!isNamed || (at === -1 && (heading[index] ?? "") === "") ? index : at));
  return { isNamed, places };
}

/** Splits a paste into rows by columns, the code first. A first row without a number is a heading. */
export function rowsIn(
  text: string,
  columns: readonly PasteColumn[],
  numberInText: (text: string) => number | null,
): readonly PastedRow[] {
  const numberIn = (bare: string): number | null =>
    numberInText(bare) ?? (foreign.test(bare) ? Number(bare.replace(",", ".")) : null);
  const cells = text.split(/\r\n|\r|\n/).map(cellsOf);
  const filled = cells.flatMap((row, index) => (row.some((cell) => cell !== "") ? [{ row, number: index + 1 }] : []));
  const { row: first = [] } = filled[0] ?? {};
  const { isNamed, places } = placesIn(columns, first);
  const hasHeading = filled.length > 1 && (isNamed || !/\d/.test(first[1] ?? ""));
  return (hasHeading ? filled.slice(1) : filled).map(({ row, number }) => {
    const values: Record<string, number | string> = {};
    const faults: string[] = [];
    const [, ...others] = columns;
    const code = row[places[0] ?? 0] ?? "";
    if (code === "") faults.push(columns[0]?.name ?? "");
    for (const [index, { name, kind }] of others.entries()) {
      const cell = row[places[index + 1] ?? -1] ?? "";
      if (cell === "" && kind !== "count") continue;
      if (kind === undefined) values[name] = cell;
      else if (kind === "date") {
        if (/^\d{4}-\d{2}-\d{2}$/.test(cell)) values[name] = cell;
        else faults.push(name);
      } else {
        const value = numberIn(cell.replaceAll(currency, ""));
        if (value === null || value < 0 || (kind === "count" && value === 0)) faults.push(name);
        else values[name] = value;
        const [code] = kind === "amount" ? (/[A-Z]{3}/.exec(cell) ?? []) : [];
        if (code !== undefined) values[`${name}CurrencyCode`] = code;
      }
    }
    return { row: number, code, values, faults };
  });
}
