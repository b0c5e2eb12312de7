/** Columns of an order's lines, for the order's own table and for confirming. */
import type { ComponentChildren, FunctionComponent } from "preact";
import type { PurchaseOrderLineItem as Line } from "../../../client/index.ts";
import { day, money, number, numberIn, typed } from "../../data/format.ts";
import { VariantPicture } from "../../parts/picture.tsx";
import { hrefOf } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";
import type { EditColumn } from "./edit-cell.tsx";
import type { FixedColumn } from "./edit-grid.tsx";

const { columns: titles } = texts.order;

/** Fields of a line that a person edits in a cell. */
export interface LineDraft {
  readonly quantityOrdered?: number;
  readonly quantityConfirmed?: number;
  readonly unitCost?: number;
  readonly expectedDeliveryDate?: string | null;
}

const Details: FunctionComponent<{ readonly parts: readonly (string | null)[] }> = ({ parts }) => {
  const shown = parts.filter((part) => part !== null && part !== "").join(" · ");
  return shown === "" ? null : <span class="quiet">{shown}</span>;
};

const named = (line: Line): ComponentChildren => line.productName ?? line.variantId;

const productNamed = (nameOf: (line: Line) => ComponentChildren): FixedColumn => ({
  name: "product",
  title: titles.product,
  isAmount: false,
  shown: (line) => (
    <>
      <VariantPicture variantId={line.variantId} />
      {nameOf(line)}
      <Details
        parts={[
          line.variantName,
          line.isCustom ? texts.order.custom : "",
          texts.addLines.terms(line.moq, line.packSize),
        ]}
      />
    </>
  ),
});

export const productColumn = productNamed(named);

/** The same, leading to the product. */
export const linkedProductColumn = productNamed((line) =>
  line.isCustom ? named(line) : <a href={hrefOf("products", line.variantId)}>{named(line)}</a>,
);

export const skuColumn: FixedColumn = {
  name: "sku",
  title: titles.sku,
  isAmount: false,
  shown: ({ sku }) =>
    sku === null ? (
      texts.orders.none
    ) : (
      <span class="code" title={sku}>
        {sku}
      </span>
    ),
};

/** A quantity that is only shown. */
export const quantityColumn = (
  name: "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityPending",
  title: string,
): FixedColumn => ({ name, title, isAmount: true, shown: (line) => number(line[name]) });

export const totalColumn: FixedColumn = {
  name: "lineTotal",
  title: titles.total,
  isAmount: true,
  shown: (line) => money(line.lineTotal, line.unitCostCurrencyCode),
};

/** A column that is edited; `draftOf` tells what a person has written and not saved yet. */
export const editColumn = (
  name: keyof LineDraft,
  title: string,
  draftOf: (line: Line) => LineDraft = () => ({}),
): EditColumn => {
  const valueOf = (line: Line): number | string | null => {
    const { [name]: drafted } = draftOf(line);
    return drafted === undefined ? line[name] : drafted;
  };
  return {
    name,
    title,
    kind: name === "expectedDeliveryDate" ? "date" : "number",
    textOf: (line) => {
      const value = valueOf(line);
      return typeof value === "number" ? typed(value) : (value ?? "");
    },
    shown: (line) => {
      const value = valueOf(line);
      if (value === null) return texts.orders.none;
      if (typeof value === "string") return day(value);
      return name === "unitCost" ? money(value, line.unitCostCurrencyCode) : number(value);
    },
  };
};

/** The text of a cell as its field; null when it cannot be one. */
export function draftIn(column: string, text: string): LineDraft | null {
  if (column === "expectedDeliveryDate") return { expectedDeliveryDate: text === "" ? null : text };
  const value = numberIn(text);
  if (value === null) return null;
  if (column === "quantityOrdered") return { quantityOrdered: value };
  if (column === "quantityConfirmed") return { quantityConfirmed: value };
  return column === "unitCost" ? { unitCost: value } : null;
}
