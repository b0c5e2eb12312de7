/**
 * Keeps the focus in the page of a person without a mouse. If what had it is gone, the heading nearest to that place
 * gets it. A control that could not be used for a moment gets it back. Whoever points somewhere has chosen it.
 */

/** Element that had the focus last, and those that it stood in, the nearest first. */
let last: readonly HTMLElement[] = [];

/** True while it cannot be used, as a button that sends. */
let isResting = false;

function keep(): void {
  const [at] = last;
  if (at === undefined) return;
  if (at.isConnected && at.matches(":disabled")) {
    isResting = true;
    return;
  }
  if (document.activeElement !== document.body) return;
  if (at.isConnected) {
    if (isResting) at.focus({ preventScroll: true });
    isResting = false;
    return;
  }
  for (const each of last) {
    const heading = each.isConnected ? each.querySelector<HTMLElement>("h1, h2") : null;
    if (heading === null) continue;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    // One that is folded away takes none.
    if (document.activeElement === heading) return;
  }
}

export function keepFocus(): void {
  addEventListener("focusin", ({ target }) => {
    isResting = false;
    const found: HTMLElement[] = [];
    for (let each = target instanceof HTMLElement ? target : null; each !== null; each = each.parentElement)
      found.push(each);
    last = found;
  });
  addEventListener("pointerdown", () => (last = []), { capture: true });
  new MutationObserver(keep).observe(document.documentElement, {
    childList: true,
    subtree: true,
    attributeFilter: ["disabled"],
  });
}
