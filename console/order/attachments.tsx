/** Shipments, payments, documents, credits and cost updates of the order; each is read when it is opened. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { money, statusName } from "../data/format.ts";
import { Dotted } from "../parts/dotted.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Day, Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";
import { Skeleton } from "../parts/skeleton.tsx";

/** One line of a section: what it is, what is to be said of it, an amount. */
interface Item {
  readonly id: string;
  readonly title: string;
  readonly facts: readonly ComponentChildren[];
  readonly amount: string | null;
}

type Read = (purchaseOrderId: string) => Promise<readonly Item[] | Problem>;

const words = texts.attachments;

const shipments: Read = async (purchaseOrderId) => {
  const result = await openpo.call("purchase_order_shipment_list", { purchaseOrderId });
  if (!result.ok) return problemOf(result);
  return result.data.shipments.map((shipment) => ({
    id: shipment.shipmentId,
    title: shipment.shipmentNumber ?? shipment.shipmentId,
    facts: [
      statusName(shipment.status),
      shipment.carrier,
      shipment.trackingNumber,
      shipment.expectedArrivalDate === null ? null : <Day at={shipment.expectedArrivalDate} says={words.arrival} />,
    ],
    amount:
      shipment.shippingCost === null || shipment.currencyCode === null
        ? null
        : money(shipment.shippingCost, shipment.currencyCode),
  }));
};

const payments: Read = async (purchaseOrderId) => {
  const result = await openpo.call("purchase_order_payment_list", { purchaseOrderId });
  if (!result.ok) return problemOf(result);
  const { payments: found, summary } = result.data;
  const sum = (title: string, amount: number): Item => ({
    id: title,
    title,
    facts: [],
    amount: money(amount, summary.currencyCode),
  });
  return [
    ...found.map((payment) => ({
      id: payment.paymentId,
      title: payment.paymentName ?? payment.paymentType,
      facts: [
        statusName(payment.status),
        payment.dueDate === null ? null : <Day at={payment.dueDate} says={words.due} />,
        payment.reference,
      ],
      amount: money(payment.amount, payment.currencyCode),
    })),
    sum(words.paid, summary.paidAmount),
    sum(words.outstanding, summary.outstandingAmount),
  ];
};

const documents: Read = async (purchaseOrderId) => {
  const result = await openpo.call("purchase_order_document_list", { purchaseOrderId });
  if (!result.ok) return problemOf(result);
  return result.data.documents.map((document) => ({
    id: document.documentId,
    title: document.fileName,
    facts: [words.documentTypes[document.documentType], <Moment at={document.uploadedAt} />, document.uploadedBy],
    amount: null,
  }));
};

const credits: Read = async (purchaseOrderId) => {
  const result = await openpo.call("purchase_order_credit_list", { purchaseOrderId });
  if (!result.ok) return problemOf(result);
  const { applied, available } = result.data.credits;
  return [
    ...applied.map((credit) => ({
      id: `${credit.creditId}/applied`,
      title: credit.creditNumber ?? credit.creditId,
      facts: [words.applied, <Moment at={credit.appliedAt} />],
      amount: money(credit.amountApplied, credit.currencyCode),
    })),
    ...available.map((credit) => ({
      id: `${credit.creditId}/available`,
      title: credit.creditNumber ?? credit.creditId,
      facts: [words.available, credit.reason],
      amount: money(credit.balance, credit.currencyCode),
    })),
  ];
};

const costUpdates: Read = async (purchaseOrderId) => {
  const result = await openpo.call("purchase_order_cost_sync_history_list", { purchaseOrderId, limit: 50 });
  if (!result.ok) return problemOf(result);
  return result.data.costSyncHistory.map((row) => ({
    id: row.costSyncId,
    title: row.variantId,
    facts: [
      row.outcome,
      row.reason,
      <Moment at={row.proposedAt} />,
      row.fxSource === "same-currency" ? null : `× ${row.fxRate}`,
    ],
    amount: money(row.proposedUnitCost, row.currencyCode),
  }));
};

const sections: readonly { readonly title: string; readonly read: Read }[] = [
  { title: words.shipments, read: shipments },
  { title: words.payments, read: payments },
  { title: words.documents, read: documents },
  { title: words.credits, read: credits },
  { title: words.costs, read: costUpdates },
];

export const Attachments: FunctionComponent<{ readonly purchaseOrderId: string; readonly version: number }> = ({
  purchaseOrderId,
  version,
}) => (
  <div class="sections">
    {sections.map((section) => (
      <Section key={`${section.title}/${version}`} {...section} purchaseOrderId={purchaseOrderId} />
    ))}
  </div>
);

const Section: FunctionComponent<{ readonly title: string; readonly read: Read; readonly purchaseOrderId: string }> = ({
  title,
  read,
  purchaseOrderId,
}) => {
  const found = useSignal<readonly Item[] | Problem | null>(null);
  const load = async (): Promise<void> => {
    found.value = await read(purchaseOrderId);
  };
  const state = found.value;
  return (
    <details
      onToggle={(event) => {
        if (event.currentTarget.open && found.value === null) void load();
      }}
    >
      <summary>{title}</summary>
      {state === null ? <Skeleton /> : null}
      {state !== null && "message" in state ? <ProblemNotice problem={state} again={() => void load()} /> : null}
      {state !== null && !("message" in state) && state.length === 0 ? <p class="quiet">{words.none}</p> : null}
      {state !== null && !("message" in state) ? (
        <ul class="items">
          {state.map(({ id, title, facts, amount }) => (
            <li key={id}>
              <span>
                {title}{" "}
                <span class="quiet">
                  <Dotted parts={facts} />
                </span>
              </span>
              <span>{amount}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  );
};
