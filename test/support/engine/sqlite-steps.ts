/**
 * Steps of SQLite's machine that statements take: what they cost, in a figure that no other work of the machine is in. Python's SQLite counts them; Node's
 * does not tell them.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Statement } from "../../../src/store/store.ts";

/** Steps are counted in tens. */
const countsSteps = `
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for line in sys.stdin:
    tens = 0
    def count():
        global tens
        tens += 1
    database.set_progress_handler(count, 10)
    for sql, params in json.loads(line):
        database.execute(sql, params).fetchall()
    print(tens * 10)
`;

/** Whether the machine has Python. In CI it has. */
export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/**
 * Runs statements that change nothing on a copy of a shop's file.
 *
 * @param directory  the data directory of a store that writes nothing at the moment.
 * @param asked  statements in groups.
 * @returns the steps of each group.
 */
export function stepsOf(
  directory: string,
  shopId: string,
  asked: readonly (readonly Statement[])[],
): readonly number[] {
  const copy = mkdtempSync(path.join(tmpdir(), "openpo-steps-"));
  try {
    const file = path.join(directory, "shops", `${shopId}.db`);
    for (const end of ["", "-wal"])
      if (existsSync(file + end)) copyFileSync(file + end, path.join(copy, `shop.db${end}`));
    const input = asked.map((group) => JSON.stringify(group.map(({ sql, params }) => [sql, params])));
    const args = ["-c", countsSteps, path.join(copy, "shop.db")];
    const { status, stdout, stderr } = spawnSync("python3", args, { encoding: "utf8", input: input.join("\n") });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim().split("\n").map(Number);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
