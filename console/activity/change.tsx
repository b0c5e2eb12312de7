/** One change of an order: what happened, and every field before and after. */
import type { FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { fieldName } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { FieldValue } from "../parts/fields/field-value.tsx";
import { EntrySays } from "../parts/service-says.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";

export type Change = Output<"change_list">["changes"][number];

export const orderName = ({ poNumber, purchaseOrderId }: Change): string => poNumber ?? purchaseOrderId;

/** Lines are named by their products, for which the order is read. */
export const ChangeView: FunctionComponent<{ readonly change: Change }> = ({ change }) => {
  const { purchaseOrderId, changes } = change;
  const isOfLines = changes.some(({ poLineItemId }) => poLineItemId !== null);
  const { data, problem } = useReading("purchase_order_get", { purchaseOrderId }, isOfLines);
  const nameOf = (id: string): string | null =>
    data === null && problem === null
      ? texts.loading
      : (data?.purchaseOrder.lineItems.find(({ poLineItemId }) => poLineItemId === id)?.productName ?? null);
  return (
    <div class="change">
      <p>
        <a href={hrefOf("orders", purchaseOrderId)}>{orderName(change)}</a> <EntrySays entry={change} />
      </p>
      {changes.length === 0 ? (
        <p class="quiet">{texts.activity.noFields}</p>
      ) : (
        <ChangedFields changes={changes} nameOf={nameOf} />
      )}
    </div>
  );
};

interface ChangedFieldsProps {
  readonly changes: readonly {
    readonly field: string;
    /** The order's line whose field it is. */
    readonly poLineItemId?: string | null;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
  /** Name of a line, where it is known. */
  readonly nameOf?: (poLineItemId: string) => string | null;
}

export const ChangedFields: FunctionComponent<ChangedFieldsProps> = ({ changes, nameOf }) => (
  <table class="diff">
    <thead>
      <tr>
        <th scope="col">{texts.activity.field}</th>
        <th scope="col">{texts.activity.before}</th>
        <th scope="col">{texts.activity.after}</th>
      </tr>
    </thead>
    <tbody>
      {changes.map(({ field, poLineItemId = null, before, after }) => (
        <tr key={`${field} ${poLineItemId}`}>
          <th scope="row">
            {fieldName(field)}
            {poLineItemId === null ? null : <span class="quiet">{nameOf?.(poLineItemId) ?? texts.order.goneLine}</span>}
          </th>
          <td class="before">
            <FieldValue field={field} value={before} none={texts.orders.none} />
          </td>
          <td class="after">
            <FieldValue field={field} value={after} none={texts.orders.none} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
