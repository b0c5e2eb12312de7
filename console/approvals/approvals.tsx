/** Approval requests: what waits for a person's decision, and what was decided. One of them is a place of its own. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { openpo, problemOf } from "../data/client.ts";
import { followEvents } from "../data/events.ts";
import { listOf, type ReadPage } from "../data/pages.ts";
import { hasRole, shopId } from "../data/session.ts";
import { howMany, MoreRows } from "../parts/lists/more-rows.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Moment } from "../parts/when.tsx";
import { go, hrefOf, place } from "../router.ts";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { Decide, Outcomes, useOutcomes } from "./decide.tsx";
import { Request } from "./request.tsx";
import { askerOf, Became, Causes, Chip, Facts, type Row, titleOf } from "./words.tsx";

export const ApprovalsScreen: FunctionComponent = () => {
  const [, approvalRequestId] = place.value.steps;
  if (approvalRequestId !== undefined) return <Request key={approvalRequestId} approvalRequestId={approvalRequestId} />;
  const status = statuses.find((each) => each === place.value.query.get("status")) ?? "pending";
  return <Requests key={status} status={status} />;
};

const statuses = ["pending", "all", "approved", "rejected", "withdrawn", "expired", "overtaken", "failed"] as const;

type Status = (typeof statuses)[number];

const idOf = ({ approvalRequestId }: Row): string => approvalRequestId;

const readingOf =
  (status: Status): ReadPage<Row> =>
  async (cursor) => {
    const result = await openpo.call("approval_request_list", {
      shopId: shopId(),
      ...(status === "all" ? {} : { status: [status] }),
      ...(cursor === null ? {} : { cursor }),
      limit: 50,
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { approvalRequests: rows, totalCount, cursor: next } = result.data;
    return { rows, totalCount, cursor: next };
  };

const Requests: FunctionComponent<{ readonly status: Status }> = ({ status }) => {
  const list = useMemo(() => listOf(readingOf(status)), []);
  const ticked = useSignal<ReadonlySet<string>>(new Set());
  const outcomes = useOutcomes();
  const again = (): Promise<void> => list.again(idOf);
  useEffect(
    () =>
      followEvents(({ type }) => {
        if (type.startsWith("approval.")) void again();
      }),
    [],
  );
  const { rows, isLoading, problem } = list.state.value;
  const mine = rows.filter(({ mayDecide }) => mayDecide);
  const others = rows.filter(({ mayDecide }) => !mayDecide);
  const chosen = mine.filter((row) => ticked.value.has(idOf(row)));
  const tick = (id: string): void => {
    const next = new Set(ticked.value);
    if (!next.delete(id)) next.add(id);
    ticked.value = next;
  };
  const hasParts = mine.length > 0 && others.length > 0;
  return (
    <div class="approvals">
      <div class="heading">
        <h1>{words.title}</h1>
        <output class="quiet" aria-live="polite">
          {howMany(list.state.value, words.shown)}
        </output>
        <label class="at-end">
          <span class="hidden">{words.status}</span>
          <select
            value={status}
            onChange={({ currentTarget: { value } }) =>
              go(value === "pending" ? hrefOf("approvals") : `${hrefOf("approvals")}?status=${value}`)
            }
          >
            {statuses.map((each) => (
              <option key={each} value={each}>
                {words.statuses[each]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      <Outcomes of={outcomes} />
      {isLoading && rows.length === 0 ? <Skeleton /> : null}
      {hasParts ? <h2>{words.yours}</h2> : null}
      <ul class="requests">
        {mine.map((row) => (
          <Card key={idOf(row)} row={row} isTicked={ticked.value.has(idOf(row))} tick={tick} />
        ))}
      </ul>
      {hasParts ? <h2>{words.others}</h2> : null}
      <ul class="requests">
        {others.map((row) => (
          <Card key={idOf(row)} row={row} />
        ))}
      </ul>
      {rows.length === 0 && !isLoading && problem === null ? <Empty status={status} /> : null}
      <MoreRows list={list} label={words.more} />
      <Decide requests={chosen} outcomes={outcomes} again={again} />
    </div>
  );
};

interface CardProps {
  readonly row: Row;
  readonly isTicked?: boolean;
  /** Of one that the person may decide. */
  readonly tick?: (id: string) => void;
}

const Card: FunctionComponent<CardProps> = ({ row, isTicked = false, tick }) => {
  const title = titleOf(row);
  return (
    <li class="card">
      {tick === undefined ? null : (
        <label class="tick">
          <input type="checkbox" checked={isTicked} onChange={() => tick(idOf(row))} />
          <span class="hidden">{words.tick(title)}</span>
        </label>
      )}
      <div>
        <p class="title">
          <a href={hrefOf("approvals", idOf(row))}>{title}</a> <Chip status={row.status} />
        </p>
        <p>
          <Facts order={row.order} />
        </p>
        <p class="quiet">
          {words.asks(askerOf(row))} · <Moment at={row.requestedAt} />
        </p>
        {row.status === "pending" ? <Causes causes={row.causes} /> : <Became request={row} />}
      </div>
    </li>
  );
};

const Empty: FunctionComponent<{ readonly status: Status }> = ({ status }) => (
  <div class="empty">
    <p>{status === "pending" || status === "all" ? words.empty : words.emptyOther}</p>
    <p class="quiet">{words.emptyHint}</p>
    {hasRole("owner") ? (
      <p class="buttons centred">
        <a href={hrefOf("keys")}>{words.toKeys}</a>
        <a href={hrefOf("settings", "approvals")}>{words.toRules}</a>
      </p>
    ) : null}
  </div>
);
