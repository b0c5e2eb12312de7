/** The order's header: facts, totals, and a form that changes them. */
import type { FunctionComponent } from "preact";
import { money, statusName } from "../data/format.ts";
import { hasStorefront } from "../data/session.ts";
import { FactList } from "../parts/lists/facts.tsx";
import { Progress } from "../parts/progress.tsx";
import { Day } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import type { FullOrder } from "./order-state.ts";

export const Facts: FunctionComponent<{ readonly order: FullOrder }> = ({ order }) => {
  const { none } = texts.orders;
  const named = (kind: "suppliers" | "locations", id: string | null, name: string | null) =>
    id === null ? none : <a href={hrefOf(kind, id)}>{name ?? id}</a>;
  return (
    <FactList
      facts={[
        [texts.order.supplier, named("suppliers", order.supplierId, order.supplierName)],
        [texts.order.location, named("locations", order.locationId, order.locationName)],
        [texts.order.expected, order.nextExpectedDate === null ? none : <Day at={order.nextExpectedDate} />],
        [
          texts.orders.columns.received,
          <Progress
            received={order.quantityReceived}
            ordered={order.quantityOrdered}
            pending={order.quantityPending}
          />,
        ],
        [texts.totals.grand, money(order.grandTotal, order.currencyCode)],
        [texts.order.paid, statusName(order.paidStatus)],
        [texts.order.storefront, hasStorefront() ? texts.sync[order.storefrontSyncState] : null],
        [texts.order.createdBy, order.createdBy ?? none],
        [texts.orderHeader.supplierReference, order.supplierReference],
        [texts.orderHeader.paymentTerms, order.paymentTerms],
        [texts.order.note, order.note, true],
        [texts.orderHeader.noteToSupplier, order.noteToSupplier, true],
      ]}
    />
  );
};

/** The API's own figures; nothing is computed here. */
export const Totals: FunctionComponent<{ readonly order: FullOrder }> = ({ order }) => {
  const words = texts.totals;
  const rows: readonly (readonly [string, number | null])[] = [
    [words.lines, order.totalValue],
    [words.shipping, order.shippingCost],
    [words.tax, order.taxAmount],
    [words.discount, order.discountAmount === null ? null : -order.discountAmount],
    [words.grand, order.grandTotal],
  ];
  return (
    <section aria-labelledby="totals" class="totals">
      <h2 id="totals">{words.title}</h2>
      <dl>
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{money(value, order.currencyCode)}</dd>
            </div>
          ),
        )}
      </dl>
      {order.unpricedLineItemIds.length === 0 ? null : (
        <p class="quiet">{words.unpriced(order.unpricedLineItemIds.length)}</p>
      )}
    </section>
  );
};
