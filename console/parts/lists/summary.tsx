/** Outcome of an action for several rows: the number that was done, and why each other one was not. */
import type { FunctionComponent } from "preact";
import { hrefOf } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";
import { Icon } from "../icon.tsx";
import type { Summary, Undone } from "./runner.ts";

interface SummaryProps {
  readonly summary: Summary;
  readonly words: {
    readonly done: (count: number) => string;
    readonly waiting: (count: number) => string;
    readonly refused: (count: number) => string;
    readonly close: string;
  };
  readonly close: () => void;
}

export const SummaryNotice: FunctionComponent<SummaryProps> = ({ summary: { done, undone }, words, close }) => {
  const countOf = (wanted: Undone["kind"]): number => undone.filter(({ kind }) => kind === wanted).length;
  const [waiting, refused] = [countOf("waiting"), countOf("refused")];
  return (
    <div class="notice summary" role="status">
      <button type="button" class="plain icon-only" aria-label={words.close} title={words.close} onClick={close}>
        <Icon name="x" />
      </button>
      <p>
        <strong>
          {[
            done > 0 || undone.length === 0 ? words.done(done) : null,
            waiting > 0 ? words.waiting(waiting) : null,
            refused > 0 ? words.refused(refused) : null,
          ]
            .filter((part) => part !== null)
            .join(", ")}
        </strong>
      </p>
      {undone.length === 0 ? null : (
        <ul>
          {undone.map(({ row: { id, name, href }, says, approvalRequestId }) => (
            <li key={id}>
              <a href={href}>{name}</a> {says}{" "}
              {approvalRequestId === null ? null : (
                <a href={hrefOf("approvals", approvalRequestId)}>{texts.problem.seeRequest}</a>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
