/** Deciding: a comment, and the buttons that approve or reject one request or several. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { approvalTexts as words } from "./texts.ts";
import { Became, type Row, titleOf } from "./words.tsx";

interface DecideProps {
  readonly requests: readonly Pick<Row, "approvalRequestId" | "summary" | "order">[];
  /** Reads what shows them. */
  readonly again: () => Promise<void>;
}

/** One request after the other, so that each is told of. */
export const Decide: FunctionComponent<DecideProps> = ({ requests, again }) => {
  const comment = useSignal("");
  const isBusy = useSignal(false);
  const refused = useSignal<readonly { readonly title: string; readonly problem: Problem }[]>([]);
  const ended = useSignal<
    readonly { readonly title: string; readonly request: Parameters<typeof Became>[0]["request"] }[]
  >([]);
  const decide = async (name: "approval_request_approve" | "approval_request_reject"): Promise<void> => {
    isBusy.value = true;
    [refused.value, ended.value] = [[], []];
    for (const each of requests) {
      const title = titleOf(each);
      const input = {
        shopId: shopId(),
        approvalRequestId: each.approvalRequestId,
        comment: comment.value.trim() || null,
      };
      const result = await openpo.call(name, input);
      if (result.ok) ended.value = [...ended.value, { title, request: result.data.approvalRequest }];
      else refused.value = [...refused.value, { title, problem: problemOf(result) }];
    }
    comment.value = "";
    isBusy.value = false;
    await again();
  };
  const count = requests.length;
  return (
    <div class="decide-bar">
      {count > 1 || ended.value.length > 1 ? (
        <ul class="plain-rows" role="status">
          {ended.value.map(({ title, request }) => (
            <li key={title}>
              <strong>{title}</strong> <Became request={request} />
            </li>
          ))}
        </ul>
      ) : null}
      {refused.value.map(({ title, problem }) => (
        <ProblemNotice
          key={title}
          problem={count === 1 ? problem : { ...problem, message: `${title}: ${problem.message}` }}
        />
      ))}
      {count === 0 ? null : (
        <>
          <label>
            <span>{words.comment}</span>
            <textarea
              rows={1}
              maxLength={5000}
              placeholder={words.commentHint}
              value={comment.value}
              onInput={(event) => (comment.value = event.currentTarget.value)}
            />
          </label>
          <p class="decide">
            <button
              type="button"
              class="danger"
              disabled={isBusy.value}
              onClick={() => void decide("approval_request_reject")}
            >
              {words.reject(count)}
            </button>
            <button
              type="button"
              class="primary"
              disabled={isBusy.value}
              onClick={() => void decide("approval_request_approve")}
            >
              {isBusy.value ? words.working : words.approve(count)}
            </button>
          </p>
        </>
      )}
    </div>
  );
};

/** Takes back what the person has asked for. */
export const Withdraw: FunctionComponent<{
  readonly approvalRequestId: string;
  readonly again: () => Promise<void>;
}> = ({ approvalRequestId, again }) => {
  const problem = useSignal<Problem | null>(null);
  const withdraw = async (): Promise<void> => {
    const result = await openpo.call("approval_request_withdraw", { shopId: shopId(), approvalRequestId });
    problem.value = result.ok ? null : problemOf(result);
    await again();
  };
  return (
    <>
      <button type="button" onClick={() => void withdraw()}>
        {words.withdraw}
      </button>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
    </>
  );
};
