/** Rows pasted from a sheet: what is wrong is told row by row, then what they would do, and one call does it. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent, TargetedClipboardEvent, TargetedEvent } from "preact";
import type { Problem } from "../../data/client.ts";
import { numberIn } from "../../data/format.ts";
import { texts } from "../../texts/en/texts.ts";
import { ProblemNotice } from "../problem.tsx";
import { type PasteColumn, type PastedRow, rowsIn } from "./pasted-rows.ts";
import { useUnsaved } from "../../unsaved.ts";

const words = texts.addLines;

/** A row that cannot be taken, and why. */
interface RowFault {
  readonly row: PastedRow;
  readonly text: string;
}

/** Outcome of a check: rows that cannot be taken, and what the others would do. */
export interface CheckedRows {
  readonly faults: readonly RowFault[];
  readonly shown?: ComponentChildren;
  /** Text of the button that does it. Null: there is nothing to do. */
  readonly action: string | null;
  /** Does it. @returns false if it was not done, of which its screen tells; what went wrong. */
  readonly run: () => Promise<boolean | Problem>;
}

interface PasteProps {
  readonly columns: readonly PasteColumn[];
  readonly help: string;
  /** Looks the rows up. Those with a cell that cannot be read are among them. */
  readonly check: (rows: readonly PastedRow[]) => Promise<CheckedRows | Problem>;
}

export const PasteRows: FunctionComponent<PasteProps> = ({ columns, help, check }) => {
  const text = useSignal("");
  const checked = useSignal<CheckedRows | null>(null);
  const problem = useSignal<Problem | null>(null);
  const isBusy = useSignal(false);
  useUnsaved(text.value.trim() !== "");

  const look = async (pasted: string): Promise<void> => {
    text.value = pasted;
    problem.value = null;
    checked.value = null;
    const rows = rowsIn(pasted, columns, numberIn);
    if (rows.length === 0) return;
    isBusy.value = true;
    const found = await check(rows);
    isBusy.value = false;
    if ("message" in found) problem.value = found;
    else {
      const unread = rows.flatMap((row) =>
        columns.flatMap(({ name, fault }) => (row.faults.includes(name) ? { row, text: fault } : [])),
      );
      const faults = [...unread, ...found.faults].toSorted((one, other) => one.row.row - other.row.row);
      checked.value = { ...found, faults };
    }
  };
  const onPaste = (event: TargetedClipboardEvent<HTMLTextAreaElement>): void => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.trim() === "" || text.value !== "") return;
    event.preventDefault();
    void look(pasted);
  };
  const { faults = [], shown = null, action = null } = checked.value ?? {};
  const isReady = checked.value !== null && faults.length === 0;
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (checked.value === null) return look(text.value);
    isBusy.value = true;
    const done = await checked.value.run();
    isBusy.value = false;
    if (typeof done === "object") {
      problem.value = done;
      checked.value = null;
    } else if (done) {
      text.value = "";
      checked.value = null;
    }
  };
  return (
    <form class="paste" onSubmit={(event) => void submit(event)}>
      <label>
        {words.rows}
        <textarea
          class="as-typed"
          rows={6}
          aria-describedby="paste-help"
          value={text.value}
          onPaste={onPaste}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            checked.value = null;
          }}
        />
      </label>
      <p id="paste-help" class="quiet">
        {help}
      </p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {faults.length === 0 ? null : (
        <div role="alert">
          <ul class="details">
            {faults.map(({ row: { row, code }, text: fault }) => (
              <li key={`${row}${fault}`}>
                {words.row(row)} {code === "" ? null : <code>{code}</code>}: {fault}
              </li>
            ))}
          </ul>
        </div>
      )}
      {shown}
      <button
        class={isReady ? "primary" : undefined}
        disabled={isBusy.value || (checked.value !== null && !(isReady && action !== null))}
      >
        {isBusy.value ? texts.loading : isReady && action !== null ? action : words.check}
      </button>
    </form>
  );
};
