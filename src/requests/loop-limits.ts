/**
 * Bounds of a read on the event loop. A read that may hold it for longer than 20 ms is a broad read and leaves it
 * (broad-read.ts).
 */

/** Lines of an order that are loaded and shown on the event loop: 600 take about 20 ms. */
export const linesOnLoopMax = 200;

/** Rows that a read walks through on the event loop. A search of so many takes about 3 ms. */
export const rowsOnLoopMax = 5_000;

/** Log entries or cost updates that are loaded and shown on the event loop. */
export const entriesOnLoopMax = 500;

/** Variants that a view of reorders only decides about on the event loop. */
export const variantsOnLoopMax = 200;
