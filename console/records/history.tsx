/** Who changed a record, and what: newest first, each with before and after. */
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { ChangedFields } from "../activity/change.tsx";
import { openpo, problemOf } from "../data/client.ts";
import { listOf } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { MoreRows } from "../parts/lists/more-rows.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Moment } from "../parts/when.tsx";
import { locationName, nameLocations, variantNames } from "../stock/kinds.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import type { RecordKind } from "./kinds.ts";

const words = recordTexts.history;

type Entry = Output<"record_history_list">["history"][number] & { readonly of: string | null };

/** Entries that are read at once. */
const entriesAtOnce = 10;

export const History: FunctionComponent<{ readonly kind: RecordKind["kind"]; readonly id: string }> = ({
  kind,
  id,
}) => {
  const list = useMemo(
    () =>
      listOf<Entry>(async (cursor) => {
        const page = cursor === null ? {} : { cursor };
        const result = await openpo.call("record_history_list", {
          shopId: shopId(),
          kind,
          id,
          limit: entriesAtOnce,
          ...page,
        });
        if (!result.ok) return { problem: problemOf(result) };
        const { history, totalCount, cursor: next } = result.data;
        const [names] = await Promise.all([
          variantNames(history.map(({ variantId }) => variantId).filter((each) => each !== null)),
          nameLocations(history.map(({ locationId }) => locationId)),
        ]);
        const rows = history.map((entry) => {
          const { variantId, locationId } = entry;
          const price = variantId === null ? null : words.price(names.get(variantId) ?? variantId);
          return { ...entry, of: locationId === null ? price : words.stock(locationName(locationId) ?? locationId) };
        });
        return { rows, totalCount, cursor: next };
      }),
    [kind, id],
  );
  const { rows, isLoading, problem } = list.state.value;
  return (
    <section aria-labelledby="history">
      <h2 id="history">{words.title}</h2>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length === 0 && !isLoading && problem === null ? <p class="quiet">{words.empty}</p> : null}
      <ol class="timeline change-list">
        {rows.map(({ logId, occurredAt, action, of, reason, actor, approvedBy, changes }) => (
          <li key={logId}>
            <Moment at={occurredAt} />
            <details>
              <summary>
                {words.actions[action]}
                {of === null ? null : `: ${of}`} {reason === null ? null : `(${reason})`}{" "}
                <span class="quiet">
                  {actor.name ?? texts.activity.actorNames[actor.type]}
                  {approvedBy === undefined
                    ? null
                    : `, ${texts.changes.approvedBy(approvedBy.name ?? approvedBy.type)}`}
                </span>
              </summary>
              <ChangedFields changes={changes} />
            </details>
          </li>
        ))}
      </ol>
      <MoreRows list={list} label={words.more} />
    </section>
  );
};
