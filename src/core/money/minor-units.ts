/** Minor units of currencies (ISO 4217). What `Intl` knows are habits of writing: it has no fils for IQD. */

const digitsBeside2: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

/** Decimals by currency of those that do not have 2. */
export const minorDigitsBeside2: ReadonlyMap<string, number> = new Map(
  Object.entries(digitsBeside2).flatMap(([digits, codes]) =>
    codes.split(" ").map((code) => [code, Number(digits)] as const),
  ),
);

/** The decimals of a currency's minor unit: USD 2, JPY 0, KWD 3. An unknown code has 2. Source: ISO 4217, list one. */
export const minorDigits = (currencyCode: string): number => minorDigitsBeside2.get(currencyCode) ?? 2;

/** Decimals of an amount that `Intl` writes: those of the minor unit, and up to `decimalsMax` where it has more. */
export function writtenDecimals(
  currencyCode: string,
  decimalsMax = 0,
): { readonly minimumFractionDigits: number; readonly maximumFractionDigits: number } {
  const digits = minorDigits(currencyCode);
  return { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, decimalsMax) };
}
