/** Questions of an order's page that wait for this person, an open form among them: their answer is what comes next. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Number of the questions that are shown. */
export const asked = signal(0);

/** Counts what a part asks while it is shown. */
export function useAsked(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return;
    asked.value += 1;
    return () => void (asked.value -= 1);
  }, [isAsked]);
}
