/** Waits for what happens by itself: at once when it has, and long enough for a slow machine when it has not. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** How long what a test waits for may take on a slow machine beside other work. A test about a time measures that time instead. */
export const patienceMs = 60_000;

/** Between two looks: first and at most. Looks of a shop's client take from its rate limit. */
const [lookEveryMsMin, lookEveryMsMax] = [5, 50];

type Found<T> = Exclude<T, false | null | undefined>;

/**
 * Looks again and again until there is something: not false, null or undefined. @returns what was found. Fails after `waitMs` with what was
 * waited for: `what`, made anew when it is a function.
 */
export async function until<T>(
  what: string | (() => unknown),
  look: () => T | Promise<T>,
  waitMs = patienceMs,
): Promise<Found<T>> {
  const isFound = (found: T): found is Found<T> => found !== false && found !== null && found !== undefined;
  const endMs = performance.now() + waitMs;
  for (let pauseMs = lookEveryMsMin; ; pauseMs = Math.min(2 * pauseMs, lookEveryMsMax)) {
    const found = await look();
    if (isFound(found)) return found;
    if (performance.now() > endMs)
      assert.fail(`after ${waitMs} ms: never ${typeof what === "string" ? what : JSON.stringify(await what())}`);
    await sleep(pauseMs);
  }
}

/** Waits until what is said is this: a page shows, and a service has, what was asked for a moment later. Fails with both. */
export const becomes = <T>(said: () => Promise<T>, wanted: T): Promise<true> =>
  until(
    async () => ({ wanted, said: await said() }),
    async () => isDeepStrictEqual(await said(), wanted),
  );

/**
 * Gives what must not happen time to happen. A slow machine makes such a look weaker, never wrong, so nothing that is to happen may be awaited by it.
 */
export const quiet = (ms: number): Promise<void> => sleep(ms);

/**
 * The pause of something that a test plays: a client between two requests, a server before its answer, whoever kills before the kill. It is part of what
 * is played, and no assertion rests on its being long enough.
 */
export const pause = (ms: number): Promise<void> => sleep(ms);
