/** History of the order: each change with its author and key, and what people say about it. */
import type { FunctionComponent } from "preact";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { LogEntry, PurchaseOrder } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { fieldName } from "../data/format.ts";
import { listOf } from "../data/pages.ts";
import { hasRole, shopId } from "../data/session.ts";
import { FieldValue } from "../parts/fields/field-value.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { EntrySays } from "../parts/service-says.tsx";
import { Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";
import { lineNamed } from "./guard.tsx";
import { useUnsaved } from "../unsaved.ts";
import { dotted } from "../texts/isolated.ts";

export const Timeline: FunctionComponent<{ readonly order: PurchaseOrder }> = ({ order }) => {
  const { purchaseOrderId, version } = order;
  const commentCount = useSignal(0);
  // Every change of the order is one of the log, so the list begins anew with each version, and with a comment.
  const list = useMemo(
    () =>
      listOf<LogEntry>(async (cursor) => {
        const page = cursor === null ? { limit: 20 } : { limit: 20, cursor };
        const result = await openpo.call("purchase_order_log_list", { purchaseOrderId, ...page });
        if (!result.ok) return { problem: problemOf(result) };
        const { log, totalCount, cursor: next } = result.data;
        return { rows: log, totalCount, cursor: next };
      }),
    [purchaseOrderId, version, commentCount.value],
  );
  const { rows, hasMore, isLoading, problem } = list.state.value;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{texts.order.timeline}</h2>
      {hasRole("receiver") ? <NewComment order={order} added={() => (commentCount.value += 1)} /> : null}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      <ol class="timeline">
        {rows.map((entry) => (
          <Entry key={entry.logId} entry={entry} order={order} />
        ))}
      </ol>
      {hasMore ? (
        <button type="button" disabled={isLoading} onClick={() => void list.more()}>
          {texts.order.moreLines}
        </button>
      ) : null}
    </section>
  );
};

interface NewCommentProps {
  readonly order: PurchaseOrder;
  readonly added: () => void;
}

const NewComment: FunctionComponent<NewCommentProps> = ({ order: { purchaseOrderId }, added }) => {
  const written = useSignal("");
  const isSending = useSignal(false);
  const failed = useSignal<Problem | null>(null);
  useUnsaved(written.value.trim() !== "");
  const send = async (): Promise<void> => {
    isSending.value = true;
    const input = { shopId: shopId(), purchaseOrderId, text: written.value };
    const result = await openpo.call("comment_add", input);
    isSending.value = false;
    failed.value = result.ok ? null : problemOf(result);
    if (!result.ok) return;
    written.value = "";
    added();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        {texts.order.comment}
        <textarea
          rows={2}
          maxLength={5000}
          value={written.value}
          onInput={(event) => (written.value = event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <button type="submit" disabled={isSending.value || written.value.trim() === ""}>
          {texts.order.addComment}
        </button>
        {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      </p>
    </form>
  );
};

const Entry: FunctionComponent<{ readonly entry: LogEntry; readonly order: PurchaseOrder }> = ({ entry, order }) => {
  const { actor, changes } = entry;
  const who = [
    actor.name ?? texts.activity.actorNames[actor.type],
    actor.type === "system" || actor.name === null ? null : texts.activity.actorNames[actor.type],
    // Who has a name needs no id.
    actor.name === null && actor.type !== "system" ? (actor.id ?? null) : null,
    entry.approvedBy === undefined ? null : texts.changes.approvedBy(entry.approvedBy.name ?? entry.approvedBy.type),
  ];
  return (
    <li>
      <Moment at={entry.occurredAt} />
      <div>
        <p>
          <EntrySays entry={entry} />
        </p>
        <p class="quiet">{dotted(who)}</p>
        {changes.length === 0 ? null : (
          <details>
            <summary class="quiet">{texts.changes.title(changes.length)}</summary>
            <ul class="changes">
              {changes.map(({ field, poLineItemId, before, after }) => (
                <li key={`${poLineItemId ?? ""}/${field}`}>
                  {poLineItemId === null ? null : `${lineNamed(order, poLineItemId)} · `}
                  {fieldName(field)}:{" "}
                  <del>
                    <FieldValue field={field} value={before} none={texts.changes.nothing} />
                  </del>{" "}
                  →{" "}
                  <ins>
                    <FieldValue field={field} value={after} none={texts.changes.nothing} />
                  </ins>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
};
