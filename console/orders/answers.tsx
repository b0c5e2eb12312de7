/** Orders whose supplier has answered and waits, above the list of orders. */
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { followEvents } from "../data/events.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { Moment } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { supplierTexts as words } from "../texts/en/order/supplier.ts";

/** Answers that are named; the others are counted. */
const namedMax = 5;

export const Answers: FunctionComponent = () => {
  // A mark that cannot be read is no reason to disturb the list.
  const { data, again } = useReading("supplier_proposal_waiting", { shopId: shopId() });
  useEffect(() => followEvents(({ purchaseOrderId }) => (purchaseOrderId === null ? undefined : void again())), []);
  const waiting = data?.proposals ?? [];
  if (waiting.length === 0) return null;
  const rest = waiting.length - namedMax;
  return (
    <section class="notice" aria-label={words.waiting}>
      <p>
        <strong>{words.waiting}</strong>
      </p>
      <ul>
        {waiting.slice(0, namedMax).map(({ purchaseOrderId, poNumber, supplierName, createdAt }) => (
          <li key={purchaseOrderId}>
            <a href={hrefOf("orders", purchaseOrderId)}>{poNumber}</a>{" "}
            <Moment at={createdAt} says={(shown) => words.answered(supplierName ?? words.somebody, shown)} />
          </li>
        ))}
      </ul>
      {rest > 0 ? <p class="quiet">{words.more(rest)}</p> : null}
    </section>
  );
};
