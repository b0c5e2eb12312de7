/**
 * Numbers of late orders and of those that wait for their suppliers. They stand beside the views that show them, on the
 * first page.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { openpo } from "../data/client.ts";
import { followEvents } from "../data/events.ts";
import { later } from "../data/reading.ts";
import { shopId, today } from "../data/session.ts";
import { countedViews, inputOf } from "./filters.ts";

/** Orders in each counted view, by its query; of the shop of `countedShop`. */
const counts = signal<ReadonlyMap<string, number>>(new Map());
const countedShop = signal("");

/** Returns the number of orders in the view; null as long as it is unknown. */
export const countOf = (query: string): number | null =>
  countedShop.value === shopId() ? (counts.value.get(query) ?? null) : null;

/** Age of the list's first rows at which the counts are read. */
const firstAfterMs = 1_000;

/** However much happens in the shop, they are read this often at most. */
const restMs = 15_000;

async function read(): Promise<void> {
  const shop = shopId();
  const results = await Promise.all(
    countedViews.map(async (query) => {
      const result = await openpo.call("purchase_order_list", {
        ...inputOf(new URLSearchParams(query), today()),
        limit: 1,
      });
      return [query, result.ok ? result.data.totalCount : null] as const;
    }),
  );
  countedShop.value = shop;
  // A count that cannot be read is no reason to disturb the list.
  counts.value = new Map(results.flatMap(([query, count]) => (count === null ? [] : [[query, count]])));
}

/** @param isListed  true when the list has been read, which does not wait for the counts. */
export function useViewCounts(isListed: boolean): void {
  const isDue = useRef(false);
  isDue.current ||= isListed;
  useEffect(() => {
    if (!isDue.current) return;
    let restUntilMs = 0;
    const reading = later(() => {
      restUntilMs = Date.now() + restMs;
      void read();
    });
    reading.in(firstAfterMs);
    const unfollow = followEvents(({ purchaseOrderId }) => {
      if (purchaseOrderId !== null) reading.in(Math.max(firstAfterMs, restUntilMs - Date.now()));
    });
    return () => {
      unfollow();
      reading.cancel();
    };
  }, [isDue.current]);
}
