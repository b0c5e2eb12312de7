/**
 * The rows of the table in RESULTS.md, each with its goal, and how a benchmark reports a figure to it.
 *
 * run.ts names a file in `OPENPO_BENCH_REPORT` and puts what was reported there into the table. A benchmark that runs alone only prints.
 */
import { appendFileSync } from "node:fs";

interface Row {
  readonly name: string;
  /** `least`: the value must not be below the goal; `most`: not above it. */
  readonly goal: { readonly least: number } | { readonly most: number };
  /** Follows the value and the goal. */
  readonly unit: string;
}

const least = (name: string, value: number): Row => ({ name, goal: { least: value }, unit: "" });

const most = (name: string, value: number, unit: string): Row => ({ name, goal: { most: value }, unit });

/** The rows of size.ts that have a bound: how many times as long 200,000 orders may take as 200. */
export const sizeBounds: Readonly<Record<string, number>> = {
  "first page of 2": 1.5,
  "first page of 50": 1.5,
  "hundredth page of 2": 1.5,
  status: 2,
  "two statuses": 2,
  location: 2,
  supplier: 2,
  "paid status": 2,
  "sync state": 2,
  "date from": 2,
  "date to": 2,
  variant: 2,
  SKU: 2,
  "search that finds few, again": 4,
  "search that finds few, new": 4,
  "search that finds nothing, new": 4,
  "search that finds many, again": 4,
  "search that finds many, new": 4,
  "search of one letter, again": 4,
  "search of a supplier, again": 4,
};

/** The name in the table of a row of size.ts. */
export const sizeRowName = (name: string, onPostgres: boolean): string =>
  `${onPostgres ? "PostgreSQL, " : ""}200,000 orders against 200: ${name}`;

const sizeRows = (onPostgres: boolean): readonly Row[] =>
  Object.entries(sizeBounds).map(([name, bound]) => most(sizeRowName(name, onPostgres), bound, " ×"));

export const rows: readonly Row[] = [
  least("GET one order of 10 lines", 1.5),
  least("GET list of 50", 1.5),
  least("create, 10 lines, keyed, 1 shop", 0.6),
  least("create, 10 lines, keyed, 64 shops", 0.6),
  least("receive, 10 lines, pushed to the sandbox", 0.4),
  least("replay of a stored answer against GET", 0.8),
  most("receive 500 lines against 50", 6, " ×"),
  most("p99 of reads beside creates of the same shop", 4, " ×"),
  most("p99 of reads beside creates of 64 others", 4, " ×"),
  ...sizeRows(false),
  least("reads spread over 2,000 shops against one", 0.6),
  most("memory while 2,000 shops are made", 600, " MB"),
  most("memory after reads of 2,000 shops", 600, " MB"),
  most("start beyond bare node, no shops", 500, " ms"),
  most("start beyond bare node, 2,000 shops", 1_000, " ms"),
  most("idle memory, no shops", 130, " MB"),
  most("idle memory, 2,000 shops", 150, " MB"),
  least("import of 20,000 orders of 10 lines", 0.5),
  most("memory of an import, last quarter against first", 1.1, " ×"),
  most("view of reorders only, 20,000 variants, again", 50, " ms"),
  most("view of reorders only, 20,000 variants, after a change", 50, " ms"),
  most("view of reorders only, 20,000 variants, decided for all", 50, " ms"),
  most("console: rows of 4,000 orders, by a click", 300, " ms"),
  most("console: a search of 4,000 orders, from the key to its rows", 150, " ms"),
  most("console: a search of everything in a shop of 4,000 orders, from the key", 150, " ms"),
  most("console: export of 4,000 orders", 2_000, " ms"),
  most("console: first rows of 10,000 orders", 300, " ms"),
  most("console: a filter of 10,000 orders, 95 of 100", 250, " ms"),
  most("console: an order of 500 lines is usable", 500, " ms"),
  most("console: longest task of an order of 500 lines, at a fourth of the speed", 200, " ms"),
  most("PDF of an order of 500 lines", 3_000, " ms"),
  most("console: first of 20,000 products to reorder", 1_000, " ms"),
  most("a search of 20,000 products", 100, " ms"),
  most("console: list of 20,000 products, by its address", 250, " ms"),
  most("console: list of 2,000 suppliers, by its address", 250, " ms"),
  most("console: list of 5 locations, by its address", 250, " ms"),
  most("console: list of 20,000 products, by a click", 250, " ms"),
  most("console: list of 2,000 suppliers, by a click", 250, " ms"),
  most("console: list of 5 locations, by a click", 250, " ms"),
  most("console: a search of 20,000 products, from the key to its rows", 100, " ms"),
  most("console: a search of 2,000 suppliers, from the key to its rows", 100, " ms"),
  most("console: an import of 20,000 products", 30_000, " ms"),
  most("console: a scan's count is seen, median", 50, " ms"),
  most("slowest page of a log, whatever its filter", 300, " ms"),
  most("the event loop is held by a page of a log", 20, " ms"),
  most("steps of a tracer without an SDK, of a GET", 1, " %"),
  most("steps of a tracer without an SDK, of a keyed create", 1, " %"),
  most("PostgreSQL: round trips of a read", 3, ""),
  most("PostgreSQL: round trips of a keyed create", 5, ""),
  most("PostgreSQL: round trips of a receive, with its push", 16, ""),
  most("PostgreSQL: round trips of a receive, request alone", 6, ""),
  least("PostgreSQL: read, 10 lines", 0.4),
  least("PostgreSQL: create, 10 lines, keyed", 0.4),
  ...sizeRows(true),
];

/** What was measured for a row. */
export interface Figure {
  readonly name: string;
  /** What is held against the goal: a ratio, or an amount in the row's unit. */
  readonly value: number;
  readonly figure: string;
  /** The bound's figure. */
  readonly bound?: string;
}

const shown = (value: number): string => (value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString("en"));

/** The cells of a row: name, figure, bound, value, goal, whether it is reached. */
export function cellsOf(row: Row, { value, figure, bound = "" }: Figure): readonly string[] {
  const [sign, goal] = "least" in row.goal ? (["≥", row.goal.least] as const) : (["≤", row.goal.most] as const);
  const isReached = sign === "≥" ? value >= goal : value <= goal;
  return [
    row.name,
    figure,
    bound,
    `${shown(value)}${row.unit}`,
    `${sign} ${goal}${row.unit}`,
    isReached ? "yes" : "no",
  ];
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString("en")}/s`;

/** Prints a figure beside its goal, and reports it to the table. */
export function report(figure: Figure): void {
  const row = rows.find(({ name }) => name === figure.name);
  if (row === undefined) throw new Error(`no row ${figure.name} in the table`);
  const [name, own, bound, value, goal, reached] = cellsOf(row, figure);
  console.log(`${name}: ${own}${bound === "" ? "" : `, bound ${bound}`}: ${value} (goal ${goal}): ${reached}`);
  const file = process.env["OPENPO_BENCH_REPORT"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`);
}
