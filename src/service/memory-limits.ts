/**
 * The limits that follow from the memory of the process (`OPENPO_MEMORY_MB`).
 *
 * At 1,024 megabytes they are the constants that carry their names; otherwise they are in proportion, within the bounds
 * below. The memory is a measure for these limits, not a cap: beside them Node's heap, SQLite and the threads take what
 * docs/capacity.md says.
 */
import { availableParallelism } from "node:os";
import { answersPackedBytesMax, answersRememberedBytesMax } from "../requests/remembered/remembered-answers.ts";
import { bodiesBytesMax } from "../http/body.ts";
import { connectionsMax, unreadBytesMax } from "../http/node/server.ts";
import { shopsOpenMax, shopsWarmMax } from "../store/sqlite/engine.ts";
import { measuredMegabytes } from "./option-values.ts";

/** Bounds on what clients can make the process hold. */
export interface MemoryLimits {
  readonly connectionsMax: number;
  readonly bodiesBytesMax: number;
  readonly unreadBytesMax: number;
  readonly shopsOpenMax: number;
  readonly shopsWarmMax: number;
  readonly answersRememberedBytesMax: number;
  readonly answersPackedBytesMax: number;
  readonly readerThreads: number;
}

/** More connections only take turns on the one event loop. */
const followingConnectionsMax = 10_000;

/** Up to 4 threads by the number of processors, and more with more memory: one may take 512 MB. */
function threadsWith(megabytes: number, processors: number): number {
  if (megabytes < measuredMegabytes) return 2;
  // At least two, so that one shop's broad reads leave a thread to the others.
  return Math.max(2, Math.min(processors, Math.max(4, Math.floor(megabytes / measuredMegabytes))));
}

export function memoryLimits(megabytes: number, processors = availableParallelism()): MemoryLimits {
  const share = (atMeasured: number): number => Math.floor((atMeasured * megabytes) / measuredMegabytes);
  return {
    connectionsMax: Math.min(share(connectionsMax), followingConnectionsMax),
    bodiesBytesMax: share(bodiesBytesMax),
    unreadBytesMax: share(unreadBytesMax),
    shopsOpenMax: share(shopsOpenMax),
    shopsWarmMax: share(shopsWarmMax),
    answersRememberedBytesMax: share(answersRememberedBytesMax),
    answersPackedBytesMax: share(answersPackedBytesMax),
    readerThreads: threadsWith(megabytes, processors),
  };
}
