/** Two things that are one: which one stays is chosen first, then asked for, since a merge cannot be taken back. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Problem } from "../../data/client.ts";
import type { Choice } from "../../data/look-ups.ts";
import { texts } from "../../texts/en/texts.ts";
import { Combobox } from "../fields/combobox.tsx";
import { ProblemNotice } from "../problem.tsx";
import { AskFirst } from "./ask-first.tsx";
import { Dialog } from "./dialog.tsx";

/** The question about a choice: its title, and what goes over. */
interface Question {
  readonly title: string;
  readonly text: string;
}

interface MergeProps {
  readonly title: string;
  /** Label of the field that says which one stays. */
  readonly stays: string;
  readonly action: string;
  readonly search: (text: string) => Promise<readonly Choice[] | Problem>;
  /** Finds out what a merge into the choice would do. @returns why it may not be. */
  readonly questionOf: (into: Choice) => Promise<Question | Problem>;
  readonly merge: (intoId: string) => Promise<Problem | null>;
  readonly onClose: () => void;
}

export const MergeInto: FunctionComponent<MergeProps> = (props) => {
  const { title, stays, action, search, questionOf, merge, onClose } = props;
  const asked = useSignal<(Question & { readonly intoId: string }) | null>(null);
  const problem = useSignal<Problem | null>(null);
  const choose = async (into: Choice): Promise<void> => {
    const question = await questionOf(into);
    if ("message" in question) problem.value = question;
    else asked.value = { ...question, intoId: into.id };
  };
  if (asked.value !== null) {
    const { intoId, ...question } = asked.value;
    return <AskFirst {...question} action={action} run={() => merge(intoId)} onClose={onClose} />;
  }
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <>
          <Combobox label={stays} search={search} choose={(choice) => void choose(choice)} isFirst />
          {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
          <p class="actions">
            <button type="button" onClick={close}>
              {texts.cancel}
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
};
