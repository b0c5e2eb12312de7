/** The order's header: facts, totals, and a form that changes them. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { money } from "../data/format.ts";
import { Progress } from "../parts/progress.tsx";
import { Day } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/texts.ts";
import type { FullOrder } from "./order-state.ts";

interface Said {
  readonly name: string;
  /** It may be sentences. */
  readonly isLong?: true;
  readonly children: ComponentChildren;
}

const Fact: FunctionComponent<Said> = ({ name, isLong = false, children }) => (
  <div class={isLong ? "long" : undefined}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const Facts: FunctionComponent<{ readonly order: FullOrder }> = ({ order }) => {
  const { none } = texts.orders;
  return (
    <dl class="facts">
      <Fact name={texts.order.supplier}>
        {order.supplierId === null ? (
          none
        ) : (
          <a href={hrefOf("suppliers", order.supplierId)}>{order.supplierName ?? order.supplierId}</a>
        )}
      </Fact>
      <Fact name={texts.order.location}>
        {order.locationId === null ? (
          none
        ) : (
          <a href={hrefOf("locations", order.locationId)}>{order.locationName ?? order.locationId}</a>
        )}
      </Fact>
      <Fact name={texts.order.expected}>
        {order.nextExpectedDate === null ? none : <Day at={order.nextExpectedDate} />}
      </Fact>
      <Fact name={texts.orders.columns.received}>
        <Progress received={order.quantityReceived} ordered={order.quantityOrdered} pending={order.quantityPending} />
      </Fact>
      <Fact name={texts.totals.grand}>{money(order.grandTotal, order.currencyCode)}</Fact>
      <Fact name={texts.order.paid}>{order.paidStatus}</Fact>
      <Fact name={texts.order.storefront}>{texts.sync[order.storefrontSyncState]}</Fact>
      <Fact name={texts.order.createdBy}>{order.createdBy ?? none}</Fact>
      {order.supplierReference === null ? null : (
        <Fact name={texts.orderHeader.supplierReference}>{order.supplierReference}</Fact>
      )}
      {order.paymentTerms === null ? null : <Fact name={texts.orderHeader.paymentTerms}>{order.paymentTerms}</Fact>}
      {order.note === null ? null : (
        <Fact name={texts.order.note} isLong>
          {order.note}
        </Fact>
      )}
      {order.noteToSupplier === null ? null : (
        <Fact name={texts.orderHeader.noteToSupplier} isLong>
          {order.noteToSupplier}
        </Fact>
      )}
    </dl>
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
