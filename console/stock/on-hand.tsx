/** Stock as it is now: what of each product is on hand and on its way, at a place or in all. */
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { locations } from "../data/look-ups.ts";
import { listOf } from "../data/pages.ts";
import { withParameter } from "../orders/filters.ts";
import { PickFilter } from "../parts/fields/pick-filter.tsx";
import { usePickedName } from "../parts/fields/picked-name.ts";
import { SearchFilter } from "../parts/fields/search-filter.tsx";
import { ListBar } from "../parts/lists/list-bar.tsx";
import { ListScreen } from "../parts/lists/list-screen.tsx";
import { column, recordColumns, type RecordRow } from "../parts/lists/record-columns.tsx";
import { productRows } from "../records/products.tsx";
import { go, hrefOf, place } from "../router.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { stockTexts } from "../texts/en/goods/stock.ts";
import { KindTabs } from "./kind-tabs.tsx";

const { columns: titles } = recordTexts;

export const OnHand: FunctionComponent = () => {
  const { query } = place.value;
  const key = query.toString();
  const list = useMemo(
    () =>
      listOf<RecordRow>((cursor) =>
        productRows(query.get("search") ?? "", cursor, query.get("locationId"), (_, stock) => stock),
      ),
    [key],
  );
  const columns = recordColumns(
    stockTexts.lines.product,
    stockTexts.columns.status,
    [column(titles.onHand, true, true), column(titles.incoming, true, true), column(titles.cover, true, true)],
    (id) => hrefOf("products", id),
  );
  return (
    <>
      <KindTabs current={null} />
      <ListScreen
        title={stockTexts.onHand.title}
        list={list}
        columns={columns}
        keyOf={(row) => row.id}
        filters={<Filters query={query} />}
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

const Filters: FunctionComponent<{ readonly query: URLSearchParams }> = ({ query }) => {
  const addressOf = (next: URLSearchParams): string =>
    next.size === 0 ? hrefOf("stock") : `${hrefOf("stock")}?${next.toString()}`;
  const set = (parameter: string, value: string): void => go(addressOf(withParameter(query, parameter, value)));
  const location = usePickedName(query.get("locationId"), locations);
  return (
    <ListBar
      search={
        <SearchFilter
          label={stockTexts.search.label}
          hint={stockTexts.onHand.hint}
          value={query.get("search") ?? ""}
          search={(text) => go(addressOf(withParameter(place.value.query, "search", text)), { replace: true })}
        />
      }
      taken={
        location === null
          ? []
          : [{ label: stockTexts.columns.location, name: location, takeOff: () => set("locationId", "") }]
      }
    >
      <div class="filter-row">
        <PickFilter
          label={stockTexts.columns.location}
          value={query.get("locationId")}
          lookUp={locations}
          choose={(id) => set("locationId", id)}
        />
      </div>
    </ListBar>
  );
};
