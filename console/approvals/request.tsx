/** One approval request: who asks for what and why, every field before and after, and the decision. */
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { ApprovalRequest, PurchaseOrder } from "../../client/index.ts";
import { ChangedFields } from "../activity/change.tsx";
import { adviceOf } from "../data/client.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { ServiceSays } from "../parts/service-says.tsx";
import { followEvents } from "../data/events.ts";
import { exactMoney, money, number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { member, shopId } from "../data/session.ts";
import { FactList } from "../parts/lists/facts.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Moment } from "../parts/when.tsx";
import { hrefOf, listHref } from "../router.ts";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { nameRecord } from "../title.ts";
import { Decide, Withdraw } from "./decide.tsx";
import { askerOf, Became, Causes, Chip, titleOf } from "./words.tsx";

export const Request: FunctionComponent<{ readonly approvalRequestId: string }> = ({ approvalRequestId }) => {
  const { data, problem, again } = useReading("approval_request_get", { shopId: shopId(), approvalRequestId });
  const request = data?.approvalRequest ?? null;
  const title = request === null ? words.title : titleOf(request);
  useEffect(
    () =>
      followEvents(({ type }) => {
        if (type.startsWith("approval.")) void again();
      }),
    [],
  );
  useEffect(() => {
    if (request !== null) nameRecord(approvalRequestId, title);
  }, [title]);
  return (
    <div class="approvals">
      <BackLink href={listHref("approvals")}>{words.back}</BackLink>
      <div class="heading">
        <h1>{title}</h1>
        {request === null ? null : <Chip status={request.status} />}
      </div>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {request === null && problem === null ? <Skeleton /> : null}
      {request === null ? null : (
        <>
          <Became request={request} />
          <div class="card">
            <FactList
              facts={[
                [words.asked, askerOf(request)],
                [words.askedAt, <Moment at={request.requestedAt} />],
                [words.until, request.status === "pending" ? <Moment at={request.expiresAt} /> : null],
                [words.reason, reasonOf(request.preview)],
                [words.supplier, request.order?.supplierName ?? null],
                [
                  words.value,
                  request.order === null ? null : money(request.order.grandTotal, request.order.currencyCode),
                ],
                [
                  words.order,
                  request.purchaseOrderId === undefined ? null : (
                    <a href={hrefOf("orders", request.purchaseOrderId)}>
                      {request.order?.poNumber ?? request.purchaseOrderId}
                    </a>
                  ),
                ],
              ]}
            />
          </div>
          <section class="card" aria-labelledby="why">
            <h2 id="why">{words.why}</h2>
            <Causes causes={request.causes} />
          </section>
          {request.stockCover.length === 0 ? null : (
            <section class="card" aria-labelledby="cover">
              <h2 id="cover">{words.cover}</h2>
              <ul class="plain-rows wraps">
                {request.stockCover.map(({ variantId, productName, onHand, incoming, daysBefore, daysAfter }) => (
                  <li key={variantId}>
                    <span class="name">{productName ?? variantId}</span>
                    <span class="quiet">{words.stock(number(onHand), number(incoming))}</span>
                    <span>{words.days(daysBefore, daysAfter)}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {request.now === undefined ? (
            <Preview title={whatTitle(request.status)} shown={request} />
          ) : (
            <>
              <Preview title={words.shownThen} shown={request} />
              <Preview title={words.shownNow} shown={request.now} />
            </>
          )}
          {request.mayWithdraw ? (
            <p class="buttons">
              <Withdraw approvalRequestId={approvalRequestId} again={again} />
            </p>
          ) : null}
          {request.status === "pending" && !request.mayDecide ? (
            <p class="quiet">
              {words.othersDecide} <ServiceSays>{adviceOf(request)}</ServiceSays>
            </p>
          ) : null}
          <Decide requests={request.mayDecide ? [request] : []} again={again} />
        </>
      )}
    </div>
  );
};

const whatTitle = (status: ApprovalRequest["status"]): string =>
  status === "pending" ? words.what : status === "approved" ? words.changed : words.wouldHave;

// What the service keeps of a write is the write's own answer, which its tests hold.
const isOrder = (value: unknown): value is PurchaseOrder => Array.isArray(member(value, "lineItems"));

/** The reason that an agent gives for a change of a record; null: none. */
function reasonOf(preview: unknown): string | null {
  const reason = member(preview, "reason");
  return typeof reason === "string" ? reason : null;
}

/** Lines of the order that are named. */
const linesShown = 20;

interface PreviewProps {
  readonly title: string;
  readonly shown: Pick<ApprovalRequest, "preview" | "changes">;
}

const Preview: FunctionComponent<PreviewProps> = ({ title, shown: { preview, changes } }) => {
  const order = member(preview, "purchaseOrder");
  const lines = isOrder(order) ? order.lineItems : [];
  const nameOf = (id: string): string | null =>
    lines.find(({ poLineItemId }) => poLineItemId === id)?.productName ?? null;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {changes.length === 0 ? (
        <p class="quiet">{words.noFields}</p>
      ) : (
        <ChangedFields changes={changes} nameOf={nameOf} />
      )}
      {lines.length === 0 ? null : (
        <>
          <h3>{words.lines}</h3>
          <ul class="plain-rows">
            {lines.slice(0, linesShown).map((line) => (
              <li key={line.poLineItemId}>
                <span class="name">{line.productName}</span>
                <span class="quiet">
                  {number(line.quantityOrdered)} × {exactMoney(line.unitCost, line.unitCostCurrencyCode)}
                </span>
              </li>
            ))}
          </ul>
          {lines.length > linesShown ? <p class="quiet">{words.moreLines(lines.length - linesShown)}</p> : null}
        </>
      )}
    </section>
  );
};
