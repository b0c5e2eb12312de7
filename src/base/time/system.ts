/**
 * The machine's clock, and ids that are made from a clock. All other code gets both as arguments.
 */
import { randomFillSync } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Clock, Ids } from "./clock.ts";

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds since the process started. Setting the machine's clock does not change it. */
export const elapsedMs = (): number => performance.now();

/** Crockford's base 32 in lower case, without i, l, o and u. The digits sort as the numbers do. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

const timeDigits = 10;

/** The random part has 80 bits: two halves of 40 bits, eight digits each. */
const halfDigits = 8;

const halfLimit = 2 ** 40;

const halfBytes = 5;

/** Random bytes that are drawn at once: drawing takes longer than making an id of them. */
const randomBytesDrawn = 256 * 2 * halfBytes;

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
 * Makes ids of a prefix, `_` and 26 characters: 48 bits of milliseconds, then 80 random bits. Within the process, each
 * id sorts after the one before. Within a millisecond, and when the clock goes back, the random part is counted up
 * instead of drawn again.
 */
export function timeOrderedIds(clock: Clock): Ids {
  const random = Buffer.alloc(randomBytesDrawn);
  let used = randomBytesDrawn;
  const randomHalf = (): number => {
    if (used === randomBytesDrawn) {
      randomFillSync(random);
      used = 0;
    }
    used += halfBytes;
    return random.readUIntBE(used - halfBytes, halfBytes);
  };
  let atMs = -1;
  let high = 0;
  let low = 0;
  /** First part of an id, until time or upper half change. */
  let head = "";
  const next = (prefix: string): string => {
    const nowMs = clock.now();
    if (nowMs > atMs) {
      atMs = nowMs;
      high = randomHalf();
      low = randomHalf();
      head = "";
    } else if (low < halfLimit - 1) {
      low += 1;
    } else {
      // The upper half practically never overflows; if it does, the next millisecond is used.
      low = 0;
      high += 1;
      head = "";
      if (high === halfLimit) {
        high = 0;
        atMs += 1;
      }
    }
    if (head === "") head = `${base32(atMs, timeDigits)}${base32(high, halfDigits)}`;
    return `${prefix}_${head}${base32(low, halfDigits)}`;
  };
  const processName = next("node");
  let claimants = 0;
  return {
    next,
    processName,
    claimant() {
      claimants += 1;
      return `${processName}.${claimants}`;
    },
  };
}
