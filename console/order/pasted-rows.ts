/** Rows that were copied from a sheet, as lines to add. Pure; the look-up of codes comes as a function. */
import type { CatalogueLineInput } from "../../client/index.ts";

/** What is wrong with a row, by the cell that it is about. */
export type RowFault = "code" | "quantity" | "cost" | "date";

export interface PastedRow {
  /** From 1, as the person counts. */
  readonly row: number;
  readonly code: string;
  readonly quantity: number | null;
  readonly unitCost: number | null;
  readonly date: string | null;
  readonly faults: readonly RowFault[];
}

/** Splits a paste into rows: tab, semicolon, or comma where a row has neither; a first row without a number is a heading. */
export function rowsIn(text: string, numberIn: (text: string) => number | null): readonly PastedRow[] {
  const cells = text
    .split(/\r?\n/)
    .map((line) => line.split(line.includes("\t") ? "\t" : line.includes(";") ? ";" : ",").map((cell) => cell.trim()));
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
