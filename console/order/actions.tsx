/** Buttons for the next steps of the order, and the reasons why others are closed. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { PurchaseOrderStatus } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { signedIn } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { forgetAll } from "../orders/kept.ts";
import { go, hrefOf } from "../router.ts";
import { texts } from "../texts/texts.ts";
import { type Activity, isConfirmedShort, mayMove, movesOf, obstacleTo } from "./moves.ts";
import { PushAgain } from "./notices.tsx";
import type { FullOrder, OrderState } from "./order-state.ts";

const words = texts.orderActions;

/** Moves that a person is asked about once more. */
const grave: readonly PurchaseOrderStatus[] = ["Cancelled"];

/** Returns the text of a move's button. */
function moveTitle({ status }: FullOrder, to: PurchaseOrderStatus): string {
  if (status === "Cancelled" || status === "On Hold" || status === "Disputed") return words.resume(to);
  return status === "Completed" ? words.reopen(to) : status === "Received" ? words.resume(to) : words.moves[to];
}

interface ActionsProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  /** Opens what sends the order to its supplier. */
  readonly send: () => void;
}

/** Statuses in which there is nothing to send again: not yet, or not any more. */
const unsendable: readonly PurchaseOrderStatus[] = ["Draft", "Cancelled", "Completed"];

/** Confirms every line as it was ordered. */
export const confirmAll = (state: OrderState, { purchaseOrderId }: FullOrder) =>
  state.change<"purchase_order_confirm">({
    send: (ifMatch, resolutions) =>
      openpo.call(
        "purchase_order_confirm",
        { purchaseOrderId, confirmAll: true, ...(resolutions.length === 0 ? {} : { resolutions }) },
        { ifMatch },
      ),
    touches: null,
  });

export const Actions: FunctionComponent<ActionsProps> = ({ state, order, send }) => {
  const chosen = useSignal<PurchaseOrderStatus | "delete" | null>(null);
  const problem = useSignal<Problem | null>(null);
  const role = signedIn()?.person.role ?? "viewer";
  const { purchaseOrderId } = order;
  const isOpen = (activity: Activity): boolean => obstacleTo(order, activity, role) === null;

  const move = (status: PurchaseOrderStatus): void => {
    chosen.value = null;
    void state.change<"purchase_order_status">({
      send: (ifMatch, resolutions) =>
        openpo.call(
          "purchase_order_status",
          { purchaseOrderId, status, ...(resolutions.length === 0 ? {} : { resolutions }) },
          { ifMatch },
        ),
      touches: null,
    });
  };
  const remove = async (): Promise<void> => {
    chosen.value = null;
    const result = await openpo.call("purchase_order_delete", { purchaseOrderId }, { ifMatch: state.etag() });
    if (result.ok) {
      forgetAll();
      go(hrefOf("orders"));
    } else problem.value = problemOf(result);
  };
  const moves = mayMove(role) ? movesOf(order) : [];
  const isBusy = state.isSaving.value;
  return (
    <section aria-label={words.title} class="next">
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      <div class="buttons">
        {mayMove(role) && order.status === "Draft" ? (
          <button type="button" class="primary" disabled={isBusy} onClick={send}>
            {words.send}
          </button>
        ) : null}
        {isOpen("confirm") && !isConfirmedShort(order) && order.status !== "Confirmed" ? (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void confirmAll(state, order)}>
            {words.confirmAll}
          </button>
        ) : null}
        {isOpen("confirm") ? <a href={hrefOf("orders", purchaseOrderId, "confirm")}>{words.confirm}</a> : null}
        {isOpen("receive") ? (
          <a class="primary" href={hrefOf("receive", purchaseOrderId)}>
            {words.receive}
          </a>
        ) : null}
        {isOpen("complete") || isOpen("quick-complete") ? (
          <a href={hrefOf("orders", purchaseOrderId, "complete")}>{words.complete}</a>
        ) : null}
        {mayMove(role) && !unsendable.includes(order.status) ? (
          <button type="button" disabled={isBusy} onClick={send}>
            {words.sendAgain}
          </button>
        ) : null}
        {moves.map((to) => (
          <button
            key={to}
            type="button"
            class={to === "In Progress" && order.status === "Confirmed" ? "primary" : undefined}
            disabled={isBusy}
            onClick={() => {
              if (grave.includes(to)) chosen.value = to;
              else move(to);
            }}
          >
            {moveTitle(order, to)}
          </button>
        ))}
        {isOpen("sync") && ["failed", "partial"].includes(order.storefrontSyncState) ? (
          <PushAgain state={state} order={order} />
        ) : null}
        {isOpen("delete") ? (
          <button type="button" class="plain" disabled={isBusy} onClick={() => (chosen.value = "delete")}>
            {words.delete}
          </button>
        ) : null}
      </div>
      {chosen.value === null ? null : (
        <Sure
          action={chosen.value === "delete" ? words.delete : words.moves[chosen.value]}
          yes={() => {
            if (chosen.value === "delete") void remove();
            else if (chosen.value !== null) move(chosen.value);
          }}
          no={() => (chosen.value = null)}
        />
      )}
      <WhyNot order={order} role={role} />
    </section>
  );
};

const Sure: FunctionComponent<{ readonly action: string; readonly yes: () => void; readonly no: () => void }> = ({
  action,
  yes,
  no,
}) => (
  <div class="notice buttons" role="alert">
    <span>{words.sure(action)}</span>
    <button type="button" class="primary" onClick={yes}>
      {words.yes}
    </button>
    <button type="button" onClick={no}>
      {words.no}
    </button>
  </div>
);

const activities = ["edit-lines", "confirm", "receive", "quick-complete", "complete", "delete"] as const;

const WhyNot: FunctionComponent<{ readonly order: FullOrder; readonly role: Parameters<typeof obstacleTo>[2] }> = ({
  order,
  role,
}) => {
  const closed = activities.flatMap((activity) => {
    const obstacle = obstacleTo(order, activity, role);
    return obstacle === null ? [] : [{ activity, obstacle }];
  });
  if (closed.length === 0) return null;
  return (
    <details class="why">
      <summary>{words.whyNot}</summary>
      <dl>
        {closed.map(({ activity, obstacle }) => (
          <div key={activity}>
            <dt>{words[activity]}</dt>
            <dd>{words.obstacles[obstacle]}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
};
