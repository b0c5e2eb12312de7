/** Values of a platform, as the shop can store them. */
import { type Money, moneyFrom } from "../core/money/money.ts";
import { onOneLine } from "../base/text/plain-text.ts";

/** The text on one line, without what a line may not have; null when nothing is left. */
export function pulledText(text: string | null | undefined): string | null {
  const kept = onOneLine(text ?? "");
  return kept === "" ? null : kept;
}

/** Characters of an address that a record may have. */
const longestUrl = 2_000;

/** Address of a picture; null for what a page may not load. */
export const pulledUrl = (url: string | null | undefined): string | null =>
  typeof url === "string" && url.length <= longestUrl && /^https:\/\/[^\s"]+$/.test(url) ? url : null;

/** To 4 decimals; null for what is no amount. */
export function pulledMoney(amount: string | number | null | undefined): Money | null {
  const value = amount === null || amount === undefined || amount === "" ? Number.NaN : Number(amount);
  return Number.isFinite(value) ? moneyFrom(Math.round(value * 10_000) / 10_000) : null;
}
