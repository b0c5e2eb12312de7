/** How much of Node's heap may be what is not needed any more, before Node looks for it. */
import { setFlagsFromString } from "node:v8";
import { heapGrowthPercent } from "./core/limits.ts";

/** Applies to all threads, from the next collection on. V8 reads this option whenever it has collected, so the command line need not have it. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
}
