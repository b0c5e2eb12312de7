/** Figures that stand with records: those of a list are read after its rows, and fill them. */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import type { Output } from "../../../client/index.ts";
import { money } from "../../data/format.ts";
import { views } from "../../orders/filters.ts";
import { addressOf } from "../../orders/view-bar.tsx";
import { texts } from "../../texts/en/texts.ts";
import { recordTexts as words } from "../../texts/en/goods/records.ts";

const { none } = texts.orders;

/** By id; null: they could not be read. */
type Found<Row> = ReadonlyMap<string, Row> | null;

interface LaterProps<Row> {
  readonly found: ReadonlySignal<Found<Row> | undefined>;
  readonly id: string;
  readonly show: (row: Row) => ComponentChildren;
  readonly until: ComponentChildren;
}

function Later<Row>({ found: { value: rows }, id, show, until }: LaterProps<Row>) {
  const row = rows?.get(id);
  return <>{row !== undefined ? show(row) : rows === undefined ? until : (until ?? none)}</>;
}

/**
 * Reads figures of a page of records. @returns what shows one of them, as soon as it is read; `until` then, and where
 * there is none.
 */
export function later<Row>(ids: readonly string[], read: () => Promise<Found<Row>>) {
  const found = signal<Found<Row> | undefined>(undefined);
  if (ids.length > 0) void read().then((rows) => (found.value = rows));
  return (id: string, show: (row: Row) => ComponentChildren, until: ComponentChildren = null) => (
    <Later found={found} id={id} show={show} until={until} />
  );
}

type SupplierFigures = Output<"supplier_figures_list">["suppliers"][number];

export const openValue = ({ openValue: sums }: SupplierFigures): string =>
  sums.length === 0 ? none : sums.map(({ amount, currencyCode }) => money(amount, currencyCode)).join(" + ");

/** Late orders of a supplier, which lead to their list. */
export const Late: FunctionComponent<{ readonly of: SupplierFigures }> = ({ of: { lateOrders, supplierId } }) =>
  lateOrders === 0 ? (
    <>{none}</>
  ) : (
    <a
      class="late"
      href={addressOf(new URLSearchParams(`${views.overdue}&supplierId=${encodeURIComponent(supplierId)}`))}
    >
      {lateOrders}
    </a>
  );

interface CoverFigures {
  readonly daysOfCover: number | null;
  readonly needsReorder: boolean;
}

/** Days that the stock of a product lasts; marked where it is time to order. */
export const Cover: FunctionComponent<{ readonly of: CoverFigures }> = ({ of: { daysOfCover, needsReorder } }) =>
  daysOfCover === null ? (
    <>{none}</>
  ) : (
    <span class={needsReorder ? "late" : undefined}>{words.days(Math.floor(daysOfCover))}</span>
  );
