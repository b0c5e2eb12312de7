/** Numbers at places of the sidebar: suppliers' answers at Orders, orders that are due at Receive. */
import { openpo } from "../../data/client.ts";
import { hearEvents } from "../../data/events.ts";
import { number } from "../../data/format.ts";
import { later, serially } from "../../data/reading.ts";
import { hasRole, shopId, today } from "../../data/session.ts";
import { placeCounts } from "../../data/waiting.ts";
import { inputOf, views } from "../../orders/filters.ts";
import { dayAfter } from "../../orders/lateness.ts";
import { withParameter } from "../../router.ts";

/** However much happens in the shop, it is counted this often at most. */
const restMs = 15_000;

const shown = (count: number | undefined): string | undefined =>
  count === undefined || count === 0 ? undefined : number(count);

const read = serially(async () => {
  const due = withParameter(new URLSearchParams(views.receive), "expectedBefore", dayAfter(today(), 1));
  const [listed, answers] = await Promise.all([
    openpo.call("purchase_order_list", { ...inputOf(due, today()), limit: 1 }),
    hasRole("purchaser") ? openpo.call("supplier_proposal_waiting", { shopId: shopId() }) : null,
  ]);
  placeCounts.value = {
    orders: answers?.ok === true ? shown(answers.data.totalCount) : undefined,
    dock: listed.ok ? shown(listed.data.totalCount) : undefined,
  };
});

/** Counts now, and after changes of orders while a screen follows the events. @returns what ends it. */
export function followCounts(): () => void {
  const reading = later(() => void read());
  void read();
  const unhear = hearEvents(({ purchaseOrderId }) => {
    if (purchaseOrderId !== null) reading.in(restMs);
  });
  return () => {
    unhear();
    reading.cancel();
  };
}
