/** Rows of a forecast view that somebody looks for: by words, by supplier, in an order. Pure. */
import { type ForecastRow, productOf } from "./ticked.ts";

export interface Choice {
  readonly search: string;
  /** Name of a supplier; "" is any. */
  readonly supplier: string;
  /** Id of a column, `-` before it from high to low; "" is the order of the service. */
  readonly sort: string;
}

export const choiceIn = (query: URLSearchParams): Choice => ({
  search: query.get("search") ?? "",
  supplier: query.get("supplier") ?? "",
  sort: query.get("sort") ?? "",
});

/** A sort of the service. Undefined: its own, by product name. */
export type ServiceSort = "stockoutCost" | undefined;

/** The column by which the service sorts. */
const byName = "productName";

/** The sort in which rows are read: what is chosen if the service has it, else the dearest stock-out first. */
export const serviceSortOf = ({ sort }: Choice): ServiceSort =>
  sort === byName || sort === `-${byName}` ? undefined : "stockoutCost";

/** True if all rows are shown as the service orders them: none is needed before somebody looks at it. */
export const isWhole = ({ search, supplier, sort }: Choice): boolean =>
  `${search}${supplier}` === "" && (sort === "" || sort === byName);

const wordsOf = (row: ForecastRow): string =>
  [productOf(row), row["sku"], row["supplierName"]].join(" ").toLocaleLowerCase();

/** A blank stands last, whichever way the column is sorted. */
function compared(one: unknown, other: unknown, turn: number): number {
  const isBlank = one === null || one === undefined;
  const isOtherBlank = other === null || other === undefined;
  if (isBlank || isOtherBlank) return Number(isBlank) - Number(isOtherBlank);
  if (typeof one === "string" && typeof other === "string")
    return turn * one.localeCompare(other, undefined, { numeric: true });
  return turn * (Number(one) - Number(other));
}

/** The rows that are looked for, of rows that were read in their `serviceSortOf`. */
export function chosenOf(rows: readonly ForecastRow[], { search, supplier, sort }: Choice): readonly ForecastRow[] {
  const words = search
    .toLocaleLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = rows.filter((row) => {
    if (supplier !== "" && row["supplierName"] !== supplier) return false;
    const text = wordsOf(row);
    return words.every((word) => text.includes(word));
  });
  if (sort === "" || sort === byName) return found;
  if (sort === `-${byName}`) return found.toReversed();
  const [column, turn] = sort.startsWith("-") ? [sort.slice(1), -1] : [sort, 1];
  return found.toSorted((one, other) => compared(one[column], other[column], turn));
}

/** Names of the suppliers of these rows, in their order. */
export const suppliersIn = (rows: readonly ForecastRow[]): readonly string[] =>
  [...new Set(rows.flatMap((row) => (typeof row["supplierName"] === "string" ? [row["supplierName"]] : [])))].toSorted(
    (one, other) => one.localeCompare(other),
  );
