/**
 * Output of a command: results on stdout, messages and progress on stderr. Texts that others wrote reach the terminal
 * without control characters (§8).
 */
import { memberOf } from "../base/json.ts";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { neutralised, neutralisedJson, onOneLine } from "../base/text/plain-text.ts";

/** Intervals of progress on a terminal, and in lines of its own elsewhere. */
const terminalEveryMs = 100;
const lineEveryMs = 1_000;

export interface Output {
  /** True if stdout gets JSON only. */
  readonly json: boolean;
  /** The command's result: `data` as one line of JSON with --json, else the text. */
  result(data: unknown, text: string): void;
  /** A line on stderr. */
  message(line: string): void;
  /** Shows the progress of long work; on a terminal it replaces the text before. */
  progress(text: string): void;
  /** A part of a file on stdout, at the reader's pace. */
  piece(piece: string | Uint8Array): Promise<void>;
}

interface OutputOptions {
  readonly json: boolean;
  /** Show progress even when stderr is no terminal. */
  readonly progress: boolean;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

export function openOutput({ json, progress, stdout, stderr }: OutputOptions): Output {
  const onTerminal = stderr.isTTY === true;
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let isLineOpen = false;
  const closeLine = (): void => {
    if (isLineOpen) stderr.write("\r\u001B[K");
    isLineOpen = false;
  };
  return {
    json,
    result(data, text) {
      closeLine();
      stdout.write(`${json ? neutralisedJson(JSON.stringify(data)) : neutralised(text)}\n`);
    },
    message(line) {
      closeLine();
      stderr.write(`${neutralised(line)}\n`);
    },
    progress(text) {
      if (!onTerminal && !progress) return;
      const nowMs = performance.now();
      if (nowMs - shownAtMs < (onTerminal ? terminalEveryMs : lineEveryMs)) return;
      shownAtMs = nowMs;
      const plain = onOneLine(text);
      stderr.write(onTerminal ? `\r\u001B[K${plain}` : `${plain}\n`);
      isLineOpen = onTerminal;
    },
    async piece(piece) {
      closeLine();
      if (!stdout.write(piece)) await once(stdout, "drain");
    },
  };
}

/** The list that an answer has under this name; empty when there is none. */
export function listIn(data: unknown, name: string): readonly unknown[] {
  const list = memberOf(data, name);
  return Array.isArray(list) ? list : [];
}

/** A value for a person, on one line; a dash when there is none. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  return onOneLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** Rows under headings, columns as wide as their longest value. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [headings, ...rows.map((row) => row.map(shown))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Columns of a table, by their headings: the member of an item, or what is shown of the item. */
export type Columns = Readonly<Record<string, string | ((item: unknown) => unknown)>>;

/**
 * The list that an answer has under this name, as a table.
 *
 * @param none     the text in place of a table without rows.
 */
export function tableOf(data: unknown, name: string, columns: Columns, none: string): string {
  const rows = listIn(data, name).map((item) =>
    Object.values(columns).map((column) => (typeof column === "string" ? memberOf(item, column) : column(item))),
  );
  return rows.length === 0 ? none : table(Object.keys(columns), rows);
}

/** Shows the page of the list `name` in an answer as a table, and the option for the next page. */
export const listShown =
  (name: string, columns: Columns) =>
  (data: unknown): string => {
    const cursor = memberOf(data, "cursor");
    const rows = tableOf(data, name, columns, "There are none.");
    return typeof cursor === "string" ? `${rows}\nThere are more: --cursor ${cursor}` : rows;
  };

const byteUnits = ["B", "kB", "MB", "GB", "TB"] as const;

/** A number of bytes for a person: `1.2 MB`. */
export function bytesShown(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${byteUnits[unit]}`;
}
