/** Notice at the top of an order: what waits for approval, with the decision for those who may. */
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { adviceOf } from "../data/client.ts";
import { ServiceSays } from "../parts/service-says.tsx";
import { followEvents } from "../data/events.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { Moment } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { useOpenQuestion } from "./open-questions.ts";
import { Decide, Outcomes, useOutcomes, Withdraw } from "./decide.tsx";
import { askerOf, Causes, Facts, titleOf } from "./words.tsx";

interface OfOrderProps {
  readonly purchaseOrderId: string;
  /** Reads the order. */
  readonly decided: () => Promise<void>;
}

export const OfOrder: FunctionComponent<OfOrderProps> = ({ purchaseOrderId, decided }) => {
  const input = { shopId: shopId(), status: ["pending" as const], purchaseOrderId };
  const { data, again } = useReading("approval_request_list", input);
  useEffect(
    () =>
      followEvents((event) => {
        if (event.type.startsWith("approval.") && event.purchaseOrderId === purchaseOrderId) void again();
      }),
    [],
  );
  const outcomes = useOutcomes();
  useOpenQuestion(data?.approvalRequests.some(({ mayDecide }) => mayDecide) ?? false);
  const both = async (): Promise<void> => {
    await Promise.all([again(), decided()]);
  };
  return (
    <>
      <Outcomes of={outcomes} />
      {data?.approvalRequests.map((request) => (
        <section key={request.approvalRequestId} class="notice of-order" aria-label={words.ofOrder}>
          <p>
            <strong>{titleOf(request)}</strong> <span class="chip waiting">{words.ofOrder}</span>
          </p>
          <p>
            <Facts order={request.order} />
          </p>
          <p class="quiet">
            {words.asks(askerOf(request))} · <Moment at={request.requestedAt} />
          </p>
          <Causes causes={request.causes} />
          <p>
            <ServiceSays>{adviceOf(request)}</ServiceSays>
          </p>
          <p class="buttons">
            <a href={hrefOf("approvals", request.approvalRequestId)}>{words.see}</a>
            {request.mayWithdraw ? <Withdraw approvalRequestId={request.approvalRequestId} again={both} /> : null}
          </p>
          {request.mayDecide ? <Decide requests={[request]} outcomes={outcomes} again={both} /> : null}
        </section>
      ))}
    </>
  );
};
