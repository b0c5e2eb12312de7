/** Values of a platform, as the shop can store them. */
import { type Money, moneyFrom } from "../core/money.ts";

/** Null when nothing is left of the text. */
export function pulledText(text: string | null | undefined): string | null {
  const kept = (text ?? "").toWellFormed().replaceAll("\u0000", "").trim();
  return kept === "" ? null : kept;
}

/** To 4 decimals; null for what is no amount. */
export function pulledMoney(amount: string | number | null | undefined): Money | null {
  const value = amount === null || amount === undefined || amount === "" ? Number.NaN : Number(amount);
  return Number.isFinite(value) ? moneyFrom(Math.round(value * 10_000) / 10_000) : null;
}
