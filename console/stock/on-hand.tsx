/** Stock as it is now: what of each product is on hand and on its way, at a place or in all. */
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { locations, suppliers } from "../data/look-ups.ts";
import { listOf } from "../data/pages.ts";
import { ListScreen } from "../parts/lists/list-screen.tsx";
import { densityIn, filtersIn, shownColumns } from "../parts/lists/looks.ts";
import { RecordBar } from "../parts/lists/record-bar.tsx";
import { column, recordColumns, type RecordRow } from "../parts/lists/record-columns.tsx";
import { productRows } from "../records/products.tsx";
import { hrefOf, place, withQuery } from "../router.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { stockTexts } from "../texts/en/goods/stock.ts";
import { KindTabs } from "./kind-tabs.tsx";

const { columns: titles } = recordTexts;

const columns = recordColumns(
  stockTexts.lines.product,
  stockTexts.columns.status,
  {
    onHand: column(titles.onHand, true, true),
    incoming: column(titles.incoming, true, true),
    cover: column(titles.cover, true, true),
  },
  (id) => hrefOf("products", id),
);

const picks = [
  { parameter: "locationId", title: stockTexts.columns.location, lookUp: locations },
  { parameter: "supplierId", title: titles.supplier, lookUp: suppliers },
];

const addressOf = (query: URLSearchParams): string => withQuery(hrefOf("stock"), query);

export const OnHand: FunctionComponent = () => {
  const { query } = place.value;
  const filters = filtersIn(query);
  const key = filters.toString();
  const list = useMemo(
    () => listOf<RecordRow>((cursor) => productRows(filters, cursor, filters.get("locationId"), (_, stock) => stock)),
    [key],
  );
  return (
    <>
      <KindTabs current={null} />
      <ListScreen
        title={stockTexts.onHand.title}
        list={list}
        columns={shownColumns(query, columns)}
        density={densityIn(query)}
        keyOf={(row) => row.id}
        filters={
          <RecordBar
            query={query}
            addressOf={addressOf}
            search={{ label: stockTexts.search.label, hint: stockTexts.onHand.hint }}
            picks={picks}
            columns={columns}
          />
        }
        empty={
          key === "" ? (
            <p>{stockTexts.onHand.empty}</p>
          ) : (
            <>
              <p>{stockTexts.empty}</p>
              <a href={hrefOf("stock")}>{stockTexts.clear}</a>
            </>
          )
        }
      />
    </>
  );
};
