/** A call that failed: what is wrong, what to do next, and a way to try again; or one that waits for approval. */
import type { FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import type { Refused } from "../data/session.ts";
import { sentence } from "../data/format.ts";
import { hrefOf } from "../router.ts";
import { serviceTexts } from "../texts/en/service.ts";
import { texts } from "../texts/en/texts.ts";

type Told = Refused & Partial<Problem>;

/** The sense of it in the language of the page; undefined where the words of the service stand alone. */
export const senseOf = ({ code = "", reason }: Pick<Told, "code" | "reason">): string | undefined =>
  serviceTexts.problems[reason ?? code] ?? serviceTexts.problems[code];

/** The refusal in one text, for a place that holds no more. */
export const problemText = (problem: Told): string =>
  problem.isInWords
    ? problem.message
    : (senseOf(problem) ?? [sentence(problem.message), problem.action].filter((part) => part !== null).join(" "));

export const ProblemNotice: FunctionComponent<{ readonly problem: Told; readonly again?: () => void }> = ({
  problem,
  again,
}) => {
  const { code, message, action, requestId, approvalRequestId, isInWords } = problem;
  const sense = senseOf(problem);
  if (approvalRequestId !== undefined)
    return (
      <div class="notice" role="status">
        <p>{sentence(message)}</p>
        <p class="buttons">
          <a href={hrefOf("approvals", approvalRequestId)}>{texts.problem.seeRequest}</a>
        </p>
      </div>
    );
  // Another attempt finds no more, and nothing has failed.
  const isMissing = code === "NOT_FOUND" && again !== undefined;
  // The sense of a more exact code says what to do next.
  const isGeneral = sense === undefined || sense === serviceTexts.problems["INVALID_INPUT"];
  const next = isMissing || !isGeneral ? "" : action;
  return (
    <div class={isMissing ? "empty" : "problem"} role="alert">
      <p>
        <strong>{sense ?? sentence(message)}</strong>{" "}
        {sense === undefined ? null : <span lang={isInWords ? undefined : "en"}>{sentence(message)}</span>} {next}
      </p>
      {typeof requestId !== "string" || isMissing ? null : <p class="quiet">{texts.problem.request(requestId)}</p>}
      {again === undefined || isMissing ? null : (
        <button type="button" onClick={again}>
          {texts.problem.again}
        </button>
      )}
    </div>
  );
};
