/**
 * Loaded before the program (`--import`): moves its clock, the machine's and the database's, by `OPENPO_TEST_CLOCK_MS`. A kept release is opened at the
 * time at which it was kept, so that "today", what is late and which stored answers still count are as they were. Of nodes whose clocks are wrong only the
 * machine's is moved.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { clockVariable, machineOnlyVariable } from "./program.ts";

const byMs = Number(process.env[clockVariable] ?? 0);

/** By the end of a module's path: what tells the time in it, and what tells the moved time. */
const moved: readonly (readonly [file: string, from: string, to: string])[] = [
  ["/src/base/time/system.ts", "Date.now()", `(Date.now() + ${byMs})`],
  [
    "/src/store/postgres/database-clock.ts",
    "clock_timestamp()",
    `(clock_timestamp() + ${byMs}::double precision * interval '1 millisecond')`,
  ],
];

const moving = process.env[machineOnlyVariable] === undefined ? moved : moved.slice(0, 1);

if (byMs !== 0)
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const found = moving.find(([file]) => url.startsWith("file:") && url.endsWith(file));
      if (found === undefined) return loaded;
      const [file, from, to] = found;
      const source = readFileSync(fileURLToPath(url), "utf8");
      if (!source.includes(from)) throw new Error(`${file} does not tell the time by ${from} any more`);
      return { ...loaded, source: source.replaceAll(from, to) };
    },
  });
