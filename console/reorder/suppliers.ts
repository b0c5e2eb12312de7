/** Who supplies what is ticked, where a view does not say it: the cheapest supplier of each product, with its terms. */
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { type ForecastRow, namesSuppliers, type Ticked } from "./ticked.ts";

/** Ids that one call takes. */
const idsMax = 50;

/** The same lines; rows of which the view names no supplier have theirs. */
export async function withSuppliers(ticked: Ticked): Promise<Ticked | Problem> {
  const ids = [...ticked.values()]
    .filter(({ row }) => !namesSuppliers(Object.keys(row)))
    .map(({ row }) => row.variantId);
  const terms = new Map<string, Omit<ForecastRow, "variantId">>();
  for (let from = 0; from < ids.length; from += idsMax) {
    const chunk = ids.slice(from, from + idsMax);
    const result = await openpo.call("variant_search", { shopId: shopId(), ids: chunk, limit: chunk.length });
    if (!result.ok) return problemOf(result);
    for (const { variantId, suppliers } of result.data.variants) {
      const [cheapest] = suppliers;
      terms.set(variantId, {
        supplierId: cheapest?.supplierId ?? null,
        supplierName: cheapest?.supplierName ?? cheapest?.supplierId ?? null,
        unitCost: cheapest?.terms.unitCost ?? null,
        unitCostCurrencyCode: cheapest?.terms.unitCostCurrencyCode ?? null,
        moq: cheapest?.terms.moq ?? null,
        packSize: cheapest?.terms.packSize ?? null,
      });
    }
  }
  return new Map(
    [...ticked].map(([variantId, { row, quantity }]) => [
      variantId,
      { row: { ...row, ...terms.get(variantId) }, quantity },
    ]),
  );
}
