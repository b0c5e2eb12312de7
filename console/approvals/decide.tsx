/** Deciding: a comment, and the buttons that approve or reject one request or several. */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf } from "../router.ts";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { Became, Chip, type Row, titleOf } from "./words.tsx";

interface Outcome {
  readonly approvalRequestId: string;
  readonly title: string;
  /** The request as it is now, or why the decision was not taken. */
  readonly came: Parameters<typeof Became>[0]["request"] | Problem;
}

export const useOutcomes = (): Signal<readonly Outcome[]> => useSignal<readonly Outcome[]>([]);

const isProblem = (came: Outcome["came"]): came is Problem => "message" in came;

/** Outcomes of the last decision, one below the other: what was not done comes first. */
export const Outcomes: FunctionComponent<{ readonly of: Signal<readonly Outcome[]> }> = ({ of }) => (
  <div role="status">
    {of.value.map(({ approvalRequestId, title, came }) => (
      <div key={approvalRequestId} class="notice">
        <p>
          <a href={hrefOf("approvals", approvalRequestId)}>{title}</a>{" "}
          {isProblem(came) ? null : <Chip status={came.status} />}
        </p>
        {isProblem(came) ? <ProblemNotice problem={came} /> : <Became request={came} />}
      </div>
    ))}
  </div>
);

interface DecideProps {
  readonly requests: readonly Pick<Row, "approvalRequestId" | "summary" | "order" | "operation">[];
  /** Outcomes, for where decided requests are not shown any more. */
  readonly outcomes?: Signal<readonly Outcome[]>;
  /** Reads what shows them. */
  readonly again: () => Promise<void>;
}

/** One request after the other, so that each is told of. */
export const Decide: FunctionComponent<DecideProps> = ({ requests, outcomes, again }) => {
  const comment = useSignal("");
  const isBusy = useSignal(false);
  const refused = useSignal<readonly Problem[]>([]);
  const decide = async (name: "approval_request_approve" | "approval_request_reject"): Promise<void> => {
    isBusy.value = true;
    const ended: Outcome[] = [];
    for (const each of requests) {
      const { approvalRequestId } = each;
      const input = { shopId: shopId(), approvalRequestId, comment: comment.value.trim() || null };
      const result = await openpo.call(name, input);
      const came = result.ok ? result.data.approvalRequest : problemOf(result);
      ended.push({ approvalRequestId, title: titleOf(each), came });
    }
    const problems = ended.map(({ came }) => came).filter(isProblem);
    if (problems.length === 0) comment.value = "";
    isBusy.value = false;
    const isDone = ({ came }: Outcome): boolean => "status" in came && ["approved", "rejected"].includes(came.status);
    if (outcomes === undefined) refused.value = problems;
    else outcomes.value = ended.toSorted((a, b) => Number(isDone(a)) - Number(isDone(b)));
    await again();
  };
  const count = requests.length;
  return (
    <div class="decide-bar">
      {refused.value.map((problem) => (
        <ProblemNotice key={problem.message} problem={problem} />
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
