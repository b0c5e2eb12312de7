/**
 * Lines that the supplier does not sell as they are written: said once, and rounded up in one call when the person asks
 * for it.
 */
import type { FunctionComponent } from "preact";
import { openpo } from "../../data/client.ts";
import { texts } from "../../texts/en/texts.ts";
import type { FullOrder, OrderState } from "../order-state.ts";
import { roundedUp } from "../../data/packs.ts";

export const OffPacks: FunctionComponent<{ readonly state: OrderState; readonly order: FullOrder }> = ({
  state,
  order: { purchaseOrderId, lineItems, status },
}) => {
  const off = lineItems.filter((line) => roundedUp(line.quantityOrdered, line) !== line.quantityOrdered);
  if (off.length === 0 || status !== "Draft") return null;
  const round = (): void =>
    void state.change<"purchase_order_line_item_update">({
      send: (ifMatch) =>
        openpo.call(
          "purchase_order_line_item_update",
          {
            purchaseOrderId,
            lines: off.map((line) => ({
              lineItemId: line.poLineItemId,
              quantityOrdered: roundedUp(line.quantityOrdered, line),
            })),
          },
          { ifMatch },
        ),
      touches: off.map((line) => ({ lineItemId: line.poLineItemId, field: "quantityOrdered" })),
      made: (made) => state.tell(({ tellEdited }) => tellEdited(state, made, texts.order.columns.ordered, off.length)),
    });
  return (
    <div class="notice buttons">
      <span>{texts.addLines.off(off.length)}</span>
      <button type="button" disabled={state.isSaving.value} onClick={round}>
        {texts.addLines.roundAll}
      </button>
    </div>
  );
};
