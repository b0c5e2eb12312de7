/** The supplier's answer beside the order, line by line, and the links by which suppliers answer. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../../client/index.ts";
import { useOpenQuestion } from "../../approvals/open-questions.ts";
import { openpo, openpoOnce, type Problem, problemOf } from "../../data/client.ts";
import { followEvents } from "../../data/events.ts";
import { moment, number } from "../../data/format.ts";
import { useReading } from "../../data/reading.ts";
import { hasRole, shopId } from "../../data/session.ts";
import { AskFirst } from "../../parts/dialogs/ask-first.tsx";
import { ProblemNotice } from "../../parts/problem.tsx";
import { ShownOnce } from "../../parts/dialogs/shown-once.tsx";
import { Day, Moment } from "../../parts/when.tsx";
import { supplierTexts as words } from "../../texts/en/order/supplier.ts";
import type { FullOrder, OrderState } from "../order-state.ts";

type Proposal = Output<"supplier_proposal_list">["proposals"][number];
type ProposedLine = Proposal["lines"][number];
type Line = FullOrder["lineItems"][number];

interface OrderProps {
  readonly state: OrderState;
  readonly order: FullOrder;
}

/** Supplier's answers: the one that waits, and those before it. */
export const Answer: FunctionComponent<OrderProps> = ({ state, order }) => {
  const { purchaseOrderId, version } = order;
  const { data, problem, again } = useReading("supplier_proposal_list", { shopId: shopId(), purchaseOrderId });
  // What was accepted, or overtaken, follows from the order; what is new is told.
  useEffect(() => {
    if (data !== null) void again();
  }, [version]);
  useEffect(
    () => followEvents((event) => (event.purchaseOrderId === purchaseOrderId ? void again() : undefined)),
    [purchaseOrderId],
  );
  const proposals = data?.proposals ?? [];
  const open = proposals.find(({ status }) => status === "open" || status === "overtaken");
  const earlier = proposals.filter((each) => each !== open);
  if (problem === null && proposals.length === 0) return null;
  return (
    <section aria-labelledby="supplier">
      <h2 id="supplier">{words.title}</h2>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {open === undefined ? null : (
        <OpenProposal key={open.proposalId} state={state} order={order} proposal={open} again={again} />
      )}
      {earlier.length === 0 ? null : (
        <details>
          <summary>{words.earlier}</summary>
          <ul class="plain-list">
            {earlier.map(({ proposalId, createdAt, status, decidedBy, reference }) => (
              <li key={proposalId}>
                <span>
                  <Moment at={createdAt} /> · {words.earlierOf[status]}
                  {decidedBy === null ? null : ` ${words.by(decidedBy)}`}
                  {reference === null ? null : <span class="quiet"> · {words.reference(reference)}</span>}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
};

const nameOf = (line: Line | undefined): string => line?.productName ?? line?.sku ?? line?.variantId ?? words.gone;

const Expected: FunctionComponent<{ readonly on: string | null }> = ({ on }) =>
  on === null ? <>{words.noDate}</> : <Day at={on} says={words.expected} />;

/** Supplier's answer on a line; unchanged values are not shown. */
const Said: FunctionComponent<{ readonly line: ProposedLine }> = ({
  line: { quantityConfirmed, expectedDeliveryDate, cannotDeliver },
}) =>
  cannotDeliver ? (
    <>{words.cannot}</>
  ) : (
    <>
      {quantityConfirmed === null ? null : words.quantity(number(quantityConfirmed))}
      {quantityConfirmed === null || expectedDeliveryDate === null ? null : ", "}
      {expectedDeliveryDate === null ? null : <Expected on={expectedDeliveryDate} />}
    </>
  );

const OrderSays: FunctionComponent<{ readonly line: Line }> = ({
  line: { quantityConfirmed, quantityOrdered, expectedDeliveryDate },
}) => (
  <>
    {quantityConfirmed === 0 ? words.unconfirmed(number(quantityOrdered)) : words.quantity(number(quantityConfirmed))},{" "}
    <Expected on={expectedDeliveryDate} />
  </>
);

/** True if the supplier's answer differs from the order: less or later, or nothing at all. */
const differs = (line: ProposedLine): boolean =>
  line.cannotDeliver ||
  (line.quantityConfirmed !== null && line.quantityConfirmed !== line.order.quantityOrdered) ||
  (line.expectedDeliveryDate !== null && line.expectedDeliveryDate !== line.order.expectedDeliveryDate);

interface OpenProps extends OrderProps {
  readonly proposal: Proposal;
  readonly again: () => Promise<void>;
}

const OpenProposal: FunctionComponent<OpenProps> = ({ state, order, proposal, again }) => {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const failed = useSignal<Problem | null>(null);
  const isSending = useSignal(false);
  const isAsking = useSignal(false);
  const { purchaseOrderId } = order;
  const { proposalId, createdAt, reference, trackingNumber, message, lines, status } = proposal;
  const input = { shopId: shopId(), purchaseOrderId, proposalId };
  const ofOrder = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const mayDecide = hasRole("purchaser");
  useOpenQuestion(mayDecide);
  const accept = async (lineItemIds: readonly string[]): Promise<void> => {
    isSending.value = true;
    const some = lineItemIds.length === 0 ? {} : { lineItemIds: [...lineItemIds] };
    // Repeating it changes nothing.
    const result = await openpo.call("supplier_proposal_accept", { ...input, ...some });
    isSending.value = false;
    failed.value = result.ok ? null : problemOf(result);
    if (result.ok) chosen.value = new Set();
    await Promise.all([state.read(), again()]);
  };
  const reject = async (): Promise<Problem | null> => {
    const result = await openpo.call("supplier_proposal_reject", input);
    if (result.ok) await again();
    return result.ok ? null : problemOf(result);
  };
  const toggle = (lineItemId: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(lineItemId)) next.add(lineItemId);
    chosen.value = next;
  };
  return (
    <div class="notice">
      <p>
        <strong>
          <Moment at={createdAt} says={(shown) => words.answered(order.supplierName ?? words.somebody, shown)} />
        </strong>{" "}
        {status === "overtaken" ? words.overtaken : words.waits}
      </p>
      {reference === null ? null : <p>{words.reference(reference)}</p>}
      {trackingNumber === null ? null : <p>{words.tracking(trackingNumber)}</p>}
      {message === null ? null : <p class="as-written">{message}</p>}
      <ul class="plain-list">
        {lines.map((line) => {
          const at = ofOrder.get(line.lineItemId);
          const name = nameOf(at);
          return (
            <li key={line.lineItemId}>
              <label class="answer-line">
                {mayDecide && line.status === "open" ? (
                  <input
                    type="checkbox"
                    aria-label={words.choose(name)}
                    checked={chosen.value.has(line.lineItemId)}
                    onChange={() => toggle(line.lineItemId)}
                  />
                ) : null}
                <span>
                  {name}
                  <br />
                  {differs(line) ? (
                    <strong>
                      <Said line={line} />
                    </strong>
                  ) : (
                    <Said line={line} />
                  )}
                  <br />
                  <span class="quiet">
                    {words.columns.order}: {at === undefined ? words.gone : <OrderSays line={at} />}
                  </span>
                </span>
              </label>
              {line.status === "open" ? null : <span class="chip">{words.state[line.status]}</span>}
            </li>
          );
        })}
      </ul>
      {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      {mayDecide ? (
        <p class="buttons">
          <button
            type="button"
            class="primary"
            disabled={isSending.value}
            onClick={() => void accept([...chosen.value])}
          >
            {chosen.value.size === 0 ? words.accept : words.acceptSome(chosen.value.size)}
          </button>
          <button type="button" disabled={isSending.value} onClick={() => (isAsking.value = true)}>
            {words.reject}
          </button>
        </p>
      ) : null}
      {isAsking.value ? (
        <AskFirst
          title={words.rejectTitle}
          text={words.rejectText}
          action={words.reject}
          run={reject}
          onClose={() => (isAsking.value = false)}
        />
      ) : null}
    </div>
  );
};

type NewLink = Output<"supplier_link_create">;

/** Links by which the supplier answers. */
export const Links: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const input = { shopId: shopId(), purchaseOrderId };
  const { data, problem, again } = useReading("supplier_link_list", input);
  const made = useSignal<NewLink | null>(null);
  const failed = useSignal<Problem | null>(null);
  const open = data?.supplierLinks.filter(({ status }) => status === "open") ?? [];
  const make = async (): Promise<void> => {
    const result = await openpoOnce.call("supplier_link_create", input);
    failed.value = result.ok ? null : problemOf(result);
    if (!result.ok) return;
    made.value = result.data;
    await again();
  };
  const revoke = async (linkId: string): Promise<void> => {
    const result = await openpo.call("supplier_link_revoke", { ...input, linkId });
    failed.value = result.ok ? null : problemOf(result);
    await again();
  };
  return (
    <section aria-labelledby="links">
      <h2 id="links">{words.link}</h2>
      <p class="quiet">{words.linkHelp}</p>
      {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data !== null && open.length === 0 ? <p class="quiet">{words.noLinks}</p> : null}
      <ul class="plain-list">
        {open.map(({ linkId, expiresAt, createdBy }) => (
          <li key={linkId}>
            <span>
              <Moment at={expiresAt} says={(shown) => words.until(shown, createdBy)} />
            </span>
            <button type="button" aria-label={words.revokeOf(moment(expiresAt))} onClick={() => void revoke(linkId)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      <p>
        <button type="button" onClick={() => void make()}>
          {words.make}
        </button>
      </p>
      {made.value === null ? null : (
        <ShownOnce
          title={words.made}
          label={words.madeLabel}
          secret={made.value.url}
          onClose={() => (made.value = null)}
        >
          {() => (
            <p class="quiet">
              <Moment at={made.value?.expiresAt ?? ""} says={words.madeHint} />
            </p>
          )}
        </ShownOnce>
      )}
    </section>
  );
};
