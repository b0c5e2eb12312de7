/** A deleted draft is made again: under a new number, with all that a new order can be given. */
import { openpo, problemOf } from "../../data/client.ts";
import { forgetAll } from "../../orders/kept.ts";
import type { Told } from "../../parts/frame/told.ts";
import { undoTexts as words } from "../../texts/en/order/undo.ts";
import type { FullOrder } from "../order-state.ts";
import { catalogueLine, customLine, headerOf, runsOf } from "./inverse.ts";
import { failed } from "../../parts/frame/failed.ts";
import { linkTo, refused } from "./refused.ts";

/**
 * Makes the order again.
 *
 * @param keyOf  the idempotency key of each call.
 * @param again  goes on where this one came to nothing.
 */
export async function madeAgain(
  order: FullOrder,
  keyOf: (step: number) => string,
  again: () => Promise<Told>,
): Promise<Told> {
  const runs = runsOf(order.lineItems);
  const [first] = runs;
  // What is in no catalogue does not come with an order.
  const withIt = first !== undefined && "catalogue" in first ? first.catalogue : [];
  const made = await openpo.call(
    "purchase_order_create",
    { ...headerOf(order), lineItems: withIt.map(catalogueLine) },
    { idempotencyKey: keyOf(0) },
  );
  if (!made.ok) return refused(problemOf(made), null, again);
  forgetAll();
  const { purchaseOrderId, poNumber } = made.data.purchaseOrder;
  const link = linkTo(made.data.purchaseOrder);
  let { etag } = made;
  for (const [index, run] of runs.slice(withIt.length > 0 ? 1 : 0).entries()) {
    const options = { idempotencyKey: keyOf(index + 1), ...(etag === null ? {} : { ifMatch: etag }) };
    const added =
      "custom" in run
        ? await openpo.call(
            "purchase_order_line_item_add_custom",
            { purchaseOrderId, ...customLine(run.custom) },
            options,
          )
        : await openpo.call(
            "purchase_order_line_item_add",
            { purchaseOrderId, lineItems: run.catalogue.map(catalogueLine) },
            options,
          );
    if (!added.ok) {
      const problem = problemOf(added);
      return {
        ...refused(problem, null, again),
        ...failed(words.partlyBack(order.poNumber, poNumber), problem),
        link,
      };
    }
    ({ etag } = added);
  }
  return { text: words.draftBack(order.poNumber, poNumber), link };
}
