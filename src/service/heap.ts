/** Share of Node's heap that may be garbage before Node collects it. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";

/**
 * By how much Node's heap may grow after a collection before the next one begins, in percent of what that one has left
 * (D364). V8 takes up to 300.
 */
export const heapGrowthPercent = 30;

/**
 * Growth that a small heap is always allowed: collecting some 50 MB takes as long for 15 MB of garbage as for 48
 * (D364).
 */
export const heapGrowthBytesMin = 50_331_648;

/**
 * The most that a small heap may grow by, in percent. The bound in bytes follows one collection late, when the heap may
 * be larger (D364).
 */
export const heapGrowthPercentMax = 100;

/** By how much a heap of which a collection has left so much may grow before the next one, in percent. */
export function heapGrowthAfter(leftBytes: number): number {
  const wanted = Math.floor((heapGrowthBytesMin * 100) / leftBytes);
  return Math.min(Math.max(wanted, heapGrowthPercent), heapGrowthPercentMax);
}

/**
 * Told when the object that was made last is collected. V8 collects it with the old generation only, young as it is.
 */
const collections = new FinalizationRegistry<(percent: number) => void>(boundNextGrowth);

function boundNextGrowth(set: (percent: number) => void): void {
  set(heapGrowthAfter(getHeapStatistics().used_heap_size));
  collections.register({}, set);
}

/**
 * Applies to all threads, from the next collection on. The size is that of the heap of the thread that calls this.
 *
 * @param set  default: as an option of V8, which reads it whenever it has collected. So the command line need not have
 *             it, and it follows what the last collection but one has left.
 */
export function boundHeapGrowth(
  set = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`),
): void {
  boundNextGrowth(set);
}

/**
 * Collects all that is not needed any more and gives its memory back to the system. Holds the event loop for some 50 ms
 * after a start.
 *
 * V8 keeps the pages that a collection empties, unless it is told that memory is short. Of Node's own modules only the
 * inspector tells it so.
 */
export async function giveMemoryBack(): Promise<void> {
  if (!process.features.inspector) return;
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}
