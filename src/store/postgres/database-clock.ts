/**
 * The database's clock, read on a node: nodes whose own clocks are minutes apart agree on the time.
 *
 * Owns: the difference between the database's time and this process's count of milliseconds, measured anew at
 * intervals. A node's own time of day is never used.
 */
import { performance } from "node:perf_hooks";
import type { Clock } from "../../base/time/clock.ts";
import type { PostgresPool } from "./connection.ts";

const measuredEveryMs = 30_000;

const selectNow = "select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms";

/** The difference at the middle of the round trip. */
async function measure(pool: PostgresPool): Promise<number> {
  return await pool.using(async (connection) => {
    const sentAtMs = performance.now();
    const [row] = await connection.run<{ ms: number }>(selectNow);
    if (row === undefined) throw new Error("the database does not tell the time");
    return row.ms - (sentAtMs + performance.now()) / 2;
  });
}

/** Measures once, and then at intervals until `close`. While the database is away, the last difference is used. */
export async function databaseClock(pool: PostgresPool): Promise<Clock & { close(): void }> {
  let differenceMs = await measure(pool);
  const measureAgain = async (): Promise<void> => {
    try {
      differenceMs = await measure(pool);
    } catch {
      // What needs the database reports that it is away.
    }
  };
  const timer = setInterval(() => void measureAgain(), measuredEveryMs);
  timer.unref();
  return { now: () => performance.now() + differenceMs, close: () => clearInterval(timer) };
}
