/**
 * One order: its header, its lines, what can be done next and what has happened. Confirming and completing are places
 * below it.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { OfOrder } from "../approvals/of-order.tsx";
import { hasRole, signedIn } from "../data/session.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { lazy } from "../parts/lazy.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { hrefOf, listHref, place } from "../router.ts";
import { nameRecord } from "../title.ts";
import { obstacleTexts } from "../texts/en/order/obstacles.ts";
import { texts } from "../texts/en/texts.ts";
import { Actions } from "./actions.tsx";
import { AddLines } from "./lines/add-lines.tsx";
import { Attachments } from "./attachments.tsx";
import { Complete } from "./complete.tsx";
import { DocumentLinks } from "./supplier/document.tsx";
import { HeaderForm } from "./header-form.tsx";
import { Facts, Totals } from "./header.tsx";
import { Lines } from "./lines/lines.tsx";
import { News, useLiveOrder } from "./live.tsx";
import { Missing } from "./missing.tsx";
import { mayDo, obstacleTo } from "./moves.ts";
import { Notices } from "./notices.tsx";
import { OffPacks } from "./lines/off-packs.tsx";
import { type FullOrder, type OrderState, orderState } from "./order-state.ts";
import { Mails } from "./supplier/mails.tsx";
import type { Sent } from "./supplier/send.tsx";
import { Answer, Links } from "./supplier/supplier.tsx";
import { Timeline } from "./timeline.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const OrderScreen: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const state = useMemo(() => orderState(purchaseOrderId, loadUndo), [purchaseOrderId]);
  const [, , task] = place.value.steps;
  const news = useLiveOrder({ purchaseOrderId, state, isTask: task !== undefined });
  useEffect(() => void state.read(), [state]);
  const isSending = useSignal(false);
  const order = state.order.value;
  const problem = state.problem.value;
  useEffect(() => {
    if (order !== null) nameRecord(purchaseOrderId, order.poNumber);
  }, [order]);
  return (
    <>
      {task === undefined ? (
        <BackLink href={listHref("orders")}>{texts.order.back}</BackLink>
      ) : (
        <BackLink href={hrefOf("orders", purchaseOrderId)}>{texts.order.backToOrder}</BackLink>
      )}
      {order === null && problem !== null ? <h1>{texts.order.back}</h1> : null}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void state.read()} />}
      {order === null && problem === null ? <Skeleton /> : null}
      {order === null ? null : (
        <>
          <div class="heading">
            <h1>
              {order.poNumber} {order.poName === null ? null : <span class="by">{order.poName}</span>}
            </h1>
            <StatusChip status={order.status} />
            <News news={news} state={state} />
            <span class="quiet" role="status">
              {state.isSaving.value ? texts.order.saving : null}
            </span>
            {task === undefined ? <Actions state={state} order={order} send={() => (isSending.value = true)} /> : null}
          </div>
          {/* What was asked for here is read at once, without waiting for its event. */}
          <OfOrder
            key={state.refusal.value?.problem.approvalRequestId}
            purchaseOrderId={purchaseOrderId}
            decided={() => state.read()}
          />
          <Notices state={state} order={order} />
          <Task task={task} state={state} order={order} isSending={isSending} />
        </>
      )}
    </>
  );
};

interface OrderProps {
  readonly state: OrderState;
  readonly order: FullOrder;
}

interface ViewProps extends OrderProps {
  /** True while what sends the order to its supplier is open. */
  readonly isSending: Signal<boolean>;
}

const Task: FunctionComponent<ViewProps & { readonly task: string | undefined }> = ({ task, ...props }) => {
  if (task === undefined) return <OrderView {...props} />;
  if (task === "confirm") return <Confirm {...props} />;
  return task === "complete" ? <Complete {...props} /> : <p class="notice">{texts.notFound}</p>;
};

const loadUndo = async () => (await import("./undo/undo.ts")).telling;

const Confirm = lazy(async () => (await import("./confirm.tsx")).Confirm);
const Send = lazy(async () => (await import("./supplier/send.tsx")).Send);

const OrderView: FunctionComponent<ViewProps> = ({ state, order, isSending }) => {
  const isEditingHeader = useSignal<FullOrder | null>(null);
  const sent = useSignal<Sent | null>(null);
  const role = signedIn()?.person.role ?? "viewer";
  const obstacle = obstacleTo(order, "edit-lines", role);
  const isNew = place.value.query.has("new");
  const isBegun = order.locationId !== null;
  return (
    <>
      <Missing state={state} order={order} />
      {isSending.value ? (
        <Send
          state={state}
          order={order}
          close={(answer) => {
            isSending.value = false;
            sent.value = answer ?? sent.value;
          }}
        />
      ) : null}
      {order.status === "Draft" ? null : (
        <>
          <Mails
            purchaseOrderId={order.purchaseOrderId}
            sent={sent.value}
            composeAgain={() => (isSending.value = true)}
          />
          <Answer state={state} order={order} />
        </>
      )}
      {isEditingHeader.value === null ? (
        <div class="card of-facts">
          <Facts order={order} />
          {mayDo(role, "edit-lines") ? (
            <button type="button" onClick={() => (isEditingHeader.value = order)}>
              {texts.orderHeader.edit}
            </button>
          ) : null}
        </div>
      ) : (
        <HeaderForm state={state} order={isEditingHeader.value} close={() => (isEditingHeader.value = null)} />
      )}
      <section aria-labelledby="lines">
        <h2 id="lines">{texts.order.lines}</h2>
        <p class={obstacle === null ? "quiet if-keys" : "quiet"}>
          {obstacle === null ? texts.order.lineHelp : `${texts.order.readOnly} ${obstacleTexts[obstacle]}`}
        </p>
        {order.lineItems.length === 0 ? (
          <p class="quiet">{texts.order.noLines}</p>
        ) : (
          <Lines state={state} order={order} isEditable={obstacle === null} />
        )}
        {obstacle === null ? <OffPacks state={state} order={order} /> : null}
      </section>
      <div class="below-lines">
        {obstacle === null ? (
          <AddLines key={isBegun ? "begun" : ""} state={state} order={order} isFirst={isNew && isBegun} />
        ) : null}
        <Totals order={order} />
      </div>
      <DocumentLinks purchaseOrderId={order.purchaseOrderId} />
      {hasRole("purchaser") && order.status !== "Draft" && order.status !== "Cancelled" ? (
        <Links purchaseOrderId={order.purchaseOrderId} />
      ) : null}
      <Attachments purchaseOrderId={order.purchaseOrderId} version={order.version} />
      <Timeline order={order} />
    </>
  );
};
