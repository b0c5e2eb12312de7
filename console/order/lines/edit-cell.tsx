/** One cell of the grid: a button that shows its value, and a field while it is edited. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedInputEvent, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PurchaseOrderLineItem as Line } from "../../../client/index.ts";
import { hasEnded } from "../../data/session.ts";

export interface EditColumn {
  readonly name: string;
  readonly title: string;
  readonly kind: "number" | "date";
  /** The text that editing begins with. */
  readonly textOf: (line: Line) => string;
  readonly shown: (line: Line) => string;
}

export interface Position {
  readonly row: number;
  readonly column: number;
}

export const nameOf = (line: Line): string =>
  [line.productName ?? line.sku ?? line.variantId, line.variantName].filter((part) => part !== null).join(" ");

const steps: Readonly<Record<string, readonly [rows: number, steps: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

interface CellProps {
  readonly column: EditColumn;
  readonly line: Line;
  readonly position: Position;
  readonly isInTabOrder: boolean;
  readonly note: string | null;
  /** Text that was typed here before and is not saved; null without. */
  readonly kept: string | null;
  readonly take: (text: string) => void;
  readonly drop: () => void;
  readonly walk: (from: Position, rows: number, steps: number) => void;
}

export const Cell: FunctionComponent<CellProps> = (props) => {
  const { column, line, position, isInTabOrder, note, kept, take, drop, walk } = props;
  const draft = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isEditing = draft.value !== null;
  const button = useRef<HTMLButtonElement>(null);
  const comesBack = useRef(false);
  useLayoutEffect(() => {
    if (isEditing) field.current?.focus();
    else if (comesBack.current && document.activeElement === document.body) button.current?.focus();
    comesBack.current = false;
  }, [isEditing]);
  const label = `${column.title}, ${nameOf(line)}`;
  const address = `${position.row}/${position.column}`;

  const begin = kept ?? column.textOf(line);
  const shown = kept ?? column.shown(line);
  /** Leaving a field saves what was changed in it; the key that saves also sends again what could not be saved. */
  const finish = (how: "saved" | "left" | "given-up"): void => {
    const text = draft.value;
    draft.value = null;
    if (text === null) return;
    if (how === "given-up") drop();
    else if (text === column.textOf(line)) drop();
    else if (how === "saved" || text !== begin) take(text);
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key !== "Enter" && event.key !== "Tab" && event.key !== "Escape") return;
    event.preventDefault();
    finish(event.key === "Escape" ? "given-up" : "saved");
    // The focus moves at once, so that the next key already belongs to the next cell. The last cell is its own next
    // one.
    comesBack.current = true;
    if (event.key === "Tab") walk(position, 0, event.shiftKey ? -1 : 1);
    else if (event.key === "Enter") walk(position, 1, 0);
  };
  const onButtonKey = (event: TargetedKeyboardEvent<HTMLButtonElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = steps[event.key];
    const isText = event.key.length === 1 && event.key !== " " && column.kind === "number";
    if (step === undefined && !isText && event.key !== "F2") return;
    event.preventDefault();
    if (step !== undefined) walk(position, ...step);
    else draft.value = isText ? event.key : begin;
  };
  if (draft.value === null)
    return (
      <button
        ref={button}
        type="button"
        class={note === null ? "cell" : "cell noted"}
        data-cell={address}
        tabIndex={isInTabOrder ? 0 : -1}
        aria-label={`${label}: ${shown}`}
        onKeyDown={onButtonKey}
        onClick={() => (draft.value = begin)}
      >
        {shown}
      </button>
    );
  const common = {
    ref: field,
    class: "cell",
    "data-cell": address,
    "aria-label": label,
    value: draft.value,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => (draft.value = event.currentTarget.value),
    onKeyDown: onKey,
    onBlur: () => {
      // Signing in again takes the focus and gives it back: nobody has left the field.
      if (!hasEnded()) finish("left");
    },
  };
  // As wide as its column is: a field of the usual size would move the others.
  return column.kind === "date" ? (
    <input type="date" {...common} />
  ) : (
    <input inputMode="decimal" size={1} {...common} />
  );
};
