import type { Address } from "../core/purchase-order.ts";

export const orNull = <T>(value: number | null, brand: (value: number) => T): T | null =>
  value === null ? null : brand(value);

export function addressFrom(json: string | null): Address | null {
  if (json === null) return null;
  const address: Address = JSON.parse(json);
  return address;
}

export function stringsFrom(json: string): readonly string[] {
  const strings: readonly string[] = JSON.parse(json);
  return strings;
}

export const jsonOrNull = (value: Address | null): string | null => (value === null ? null : JSON.stringify(value));
