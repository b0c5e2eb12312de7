/** Stock as it is now: what of each product is on hand and on its way, at a place or in all. */
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { openpo, problemOf } from "../data/client.ts";
import { number } from "../data/format.ts";
import { locations } from "../data/look-ups.ts";
import { listOf, type ReadPage } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { withParameter } from "../orders/filters.ts";
import { PickFilter } from "../parts/fields/pick-filter.tsx";
import { usePickedName } from "../parts/fields/picked-name.ts";
import { SearchFilter } from "../parts/fields/search-filter.tsx";
import { ListBar } from "../parts/lists/list-bar.tsx";
import { ListScreen } from "../parts/lists/list-screen.tsx";
import { column, recordColumns, type RecordRow } from "../parts/lists/record-columns.tsx";
import { Picture } from "../parts/picture.tsx";
import { Cover, later } from "../records/figures/figures.tsx";
import { products } from "../records/products.tsx";
import { go, hrefOf, place } from "../router.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { stockTexts } from "../texts/en/goods/stock.ts";
import { KindTabs } from "./kind-tabs.tsx";

const { columns: titles } = recordTexts;

/** A page of products with what they have at the place of the query, else in all places together. */
async function productsAt(query: URLSearchParams, cursor: string | null): ReturnType<ReadPage<RecordRow>> {
  const [search, locationId] = [query.get("search"), query.get("locationId")];
  const result = await openpo.call("variant_search", {
    shopId: shopId(),
    ...(search === null ? {} : { search }),
    ...(cursor === null ? {} : { cursor }),
  });
  if (!result.ok) return { problem: problemOf(result) };
  const { variants, totalCount, cursor: next } = result.data;
  const ids = variants.map(({ variantId }) => variantId);
  const cover = later(ids, async () => {
    const answer = await openpo.call("variant_figures_list", { shopId: shopId(), ids });
    return answer.ok ? new Map(answer.data.variants.map((each) => [each.variantId, each])) : null;
  });
  const rows = variants.map((variant): RecordRow => {
    const { variantId, sku, imageUrl, isArchived, status } = variant;
    const levels = variant.levels.filter((level) => locationId === null || level.locationId === locationId);
    const sum = (of: "onHand" | "incoming"): string => number(levels.reduce((total, level) => total + level[of], 0));
    return {
      id: variantId,
      title: products.titleOf(variant),
      picture: <Picture url={imageUrl} />,
      hint: sku,
      status: isArchived ? "archived" : status,
      values: [sum("onHand"), sum("incoming"), cover(variantId, (of) => <Cover of={of} />)],
    };
  });
  return { rows, totalCount, cursor: next };
}

export const OnHand: FunctionComponent = () => {
  const { query } = place.value;
  const key = query.toString();
  const list = useMemo(() => listOf<RecordRow>((cursor) => productsAt(query, cursor)), [key]);
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
