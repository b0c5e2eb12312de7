/**
 * Gaps of a draft before it can be sent: where the goods go, and from whom they come. Asked for where the order is
 * shown.
 */
import type { FunctionComponent } from "preact";
import { openpo } from "../data/client.ts";
import { locations, suppliers } from "../data/look-ups.ts";
import { signedIn } from "../data/session.ts";
import { Combobox } from "../parts/fields/combobox.tsx";
import { place } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { mayDo } from "./moves.ts";
import type { FullOrder, OrderState } from "./order-state.ts";

const words = texts.newOrder;

export const Missing: FunctionComponent<{ readonly state: OrderState; readonly order: FullOrder }> = ({
  state,
  order: { purchaseOrderId, status, supplierId, locationId },
}) => {
  const choose = (field: "supplierId" | "locationId", id: string): void =>
    void state.change<"purchase_order_update">({
      send: (ifMatch) => openpo.call("purchase_order_update", { purchaseOrderId, [field]: id }, { ifMatch }),
      touches: [{ lineItemId: null, field }],
      made: (made) =>
        state.tell(({ tellEdited }) =>
          tellEdited(state, made, field === "supplierId" ? texts.order.supplier : texts.order.location),
        ),
    });
  if (status !== "Draft" || !mayDo(signedIn()?.person.role ?? "viewer", "edit-lines")) return null;
  if (locationId !== null && supplierId !== null) return null;
  return (
    <div class="missing">
      {locationId === null ? (
        <Combobox
          label={words.goesTo}
          hint={words.hint}
          search={(search) => locations({ search }, true)}
          choose={({ id }) => choose("locationId", id)}
          isFirst={place.value.query.has("new")}
        />
      ) : null}
      {supplierId === null ? (
        <Combobox
          label={words.comesFrom}
          hint={words.hint}
          search={(search) => suppliers({ search }, true)}
          choose={({ id }) => choose("supplierId", id)}
        />
      ) : null}
    </div>
  );
};
