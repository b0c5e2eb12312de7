/**
 * A form of a record's fields. Only what was typed and differs is sent. A field that nobody has typed in follows the
 * record, so that a change of somebody else stays.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Problem } from "../data/client.ts";
import { Field, useSending } from "../parts/sending.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { differencesIn, type FieldGroup, type RecordField, said, spelled, type Values, valueOf } from "./fields.ts";

/** The record as others have changed it meanwhile. */
interface Theirs {
  readonly theirs: object;
}

interface RecordFormProps {
  readonly label: string;
  readonly groups: readonly FieldGroup[];
  readonly record: object;
  /** Text of the button that saves. */
  readonly action: string;
  /** True if it is sent though nothing differs. */
  readonly isNew?: boolean;
  /** Sends. @returns what went wrong, or what others made of the same fields; null: it is saved. */
  readonly save: (changes: Values) => Promise<Problem | Theirs | null>;
  /** True in a dialog, where what is done stands at the end. */
  readonly isInDialog?: boolean;
  /** Called without anything to save, and by the button that gives up. */
  readonly close: () => void;
}

export const RecordForm: FunctionComponent<RecordFormProps> = (props) => {
  const { label, groups, record, action, isNew = false, isInDialog = false, close } = props;
  const written = useSignal<ReadonlyMap<string, string>>(new Map());
  const isSaving = useSignal(false);
  const { wrong, notice, refuse, came } = useSending((steps) => steps.join("."), words.saved);
  const fields = groups.flatMap((group) => group.fields);
  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const faults = new Map<string, string>();
    const changes = differencesIn(fields, record, written.value, (name, text) => faults.set(name, text));
    if (faults.size > 0) return refuse(faults);
    if (changes.size === 0 && !isNew) return close();
    isSaving.value = true;
    const answer = await props.save(changes);
    isSaving.value = false;
    if (answer === null || "message" in answer) return came(answer);
    const { theirs } = answer;
    refuse(
      new Map(
        fields
          .filter(({ name }) => changes.has(name) && valueOf(theirs, name) !== valueOf(record, name))
          .map((field) => [field.name, words.theirs(said(field, valueOf(theirs, field.name)))]),
      ),
      words.stale,
    );
  };
  const yes = (
    <button key="yes" class="primary" disabled={isSaving.value}>
      {action}
    </button>
  );
  const no = (
    <button key="no" type="button" onClick={close}>
      {texts.cancel}
    </button>
  );
  return (
    <form class="record-form" aria-label={label} data-asks noValidate onSubmit={(event) => void save(event)}>
      {groups.map(({ title, fields: own }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <div class="fields">
            {own.map((field) => (
              <Field
                key={field.name}
                name={field.name}
                label={field.label}
                {...(field.hint === undefined ? {} : { hint: field.hint })}
                wrong={wrong}
              >
                {(common) => (
                  <Control
                    field={field}
                    common={{ ...common, required: field.isNeeded === true }}
                    text={written.value.get(field.name) ?? spelled(valueOf(record, field.name))}
                    write={(text) => (written.value = new Map([...written.value, [field.name, text]]))}
                  />
                )}
              </Field>
            ))}
          </div>
        </fieldset>
      ))}
      {isInDialog ? notice : null}
      <p class={isInDialog ? "actions" : "buttons"}>{isInDialog ? [no, yes] : [yes, no, notice]}</p>
    </form>
  );
};

interface ControlProps {
  readonly field: RecordField;
  readonly common: { readonly name: string; readonly required: boolean };
  readonly text: string;
  readonly write: (text: string) => void;
}

const Control: FunctionComponent<ControlProps> = ({ field: { kind, choices }, common, text, write }) => {
  if (choices !== undefined)
    return (
      <select {...common} value={text} onChange={(event) => write(event.currentTarget.value)}>
        {Object.hasOwn(choices, text) ? null : <option value={text}>{text}</option>}
        {Object.entries(choices).map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    );
  if (kind === "tick")
    return (
      <input
        {...common}
        type="checkbox"
        checked={text !== ""}
        onChange={(event) => write(event.currentTarget.checked ? "on" : "")}
      />
    );
  if (kind === "lines")
    return <textarea {...common} rows={3} value={text} onInput={(event) => write(event.currentTarget.value)} />;
  return (
    <input
      {...common}
      value={text}
      autocomplete="off"
      {...(kind === "number" || kind === "money" ? { inputMode: "decimal" } : {})}
      onInput={(event) => write(event.currentTarget.value)}
    />
  );
};
