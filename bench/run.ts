/**
 * Runs the benchmarks of this folder one after another, each in its own process: all, or those whose name contains one of the arguments.
 * RESULTS.md explains the figures and what is not measured.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { arch, cpus } from "node:os";

const wanted = process.argv.slice(2);
const programs = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".ts") && name !== "run.ts")
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();

console.log(
  `Node ${process.version}, ${process.platform} ${arch()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}`,
);
for (const program of programs) {
  console.log(`\n== ${program}`);
  const { status } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", `${import.meta.dirname}/${program}`],
    {
      stdio: "inherit",
    },
  );
  if (status !== 0) process.exitCode = 1;
}
if (programs.length === 0) {
  console.log(`No program's name contains ${wanted.join(" or ")}.`);
  process.exitCode = 1;
}
