/**
 * Text that was typed and is not saved. Leaving the place, or the page, asks first. A form says by `data-asks` that it
 * is to be asked about; what is kept outside of a form says so by `useUnsaved`.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { texts } from "./texts/en/texts.ts";

const typedIn = new Set<Element>();

/** True if what is not saved is still there at that address. */
type StaysAt = (address: URL) => boolean;

/** One function for each part that has something unsaved. */
const pending = new Set<StaysAt>();

/** The form that was sent last. */
let sent: Element | null = null;

const isUnsaved = (kept: readonly StaysAt[] = []): boolean =>
  pending.size > kept.length || [...typedIn].some((form) => form.isConnected);

/** Notes that what was sent was refused: it is still not saved. */
export function noteRefused(): void {
  if (sent !== null) typedIn.add(sent);
  sent = null;
}

/** True if nothing would be lost on the way to the address, or the person leaves it. */
export function mayLeave(href: string): boolean {
  const address = new URL(href, location.href);
  const kept = [...pending].filter((staysAt) => staysAt(address));
  if (isUnsaved(kept) && !confirm(texts.leaveUnsaved)) return false;
  typedIn.clear();
  pending.clear();
  for (const each of kept) pending.add(each);
  return true;
}

/** Forgets all of it: the page is left, and nobody is to be asked. */
export function giveUp(): void {
  typedIn.clear();
  pending.clear();
}

/** True if nothing would be lost that was typed in this part of the page, or the person gives it up. */
export function mayClose(part: Element): boolean {
  const forms = [...typedIn].filter((form) => part.contains(form));
  if (forms.length > 0 && !confirm(texts.leaveUnsaved)) return false;
  for (const form of forms) typedIn.delete(form);
  return true;
}

/** Counts as unsaved while it is true. @param staysAt  left out: every other address loses it. */
export function useUnsaved(isPending: boolean, staysAt: StaysAt = () => false): void {
  const latest = useRef(staysAt);
  latest.current = staysAt;
  // With what is drawn: an effect that runs after it is too late for who types and leaves at once.
  useLayoutEffect(() => {
    if (!isPending) return;
    const part: StaysAt = (address) => latest.current(address);
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
