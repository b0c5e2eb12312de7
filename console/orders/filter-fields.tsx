/** The filters of the list of orders, and its sort. The address keeps them, and so does a saved view. */
import { statusName } from "../data/format.ts";
import type { FunctionComponent } from "preact";
import { hasStorefront } from "../data/session.ts";
import { locations, suppliers, variants } from "../data/look-ups.ts";
import { PickFilter } from "../parts/fields/pick-filter.tsx";
import { go, withParameter } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { ageIn, ages, paidStatuses, sorts, statuses, statusesIn, syncStates, withStatus } from "./filters.ts";
import { addressOf } from "./view-bar.tsx";

// They come in this script: those of their own would be more than they are.
export { ColumnsMenu } from "../parts/lists/columns-menu.tsx";
export { ViewForm } from "./view-form.tsx";

const words = texts.orders;

export const FilterFields: FunctionComponent<{ readonly query: URLSearchParams }> = ({ query }) => {
  const set = (name: string, value: string): void => go(addressOf(withParameter(query, name, value)));
  const chosen = statusesIn(query);
  const age = ageIn(query);
  return (
    <>
      <fieldset class="chips">
        <legend>{words.status}</legend>
        {statuses.map((status) => (
          <button
            key={status}
            type="button"
            class="toggle"
            aria-pressed={chosen.includes(status)}
            onClick={() => go(addressOf(withStatus(query, status)))}
          >
            {statusName(status)}
          </button>
        ))}
      </fieldset>
      <div class="filter-row">
        <PickFilter
          label={words.columns.supplier}
          value={query.get("supplierId")}
          lookUp={suppliers}
          choose={(id) => set("supplierId", id)}
        />
        <PickFilter
          label={words.columns.location}
          value={query.get("locationId")}
          lookUp={locations}
          choose={(id) => set("locationId", id)}
        />
        <PickFilter
          label={words.columns.product}
          value={query.get("variantId")}
          lookUp={variants}
          choose={(id) => set("variantId", id)}
        />
        <label>
          {words.tag}
          <input value={query.get("tag") ?? ""} onChange={(event) => set("tag", event.currentTarget.value.trim())} />
        </label>
        <label>
          {words.expectedBefore}
          <input
            type="date"
            value={query.get("expectedBefore") ?? ""}
            onChange={(event) => set("expectedBefore", event.currentTarget.value)}
          />
        </label>
        <label>
          {words.created}
          <select
            value={age === null ? "" : `-${age}`}
            onChange={(event) => set("dateFrom", event.currentTarget.value)}
          >
            <option value="">{texts.filters.any}</option>
            {ages.map((days) => (
              <option key={days} value={`-${days}`}>
                {words.lastDays(days)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {texts.filters.from}
          <input
            type="date"
            value={query.get("dateFrom") ?? ""}
            onChange={(event) => set("dateFrom", event.currentTarget.value)}
          />
        </label>
        <label>
          {texts.filters.to}
          <input
            type="date"
            value={query.get("dateTo") ?? ""}
            onChange={(event) => set("dateTo", event.currentTarget.value)}
          />
        </label>
        <label>
          {words.columns.paid}
          <select
            value={query.get("paidStatus") ?? ""}
            onChange={(event) => set("paidStatus", event.currentTarget.value)}
          >
            <option value="">{texts.filters.any}</option>
            {paidStatuses.map((status) => (
              <option key={status} value={status}>
                {statusName(status)}
              </option>
            ))}
          </select>
        </label>
        {hasStorefront() ? (
          <label>
            {words.columns.sync}
            <select
              value={query.get("storefrontSyncState") ?? ""}
              onChange={(event) => set("storefrontSyncState", event.currentTarget.value)}
            >
              <option value="">{texts.filters.any}</option>
              {syncStates.map((state) => (
                <option key={state} value={state}>
                  {texts.sync[state]}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <label>
          {words.sort}
          <select value={query.get("sort") ?? ""} onChange={(event) => set("sort", event.currentTarget.value)}>
            <option value="">{words.newest}</option>
            {sorts.map((sort) => (
              <option key={sort} value={sort}>
                {words.sorts[sort]}
              </option>
            ))}
          </select>
        </label>
      </div>
    </>
  );
};
