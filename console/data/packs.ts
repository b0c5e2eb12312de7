/** Quantities as a supplier sells them: at least so many, in whole packs. Pure. */

/** A quantity has at most three decimals; whole thousandths are exact. */
const perUnit = 1_000;

export interface PackTerms {
  readonly moq: number | null;
  readonly packSize: number | null;
}

/**
 * The smallest quantity from this one on that the supplier sells, as the service rounds its suggestions (V4). Nothing
 * stays nothing.
 */
export function roundedUp(quantity: number, { moq, packSize }: PackTerms): number {
  if (quantity <= 0) return quantity;
  const wanted = Math.round(Math.max(quantity, moq ?? 0) * perUnit);
  const pack = Math.round((packSize ?? 0) * perUnit);
  return (pack > 0 ? Math.ceil(wanted / pack) * pack : wanted) / perUnit;
}
