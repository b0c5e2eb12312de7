/** Views of the list as links. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { number } from "../data/format.ts";
import { hasStorefront } from "../data/session.ts";
import { lazy } from "../parts/lazy.tsx";
import { hrefOf, withQuery } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { builtInViews, countedViews, isView, wholeList } from "./filters.ts";
import { countOf, useViewCounts } from "./view-counts.ts";
import { firstQuery, mayChange, namedViews, readViews } from "./views.ts";

const words = texts.views;

/** The address of a query of the list. */
export const addressOf = (query: URLSearchParams | string): string =>
  withQuery(hrefOf("orders"), new URLSearchParams(query));

const ViewForm = lazy(async () => (await import("./filter-fields.tsx")).ViewForm, { isQuiet: true });

export const ViewBar: FunctionComponent<{ readonly query: URLSearchParams; readonly isListed: boolean }> = ({
  query,
  isListed,
}) => {
  const isOpen = useSignal(false);
  useEffect(() => void readViews(), []);
  useViewCounts(isListed);
  const saved = namedViews();
  const current = saved.find((view) => isView(query, view.query)) ?? null;
  const builtIn = builtInViews.find((view) => isView(query, view.query)) ?? null;
  const first = firstQuery();
  const isFirst = (view: string): boolean =>
    first === null ? view === wholeList : isView(new URLSearchParams(first), view);
  const link = (name: string, view: string, isShared: boolean) => (
    <a href={addressOf(view)} aria-current={isView(query, view) ? "true" : undefined}>
      {name}
      <Count query={view} />
      {isFirst(view) && first !== null ? <span title={words.first}> ★</span> : null}
      {isShared ? <span class="quiet"> {words.shared}</span> : null}
    </a>
  );
  return (
    <>
      <nav class="tabs" aria-label={words.title}>
        {builtInViews.slice(0, hasStorefront() ? undefined : -1).map((view) => (
          <span key={view.name}>{link(view.name, view.query, false)}</span>
        ))}
        {saved.map((view) => (
          <span key={view.viewId}>{link(view.viewName, view.query, view.isShared)}</span>
        ))}
        <button type="button" class="plain" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          {current === null && builtIn === null ? words.save : words.edit}
        </button>
      </nav>
      {isOpen.value ? (
        <ViewForm
          key={query.toString()}
          query={query}
          view={current !== null && mayChange(current) ? current : null}
          fixedName={builtIn?.name ?? (current !== null && !mayChange(current) ? current.viewName : null)}
          close={() => (isOpen.value = false)}
        />
      ) : null}
    </>
  );
};

/** The number of orders of a counted view. It has its room before it is known. */
const Count: FunctionComponent<{ readonly query: string }> = ({ query }) => {
  const count = countOf(query) ?? 0;
  return countedViews.includes(query) ? <span class="count"> {count === 0 ? null : number(count)}</span> : null;
};
