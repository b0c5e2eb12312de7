/**
 * Actions for the records that are ticked, in the place of the list's filters. They are archived or brought back, each
 * by a call of its own. They are saved as a file, too.
 */
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { csvOf } from "../data/csv.ts";
import { sentence } from "../data/format.ts";
import type { KeptList } from "../data/pages.ts";
import { saveFile } from "../data/saved-file.ts";
import { hasRole } from "../data/session.ts";
import { type Told, told } from "../parts/frame/told.ts";
import { Icon } from "../parts/icon.tsx";
import { runner } from "../parts/lists/runner.ts";
import { SummaryNotice } from "../parts/lists/summary.tsx";
import { TickBar } from "../parts/lists/tick-bar.tsx";
import { setTicks, type Ticks } from "../parts/lists/ticks.tsx";
import { hrefOf } from "../router.ts";
import { tickedTexts } from "../texts/en/order/ticked.ts";
import { undoTexts } from "../texts/en/order/undo.ts";
import type { KeptRow, RecordKind } from "./kinds.ts";

const words = { ...tickedTexts, ...tickedTexts.records };

interface RecordTickBarProps extends Pick<RecordKind, "setArchived"> {
  readonly name: "suppliers" | "products" | "locations";
  readonly ticks: Ticks;
  readonly list: KeptList<KeptRow>;
  /** Names of what archives, and of what brings back. */
  readonly archiveTitle: string;
  readonly backTitle: string;
  readonly statusOf: (record: object) => string;
  /** Returns the records as a table, the names of their fields first. */
  readonly tableOf: (records: readonly object[]) => Parameters<typeof csvOf>[0];
}

/** A record, with the version that was made of it here. */
interface Guarded extends KeptRow {
  readonly etag?: string | null;
}

export const RecordTickBar: FunctionComponent<RecordTickBarProps> = (props) => {
  const { setArchived, name, ticks, list, archiveTitle, backTitle, statusOf, tableOf } = props;
  const { run, progress, summary } = useMemo(
    () =>
      runner<Guarded>({
        // Archiving touches no other field, so any version may be archived. Undo takes back only the version made here.
        tickedOf: ({ id, title, etag }) => ({ id, name: title, href: hrefOf(name, id), ifMatch: etag ?? "*" }),
        says: ({ reason, message, action }, title) =>
          reason === "VERSION_MISMATCH" ? undoTexts.overtaken(title) : `${sentence(message)} ${action ?? ""}`.trim(),
        leftUndone: () => null,
      }),
    [name],
  );
  // What has left the list is not ticked any more: nothing is done that nobody sees.
  const rows = list.state.value.rows.filter(({ id }) => ticks.keys.value.has(id));
  /** @returns the records that were archived or brought back, as they are now. Null: another action is running. */
  const archive = async (isOff: boolean, chosen: readonly Guarded[]): Promise<readonly Guarded[] | null> => {
    const done: Guarded[] = [];
    const through = await run(
      `archive ${isOff}`,
      chosen,
      (row, how) => setArchived(row.id, isOff, how),
      ({ id }, { data, etag }) => {
        const [record] = Object.values<object>(data);
        if (record === undefined) return;
        list.replace((row) => (row.id === id ? { ...row, record, status: statusOf(record) } : row));
        done.push(...list.state.value.rows.filter((row) => row.id === id).map((row) => ({ ...row, etag })));
      },
    );
    return through === null ? null : done;
  };
  const move = async (isOff: boolean): Promise<void> => {
    const done = await archive(
      isOff,
      rows.filter(({ status }) => (status === "archived") !== isOff),
    );
    if (done === null) return;
    const undone = new Set(summary.value?.undone.map(({ row }) => row.id));
    setTicks(
      ticks,
      rows.map(({ id }) => id).filter((id) => !undone.has(id)),
      false,
    );
    if (undone.size === 0) summary.value = null;
    if (done.length === 0) return;
    const says = isOff ? words.archived : words.broughtBack;
    const undo = async (): Promise<Told> => {
      const restoredRows = await archive(!isOff, done);
      if (restoredRows === null) return { text: undoTexts.refused, state: "failed", undo };
      const { length } = restoredRows;
      const not = summary.value?.undone ?? [];
      summary.value = null;
      const restored = undoTexts.restored(says(length));
      if (length === done.length) return { text: restored };
      const parts = [...(length === 0 ? [] : [sentence(restored)]), ...not.map((each) => each.says)];
      return { text: parts.join(" "), state: "failed" };
    };
    told.value = { text: says(done.length), undo };
  };
  const running = progress.value;
  const isBusy = running !== null;
  const count = (isOff: boolean): number => rows.filter(({ status }) => (status === "archived") === isOff).length;
  const button = (isOff: boolean, text: string) =>
    count(!isOff) === 0 ? null : (
      <button type="button" disabled={isBusy} onClick={() => void move(isOff)}>
        {text}
      </button>
    );
  return (
    <>
      {rows.length === 0 ? null : (
        <TickBar
          ticks={ticks}
          label={words.bar}
          clear={words.clear}
          says={running === null ? words.selected(rows.length) : words.running(running.done, running.of)}
        >
          {hasRole("purchaser") ? (
            <>
              {button(true, archiveTitle)}
              {button(false, backTitle)}
            </>
          ) : null}
          <button
            type="button"
            class="shy"
            onClick={() => saveFile(`${name}.csv`, csvOf(tableOf(rows.map(({ record }) => record))))}
          >
            <Icon name="download" />
            <span>{words.csv}</span>
          </button>
        </TickBar>
      )}
      {summary.value === null ? null : (
        <SummaryNotice summary={summary.value} words={words} close={() => (summary.value = null)} />
      )}
    </>
  );
};
