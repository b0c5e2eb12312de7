/** Changes of all orders, newest first: what everybody of the shop may see of the activity. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { openpo, problemOf } from "../data/client.ts";
import { listOf, type ReadPage } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { EntrySays } from "../parts/service-says.tsx";
import { Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";
import { type Change, ChangeView, orderName } from "./change.tsx";
import { actors, chosen, parameter, timeIn } from "./filters.ts";
import { ActivityList } from "./list.tsx";

/** The service counts no more changes than these. */
const changesCountedMax = 10_000;

function changesWith(keyId: string | undefined, operation: string | undefined): ReadPage<Change> {
  const actor = chosen("actor", actors);
  const actorType = actor === "all" ? undefined : [actor];
  const time = timeIn();
  return async (cursor) => {
    const page = cursor === null ? {} : { cursor };
    const input = { shopId: shopId(), keyId, operation, actorType, ...time, limit: 50, ...page };
    const result = await openpo.call("change_list", input);
    if (!result.ok) return { problem: problemOf(result) };
    const { changes, totalCount, cursor: next } = result.data;
    return { rows: changes, totalCount, cursor: next };
  };
}

/** Who it was, and who has approved it. */
const actorName = ({ actor, approvedBy }: Change, key = ""): string =>
  `${actor.name ?? texts.activity.actorNames[actor.type]}${key}${
    approvedBy === undefined ? "" : `, ${texts.changes.approvedBy(approvedBy.name ?? approvedBy.type)}`
  }`;

/** The same with the key by which a person had signed in. */
const actorWithKey = (change: Change): string =>
  actorName(change, change.actor.keyId === undefined ? "" : ` (${change.actor.keyId})`);

/** A value of any field as a cell. */
function cellOf(value: unknown): string | number {
  if (value === null || value === undefined) return "";
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value);
}

const head = ["at", "order", "who", "operation", "requestId", "message", "field", "poLineItemId", "before", "after"];

/** A row for each field that changed; one for a change that names none. */
const rowsOf = (change: Change): readonly (readonly (string | number)[])[] => {
  const { occurredAt, operation, requestId, message, changes } = change;
  const start = [occurredAt, orderName(change), actorWithKey(change), operation ?? "", requestId ?? "", message];
  if (changes.length === 0) return [[...start, "", "", "", ""]];
  return changes.map(({ field, poLineItemId, before, after }) => [
    ...start,
    field,
    poLineItemId ?? "",
    cellOf(before),
    cellOf(after),
  ]);
};

/** @param version  another number reads the list again. */
export const Changes: FunctionComponent<{ readonly version: number }> = ({ version }) => {
  const query = ["keyId", "operation", "actor", "from", "to"].map((name) => parameter(name) ?? "").join(" ");
  const read = useMemo(() => changesWith(parameter("keyId"), parameter("operation")), [query, version]);
  const list = useMemo(() => listOf(read), [read]);
  const { rows } = list.state.value;
  return (
    <ActivityList countedMax={changesCountedMax} list={list} read={read} head={head} cells={rowsOf}>
      <ol class="timeline change-list">
        {rows.map((change) => (
          <ChangeEntry key={change.logId} change={change} />
        ))}
      </ol>
    </ActivityList>
  );
};

/** Its fields are shown once somebody looks at them. */
const ChangeEntry: FunctionComponent<{ readonly change: Change }> = ({ change }) => {
  const isOpen = useSignal(false);
  return (
    <li>
      <Moment at={change.occurredAt} />
      <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>
          {orderName(change)} · <EntrySays entry={change} />{" "}
          <span class="quiet">
            {actorName(change)} · {texts.activity.actorNames[change.actor.type]}
          </span>
        </summary>
        {isOpen.value ? <ChangeView change={change} /> : null}
      </details>
    </li>
  );
};
