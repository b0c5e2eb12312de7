/**
 * Writes of the known costs with which orders are compared: price lists, costs of variants, currencies of suppliers.
 * Who has signed in with a key that may not raise costs raises none of them: its limit would hold for nothing (C78).
 */
import { basisRises } from "../../core/access/cost-rises.ts";
import { refuseRises } from "../../core/access/limits.ts";
import type { Call } from "../../requests/operation.ts";
import { limitsOfKey } from "../../shop/access/accounts.ts";
import { loadCostBases } from "../../shop/order/cost-bases.ts";
import type { Tx } from "../../store/store.ts";

/** Costs that a write may change. */
export interface CostsOf {
  /** Null: of variants, whoever their supplier is. */
  readonly supplierId: string | null;
  readonly variantIds: readonly string[];
}

/**
 * Makes the change, which may raise no known cost where the caller's key has a limit of rises.
 *
 * @param of  finds what the change may raise; asked where there is a limit.
 * @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)  it raises a cost, and the key of the caller may not.
 */
export async function withoutRise<T>(
  tx: Tx,
  { shop, limitedKeyId }: Pick<Call, "shop" | "limitedKeyId">,
  of: () => CostsOf | Promise<CostsOf>,
  change: () => Promise<T>,
): Promise<T> {
  const { shopId, currencyCode, fxRates } = shop;
  const limits = await limitsOfKey(tx, shopId, limitedKeyId);
  if (limits === null || limits.unitCostRisePercentMax === null) return await change();
  const { supplierId, variantIds } = await of();
  const known = () => loadCostBases(tx, shop, supplierId, variantIds);
  const before = await known();
  const changed = await change();
  refuseRises(limits, basisRises(before, await known(), { currencyCode, sources: [fxRates] }), currencyCode);
  return changed;
}
