/** Actions of the place that is shown. What stands there for the pointer is in the search for everything, too. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { IconName } from "../../icons/names.ts";

interface Action {
  readonly title: string;
  /** The record that it is done to. */
  readonly hint: string;
  readonly icon: IconName;
  readonly run: () => void;
}

export const actionsHere = signal<readonly Action[]>([]);

/** Offers these while the part is there, and no other. */
export function useActionsHere(actions: readonly Action[]): void {
  useEffect(() => void (actionsHere.value = actions));
  useEffect(() => () => void (actionsHere.value = []), []);
}
