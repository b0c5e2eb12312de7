/** Terms of a supplier for a product as columns: what stands on both their pages. */
import type { FunctionComponent } from "preact";
import { money, number } from "../../data/format.ts";
import { TableHead } from "../../parts/lists/table-head.tsx";
import { texts } from "../../texts/en/texts.ts";
import { currencyCode } from "../fields.ts";
import { recordTexts } from "../../texts/en/goods/records.ts";

const { fields, columns, days } = recordTexts;
const { none } = texts.orders;

interface Terms {
  readonly supplierSku: string | null;
  readonly unitCost: number | null;
  /** Null: the cost is in the shop's currency. */
  readonly unitCostCurrencyCode: string | null;
  readonly moq: number | null;
  readonly packSize: number | null;
  readonly leadTimeDays: number | null;
}

const amounts = [columns.unitCost, fields.moq, fields.packSize, columns.leadTime];

/** @param first  title of the column before the terms. @param does  name of a column with buttons after them. */
export const TermsHead: FunctionComponent<{ readonly first: string; readonly does?: string }> = ({ first, does }) => (
  <TableHead
    titles={[first, fields.supplierSku, ...amounts]}
    amounts={amounts}
    {...(does === undefined ? {} : { does })}
  />
);

export const TermsCells: FunctionComponent<{ readonly terms: Terms }> = ({ terms }) => {
  const { supplierSku, unitCost, unitCostCurrencyCode, moq, packSize, leadTimeDays } = terms;
  const amount = (title: string, shown: string | null) => (
    <td class="amount" data-name={title}>
      {shown ?? none}
    </td>
  );
  return (
    <>
      <td data-name={fields.supplierSku}>
        {supplierSku === null ? (
          none
        ) : (
          <span class="code" title={supplierSku}>
            {supplierSku}
          </span>
        )}
      </td>
      {amount(columns.unitCost, unitCost === null ? null : money(unitCost, unitCostCurrencyCode ?? currencyCode()))}
      {amount(fields.moq, moq === null ? null : number(moq))}
      {amount(fields.packSize, packSize === null ? null : number(packSize))}
      {amount(columns.leadTime, leadTimeDays === null ? null : days(leadTimeDays))}
    </>
  );
};

interface Named {
  readonly variantId: string;
  readonly productName: string | null;
  readonly variantName: string | null;
}

export const productOf = ({ productName, variantName, variantId }: Named): string =>
  [productName ?? variantId, variantName].filter((part) => part !== null).join(" · ");
