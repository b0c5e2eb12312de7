/**
 * The machine's clock, and ids made from a clock. Nothing else in the program reads the time or makes ids.
 */
import { randomFillSync } from "node:crypto";
import type { Clock, Ids } from "./store/store.ts";

export const systemClock: Clock = { now: () => Date.now() };

/** Crockford's base 32 in lower case: no i, l, o, u; sorts as the number does. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

const timeDigits = 10;

/** The random part's 80 bits are two halves of 40 bits, eight digits each. */
const halfDigits = 8;

const halfLimit = 2 ** 40;

function base32(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = digits.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * Ids of a prefix, `_` and 26 characters: 48 bits of milliseconds, then 80 random bits. Within the process each id sorts after
 * the one before, also within a millisecond and when the clock goes back: then the random part counts on.
 */
export function timeOrderedIds(clock: Clock): Ids {
  const random = Buffer.alloc(10);
  let atMs = -1;
  let high = 0;
  let low = 0;
  return {
    next(prefix) {
      const nowMs = clock.now();
      if (nowMs > atMs) {
        atMs = nowMs;
        randomFillSync(random);
        high = random.readUIntBE(0, 5);
        low = random.readUIntBE(5, 5);
      } else if (low < halfLimit - 1) {
        low += 1;
      } else {
        // Out of the upper half as good as never; the next millisecond then stands in.
        low = 0;
        high += 1;
        if (high === halfLimit) {
          high = 0;
          atMs += 1;
        }
      }
      return `${prefix}_${base32(atMs, timeDigits)}${base32(high, halfDigits)}${base32(low, halfDigits)}`;
    },
  };
}
