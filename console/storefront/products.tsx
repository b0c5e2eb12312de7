/** A few of the products that are here, to compare with the store's own admin, and what to do next. */
import type { FunctionComponent } from "preact";
import { number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { TableHead } from "../parts/lists/table-head.tsx";
import { hrefOf } from "../router.ts";
import { storefrontTexts } from "../texts/en/shop/storefront.ts";

const shownMax = 5;

const words = storefrontTexts.products;

export const Products: FunctionComponent = () => {
  const { data } = useReading("variant_search", { shopId: shopId(), limit: shownMax });
  const variants = data?.variants ?? [];
  if (variants.length === 0) return null;
  const { columns } = words;
  return (
    <section aria-labelledby="products">
      <h2 id="products">{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <table class="rows">
        <TableHead titles={[columns.product, columns.sku, columns.onHand, columns.status]} amounts={[columns.onHand]} />
        <tbody>
          {variants.map(({ variantId, productName, variantName, sku, levels, status }) => (
            <tr key={variantId}>
              <th scope="row">
                {productName} <span class="quiet">{variantName}</span>
              </th>
              <td data-name={columns.sku}>{sku}</td>
              <td class="amount" data-name={columns.onHand}>
                {number(levels.reduce((sum, { onHand }) => sum + onHand, 0))}
              </td>
              <td data-name={columns.status}>{status}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {words.next} <a href={hrefOf("import")}>{words.import}</a>, <a href={hrefOf("reorder")}>{words.reorder}</a>.
      </p>
    </section>
  );
};
