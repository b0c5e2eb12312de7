/**
 * Forms with something typed in them that is not saved. Leaving the place, or the page, asks first. A form says by
 * `data-asks` that it is one of them.
 */
import { texts } from "./texts/en/texts.ts";

const typedIn = new Set<Element>();

/** The form that was sent last. */
let sent: Element | null = null;

const isUnsaved = (): boolean => [...typedIn].some((form) => form.isConnected);

/** Notes that what was sent was refused: it is still not saved. */
export function noteRefused(): void {
  if (sent !== null) typedIn.add(sent);
}

/** True if nothing would be lost, or the person leaves it. */
export function mayLeave(): boolean {
  if (isUnsaved() && !confirm(texts.leaveUnsaved)) return false;
  typedIn.clear();
  return true;
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
