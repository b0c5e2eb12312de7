/**
 * A form whose sending can be refused: what is wrong is said beside its field, and the first such field gets the focus.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { faultsOf } from "../data/client.ts";
import type { Refused } from "../data/session.ts";
import { texts } from "../texts/en/texts.ts";
import { noteRefused } from "../unsaved.ts";
import { ProblemNotice } from "./problem.tsx";

/** Faults, by the field's name. */
export type Wrong = ReadonlyMap<string, string>;

/** Once the faults are shown. */
const focusFirstWrong = (): void => {
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[aria-invalid='true']")?.focus());
};

/**
 * @param fieldAt  the name of the field of a member, by the steps of its path.
 * @param saved    what is said when the service has done what was asked; null: the page shows it.
 */
export function useSending(fieldAt: (steps: readonly string[]) => string, saved: string | null = null) {
  const problem = useSignal<Refused | null>(null);
  const wrong = useSignal<Wrong>(new Map());
  const isSaved = useSignal(false);
  const says = useSignal<string | null>(null);
  const say = (faults: Wrong, refused: Refused | null, hasSaved: boolean): void => {
    says.value = null;
    wrong.value = faults;
    problem.value = refused;
    isSaved.value = hasSaved;
    if (!hasSaved) noteRefused();
    if (faults.size > 0) focusFirstWrong();
  };
  const count = wrong.value.size;
  return {
    wrong: wrong.value,
    notice: (
      <>
        {count > 0 ? (
          <span role="alert">
            <strong>{says.value ?? texts.wrongFields(count)}</strong> {problem.value?.action}
          </span>
        ) : problem.value === null ? null : (
          <ProblemNotice problem={problem.value} />
        )}
        <span role="status">{isSaved.value ? saved : null}</span>
      </>
    ),
    /** The page itself has found what is wrong. `text` says so where it is no fault of what was typed. */
    refuse: (faults: Wrong, text: string | null = null): void => {
      say(faults, null, false);
      says.value = text;
    },
    /** The service has answered; null: it did what was asked. */
    came: (refused: Refused | null): void => say(faultsOf(refused, fieldAt), refused, refused === null),
  };
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly wrong: Wrong;
  /** The control, given what ties it to its words. */
  readonly children: (described: {
    readonly name: string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string | undefined;
  }) => ComponentChildren;
}

/** A field with its unit, what it means, and what is wrong with it. */
export const Field: FunctionComponent<FieldProps> = ({ name, label, hint, wrong, children }) => {
  const fault = wrong.get(name);
  const ids = [fault === undefined ? [] : [`wrong-${name}`], hint === undefined ? [] : [`hint-${name}`]].flat();
  return (
    <div class="field">
      <label>
        {label}
        {children({
          name,
          "aria-invalid": fault !== undefined,
          "aria-describedby": ids.length === 0 ? undefined : ids.join(" "),
        })}
      </label>
      {fault === undefined ? null : (
        <p class="cell-note" id={`wrong-${name}`}>
          {fault}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="quiet" id={`hint-${name}`}>
          {hint}
        </p>
      )}
    </div>
  );
};
