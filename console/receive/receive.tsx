/** Receiving an order: scan or type what has come, see it counted, save it once. */
import { useComputed } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Session, signedIn } from "../data/session.ts";
import { number, statusName } from "../data/format.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { hrefOf, place } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { receiveTexts } from "../texts/en/order/receive.ts";
import { nameRecord } from "../title.ts";
import { changedLines } from "./amounts.ts";
import { type Counting, countingOf, type Place, type Read } from "./counting.ts";
import { Asking, GuardIssues, OthersCounts, SavedNotice, WaitingNotice } from "./notices.tsx";
import { CountRow } from "./count-row.tsx";
import { ScanPanel } from "./scan-panel.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

const receivable: readonly string[] = ["In Progress", "Partially Received", "Received"];

export const ReceiveScreen: FunctionComponent = () => {
  const session = signedIn();
  const [, purchaseOrderId] = place.value.steps;
  const lineId = place.value.query.get("line");
  if (session === null) return null;
  if (purchaseOrderId === undefined) return <p class="notice">{texts.notFound}</p>;
  const { person, shop } = session;
  const { shopId } = shop;
  const personId = person.personId ?? person.name;
  const counted = { shopId, personId, personName: person.name, purchaseOrderId };
  return <Receiving key={JSON.stringify(counted)} counted={counted} lineId={lineId} role={person.role} />;
};

const Receiving: FunctionComponent<{
  readonly counted: Place;
  readonly lineId: string | null;
  readonly role: Session["person"]["role"];
}> = ({ counted, lineId, role }) => {
  const { purchaseOrderId } = counted;
  const counting = useMemo(() => countingOf(counted), []);
  useEffect(() => counting.stop, []);
  const read = counting.read.value;
  const problem = counting.problem.value;
  if (counting.isElsewhere.value) return <p class="notice">{receiveTexts.elsewhere}</p>;
  if (read === null)
    return problem === null ? <Skeleton /> : <ProblemNotice problem={problem} again={() => void counting.start()} />;
  const canReceive = role !== "viewer" && receivable.includes(read.order.status);
  return (
    <>
      <Heading read={read} />
      {canReceive ? null : (
        <div class="problem" role="alert">
          <p>{receiveTexts.notReceivable(statusName(read.order.status))}</p>
          <a href={hrefOf("orders", purchaseOrderId)}>{receiveTexts.toOrder}</a>
        </div>
      )}
      {canReceive ? (
        <CountingForm counting={counting} read={read} lineId={lineId} />
      ) : (
        <Lines counting={counting} read={read} lineId={lineId} toScan={() => undefined} />
      )}
    </>
  );
};

const Heading: FunctionComponent<{ readonly read: Read }> = ({ read: { order } }) => {
  useEffect(() => nameRecord(order.purchaseOrderId, order.poNumber), [order]);
  return (
    <>
      <BackLink href={hrefOf("orders", order.purchaseOrderId)}>{receiveTexts.back(order.poNumber)}</BackLink>
      <div class="heading">
        <h1>{receiveTexts.title(order.poNumber)}</h1>
        <StatusChip status={order.status} />
        <span>{order.supplierName}</span>
        {order.locationName === null ? null : <strong>{receiveTexts.to(order.locationName)}</strong>}
      </div>
    </>
  );
};

const CountingForm: FunctionComponent<{
  readonly counting: Counting;
  readonly read: Read;
  readonly lineId: string | null;
}> = ({ counting, read, lineId }) => {
  const field = useRef<HTMLInputElement>(null);
  const toScan = (): void => field.current?.focus({ preventScroll: true });
  const problem = counting.problem.value;
  return (
    <>
      <ScanPanel counting={counting} field={field} toScan={toScan} />
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <GuardIssues counting={counting} />
      <OthersCounts counting={counting} />
      <Asking counting={counting} />
      <WaitingNotice counting={counting} />
      <SavedNotice counting={counting} purchaseOrderId={read.order.purchaseOrderId} />
      <Lines counting={counting} read={read} lineId={lineId} toScan={toScan} />
      <SaveBar counting={counting} toScan={toScan} />
    </>
  );
};

const Lines: FunctionComponent<{
  readonly counting: Counting;
  readonly read: Read;
  readonly lineId: string | null;
  readonly toScan: () => void;
}> = ({ counting, read, lineId, toScan }) => (
  <ul class="count-rows">
    {read.order.lineItems.map((item, index) => {
      const line = read.lines[index];
      return line === undefined ? null : (
        <CountRow key={line.lineId} {...{ counting, item, line, toScan }} isWanted={line.lineId === lineId} />
      );
    })}
  </ul>
);

/** Unsaved counts, and the button that saves them. */
const SaveBar: FunctionComponent<{ readonly counting: Counting; readonly toScan: () => void }> = ({
  counting,
  toScan,
}) => {
  const changed = useComputed(() => changedLines(counting.read.value?.lines ?? [], counting.counts.value).length);
  const saving = counting.saving.value;
  const isEmpty = changed.value === 0 && saving !== "waiting";
  const receive = receiveTexts;
  const summary = changed.value === 0 ? receive.noneCounted : receive.counted(changed.value);
  return (
    <div class="count-bar">
      <output>{saving === "sending" ? receive.sending : summary}</output>
      <span class="quiet">{counting.isKept.value ? null : receive.unkept}</span>
      {changed.value === 0 || saving === "sending" ? null : (
        <button
          type="button"
          class="plain"
          onClick={() => {
            counting.happen({ kind: "discard" });
            toScan();
          }}
        >
          {receive.discard}
        </button>
      )}
      <button
        type="button"
        class="primary"
        disabled={isEmpty || saving === "sending"}
        onClick={() => {
          void counting.send();
          toScan();
        }}
      >
        {saving === "waiting" ? receive.saveAgain : receive.save}
        {isEmpty ? null : ` (${number(changed.value)})`}
      </button>
    </div>
  );
};
