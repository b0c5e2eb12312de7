/** The audit log: every request of keys and people; a row opens what it was and what it changed. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { openpo, problemOf } from "../data/client.ts";
import { listOf, type ReadPage } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import {
  chosen,
  operationName,
  operationOf,
  outcomeOf,
  outcomes,
  parameter,
  refusalName,
  type Request,
  surfaceNamed,
  surfaceOf,
  surfaces,
} from "./filters.ts";
import { ActivityList } from "./list.tsx";
import type { Names } from "./names.ts";
import { RequestDetails } from "./request-details.tsx";

function requestsWith(keyId: string | undefined, operation: string | undefined): ReadPage<Request> {
  const surface = surfaceNamed(chosen("surface", surfaces), keyId);
  const outcome = chosen("outcome", outcomes);
  return async (cursor) => {
    const result = await openpo.call("audit_log_list", {
      shopId: shopId(),
      keyId,
      operation,
      surface,
      outcome: outcome === "all" ? undefined : [outcome],
      limit: 50,
      ...(cursor === null ? {} : { cursor }),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { auditLog, totalCount, cursor: next } = result.data;
    return { rows: auditLog, totalCount, cursor: next };
  };
}

const head = [
  "at",
  "operation",
  "surface",
  "who",
  "keyId",
  "personId",
  "requestId",
  "status",
  "errorCode",
  "durationMs",
  "count",
  "order",
];

/** @param version  another number reads the list again. */
export const Requests: FunctionComponent<{ readonly names: Names; readonly version: number }> = ({
  names,
  version,
}) => {
  const query = ["keyId", "operation", "surface", "outcome"].map((name) => parameter(name) ?? "").join(" ");
  const read = useMemo(() => requestsWith(parameter("keyId"), parameter("operation")), [query, version]);
  const list = useMemo(() => listOf(read), [read]);
  const opened = useSignal<string | null>(null);
  const { rows } = list.state.value;
  const { columns } = texts.activity;
  const cells = (request: Request) => [
    [
      request.at,
      operationOf(request),
      surfaceOf(request),
      names.of(request),
      request.keyId ?? "",
      request.personId ?? "",
      request.requestId,
      request.status,
      request.errorCode ?? "",
      request.durationMs,
      request.count,
      request.order?.poNumber ?? "",
    ],
  ];
  return (
    <ActivityList list={list} read={read} head={head} cells={cells}>
      <table class="rows">
        <TableHead
          titles={[columns.operation, columns.at, columns.who, columns.outcome, columns.duration]}
          amounts={[columns.duration]}
        />
        <tbody>
          {rows.map((request) => (
            <RequestRow
              key={`${request.requestId} ${request.at}`}
              request={request}
              who={names.of(request)}
              isOpen={opened.value === request.requestId}
              toggle={() => (opened.value = opened.value === request.requestId ? null : request.requestId)}
            />
          ))}
        </tbody>
      </table>
    </ActivityList>
  );
};

interface Row {
  readonly request: Request;
  readonly who: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

const tones = { done: "chip done", asked: "chip waiting", refused: "chip waiting", failed: "chip bad" } as const;

const RequestRow: FunctionComponent<Row> = ({ request, who, isOpen, toggle }) => {
  const { columns } = texts.activity;
  const outcome = outcomeOf(request);
  const surface = surfaces.find((each) => each === surfaceOf(request));
  return (
    <>
      <tr>
        <th scope="row">
          <button type="button" class="opens" aria-expanded={isOpen} onClick={toggle}>
            {operationName(operationOf(request))}
          </button>
          {request.order === null ? null : (
            <a class="about" href={hrefOf("orders", request.order.purchaseOrderId)}>
              {request.order.poNumber}
            </a>
          )}
          {request.count > 1 ? <span class="quiet">{texts.activity.times(request.count)}</span> : null}
        </th>
        <td class="date" data-name={columns.at}>
          <Moment at={request.at} />
        </td>
        <td class="maker" data-name={columns.who}>
          {who}
          <span class="quiet">
            {surface === undefined || surface === "keys" || surface === "all"
              ? surfaceOf(request)
              : texts.activity.surfaceNames[surface]}
          </span>
        </td>
        <td data-name={columns.outcome}>
          <span class={tones[outcome]}>{texts.activity.outcomeNames[outcome]}</span>
          {request.errorCode === null ? null : <span class="quiet">{refusalName(request.errorCode)}</span>}
        </td>
        <td class="amount" data-name={columns.duration}>
          {texts.activity.milliseconds(request.durationMs)}
        </td>
      </tr>
      {isOpen ? (
        <tr class="opened">
          <td colSpan={5}>
            <RequestDetails request={request} />
          </td>
        </tr>
      ) : null}
    </>
  );
};
