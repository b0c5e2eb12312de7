/**
 * A table whose cells are edited like a sheet: arrow keys walk, Enter or typing edits. Enter saves and goes down, Tab
 * saves and goes on, Escape gives up. One cell is in the order of Tab; a cell is a button until it is edited.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import type { PurchaseOrderLineItem as Line } from "../../../client/index.ts";
import { RowChunks } from "../../parts/lists/row-chunks.tsx";
import { Cell, type EditColumn, type Position } from "./edit-cell.tsx";

export interface FixedColumn {
  readonly name: string;
  readonly title: string;
  readonly isAmount: boolean;
  readonly shown: (line: Line) => ComponentChildren;
}

export type Column = EditColumn | FixedColumn;

/** Rows of a block that is drawn or not. */
const chunkRows = 25;

interface GridProps {
  readonly label: string;
  readonly lines: readonly Line[];
  readonly columns: readonly Column[];
  readonly isEditable: boolean;
  /** Takes the text of a cell; the page tells what became of it through `noteOf`. */
  readonly set: (line: Line, column: EditColumn, text: string) => void;
  /** Returns the fault of a cell or a whole line (`column` null), or the note that it waits to be saved. */
  readonly noteOf: (line: Line, column: string | null) => string | null;
  /** Returns the text that a person typed and could not save, which the cell goes on showing. */
  readonly keptOf?: (line: Line, column: EditColumn) => string | null;
  /** The person gives up what is kept. */
  readonly drop?: (line: Line, column: EditColumn) => void;
  readonly actionsOf?: (line: Line) => ComponentChildren;
  readonly actionsTitle?: string;
}

const isEdit = (column: Column): column is EditColumn => "kind" in column;

export const EditGrid: FunctionComponent<GridProps> = (props) => {
  const { lines, columns, isEditable, actionsOf } = props;
  const table = useRef<HTMLTableElement>(null);
  const heights = useRef({});
  const at = useSignal<Position>({ row: 0, column: columns.findIndex(isEdit) });
  const focus = (row: number, column: number): void => {
    const [last, edits] = [lines.length - 1, columns.flatMap((each, index) => (isEdit(each) ? [index] : []))];
    const nearest = edits.includes(column) ? column : (edits[0] ?? 0);
    at.value = { row: Math.min(Math.max(row, 0), last), column: nearest };
    const cell = (): HTMLElement | null =>
      table.current?.querySelector<HTMLElement>(`[data-cell="${at.value.row}/${nearest}"]`) ?? null;
    const found = cell();
    if (found !== null) found.focus();
    // The row was not drawn; now it is held.
    else requestAnimationFrame(() => cell()?.focus());
  };
  /** Leads to the cell in a direction; past the end of a row comes the next one. */
  const walk = (from: Position, rows: number, steps: number): void => {
    const edits = columns.flatMap((each, index) => (isEdit(each) ? [index] : []));
    const flat = from.row * edits.length + edits.indexOf(from.column) + steps;
    const bounded = Math.min(Math.max(flat, 0), lines.length * edits.length - 1);
    if (steps === 0) focus(from.row + rows, from.column);
    else focus(Math.floor(bounded / edits.length), edits[bounded % edits.length] ?? 0);
  };
  return (
    <div class="as-wide">
      <table class="rows grid" aria-label={props.label} aria-rowcount={lines.length + 1} ref={table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={isEdit(column) || column.isAmount ? "amount" : undefined}>
                {column.title}
              </th>
            ))}
            {actionsOf === undefined ? null : (
              <th scope="col">
                <span class="hidden">{props.actionsTitle}</span>
              </th>
            )}
          </tr>
        </thead>
        <RowChunks
          rows={lines}
          size={chunkRows}
          columns={columns.length + (actionsOf === undefined ? 0 : 1)}
          of={heights.current}
          held={at.value.row}
          draw={(line, row) => (
            <tr key={line.poLineItemId} aria-rowindex={row + 2}>
              {columns.map((column, index) => {
                const note = props.noteOf(line, column.name);
                if (!isEdit(column))
                  return index === 0 ? (
                    <th key={column.name} scope="row">
                      {column.shown(line)}
                      {props.noteOf(line, null) === null ? null : (
                        <span class="cell-note">{props.noteOf(line, null)}</span>
                      )}
                    </th>
                  ) : (
                    <td key={column.name} class={column.isAmount ? "amount" : undefined} data-name={column.title}>
                      {column.shown(line)}
                    </td>
                  );
                return (
                  <td key={column.name} class="amount" data-name={column.title}>
                    {isEditable ? (
                      <Cell
                        column={column}
                        line={line}
                        position={{ row, column: index }}
                        isInTabOrder={at.value.row === row && at.value.column === index}
                        note={note}
                        kept={props.keptOf?.(line, column) ?? null}
                        take={(text) => props.set(line, column, text)}
                        drop={() => props.drop?.(line, column)}
                        walk={walk}
                      />
                    ) : (
                      column.shown(line)
                    )}
                    {note === null ? null : <span class="cell-note">{note}</span>}
                  </td>
                );
              })}
              {actionsOf === undefined ? null : <td class="row-actions">{actionsOf(line)}</td>}
            </tr>
          )}
        />
      </table>
    </div>
  );
};
