/** Threads of this process, as Linux tells of them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";

/** How much nicer the threads of this name are than the process; empty where the system does not tell. Linux keeps 15 characters of a name. */
export function nicenessOf(threadName: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const found = readdirSync("/proc/self/task").flatMap((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const [niceness = ""] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(16);
    return name === threadName.slice(0, 15) ? Number(niceness) - getPriority() : [];
  });
  assert.ok(found.length > 0, `no thread is called ${threadName}`);
  return found;
}
