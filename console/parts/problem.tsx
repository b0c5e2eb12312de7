/** A call that failed: what is wrong, what to do next, and a way to try again. */
import type { FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import { sentence } from "../data/format.ts";
import { texts } from "../texts/texts.ts";

export const ProblemNotice: FunctionComponent<{ readonly problem: Problem; readonly again?: () => void }> = ({
  problem,
  again,
}) => (
  <div class="problem" role="alert">
    <p>
      <strong>{sentence(problem.message)}</strong> {problem.action}
    </p>
    {problem.requestId === null ? null : <p class="quiet">{texts.problem.request(problem.requestId)}</p>}
    {again === undefined ? null : (
      <button type="button" onClick={again}>
        {texts.problem.again}
      </button>
    )}
  </div>
);
