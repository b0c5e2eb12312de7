/** A question before something that cannot be taken back. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Refused } from "../../data/session.ts";
import { texts } from "../../texts/en/texts.ts";
import { Dialog } from "./dialog.tsx";
import { ProblemNotice } from "../problem.tsx";

interface Question {
  readonly title: string;
  readonly text: string;
  /** Text of the button that does it. */
  readonly action: string;
  /** Text of the button that does not. Default: Cancel. */
  readonly no?: string;
  /** Does it; returns what went wrong, null when it is done. */
  readonly run: () => Promise<Refused | null>;
  /** Called when the dialog has closed, done or not. */
  readonly onClose: () => void;
}

export const AskFirst: FunctionComponent<Question> = ({ title, text, action, no = texts.cancel, run, onClose }) => {
  const isRunning = useSignal(false);
  const problem = useSignal<Refused | null>(null);
  const go = async (close: () => void): Promise<void> => {
    isRunning.value = true;
    problem.value = await run();
    isRunning.value = false;
    if (problem.value === null) close();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <>
          <p>{text}</p>
          {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
          <p class="actions">
            <button type="button" onClick={close}>
              {no}
            </button>
            <button type="button" class="primary danger" disabled={isRunning.value} onClick={() => void go(close)}>
              {action}
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
};
