/** Minor units of currencies (ISO 4217). What `Intl` knows are habits of writing: it has no fils for IQD. */

/** Decimals by currency of those that do not have 2. */
export const minorDigitsBeside2: Readonly<Record<string, number>> = {
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
  CLF: 4,
  UYW: 4,
};

/** The decimals of a currency's minor unit: USD 2, JPY 0, KWD 3. An unknown code has 2. Source: ISO 4217, list one. */
export const minorDigits = (currencyCode: string): number => minorDigitsBeside2[currencyCode] ?? 2;

/** Decimals of an amount that `Intl` writes: those of the minor unit, and up to `decimalsMax` where it has more. */
export function writtenDecimals(
  currencyCode: string,
  decimalsMax = 0,
): { readonly minimumFractionDigits: number; readonly maximumFractionDigits: number } {
  const digits = minorDigits(currencyCode);
  return { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, decimalsMax) };
}
