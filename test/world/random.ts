/** Random numbers of a seed: the same seed gives the same numbers on every machine. */

/** A source of random numbers. Sources of different names are independent of each other. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** A source of its own, which draws nothing from this one but its start. */
  named(name: string): Random;
  fill(bytes: Uint8Array): void;
}

/** FNV-1a: spreads a text over 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Mulberry32, started from a text. */
export function randomOf(seed: string): Random {
  let state = hashOf(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(from) {
      const found = from[int(0, from.length - 1)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
    named: (name) => randomOf(`${seed}/${name}`),
    fill(bytes) {
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = int(0, 255);
    },
  };
}
