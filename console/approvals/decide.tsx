/** Deciding: a comment, and the buttons that approve or reject one request or several. */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf } from "../router.ts";
import { approvalTexts as words } from "./texts.ts";
import { Became, Chip, type Row, titleOf } from "./words.tsx";

interface Outcome {
  readonly title: string;
  readonly request: Parameters<typeof Became>[0]["request"] & Pick<Row, "approvalRequestId">;
}

export const useOutcomes = (): Signal<readonly Outcome[]> => useSignal<readonly Outcome[]>([]);

/** Outcomes of the last decision, one below the other. */
export const Outcomes: FunctionComponent<{ readonly of: Signal<readonly Outcome[]> }> = ({ of }) => (
  <div role="status">
    {of.value.map(({ title, request }) => (
      <div key={request.approvalRequestId} class="notice">
        <p>
          <a href={hrefOf("approvals", request.approvalRequestId)}>{title}</a> <Chip status={request.status} />
        </p>
        <Became request={request} />
      </div>
    ))}
  </div>
);

interface DecideProps {
  readonly requests: readonly Pick<Row, "approvalRequestId" | "summary" | "order">[];
  /** Outcomes, for where decided requests are not shown any more. */
  readonly outcomes?: Signal<readonly Outcome[]>;
  /** Reads what shows them. */
  readonly again: () => Promise<void>;
}

/** One request after the other, so that each is told of. */
export const Decide: FunctionComponent<DecideProps> = ({ requests, outcomes, again }) => {
  const comment = useSignal("");
  const isBusy = useSignal(false);
  const refused = useSignal<readonly { readonly title: string; readonly problem: Problem }[]>([]);
  const decide = async (name: "approval_request_approve" | "approval_request_reject"): Promise<void> => {
    isBusy.value = true;
    refused.value = [];
    const ended: Outcome[] = [];
    for (const each of requests) {
      const title = titleOf(each);
      const input = {
        shopId: shopId(),
        approvalRequestId: each.approvalRequestId,
        comment: comment.value.trim() || null,
      };
      const result = await openpo.call(name, input);
      if (result.ok) ended.push({ title, request: result.data.approvalRequest });
      else refused.value = [...refused.value, { title, problem: problemOf(result) }];
    }
    if (refused.value.length === 0) comment.value = "";
    isBusy.value = false;
    if (outcomes !== undefined) outcomes.value = ended;
    await again();
  };
  const count = requests.length;
  return (
    <div class="decide-bar">
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
