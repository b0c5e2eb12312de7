/** The order's lines: quantity, cost and date are edited in their cells and saved one by one. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { PurchaseOrderLineItem as Line } from "../../../client/index.ts";
import { openpo } from "../../data/client.ts";
import { faultInWords } from "../../data/session.ts";
import { Icon } from "../../parts/icon.tsx";
import { texts } from "../../texts/en/texts.ts";
import { draftIn, editColumn, linkedProductColumn, quantityColumn, skuColumn, totalColumn } from "./columns.tsx";
import { type EditColumn, nameOf } from "./edit-cell.tsx";
import { type Column, EditGrid } from "./edit-grid.tsx";
import type { FullOrder, OrderState } from "../order-state.ts";

const { columns: titles } = texts.order;

const columns: readonly Column[] = [
  linkedProductColumn,
  skuColumn,
  editColumn("quantityOrdered", titles.ordered),
  quantityColumn("quantityConfirmed", titles.confirmed),
  quantityColumn("quantityReceived", titles.received),
  quantityColumn("quantityPending", titles.pending),
  editColumn("unitCost", titles.unitCost),
  editColumn("expectedDeliveryDate", titles.expected),
  totalColumn,
];

const keyOf = (lineItemId: string, column: string | null): string => `${lineItemId}/${column ?? ""}`;

/** Note on a cell, or on a line as a whole. */
interface Note {
  /** Null while it is being saved. */
  readonly text: string | null;
  /** Text that was typed and is not saved. */
  readonly kept: string | null;
}

interface LinesProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  readonly isEditable: boolean;
}

export const Lines: FunctionComponent<LinesProps> = ({ state, order, isEditable }) => {
  const notes = useSignal<ReadonlyMap<string, Note>>(new Map());
  const note = (key: string, text: string | null, kept: string | null = null): void => {
    const next = new Map(notes.value);
    if (text === null && kept === null) next.delete(key);
    else next.set(key, { text, kept });
    notes.value = next;
  };

  const set = async (line: Line, column: EditColumn, text: string): Promise<void> => {
    const { poLineItemId: lineItemId } = line;
    const key = keyOf(lineItemId, column.name);
    const draft = draftIn(column.name, text);
    if (draft === null) {
      note(key, texts.order.notNumber, text);
      return;
    }
    note(key, null, text);
    const answer = await state.change<"purchase_order_line_item_update">({
      send: (ifMatch, _, how) =>
        openpo.call(
          "purchase_order_line_item_update",
          { purchaseOrderId: order.purchaseOrderId, lines: [{ lineItemId, ...draft }], ...how },
          { ifMatch },
        ),
      isTried: true,
      touches: [{ lineItemId, field: column.name }],
      made: (made) => state.tell(({ tellEdited }) => tellEdited(state, made, column.title, nameOf(line))),
    });
    if (answer !== null) {
      const failed = answer.failed.find((each) => each.lineItemId === lineItemId);
      if (failed === undefined) note(key, null);
      else note(key, await faultInWords(failed.message), text);
      return;
    }
    const problem = state.refusal.value?.problem;
    const now = state.order.value?.lineItems.find((each) => each.poLineItemId === lineItemId);
    const [detail] = (problem?.details ?? []).flatMap((each) => ("message" in each ? [each.message] : []));
    const theirs = now === undefined ? texts.order.notSaved : texts.order.theirs(column.shown(now));
    note(key, problem === undefined ? theirs : (detail ?? texts.order.notSaved), text);
  };

  const remove = async (line: Line): Promise<void> => {
    const answer = await state.change<"purchase_order_line_item_delete">({
      send: (ifMatch) =>
        openpo.call(
          "purchase_order_line_item_delete",
          { purchaseOrderId: order.purchaseOrderId, lineItemIds: [line.poLineItemId] },
          { ifMatch },
        ),
      touches: ["quantityOrdered", "quantityConfirmed", "quantityReceived"].map((field) => ({
        lineItemId: line.poLineItemId,
        field,
      })),
      made: (made) => state.tell(({ tellLineDeleted }) => tellLineDeleted(state, made)),
    });
    const failed = answer?.failed[0];
    note(keyOf(line.poLineItemId, null), failed === undefined ? null : await faultInWords(failed.message));
  };

  /** The note; none when the order has come to say what was typed. */
  const noteAt = (line: Line, column: string | null): Note | null => {
    const found = notes.value.get(keyOf(line.poLineItemId, column)) ?? null;
    if (found?.kept === undefined || found.kept === null || column === null) return found;
    const [value] = Object.entries(draftIn(column, found.kept) ?? {}).map(([, each]) => each);
    const [now] = Object.entries(line).flatMap(([name, each]) => (name === column ? [each] : []));
    return value !== undefined && value === now ? null : found;
  };
  // 500 lines are drawn again only when one of them or a note has changed.
  return useMemo(
    () => (
      <EditGrid
        label={texts.order.lines}
        lines={order.lineItems}
        columns={columns}
        isEditable={isEditable}
        set={(line, column, text) => void set(line, column, text)}
        noteOf={(line, column) => noteAt(line, column)?.text ?? null}
        keptOf={(line, column) => noteAt(line, column.name)?.kept ?? null}
        drop={(line, column) => note(keyOf(line.poLineItemId, column.name), null)}
        {...(isEditable
          ? {
              actionsTitle: titles.remove,
              actionsOf: (line: Line) => (
                <button
                  type="button"
                  class="plain icon-only"
                  aria-label={texts.order.removeLine(nameOf(line))}
                  onClick={() => void remove(line)}
                >
                  <Icon name="x" />
                </button>
              ),
            }
          : {})}
      />
    ),
    [order, isEditable, notes.value],
  );
};
