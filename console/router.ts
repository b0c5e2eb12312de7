/**
 * Where the page is: the path below `/console` and the query, which is a list's state. Links to the console change it
 * without a reload.
 */
import { signal } from "@preact/signals";
import { shopId } from "./data/session.ts";
import { mayLeave, watchUnsaved } from "./unsaved.ts";

const base = "/console";

/** A place of the console. */
interface Place {
  /** Steps of the path below `/console`, decoded: `["orders", "po_1"]`. */
  readonly steps: readonly string[];
  readonly query: URLSearchParams;
}

const here = (): Place => ({
  steps: location.pathname
    .slice(base.length)
    .split("/")
    .filter((step) => step !== "")
    .map(decodeURIComponent),
  query: new URLSearchParams(location.search),
});

export const place = signal<Place>(here());

/** The address of a place: `hrefOf("orders", orderId)`. */
export const hrefOf = (...steps: readonly string[]): string =>
  [base, ...steps.map((step) => encodeURIComponent(step))].join("/");

/** The address with this query; an empty one is left out. */
export const withQuery = (href: string, query: URLSearchParams): string =>
  query.size === 0 ? href : `${href}?${query.toString()}`;

/** The query with this parameter; an empty one is left out. */
export function withParameter(query: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(query);
  if (value === "") next.delete(name);
  else next.set(name, value);
  return next;
}

/** The query of each place when it was last left, by shop and path. */
const lastQueries = new Map<string, URLSearchParams>();

const pathInShop = (steps: readonly string[]): string => `${shopId()} ${steps.join("/")}`;

/** The address of a list as it was left, with its filters and columns. */
export const listHref = (...steps: readonly string[]): string =>
  withQuery(hrefOf(...steps), lastQueries.get(pathInShop(steps)) ?? new URLSearchParams());

/** The address of what is shown. */
let shown = location.href;

function show(): void {
  const { steps, query } = place.value;
  lastQueries.set(pathInShop(steps), query);
  shown = location.href;
  place.value = here();
}

/** Goes to an address of the console, unless something is not saved and the person stays with it. */
export function go(href: string, { replace = false } = {}): void {
  if (!replace && !mayLeave(href)) return;
  if (replace) history.replaceState(history.state, "", href);
  else {
    history.replaceState({ scrolledTo: scrollY }, "");
    history.pushState(null, "", href);
  }
  const before = place.value.steps.join("/");
  show();
  if (!replace && before !== place.value.steps.join("/")) scrollTo(0, 0);
}

/** Follows the browser's buttons, and clicks on links that stay in the console. */
export function startRouter(): void {
  // A browser restores the position before the page is drawn; so it is restored here, once it is.
  history.scrollRestoration = "manual";
  watchUnsaved();
  addEventListener("popstate", ({ state }) => {
    // The browser has gone already: it is sent back.
    if (!mayLeave(location.href)) return history.pushState(null, "", shown);
    show();
    const scrolledTo: unknown = typeof state === "object" && state !== null ? Reflect.get(state, "scrolledTo") : 0;
    requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(0, Number(scrolledTo ?? 0))));
  });
  document.addEventListener("click", (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!isPlain || event.defaultPrevented || link === null || link.target !== "" || link.origin !== location.origin)
      return;
    if (link.hash !== "" || !(link.pathname === base || link.pathname.startsWith(`${base}/`))) return;
    event.preventDefault();
    go(link.href);
  });
}
