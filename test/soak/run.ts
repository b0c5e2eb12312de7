/**
 * Soaks the service for `OPENPO_SOAK_MINUTES` (default 30) and prints what it took, beside the bounds: `npm run soak`. It ends with status 1 if a bound
 * is broken. Arguments plant leaks (watch.ts): each must break its bound.
 */
import { soak } from "./soak.ts";

const minutes = Number(process.env["OPENPO_SOAK_MINUTES"] ?? 30);
const plants = process.argv.slice(2);

const { rows, requests, wrong } = await soak({
  ms: minutes * 60_000,
  seed: process.env["OPENPO_SOAK_SEED"] ?? "1",
  plants,
  say: (line) => console.log(line),
});
console.log(`\n${minutes} minutes, ${[...requests.values()].reduce((sum, count) => sum + count, 0)} requests:`);
console.log([...requests].map(([kind, count]) => `${kind} ${count}`).join(", "));
console.log("\n| What | Figure | Bound | |\n| --- | --- | --- | --- |");
for (const { name, figure, bound, isKept } of rows) {
  const verdict = bound === "" ? "" : isKept ? "kept" : "BROKEN";
  console.log(`| ${name} | ${figure} | ${bound} | ${verdict} |`);
}
for (const each of wrong.slice(0, 10)) console.log(`wrong: ${each}`);
process.exitCode = rows.every(({ isKept }) => isKept) ? 0 : 1;
