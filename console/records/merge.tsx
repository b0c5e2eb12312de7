/** A supplier that was kept twice becomes one. */
import type { FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import { type Choice, suppliers } from "../data/look-ups.ts";
import { MergeInto } from "../parts/dialogs/merge-into.tsx";
import { recordTexts } from "../texts/en/goods/records.ts";

const { merge: words } = recordTexts;

interface MergeProps {
  readonly id: string;
  readonly title: string;
  readonly merge: (intoId: string) => Promise<Problem | null>;
  readonly onClose: () => void;
}

export const MergeSupplier: FunctionComponent<MergeProps> = ({ id, title, merge, onClose }) => {
  const search = async (text: string): Promise<readonly Choice[] | Problem> => {
    const found = await suppliers({ search: text });
    return "message" in found ? found : found.filter((choice) => choice.id !== id);
  };
  return (
    <MergeInto
      title={words.of(title)}
      stays={words.stays}
      action={words.action}
      search={search}
      questionOf={(into) => Promise.resolve({ title: words.title(title, into.title), text: words.text(into.title) })}
      merge={merge}
      onClose={onClose}
    />
  );
};
