/** Questions before something is done with several orders. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import type { PurchaseOrderHeader } from "../../../client/index.ts";
import { Dialog } from "../../parts/dialogs/dialog.tsx";
import { tickedTexts as words } from "../../texts/en/order/ticked.ts";
import { texts } from "../../texts/en/texts.ts";
import { dotted } from "../../texts/isolated.ts";

interface AskProps {
  /** Orders that were ticked when it was asked. */
  readonly orders: readonly PurchaseOrderHeader[];
  /** Progress in words; null: it has not begun. */
  readonly running: string | null;
  readonly onClose: () => void;
}

interface QuestionProps extends Omit<AskProps, "orders"> {
  readonly title: string;
  readonly action: string;
  readonly look: "primary" | "danger";
  readonly yes: () => Promise<void>;
  readonly children: ComponentChildren;
}

const Question: FunctionComponent<QuestionProps> = ({ title, action, look, yes, running, onClose, children }) => (
  <Dialog title={title} onClose={onClose}>
    {(close) => (
      <>
        {children}
        <p class="actions">
          <span role="status" class="quiet">
            {running}
          </span>
          <button type="button" disabled={running !== null} onClick={close}>
            {texts.cancel}
          </button>
          <button type="button" class={look} disabled={running !== null} onClick={() => void yes().then(close)}>
            {action}
          </button>
        </p>
      </>
    )}
  </Dialog>
);

/** The orders that it is about, each with its supplier. */
const Named: FunctionComponent<Pick<AskProps, "orders">> = ({ orders }) => (
  <ul class="named">
    {orders.map(({ purchaseOrderId, poNumber, supplierName }) => (
      <li key={purchaseOrderId}>
        <strong>{poNumber}</strong> <span class="quiet">{supplierName ?? words.noSupplier}</span>
      </li>
    ))}
  </ul>
);

export const AskSend: FunctionComponent<AskProps & { readonly yes: () => Promise<void> }> = ({ orders, ...asked }) => (
  <Question title={words.sendTitle(orders.length)} action={words.send} look="primary" {...asked}>
    <p>{words.sendText}</p>
    <Named orders={orders} />
  </Question>
);

interface AskMoveProps extends AskProps {
  readonly action: string;
  readonly isGrave: boolean;
  readonly yes: () => Promise<void>;
}

export const AskMove: FunctionComponent<AskMoveProps> = ({ orders, isGrave, ...asked }) => (
  <Question title={words.moveTitle(asked.action, orders.length)} look={isGrave ? "danger" : "primary"} {...asked}>
    <Named orders={orders} />
  </Question>
);

export const AskMerge: FunctionComponent<AskProps & { readonly yes: (into: string) => Promise<void> }> = ({
  orders,
  yes,
  ...asked
}) => {
  const [oldest] = orders.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt));
  const into = useSignal(oldest?.purchaseOrderId ?? "");
  return (
    <Question
      title={words.mergeTitle(orders.length)}
      action={words.merge}
      look="danger"
      yes={() => yes(into.value)}
      {...asked}
    >
      <p>{words.mergeText}</p>
      <label class="stays">
        {words.mergeInto}
        <select value={into.value} onChange={({ currentTarget }) => (into.value = currentTarget.value)}>
          {orders.map(({ purchaseOrderId, poNumber, poName, itemCount }) => (
            <option key={purchaseOrderId} value={purchaseOrderId}>
              {dotted([poNumber, poName])} ({words.lines(itemCount)})
            </option>
          ))}
        </select>
      </label>
    </Question>
  );
};
