/** Approval requests in words: what is asked for, by whom, why a person decides, and what became of it. */
import type { FunctionComponent } from "preact";
import type { ApprovalRequest, Output } from "../../client/index.ts";
import { money, sentence, statusName } from "../data/format.ts";
import { shopCurrency } from "../data/session.ts";
import { Dotted } from "../parts/dotted.tsx";
import { Moment } from "../parts/when.tsx";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { serviceTexts } from "../texts/en/service.ts";
import { texts } from "../texts/en/texts.ts";

/** A request in a list. */
export type Row = Output<"approval_request_list">["approvalRequests"][number];

/** Title of a request: `PO-1031: move to Sent`. */
export function titleOf({ summary, order, operation }: Pick<Row, "summary" | "order" | "operation">): string {
  if (order !== null && order.movesTo !== null) return words.moves(order.poNumber, statusName(order.movesTo));
  const asked = serviceTexts.requests[operation];
  if (asked !== undefined) return order === null ? asked : `${order.poNumber}: ${asked}`;
  const [deed = summary] = summary.split(": ", 1);
  return order === null ? summary : `${order.poNumber}: ${deed.charAt(0).toLowerCase()}${deed.slice(1)}`;
}

/** Who asked: the agent, program or person, and in whose name, which that of a connection says already. */
export const askerOf = ({ requestedBy, inNameOf }: Pick<Row, "requestedBy" | "inNameOf">): string => {
  const name = requestedBy.name ?? requestedBy.type;
  const whose = inNameOf === null ? "" : words.inNameOf(inNameOf);
  return [
    `${name}${requestedBy.type === "user" ? "" : ` (${texts.activity.actorNames[requestedBy.type]})`}`,
    requestedBy.name !== null || requestedBy.keyId === undefined ? "" : words.byKey(requestedBy.keyId),
    inNameOf !== null && name.endsWith(inNameOf) ? "" : whose,
  ]
    .filter((part) => part !== "")
    .join(", ");
};

/** The order's supplier and value. */
export const Facts: FunctionComponent<{ readonly order: Row["order"] }> = ({ order }) =>
  order === null ? null : <Dotted parts={[order.supplierName, money(order.grandTotal, order.currencyCode)]} />;

type Cause = ApprovalRequest["causes"][number];

function causeOf({ cause, limit, allowed, used, asked, name }: Cause): string {
  const { causes } = words;
  if (cause === "scope") return causes.scope;
  if (cause === "rule") return causes.rule(name ?? "");
  if (limit === "supplierIds" || limit === "locationIds") return causes[limit];
  if (limit === "unitCostRisePercentMax") return causes.rise(Number(allowed), typeof asked === "number" ? asked : null);
  if (limit !== "orderValueMax" && limit !== "dayValueMax" && limit !== "monthValueMax") return limit ?? cause;
  const shown = (value: unknown): string => money(Number(value), shopCurrency());
  const parts = [
    causes.limit(causes[limit], shown(allowed)),
    limit === "orderValueMax" || typeof used !== "number" ? null : causes.used(shown(used)),
    typeof asked === "number" ? causes.adds(shown(asked)) : causes.unpriced,
  ];
  return sentence(parts.filter((part) => part !== null).join("; "));
}

export const Causes: FunctionComponent<Pick<Row, "causes">> = ({ causes }) => (
  <ul class="causes">
    {causes.map((cause) => (
      <li key={causeOf(cause)}>{causeOf(cause)}</li>
    ))}
  </ul>
);

const tones: Readonly<Record<Row["status"], string>> = {
  pending: "waiting",
  approved: "done",
  rejected: "bad",
  withdrawn: "",
  expired: "",
  overtaken: "bad",
  failed: "bad",
};

export const Chip: FunctionComponent<Pick<Row, "status">> = ({ status }) => (
  <span class={`chip ${tones[status]}`}>{words.statuses[status]}</span>
);

type Ended = Pick<Row, "status" | "decidedBy" | "decidedAt" | "comment" | "refusal">;

/** Outcome of a request, with the comment; nothing while it waits. */
export const Became: FunctionComponent<{ readonly request: Ended }> = ({
  request: { status, decidedBy, decidedAt, comment, refusal },
}) => {
  if (status === "pending") return null;
  return (
    <div class="became">
      <p>
        {words.became[status](decidedBy?.name ?? "")}{" "}
        {decidedAt === undefined ? null : (
          <span class="quiet">
            <Moment at={decidedAt} />
          </span>
        )}
      </p>
      {refusal === undefined ? null : <p>{sentence(refusal.message)}</p>}
      {comment === undefined || comment === null ? null : <blockquote>{comment}</blockquote>}
    </div>
  );
};
