/** The rows of a forecast view, read page after page as far as somebody looks. */
import { batch, signal } from "@preact/signals";
import type { Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import type { ServiceSort } from "./chosen.ts";
import type { ForecastRow } from "./ticked.ts";

export type Column = Output<"forecast_view_rows">["columns"][number];

/** The first page is small, so that something is seen soon. */
const firstPage = 100;
const pageMax = 1_000;

/** Number of rows beyond the visible part that are read. */
const ahead = 300;

export type Rows = ReturnType<typeof rowsOf>;

export function rowsOf(viewId: string, sort: ServiceSort) {
  const rows = signal<readonly ForecastRow[]>([]);
  const columns = signal<readonly Column[]>([]);
  const currencyCode = signal("");
  /** Null before the first page has come. */
  const totalCount = signal<number | null>(null);
  const problem = signal<Problem | null>(null);
  let cursor: string | null = null;
  let wanted = 0;
  let reading: Promise<void> | null = null;

  const read = async (): Promise<void> => {
    while (
      problem.value === null &&
      (totalCount.value === null || (cursor !== null && rows.value.length < wanted + ahead))
    ) {
      const page = cursor === null ? { limit: firstPage } : { limit: pageMax, cursor };
      const result = await openpo.call("forecast_view_rows", { viewId, sort, ...page });
      if (!result.ok) return void (problem.value = problemOf(result));
      const { data } = result;
      ({ cursor } = data);
      batch(() => {
        rows.value = [...rows.value, ...data.rows];
        columns.value = data.columns;
        currencyCode.value = data.currencyCode;
        totalCount.value = data.totalCount;
      });
    }
  };
  /** Reads until the row at this place has come. */
  const need = async (index: number): Promise<void> => {
    wanted = Math.max(wanted, index);
    reading ??= read().finally(() => (reading = null));
    await reading;
  };
  return {
    rows,
    columns,
    currencyCode,
    totalCount,
    problem,
    need,
    /** Reads all rows. @returns whether that worked. */
    all: async (): Promise<boolean> => {
      await need(Number.MAX_SAFE_INTEGER);
      // A reading that had begun before may have ended short of it.
      await need(Number.MAX_SAFE_INTEGER);
      return problem.value === null;
    },
    /** Reads the failed page again. */
    again: (): void => {
      problem.value = null;
      void need(wanted);
    },
  };
}
