/**
 * Views of the list as links, and a form that saves, renames, shares, deletes one, or makes it the first that the
 * person sees.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import type { Problem } from "../data/client.ts";
import { field } from "../data/form.ts";
import { number } from "../data/format.ts";
import { hasStorefront } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { go, hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { builtInViews, countedViews, isView, wholeList } from "./filters.ts";
import { countOf, useViewCounts } from "./view-counts.ts";
import { deleteView, firstQuery, mayChange, namedViews, readViews, saveView, setFirst, type View } from "./views.ts";
import { noteRefused } from "../unsaved.ts";

const words = texts.views;

/** The address of a query of the list. */
export const addressOf = (query: URLSearchParams | string): string => {
  const search = new URLSearchParams(query).toString();
  return search === "" ? hrefOf("orders") : `${hrefOf("orders")}?${search}`;
};

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

interface FormProps {
  readonly query: URLSearchParams;
  /** The view that is changed; null makes one. */
  readonly view: View | null;
  /** The name of a view that is not the person's to change; they may still begin with it. */
  readonly fixedName: string | null;
  readonly close: () => void;
}

const ViewForm: FunctionComponent<FormProps> = ({ query, view, fixedName, close }) => {
  const problem = useSignal<Problem | null>(null);
  const first = firstQuery();
  const wasFirst = first === null ? isView(query, wholeList) : isView(query, first);
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const viewName = fixedName ?? field(form, "viewName");
    const text = query.toString();
    const isShared = field(form, "isShared") !== "";
    problem.value =
      fixedName === null ? await saveView({ viewId: view?.viewId ?? null, viewName, query: text, isShared }) : null;
    const isFirst = field(form, "isFirst") !== "";
    if (problem.value === null && isFirst !== wasFirst) problem.value = await setFirst(isFirst ? text : null, viewName);
    if (problem.value === null) close();
    else noteRefused();
  };
  const remove = async (viewId: string): Promise<void> => {
    problem.value = (await deleteView(viewId)) ?? (wasFirst ? await setFirst(null, "") : null);
    if (problem.value !== null) return;
    close();
    go(addressOf(wholeList));
  };
  return (
    <form class="view-form" data-asks aria-label={words.save} onSubmit={(event) => void submit(event)}>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {fixedName === null ? (
        <>
          <label>
            {words.name}
            <input name="viewName" required maxLength={100} defaultValue={view?.viewName ?? ""} autocomplete="off" />
          </label>
          <label class="check">
            <input type="checkbox" name="isShared" defaultChecked={view?.isShared ?? false} /> {words.share}
          </label>
        </>
      ) : (
        <strong>{fixedName}</strong>
      )}
      <label class="check">
        <input type="checkbox" name="isFirst" defaultChecked={wasFirst} /> {words.first}
      </label>
      <div class="buttons">
        <button class="primary">{words.keep}</button>
        {view === null ? null : (
          <button type="button" onClick={() => void remove(view.viewId)}>
            {words.delete}
          </button>
        )}
        <button type="button" class="plain" onClick={close}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
};
