/**
 * Lists that are read page by page, as signals: rows so far, whether there are more, and what went wrong.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Problem } from "./client.ts";
import { sleep } from "./reading.ts";

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly totalCount: number;
  readonly cursor: string | null;
}

/** A list as far as it has been read. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly totalCount: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
}

export interface List<Row> {
  readonly state: ReadonlySignal<Rows<Row>>;
  /** Reads the next page, or the failed one again. */
  more(): Promise<void>;
}

/** A list whose rows may become others while it is kept. */
export interface KeptList<Row> extends List<Row> {
  replace(become: (row: Row) => Row): void;
  /**
   * Reads the first page again, after what is being read. What is shown stays until it is read, and for good when it
   * cannot be read. A list of which more pages were read keeps its rows, each as it is now if it is among those read.
   */
  again(idOf: (row: Row) => string): Promise<void>;
}

/** Reads the page after a cursor; the first one with null. */
export type ReadPage<Row> = (cursor: string | null) => Promise<Page<Row> | { readonly problem: Problem }>;

/**
 * Pages that are asked for without a wait: 4,000 orders, for two thirds of a shop's calls. After them each waits, so
 * that an export leaves the shop's people the other third.
 */
const pagesAtOnce = 80;
const pageWaitMs = 150;

/**
 * Reads all pages, or the first `rowsMax` rows. `onProgress` learns how many rows are read.
 *
 * @returns the rows and whether there are more; why it ended before the last page.
 */
export async function everyRow<Row>(
  read: ReadPage<Row>,
  onProgress: (count: number) => void,
  rowsMax = Infinity,
): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean } | { readonly problem: Problem }> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    if ((pages += 1) > pagesAtOnce) await sleep(pageWaitMs);
    const page: Page<Row> | { readonly problem: Problem } = await read(cursor);
    if ("problem" in page) return page;
    rows.push(...page.rows);
    ({ cursor } = page);
    onProgress(Math.min(rows.length, rowsMax));
  } while (cursor !== null && rows.length < rowsMax);
  return { rows: rows.slice(0, rowsMax), isCut: cursor !== null || rows.length > rowsMax };
}

/** Makes a list. The first page is read at once. */
export function listOf<Row>(read: ReadPage<Row>): KeptList<Row> {
  const state = signal<Rows<Row>>({ rows: [], totalCount: 0, hasMore: false, isLoading: true, problem: null });
  let cursor: string | null = null;
  let pages = 0;
  /** Set while the first page is to be read again. */
  let wanted: ((row: Row) => string) | null = null;
  let isReadingAgain = false;
  const load = async (): Promise<void> => {
    state.value = { ...state.value, isLoading: true, problem: null };
    const page = await read(cursor);
    if ("problem" in page) state.value = { ...state.value, isLoading: false, problem: page.problem };
    else {
      cursor = page.cursor;
      pages += 1;
      state.value = {
        rows: [...state.value.rows, ...page.rows],
        totalCount: page.totalCount,
        hasMore: page.cursor !== null,
        isLoading: false,
        problem: null,
      };
    }
    await readAgain();
  };
  const again = async (idOf: (row: Row) => string): Promise<void> => {
    wanted = idOf;
    await readAgain();
  };
  /** Reads changes again that happened while pages were being read: they may be missing in them. */
  const readAgain = async (): Promise<void> => {
    if (isReadingAgain) return;
    isReadingAgain = true;
    while (wanted !== null && !state.value.isLoading) {
      const idOf = wanted;
      wanted = null;
      const before = state.value.rows;
      const page = await read(null);
      if ("problem" in page) break;
      if (state.value.rows === before) renew(page, idOf);
      else wanted ??= idOf;
    }
    isReadingAgain = false;
  };
  const renew = (page: Page<Row>, idOf: (row: Row) => string): void => {
    const before = state.value.rows;
    const fresh = new Map(page.rows.map((row) => [idOf(row), row]));
    const isOnePage = pages <= 1;
    if (isOnePage) ({ cursor } = page);
    state.value = {
      ...state.value,
      rows: isOnePage ? page.rows : before.map((row) => fresh.get(idOf(row)) ?? row),
      totalCount: page.totalCount,
      hasMore: cursor !== null,
      problem: null,
    };
  };
  void load();
  const replace = (become: (row: Row) => Row): void => {
    state.value = { ...state.value, rows: state.value.rows.map(become) };
  };
  return { state, more: load, replace, again };
}
