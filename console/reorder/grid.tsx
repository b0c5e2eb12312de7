/**
 * The rows of a forecast view with a tick and a quantity each. Only rows in sight are drawn: a view may have 20,000.
 *
 * The arrow keys walk from row to row within a column. A row that is not drawn yet is scrolled to, and takes the focus
 * when it is.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { number, numberIn, typed } from "../data/format.ts";
import { roundedUp } from "../data/packs.ts";
import { directionOf, nextSort } from "../parts/lists/list-screen.tsx";
import { VariantPicture } from "../parts/picture.tsx";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import { Cell, columnTitle } from "./cell.tsx";
import { OutlookCell } from "./outlook-cell.tsx";
import { outlookColumns, outlookDays } from "./outlook.ts";
import type { Column, Rows } from "./rows.ts";
import { type ForecastRow, numberOf, productOf, suggested, termsOf, type Ticked } from "./ticked.ts";

/** Rows that are drawn above and below those in sight. */
const spare = 12;

/** Height of a row until the first one is measured. */
const rowHeightGuess = 56;

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, Enter: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

interface GridProps {
  readonly rows: Rows;
  /** Rows that are shown, of `total`. */
  readonly shown: readonly ForecastRow[];
  readonly total: number;
  readonly columns: readonly Column[];
  readonly sort: string;
  readonly hrefOfSort: (sort: string) => string;
  readonly open: (row: ForecastRow) => void;
  readonly ticked: Signal<Ticked>;
  /** False: the person may only look. */
  readonly canOrder: boolean;
}

export const Grid: FunctionComponent<GridProps> = ({
  rows,
  shown: all,
  total,
  columns,
  sort,
  hrefOfSort,
  open,
  ticked,
  canOrder,
}) => {
  const region = useRef<HTMLDivElement>(null);
  const rowHeight = useSignal(rowHeightGuess);
  const first = useSignal(0);
  const inSight = useSignal(20);
  // Draws once more, so that the row which was walked to takes the focus.
  const walked = useSignal(0);
  const wanted = useRef<{ readonly index: number; readonly kind: string } | null>(null);
  void walked.value;

  const measureView = (): void => {
    const { scrollTop = 0, clientHeight = 0 } = region.current ?? {};
    first.value = Math.floor(scrollTop / rowHeight.value);
    inSight.value = Math.ceil(clientHeight / rowHeight.value) + 1;
    void rows.need(first.value + inSight.value);
  };
  useEffect(() => {
    addEventListener("resize", measureView);
    return () => removeEventListener("resize", measureView);
  }, []);
  useLayoutEffect(() => {
    const height = region.current?.querySelector("tr[data-row]")?.getBoundingClientRect().height ?? 0;
    if (height > 0 && Math.abs(height - rowHeight.value) > 0.5) rowHeight.value = height;
    const { current } = wanted;
    if (current === null) return;
    const target = region.current?.querySelector<HTMLElement>(
      `[data-row="${current.index}"] [data-kind="${current.kind}"]`,
    );
    if (target === null || target === undefined) return;
    wanted.current = null;
    target.focus();
    target.scrollIntoView({ block: "nearest" });
  });
  const walk = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = steps[event.key];
    const target = event.target instanceof HTMLElement ? event.target : null;
    const kind = target?.dataset["kind"];
    const at = Number(target?.closest("tr")?.dataset["row"]);
    if (step === undefined || kind === undefined || (event.key === "Enter" && kind !== "quantity")) return;
    event.preventDefault();
    // What was written counts before the rows are drawn anew.
    target?.blur();
    const index = Math.max(0, Math.min(all.length - 1, at + step));
    wanted.current = { index, kind };
    const top = index * rowHeight.value;
    const { scrollTop = 0, clientHeight = 0 } = region.current ?? {};
    if (top < scrollTop || top > scrollTop + clientHeight - 3 * rowHeight.value)
      region.current?.scrollTo({ top: Math.max(0, top - clientHeight / 2) });
    measureView();
    walked.value += 1;
  };
  const tick = (row: ForecastRow, quantity: number): void => {
    const next = new Map(ticked.value);
    if (quantity > 0) next.set(row.variantId, { row, quantity });
    else next.delete(row.variantId);
    ticked.value = next;
  };

  const from = Math.max(0, first.value - spare);
  const drawn = all.slice(from, first.value + inSight.value + spare);
  const ids = new Set(rows.columns.value.map(({ id }) => id));
  const hasOutlook = outlookColumns.every((id) => ids.has(id));
  const span = columns.length + (canOrder ? 3 : 1) + (hasOutlook ? 1 : 0);
  return (
    // Keys of the boxes in it are handled here.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div class="forecast" ref={region} onScroll={measureView} onKeyDown={walk}>
      <table aria-rowcount={total + 1} aria-label={reorderTexts.grid}>
        <thead>
          <tr aria-rowindex={1}>
            {canOrder ? <th scope="col" aria-label={reorderTexts.order} class="tick" /> : null}
            <SortedHead id="productName" {...{ sort, hrefOfSort }}>
              {reorderTexts.product}
            </SortedHead>
            {canOrder ? (
              <th scope="col" class="amount order">
                {reorderTexts.order}
              </th>
            ) : null}
            {hasOutlook ? <th scope="col">{reorderTexts.outlook(number(outlookDays))}</th> : null}
            {columns.map((column) => (
              <SortedHead key={column.id} {...{ id: column.id, sort, hrefOfSort }} isAmount={column.type === "number"}>
                {columnTitle(column)}
              </SortedHead>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={from * rowHeight.value} span={span} />
          {drawn.map((row, index) => (
            <tr key={row.variantId} data-row={from + index} aria-rowindex={from + index + 2}>
              {canOrder ? (
                <td class="tick">
                  <input
                    type="checkbox"
                    data-kind="tick"
                    aria-label={reorderTexts.tick(productOf(row))}
                    checked={ticked.value.has(row.variantId)}
                    onChange={({ currentTarget }) =>
                      tick(row, currentTarget.checked ? suggested(row) || roundedUp(1, termsOf(row)) : 0)
                    }
                  />
                </td>
              ) : null}
              <th scope="row" title={productOf(row)}>
                <VariantPicture variantId={row.variantId} />
                <button type="button" class="plain few-lines" onClick={() => open(row)}>
                  {productOf(row)}
                </button>
              </th>
              {canOrder ? (
                <QuantityCell row={row} quantity={ticked.value.get(row.variantId)?.quantity} tick={tick} />
              ) : null}
              {hasOutlook ? <OutlookCell row={row} /> : null}
              {columns.map((column) => (
                <Cell key={column.id} column={column} row={row} currencyCode={rows.currencyCode.value} />
              ))}
            </tr>
          ))}
          <Gap height={(total - from - drawn.length) * rowHeight.value} span={span} />
        </tbody>
      </table>
    </div>
  );
};

interface SortedHeadProps {
  readonly id: string;
  readonly isAmount?: boolean;
  readonly sort: string;
  readonly hrefOfSort: (sort: string) => string;
  readonly children: string;
}

const SortedHead: FunctionComponent<SortedHeadProps> = ({ id, isAmount = false, sort, hrefOfSort, children }) => (
  <th scope="col" class={isAmount ? "amount" : undefined} aria-sort={directionOf(id, sort)}>
    <a href={hrefOfSort(nextSort(id, sort))}>{children}</a>
  </th>
);

/** The rows that are not drawn. */
const Gap: FunctionComponent<{ readonly height: number; readonly span: number }> = ({ height, span }) =>
  height <= 0 ? null : (
    <tr aria-hidden="true" class="gap">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  );

const QuantityCell: FunctionComponent<{
  readonly row: ForecastRow;
  /** Of a ticked row. */
  readonly quantity: number | undefined;
  readonly tick: (row: ForecastRow, quantity: number) => void;
}> = ({ row, quantity, tick }) => {
  const isWrong = useSignal(false);
  // Rows that arrive meanwhile draw the grid anew: what is being typed stays.
  const draft = useSignal<string | null>(null);
  const terms = termsOf(row);
  const shown = quantity ?? suggested(row);
  const rounded = roundedUp(shown, terms);
  const onDraft = numberOf(row, "draftQuantity") ?? 0;
  const spelled = (value: number | null): string | null => (value === null ? null : number(value));
  const write = (input: HTMLInputElement): void => {
    const written = input.value.trim() === "" ? 0 : numberIn(input.value);
    isWrong.value = written === null || written < 0 || Math.round(written * 1_000) / 1_000 !== written;
    if (written !== null && !isWrong.value) tick(row, written);
  };
  return (
    <td class="amount order">
      <input
        inputMode="decimal"
        autocomplete="off"
        data-kind="quantity"
        aria-label={reorderTexts.quantity(productOf(row))}
        aria-invalid={isWrong.value}
        value={draft.value ?? (shown === 0 ? "" : typed(shown))}
        onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onBlur={({ currentTarget }) => {
          if (draft.value === null) return;
          write(currentTarget);
          if (!isWrong.value) draft.value = null;
        }}
      />
      <span class="quiet">
        {" "}
        {isWrong.value ? <span class="bad">{reorderTexts.notNumber}</span> : null}
        {onDraft > 0 ? reorderTexts.onDraft(number(onDraft)) : null}{" "}
        {quantity !== undefined && rounded !== shown ? (
          <button
            type="button"
            class="plain"
            aria-label={reorderTexts.roundToLabel(number(rounded), productOf(row))}
            onClick={() => tick(row, rounded)}
          >
            {reorderTexts.roundTo(number(rounded))}
          </button>
        ) : onDraft > 0 ? null : (
          reorderTexts.terms(spelled(terms.moq), spelled(terms.packSize))
        )}
      </span>
    </td>
  );
};
