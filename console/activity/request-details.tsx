/** Details of a request: its input, its outcome, and its changes. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { openpo, problemOf } from "../data/client.ts";
import { listOf } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { texts } from "../texts/en/texts.ts";
import { type Change, ChangeView } from "./change.tsx";
import { operationOf, type Request } from "./filters.ts";
import { Skeleton } from "../parts/skeleton.tsx";

const Fact: FunctionComponent<{ readonly name: string; readonly children: ComponentChildren }> = (fact) => (
  <div>
    <dt>{fact.name}</dt>
    <dd>{fact.children}</dd>
  </div>
);

export const RequestDetails: FunctionComponent<{ readonly request: Request }> = ({ request }) => (
  <div class="request-details">
    <dl class="facts">
      <Fact name={texts.activity.request}>
        <code>{request.requestId}</code>
      </Fact>
      <Fact name={texts.activity.columns.duration}>{texts.activity.milliseconds(request.durationMs)}</Fact>
      <Fact name={texts.activity.operation}>
        <code>{operationOf(request)}</code>
      </Fact>
      <Fact name={texts.activity.path}>
        <code>
          {request.method} {request.path}
        </code>
      </Fact>
      <Fact name={texts.activity.status}>{request.status}</Fact>
      {request.errorCode === null ? null : (
        <Fact name={texts.activity.refusal}>
          <code>{request.errorCode}</code>
        </Fact>
      )}
    </dl>
    {request.replayed ? <p class="quiet">{texts.activity.replayed}</p> : null}
    {request.method === "GET" ? (
      <p class="quiet">{texts.activity.readsOnly}</p>
    ) : (
      <Changes requestId={request.requestId} />
    )}
  </div>
);

const Changes: FunctionComponent<{ readonly requestId: string }> = ({ requestId }) => {
  const list = useMemo(
    () =>
      listOf<Change>(async (cursor) => {
        const page = cursor === null ? {} : { cursor };
        const result = await openpo.call("change_list", { shopId: shopId(), requestId, ...page });
        if (!result.ok) return { problem: problemOf(result) };
        const { changes, totalCount, cursor: next } = result.data;
        return { rows: changes, totalCount, cursor: next };
      }),
    [requestId],
  );
  const { rows, hasMore, isLoading, problem } = list.state.value;
  if (problem !== null) return <ProblemNotice problem={problem} again={() => void list.more()} />;
  if (isLoading && rows.length === 0) return <Skeleton />;
  if (rows.length === 0) return <p class="quiet">{texts.activity.noChange}</p>;
  return (
    <>
      {rows.map((change) => (
        <ChangeView key={change.logId} change={change} />
      ))}
      {hasMore ? (
        <button type="button" disabled={isLoading} onClick={() => void list.more()}>
          {texts.activity.more}
        </button>
      ) : null}
    </>
  );
};
