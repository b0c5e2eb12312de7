/** Tells what was done to a record, and takes it back for the version that was made and no other. */
import { fieldName, statusName } from "../data/format.ts";
import { type Told, told } from "../parts/frame/told.ts";
import { failed } from "../parts/frame/failed.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { undoTexts as words } from "../texts/en/order/undo.ts";
import type { Problem } from "../data/client.ts";
import { membersWith, type Values, valueOf } from "./fields.ts";
import { type Came, isKept, type RecordKind } from "./kinds.ts";

/**
 * Tells what was done.
 *
 * @param name  what it was done to.
 * @param undone  what is told once it is taken back.
 */
function tellDone(text: string, name: string, undone: string, send: () => Promise<Problem | null>): void {
  const undo = async (): Promise<Told> => {
    const problem = await send();
    if (problem === null) return { text: undone };
    return problem.reason === "VERSION_MISMATCH"
      ? { text: words.overtaken(name), state: "failed" }
      : failed(words.refused, problem);
  };
  told.value = { text, undo };
}

/** Tells that a price or a stock was saved. */
const tellWritten = (what: string, send: () => Promise<Problem | null>): void =>
  tellDone(words.saved(what), what, words.restored(what), send);

/** Tells that something is gone for good, which the person was asked about. */
const tellDeleted = (name: string): void => {
  told.value = { text: words.deleted(name) };
};

interface Saved {
  readonly kind: RecordKind;
  readonly id: string;
  readonly name: string;
  readonly before: object;
  readonly changes: Values;
  readonly etag: string;
}

/**
 * Tells which fields were saved, or that the record was archived or brought back.
 *
 * @param taken  learns of the record as it was.
 */
function tellSaved({ kind, id, name, before, changes, etag }: Saved, taken: (came: Came) => void): void {
  // An object is sent as a whole, and goes back as a whole.
  const members = Object.keys(membersWith(before, changes));
  if (members.length === 0) return;
  const { field, on } = kind.archive;
  const stateOf = (value: unknown): string => statusName(value === on ? "archived" : "active");
  const labels = new Map(kind.groups.flatMap(({ fields }) => fields.map((each) => [each.name, each.label])));
  const labelOf = (each: string): string =>
    labels.get(each) ?? (each.startsWith("reorder.") ? recordTexts.stock.rule : fieldName(each));
  const what = [...changes.keys()].map(labelOf).join(", ");
  const isMove = changes.size === 1 && changes.has(field) && !labels.has(field);
  tellDone(
    isMove ? words.moved(name, stateOf(changes.get(field))) : words.saved(what),
    name,
    isMove ? words.movedBack(name, stateOf(valueOf(before, field))) : words.restored(what),
    async () => {
      const back = Object.fromEntries(members.map((member) => [member, valueOf(before, member)]));
      const came = await kind.update(id, back, etag);
      if (!isKept(came)) return came.problem;
      taken(came);
      return null;
    },
  );
}

/** The ways to tell of each kind of change. */
export const telling = { tellSaved, tellWritten, tellDeleted, whatAt: words.what } as const;
