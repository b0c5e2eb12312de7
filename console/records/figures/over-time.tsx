/** Sections about what went by time: the orders with a product, the prices that were paid. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Output } from "../../../client/index.ts";
import { openpo, problemOf } from "../../data/client.ts";
import { exactMoney, number, shortDay } from "../../data/format.ts";
import { type Choice, variantsOf } from "../../data/look-ups.ts";
import { type List, listOf } from "../../data/pages.ts";
import { shopId } from "../../data/session.ts";
import { addressOf } from "../../orders/view-bar.tsx";
import { Combobox } from "../../parts/fields/combobox.tsx";
import { MoreRows } from "../../parts/lists/more-rows.tsx";
import { TableHead } from "../../parts/lists/table-head.tsx";
import { ProblemNotice } from "../../parts/problem.tsx";
import { StatusChip } from "../../parts/status-chip.tsx";
import { ShortDay } from "../../parts/when.tsx";
import { hrefOf } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";
import { Course } from "../../parts/course.tsx";
import { recordTexts } from "../../texts/en/goods/records.ts";

const { outlook: words, orders: orderWords, paid, columns } = recordTexts;
const { none } = texts.orders;

type Line = Output<"variant_order_list">["orders"][number];

/** @param supplierId  null: of all suppliers, drafts and cancelled orders among them. */
const linesOf = (variantId: string, supplierId: string | null) =>
  listOf<Line>(async (cursor) => {
    const result = await openpo.call("variant_order_list", {
      shopId: shopId(),
      variantId,
      ...(supplierId === null ? { limit: ordersShown } : { supplierId, placed: true }),
      ...(cursor === null ? {} : { cursor }),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { orders: rows, totalCount, cursor: next } = result.data;
    return { rows, totalCount, cursor: next };
  });

/** Orders of a product that are shown at once. */
const ordersShown = 5;

interface LinesProps {
  readonly label: string;
  readonly list: List<Line>;
  /** True if they are of several suppliers and in any status. */
  readonly areAll: boolean;
  /** Words about a line's price. */
  readonly noteOf?: (line: Line, index: number) => ComponentChildren;
}

const Lines: FunctionComponent<LinesProps> = ({ label, list, areAll, noteOf }) => {
  const { rows, isLoading, problem } = list.state.value;
  const more = areAll ? [columns.supplier, columns.status] : [];
  const amounts = [words.quantity, columns.unitCost];
  return (
    <>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length === 0 && !isLoading && problem === null ? (
        <p class="quiet">{areAll ? orderWords.empty : paid.empty}</p>
      ) : null}
      {rows.length === 0 ? null : (
        <table class="rows" aria-label={label}>
          <TableHead titles={[orderWords.order, ...more, orderWords.on, ...amounts]} amounts={amounts} />
          <tbody>
            {rows.map((line, index) => (
              <tr key={`${line.purchaseOrderId} ${line.poLineItemId}`}>
                <th scope="row" class="unbroken">
                  <a href={hrefOf("orders", line.purchaseOrderId)}>{line.poNumber}</a>
                </th>
                {areAll ? (
                  <>
                    <td data-name={columns.supplier}>
                      {line.supplierId === null ? (
                        none
                      ) : (
                        <a href={hrefOf("suppliers", line.supplierId)}>{line.supplierName ?? line.supplierId}</a>
                      )}
                    </td>
                    <td data-name={columns.status}>
                      <StatusChip status={line.status} />
                    </td>
                  </>
                ) : null}
                <td data-name={orderWords.on}>
                  <ShortDay at={line.orderedOn} />
                </td>
                <td class="amount" data-name={words.quantity}>
                  {number(line.quantityOrdered)}
                </td>
                <td class="amount" data-name={columns.unitCost}>
                  {noteOf?.(line, index)} {exactMoney(line.unitCost, line.unitCostCurrencyCode)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows list={list} label={texts.orders.more} />
    </>
  );
};

/** Orders that contain a product, with its price in each. */
export const ProductOrders: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const list = useMemo(() => linesOf(id, null), [id]);
  return (
    <section aria-labelledby="orders">
      <div class="heading">
        <h2 id="orders">{orderWords.title}</h2>
        {list.state.value.totalCount === 0 ? null : (
          <a href={addressOf(new URLSearchParams({ variantId: id }))}>
            {orderWords.all} ({list.state.value.totalCount})
          </a>
        )}
      </div>
      <Lines label={orderWords.title} list={list} areAll />
    </section>
  );
};

/** Prices that were paid to a supplier for one of its products, order by order. */
export const PricesPaid: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const search = useMemo(() => variantsOf({ supplierId: id }), [id]);
  const chosen = useSignal<Choice | null>(null);
  useEffect(() => {
    const begin = async (): Promise<void> => {
      const found = await search({});
      if (!("message" in found)) chosen.value ??= found[0] ?? null;
    };
    void begin();
  }, [search]);
  const product = chosen.value;
  if (product === null) return null;
  return (
    <section aria-labelledby="paid">
      <h2 id="paid">{paid.title}</h2>
      <div class="stack narrow">
        <Combobox
          label={paid.product}
          initial={product.title}
          search={(text) => search({ search: text })}
          choose={(choice) => (chosen.value = choice)}
        />
      </div>
      <Paid key={product.id} supplierId={id} product={product} />
    </section>
  );
};

/** A smaller share of a price is shown as no change. */
const leastShare = 0.0005;

const Paid: FunctionComponent<{ readonly supplierId: string; readonly product: Choice }> = ({
  supplierId,
  product,
}) => {
  const list = useMemo(() => linesOf(product.id, supplierId), [product.id, supplierId]);
  const { rows } = list.state.value;
  const [first] = rows;
  const isOneCurrency = rows.every(({ unitCostCurrencyCode: code }) => code === first?.unitCostCurrencyCode);
  return (
    <>
      {first === undefined || rows.length < 2 || !isOneCurrency ? null : (
        <div class="card stack">
          <Course
            label={paid.of(product.title)}
            heads={[orderWords.order, columns.unitCost]}
            points={rows.toReversed().map(({ poNumber, orderedOn, unitCost, unitCostCurrencyCode }) => ({
              name: `${poNumber}, ${shortDay(orderedOn)}`,
              below: shortDay(orderedOn),
              bar: 0,
              value: unitCost,
              cells: [exactMoney(unitCost, unitCostCurrencyCode)],
            }))}
            isClose
            shown={(value) => exactMoney(value, first.unitCostCurrencyCode)}
            legend={[["line", paid.of(product.title)]]}
          />
        </div>
      )}
      <Lines
        label={paid.of(product.title)}
        list={list}
        areAll={false}
        noteOf={(line, index) => {
          const before = rows[index + 1];
          if (before === undefined || before.unitCostCurrencyCode !== line.unitCostCurrencyCode) return null;
          const share = line.unitCost / before.unitCost - 1;
          return Math.abs(share) < leastShare || before.unitCost === 0 ? null : (
            <span class="quiet">{paid.change(share)}</span>
          );
        }}
      />
    </>
  );
};
