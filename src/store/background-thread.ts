/** Threads that work beside the event loop: they get the processor when the loop leaves it. */
import { getPriority, setPriority } from "node:os";

/**
 * Niceness of a thread that draws or reads, above the event loop's: it gets a quarter of a core that the loop wants
 * too.
 */
export const backgroundNiceness = 5;

/** The nicest that a system knows. */
const nicenessMax = 19;

/**
 * Gives the calling thread a lower priority than the event loop has. Linux alone has priorities of threads; elsewhere
 * it would be that of the process. A system that refuses it is left as it is.
 *
 * @returns whether it has.
 */
export function runInBackground(): boolean {
  if (process.platform !== "linux") return false;
  try {
    setPriority(Math.min(getPriority() + backgroundNiceness, nicenessMax));
    return true;
  } catch {
    return false;
  }
}
