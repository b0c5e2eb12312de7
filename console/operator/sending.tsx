/** A form of the operator whose sending can be refused: what is wrong is said beside its field. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { operatorTexts } from "../texts-operator.ts";

/** What is wrong, by the field's name. */
export type Wrong = ReadonlyMap<string, string>;

/** @param fieldAt  the name of the field of a member, by the steps of its path. */
export function useSending(fieldAt: (steps: readonly string[]) => string) {
  const problem = useSignal<Problem | null>(null);
  const wrong = useSignal<Wrong>(new Map());
  const isSaved = useSignal(false);
  return {
    wrong: wrong.value,
    notice: (
      <>
        {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
        <span role="status">{isSaved.value ? operatorTexts.saved : null}</span>
      </>
    ),
    /** The page itself has found what is wrong. */
    refuse: (faults: Wrong): void => {
      problem.value = null;
      wrong.value = faults;
      isSaved.value = false;
    },
    /** The service has answered; null: it did what was asked. */
    came: (refused: Problem | null): void => {
      const faults = (refused?.details ?? []).flatMap((each) =>
        "path" in each ? [[fieldAt(each.path.split("/").slice(1)), each.message] as const] : [],
      );
      wrong.value = new Map(faults);
      problem.value = faults.length > 0 ? null : refused;
      isSaved.value = refused === null;
    },
  };
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
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
