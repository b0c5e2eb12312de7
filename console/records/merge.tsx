/** Two records that are one: which one stays is chosen first, then asked for, since a merge cannot be taken back. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import { type Choice, suppliers } from "../data/look-ups.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Combobox } from "../parts/fields/combobox.tsx";
import { texts } from "../texts/texts.ts";
import { recordTexts } from "./words.ts";

const { merge: words } = recordTexts;

interface MergeProps {
  readonly id: string;
  readonly title: string;
  readonly merge: (intoId: string) => Promise<Problem | null>;
  readonly onClose: () => void;
}

export const MergeSupplier: FunctionComponent<MergeProps> = ({ id, title, merge, onClose }) => {
  const into = useSignal<Choice | null>(null);
  const chosen = into.value;
  if (chosen !== null)
    return (
      <AskFirst
        title={words.title(title, chosen.title)}
        text={words.text(chosen.title)}
        action={words.action}
        run={() => merge(chosen.id)}
        onClose={onClose}
      />
    );
  const search = async (text: string): Promise<readonly Choice[] | Problem> => {
    const found = await suppliers({ search: text });
    return "message" in found ? found : found.filter((choice) => choice.id !== id);
  };
  return (
    <Dialog title={words.of(title)} onClose={onClose}>
      {(close) => (
        <>
          <Combobox label={words.stays} search={search} choose={(choice) => (into.value = choice)} isFirst isOffered />
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
