/** One action for several rows, one after another, each with its own guard and key. What became of each is kept. */
import { signal } from "@preact/signals";
import { newIdempotencyKey, type OperationName, type Result } from "../../../client/index.ts";
import { type Problem, problemOf } from "../../data/client.ts";
import { sleep } from "../../data/reading.ts";

/** A row as its call and the outcome name it. */
interface Ticked {
  readonly id: string;
  readonly name: string;
  readonly href: string;
  /** The version that the list shows, or `*` for any. */
  readonly ifMatch: string;
}

/** Row for which an action was not all done. `partly`: it was, but what follows it was not. */
export interface Undone {
  readonly row: Ticked;
  readonly kind: "refused" | "waiting" | "partly";
  readonly says: string;
  /** The request that waits for a decision. */
  readonly approvalRequestId: string | null;
}

/** Outcome of an action for several rows. */
export interface Summary {
  readonly done: number;
  readonly undone: readonly Undone[];
}

/** Terms of a row's call: its version, and a key, so that it is made once. */
interface How {
  readonly ifMatch: string;
  readonly idempotencyKey: string;
}

interface Terms<Row> {
  readonly tickedOf: (row: Row) => Ticked;
  /** Returns why a row was refused, in words. */
  readonly says: (problem: Problem, name: string) => string;
  /** Returns what is left to do after a call that went through; null: nothing. */
  readonly leftUndone: (data: object) => string | null;
}

/** Calls that one action may send at once. After them each waits, so that the shop's people keep most of theirs. */
const callsAtOnce = 20;
const callWaitMs = 150;

export function runner<Row>({ tickedOf, says, leftUndone }: Terms<Row>) {
  /** Number of rows that are through, while an action runs. */
  const progress = signal<{ readonly done: number; readonly of: number } | null>(null);
  const summary = signal<Summary | null>(null);
  /** Keys of calls that nobody has answered, by action, row and version. */
  const keys = new Map<string, string>();

  /** @returns ids of the rows for which it was done, or asked for. Null: another action is running. */
  const run = async <Name extends OperationName>(
    action: string,
    rows: readonly Row[],
    call: (row: Row, how: How) => Promise<Result<Name>>,
    after: (row: Row, result: Result<Name> & { readonly ok: true }) => void = () => {},
  ): Promise<readonly string[] | null> => {
    if (progress.value !== null) return null;
    progress.value = { done: 0, of: rows.length };
    summary.value = null;
    const through: string[] = [];
    const undone: Undone[] = [];
    const one = async (index: number, each: Row): Promise<void> => {
      if (index >= callsAtOnce) await sleep(callWaitMs);
      const row = tickedOf(each);
      const { id, ifMatch } = row;
      const name = JSON.stringify([action, id, ifMatch]);
      const idempotencyKey = keys.get(name) ?? newIdempotencyKey();
      keys.set(name, idempotencyKey);
      const result = await call(each, { ifMatch, idempotencyKey });
      if (result.ok || (result.status !== null && result.status < 500)) keys.delete(name);
      if (result.ok) {
        after(each, result);
        const left = leftUndone(result.data);
        if (left !== null) undone.push({ row, kind: "partly", says: left, approvalRequestId: null });
        through.push(id);
      } else {
        const problem = problemOf(result);
        const { approvalRequestId = null } = problem;
        const kind = approvalRequestId === null ? "refused" : "waiting";
        undone.push({ row, kind, says: says(problem, row.name), approvalRequestId });
        if (kind === "waiting") through.push(id);
      }
    };
    try {
      for (const [index, row] of rows.entries()) {
        await one(index, row);
        progress.value = { done: index + 1, of: rows.length };
      }
    } finally {
      progress.value = null;
    }
    summary.value = { done: through.length - undone.filter(({ kind }) => kind === "waiting").length, undone };
    return through;
  };
  return { progress, summary, run };
}
