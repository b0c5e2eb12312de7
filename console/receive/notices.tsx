/** Results of a save, each with the button that goes on from there. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf } from "../router.ts";
import { receiveTexts } from "../texts/en/order/receive.ts";
import { linesToAllow, overBy } from "./amounts.ts";
import type { Counting } from "./counting.ts";
import { nameOf, productOf } from "./lines.ts";
import { dotted, isolated } from "../texts/isolated.ts";

type OfCounting = FunctionComponent<{ readonly counting: Counting }>;

/** The server does not answer: the counts are safe. */
export const WaitingNotice: OfCounting = ({ counting }) =>
  counting.saving.value === "waiting" ? (
    <p class="notice" role="status">
      {receiveTexts.waiting}
    </p>
  ) : null;

/** Counts that others have left on this device: never added by themselves. */
export const OthersCounts: OfCounting = ({ counting }) => (
  <>
    {counting.others.value.map((other) => {
      const name = other.kept.by ?? receiveTexts.somebody;
      return (
        <div key={other.keptName} class="problem" role="alert">
          <p>
            {receiveTexts.othersCounts(name, Object.keys(other.kept.counts.added).length)}{" "}
            {counting.isDoubtful(other) ? receiveTexts.othersDoubtful : null}
          </p>
          <p class="buttons">
            <button
              type="button"
              disabled={counting.saving.value !== "idle"}
              onClick={() => void counting.settle(other, "take-over")}
            >
              {receiveTexts.takeOver}
            </button>
            <button type="button" onClick={() => void counting.settle(other, "discard")}>
              {receiveTexts.discardOthers(name)}
            </button>
          </p>
        </div>
      );
    })}
  </>
);

/** Others have received: what my counts would make too much. */
export const Asking: OfCounting = ({ counting }) => {
  const read = counting.read.value;
  if (counting.saving.value !== "asking" || read === null) return null;
  const counts = counting.counts.value;
  const lines = linesToAllow(read.lines, counts);
  if (lines.length === 0) return null;
  return (
    <div class="problem" role="alert">
      <p>{receiveTexts.asking}</p>
      <ul>
        {lines.map((line) => (
          <li key={line.lineId}>
            {receiveTexts.askingLine(productOf(read.order, line.lineId), number(overBy(line, counts)))}
          </li>
        ))}
      </ul>
      <button
        type="button"
        onClick={() => {
          counting.happen({ kind: "allow-all" });
          void counting.send();
        }}
      >
        {receiveTexts.allowAll}
      </button>
    </div>
  );
};

/** The storefront cannot take some lines: the person says how to go on. */
export const GuardIssues: OfCounting = ({ counting }) => {
  const issues = counting.issues.value;
  const read = counting.read.value;
  if (issues.length === 0 || read === null) return null;
  const shared = (["activate", "skip"] as const).filter((action) =>
    issues.every(({ actions }) => actions.includes(action)),
  );
  return (
    <div class="problem">
      <ul>
        {issues.map(({ lineId }) => (
          <li key={lineId}>{productOf(read.order, lineId)}</li>
        ))}
      </ul>
      <div class="buttons">
        {shared.map((action) => (
          <button
            key={action}
            type="button"
            onClick={() => void counting.send(issues.map(({ lineId }) => ({ itemId: lineId, action })))}
          >
            {receiveTexts[action]}
          </button>
        ))}
      </div>
    </div>
  );
};

/** Recorded counts; with the way on when the stock did not reach the storefront. */
export const SavedNotice: FunctionComponent<{ readonly counting: Counting; readonly purchaseOrderId: string }> = ({
  counting,
  purchaseOrderId,
}) => {
  const problem = useSignal<Problem | null>(null);
  const saved = counting.saved.value;
  if (saved === null) return null;
  const syncAgain = async (): Promise<void> => {
    const result = await openpo.call("purchase_order_storefront_sync", { purchaseOrderId });
    problem.value = result.ok ? null : problemOf(result);
    if (result.ok) counting.saved.value = { ...saved, recovery: result.data.recovery ?? null };
  };
  return (
    <div class={saved.recovery === null ? "notice" : "problem"} role="status">
      <p>
        {receiveTexts.saved(saved.lines)} {saved.recovery}
      </p>
      <Came counting={counting} />
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {saved.recovery === null ? null : (
        <button type="button" onClick={() => void syncAgain()}>
          {receiveTexts.syncAgain}
        </button>
      )}
      <Missing counting={counting} />
      <Next purchaseOrderId={purchaseOrderId} />
    </div>
  );
};

/** Lines of an order that are named as received, or as missing. */
const linesShown = 5;

/** Lines that the save has recorded. */
const Came: OfCounting = ({ counting }) => {
  const order = counting.read.value?.order;
  const lines = Object.entries(counting.saved.value?.came ?? {}).slice(0, linesShown);
  if (order === undefined || lines.length === 0) return null;
  const { rejected, cancelled } = receiveTexts.parts;
  return (
    <ul>
      {lines.map(([lineId, amounts]) => (
        <li key={lineId}>
          {[
            `${number(amounts.received)} × ${isolated(productOf(order, lineId))}`,
            ...(amounts.rejected === 0 ? [] : [`${rejected}: ${number(amounts.rejected)}`]),
            ...(amounts.cancelled === 0 ? [] : [`${cancelled}: ${number(amounts.cancelled)}`]),
          ].join(" · ")}
        </li>
      ))}
    </ul>
  );
};

/** Lines that the order still waits for. */
const Missing: OfCounting = ({ counting }) => {
  const items = (counting.read.value?.order.lineItems ?? []).filter(({ quantityPending }) => quantityPending > 0);
  if (items.length === 0) return <p>{receiveTexts.allHere}</p>;
  return (
    <>
      <p>{receiveTexts.missing(items.length)}</p>
      <ul>
        {items.slice(0, linesShown).map((item) => (
          <li key={item.poLineItemId}>
            {number(item.quantityPending)} × {isolated(nameOf(item))}
          </li>
        ))}
      </ul>
    </>
  );
};

/** The order that is expected next. */
const Next: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const { data } = useReading("purchase_order_list", {
    status: ["In Progress", "Partially Received"],
    sort: "nextExpectedDate",
    limit: 2,
  });
  const next = data?.purchaseOrders.find((order) => order.purchaseOrderId !== purchaseOrderId);
  return next === undefined ? null : (
    <p>
      <a href={hrefOf("receive", next.purchaseOrderId)}>
        {receiveTexts.next(dotted([next.poNumber, next.supplierName]))}
      </a>
    </p>
  );
};
