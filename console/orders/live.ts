/** Keeps the list of orders as it is now, by the events of the shop. */
import { useEffect } from "preact/hooks";
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { followEvents } from "../data/events.ts";
import type { KeptList } from "../data/pages.ts";
import { later } from "../data/reading.ts";

/** An agent that works through many orders has the list read this often at most. */
const restMs = 2_000;

const idOf = ({ purchaseOrderId }: PurchaseOrderHeader): string => purchaseOrderId;

export function useLiveOrders(list: KeptList<PurchaseOrderHeader>): void {
  useEffect(() => {
    let restUntilMs = 0;
    const reading = later(() => {
      restUntilMs = Date.now() + restMs;
      void list.again(idOf);
    });
    // A list that was left and is shown again was not followed in between.
    if (list.state.value.rows.length > 0) reading.in(0);
    const unfollow = followEvents(({ purchaseOrderId }) => {
      if (purchaseOrderId !== null) reading.in(Math.max(0, restUntilMs - Date.now()));
    });
    return () => {
      unfollow();
      reading.cancel();
    };
  }, [list]);
}
