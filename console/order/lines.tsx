/** The order's lines: quantity, cost and date are edited in their cells and saved one by one. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { PurchaseOrderLineItem as Line } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { texts } from "../texts.ts";
import { draftIn, editColumn, productColumn, quantityColumn, skuColumn, totalColumn } from "./columns.tsx";
import { type EditColumn, nameOf } from "./edit-cell.tsx";
import { type Column, EditGrid } from "./edit-grid.tsx";
import type { FullOrder, OrderState } from "./order-state.ts";

const { columns: titles } = texts.order;

const columns: readonly Column[] = [
  productColumn,
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

interface LinesProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  readonly isEditable: boolean;
}

export const Lines: FunctionComponent<LinesProps> = ({ state, order, isEditable }) => {
  const notes = useSignal<ReadonlyMap<string, string>>(new Map());
  const note = (key: string, text: string | null): void => {
    const next = new Map(notes.value);
    if (text === null) next.delete(key);
    else next.set(key, text);
    notes.value = next;
  };

  const set = async (line: Line, column: EditColumn, text: string): Promise<void> => {
    const { poLineItemId: lineItemId } = line;
    const key = keyOf(lineItemId, column.name);
    const draft = draftIn(column.name, text);
    if (draft === null) {
      note(key, texts.order.notNumber);
      return;
    }
    note(key, texts.order.saving);
    const answer = await state.change<"purchase_order_line_item_update">({
      send: (ifMatch) =>
        openpo.call(
          "purchase_order_line_item_update",
          { purchaseOrderId: order.purchaseOrderId, lines: [{ lineItemId, ...draft }] },
          { ifMatch },
        ),
      touches: [{ lineItemId, field: column.name }],
    });
    const failed = answer?.failed.find((each) => each.lineItemId === lineItemId);
    const refused = answer === null ? (state.refusal.value?.problem.details ?? []) : [];
    const [detail] = refused.flatMap((each) => ("message" in each ? [each.message] : []));
    note(key, failed?.message ?? detail ?? null);
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
    });
    note(keyOf(line.poLineItemId, null), answer?.failed[0]?.message ?? null);
  };

  const noteOf = (line: Line, column: string | null): string | null =>
    notes.value.get(keyOf(line.poLineItemId, column)) ?? null;
  // 500 lines are drawn again only when one of them or a note has changed.
  return useMemo(
    () => (
      <EditGrid
        label={texts.order.lines}
        lines={order.lineItems}
        columns={columns}
        isEditable={isEditable}
        set={(line, column, text) => void set(line, column, text)}
        noteOf={noteOf}
        {...(isEditable
          ? {
              actionsTitle: titles.remove,
              actionsOf: (line: Line) => (
                <button
                  type="button"
                  class="plain"
                  aria-label={texts.order.removeLine(nameOf(line))}
                  onClick={() => void remove(line)}
                >
                  ×
                </button>
              ),
            }
          : {})}
      />
    ),
    [order, isEditable, notes.value],
  );
};
