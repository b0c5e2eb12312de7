/** Delays between attempts: each is twice the one before, up to a bound, and none is the same for everybody. */

/** The delay after so many failed attempts: `firstMs` after one, doubled with each further one, at most `msMax`. */
export const doubledMs = (attempts: number, firstMs: number, msMax: number): number =>
  Math.min(msMax, firstMs * 2 ** (attempts - 1));

/** The delay, of which a random part of up to half is taken off. @param random from 0 to below 1. */
export const shortenedMs = (ms: number, random: number): number => Math.ceil(ms * (1 - random / 2));

/** By how much `scatteredMs` makes a delay longer or shorter. */
const scatter = 0.2;

/** The delay, by up to a fifth longer or shorter. @param random from 0 to below 1. */
export const scatteredMs = (ms: number, random: number): number =>
  Math.round(ms * (1 - scatter + 2 * scatter * random));

/** The longest that a delay can be that is scattered. */
export const scatteredMsMax = (ms: number): number => Math.ceil(ms * (1 + scatter));
