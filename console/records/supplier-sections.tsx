/** A supplier's figures, prices, what was paid, and documents of its orders. */
import type { FunctionComponent } from "preact";
import { number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { Dotted } from "../parts/dotted.tsx";
import { FactList } from "../parts/lists/facts.tsx";
import { ShortDay } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { Late, openValue } from "./figures/figures.tsx";
import type { SectionProps } from "./kinds.ts";
import { PricesPaid } from "./figures/over-time.tsx";
import { PriceList } from "./prices/price-list.tsx";

const { figures: words, columns } = recordTexts;
const { none } = texts.orders;

export const SupplierCard: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const open = useReading("supplier_figures_list", { shopId: shopId(), ids: [id] }).data?.suppliers[0];
  const came = useReading("supplier_deliveries_get", { shopId: shopId(), supplierId: id }).data?.deliveries;
  if (open === undefined || came === undefined) return null;
  const { lastOrder, openOrders } = open;
  const { counted, onTime, daysLate } = came;
  return (
    <section class="card" aria-label={words.title}>
      <h2>{words.title}</h2>
      <FactList
        facts={[
          [words.open, openOrders === 0 ? none : `${openValue(open)} (${number(openOrders)})`],
          [columns.late, <Late of={open} />],
          [
            columns.lastOrder,
            lastOrder === null ? (
              none
            ) : (
              <>
                <a href={hrefOf("orders", lastOrder.purchaseOrderId)}>{lastOrder.poNumber}</a>,{" "}
                <ShortDay at={lastOrder.orderedOn} />
              </>
            ),
          ],
          [words.onTime, counted === 0 ? none : words.onTimeOf(onTime, counted)],
          [words.daysLate, daysLate === null ? null : recordTexts.days(daysLate)],
        ]}
      />
    </section>
  );
};

export const SupplierSections: FunctionComponent<SectionProps> = (props) => (
  <>
    <PriceList {...props} />
    <PricesPaid id={props.id} />
    <Documents id={props.id} />
  </>
);

const Documents: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const documents = useReading("supplier_document_list", { shopId: shopId(), supplierId: id }).data?.documents ?? [];
  return (
    <section aria-labelledby="documents">
      <h2 id="documents">{texts.attachments.documents}</h2>
      {documents.length === 0 ? <p class="quiet">{words.noDocuments}</p> : null}
      <ul class="plain-rows">
        {documents.map(({ documentId, fileName, documentType, uploadedAt, purchaseOrderId, poNumber }) => (
          <li key={`${purchaseOrderId} ${documentId}`}>
            <a href={hrefOf("orders", purchaseOrderId)}>{poNumber}</a>
            <span class="name">{fileName}</span>
            <span class="quiet">
              <Dotted
                parts={[
                  texts.attachments.documentTypes[documentType],
                  <ShortDay at={uploadedAt.slice(0, "YYYY-MM-DD".length)} />,
                ]}
              />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};
