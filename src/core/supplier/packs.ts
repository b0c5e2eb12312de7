/**
 * A quantity in the supplier's packs, as a document and the supplier's page write it. Pure.
 */

/** Thousandths: quantities have three decimals. */
const scale = 1_000;

/**
 * Returns the text after a quantity: ` (2 × 6)`, or ` (2 × 6 + 1)` with a rest, so that nobody takes a pack size for a
 * quantity. Empty where it fills no pack, or packs have one piece.
 */
export function packsText(quantity: number, packSize: number | null, written: (value: number) => string): string {
  if (packSize === null || packSize === 0 || packSize === 1) return "";
  const [whole, pack] = [Math.round(quantity * scale), Math.round(packSize * scale)];
  const packs = Math.floor(whole / pack);
  const rest = (whole - packs * pack) / scale;
  if (packs === 0) return "";
  return ` (${written(packs)} × ${written(packSize)}${rest === 0 ? "" : ` + ${written(rest)}`})`;
}
