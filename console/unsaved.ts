/**
 * Text that was typed and is not saved. Leaving the place, or the page, asks first. A form says by `data-asks` that it
 * is to be asked about; what is kept outside of a form says so by `useUnsaved`.
 */
import { useEffect } from "preact/hooks";
import { texts } from "./texts/en/texts.ts";

const typedIn = new Set<Element>();

/** One object for each part that has something unsaved. */
const pending = new Set<object>();

/** The form that was sent last. */
let sent: Element | null = null;

const isUnsaved = (): boolean => pending.size > 0 || [...typedIn].some((form) => form.isConnected);

/** Notes that what was sent was refused: it is still not saved. */
export function noteRefused(): void {
  if (sent !== null) typedIn.add(sent);
  sent = null;
}

/** True if nothing would be lost, or the person leaves it. */
export function mayLeave(): boolean {
  if (isUnsaved() && !confirm(texts.leaveUnsaved)) return false;
  typedIn.clear();
  pending.clear();
  return true;
}

/** Counts as unsaved while it is true. */
export function useUnsaved(isPending: boolean): void {
  useEffect(() => {
    if (!isPending) return;
    const part = {};
    pending.add(part);
    return () => void pending.delete(part);
  }, [isPending]);
}

/** Notes what is typed and what is sent, and asks before the page is left. */
export function watchUnsaved(): void {
  document.addEventListener("input", ({ target }) => {
    const form = target instanceof Element ? target.closest("form[data-asks]") : null;
    if (form !== null) typedIn.add(form);
  });
  document.addEventListener(
    "submit",
    ({ target }) => {
      if (target instanceof Element && typedIn.delete(target)) sent = target;
    },
    { capture: true },
  );
  addEventListener("beforeunload", (event) => {
    if (isUnsaved()) event.preventDefault();
  });
}
