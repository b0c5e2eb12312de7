/** A figure of a forecast by the type of its column. */
import type { FunctionComponent } from "preact";
import { money, number } from "../data/format.ts";
import { Day } from "../parts/when.tsx";
import { serviceTexts } from "../texts/en/service.ts";
import { texts } from "../texts/en/texts.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import type { Column } from "./rows.ts";
import type { ForecastRow } from "./ticked.ts";

/** Columns that the product, the box for the quantity, or another column shows. */
const shownElsewhere = new Set(["productName", "variantName", "supplierId", "moq", "packSize", "draftQuantity"]);

export const shownColumns = (columns: readonly Column[]): readonly Column[] =>
  columns.filter(({ id }) => !shownElsewhere.has(id));

export const columnTitle = ({ id, displayName }: Column): string => serviceTexts.fields[id] ?? displayName;

function wordsOf({ id, unit, currencyColumn }: Column, row: ForecastRow, currencyCode: string): string {
  const value = row[id];
  if (value === null || value === undefined) return texts.orders.none;
  if (typeof value === "boolean") return value ? reorderTexts.yes : reorderTexts.no;
  if (typeof value === "string") return value;
  if (unit !== "currency") return number(value);
  const own = currencyColumn === null || currencyColumn === undefined ? null : row[currencyColumn];
  return money(value, typeof own === "string" ? own : currencyCode);
}

export const Cell: FunctionComponent<{
  readonly column: Column;
  readonly row: ForecastRow;
  readonly currencyCode: string;
}> = ({ column, row, currencyCode }) => {
  const value = row[column.id];
  if (column.type === "date" && typeof value === "string")
    return (
      <td class="date">
        <Day at={value} />
      </td>
    );
  const words = wordsOf(column, row, currencyCode);
  return (
    <td class={column.type === "number" ? "amount" : column.type} title={column.type === "string" ? words : undefined}>
      {words}
    </td>
  );
};
