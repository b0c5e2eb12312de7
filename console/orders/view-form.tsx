/** The form that saves, renames, shares or deletes a view, or makes it the first that the person sees. */
import type { FunctionComponent, TargetedEvent } from "preact";
import { field } from "../data/form.ts";
import { Field, useSending } from "../parts/sending.tsx";
import { go } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { isView, wholeList } from "./filters.ts";
import { addressOf } from "./view-bar.tsx";
import { deleteView, firstQuery, saveView, setFirst, type View } from "./views.ts";

const words = texts.views;

interface ViewFormProps {
  readonly query: URLSearchParams;
  /** The view that is changed; null makes one. */
  readonly view: View | null;
  /** The name of a view that is not the person's to change; they may still begin with it. */
  readonly fixedName: string | null;
  readonly close: () => void;
}

export const ViewForm: FunctionComponent<ViewFormProps> = ({ query, view, fixedName, close }) => {
  const { wrong, notice, came } = useSending(([name = ""]) => name);
  const first = firstQuery();
  const wasFirst = first === null ? isView(query, wholeList) : isView(query, first);
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const viewName = fixedName ?? field(form, "viewName");
    const text = query.toString();
    const isShared = field(form, "isShared") !== "";
    let problem =
      fixedName === null ? await saveView({ viewId: view?.viewId ?? null, viewName, query: text, isShared }) : null;
    const isFirst = field(form, "isFirst") !== "";
    if (problem === null && isFirst !== wasFirst) problem = await setFirst(isFirst ? text : null, viewName);
    came(problem);
    if (problem === null) close();
  };
  const remove = async (viewId: string): Promise<void> => {
    const problem = (await deleteView(viewId)) ?? (wasFirst ? await setFirst(null, "") : null);
    came(problem);
    if (problem !== null) return;
    close();
    go(addressOf(wholeList));
  };
  return (
    <form class="view-form" data-asks aria-label={words.save} onSubmit={(event) => void submit(event)}>
      {fixedName === null ? (
        <>
          <Field name="viewName" label={words.name} wrong={wrong}>
            {(common) => (
              <input {...common} required maxLength={100} defaultValue={view?.viewName ?? ""} autocomplete="off" />
            )}
          </Field>
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
        {notice}
      </div>
    </form>
  );
};
