/** Questions of an order's page that wait for this person, an open form among them: their answer is what comes next. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Number of the questions that are shown. */
export const openQuestions = signal(0);

/** Counts the question of a part while it is open. */
export function useOpenQuestion(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    openQuestions.value += 1;
    return () => void (openQuestions.value -= 1);
  }, [isOpen]);
}
