/** Merging two Drafts: the lines of one go over to the other, and it ends (C86a). REST has it in the admin API. */
import { z } from "zod";
import { invalidField } from "../../base/fault.ts";
import { decideMerge } from "../../core/order/edit.ts";
import { operation } from "../../requests/operation.ts";
import { deleteOrder, loadOrder } from "../../shop/order/purchase-orders.ts";
import { id } from "../fields.ts";
import { contextOf, faults, orderAnswer, orderToChange, path, savedOrder, stampOf, write } from "./access.ts";
import { refuseWhileInFlight } from "./goods/in-flight.ts";
import { purchaseOrderId } from "./json.ts";

export const mergeDrafts = operation({
  ...write,
  name: "purchase_order_merge",
  title: "Merge two Drafts",
  summary: "Moves the lines of a Draft into another one and deletes it.",
  description:
    "Both are Drafts of the same supplier, location and currency. The header of `into` stays as it is, and lines keep their terms. A Draft with goods or attachments is not merged into another one. The version that a caller expects is that of the one that ends.",
  route: { method: "POST", path: `${path}/merge` },
  success: 200,
  repeat: "refused",
  destructive: true,
  faults: [...faults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId, into: id.meta({ description: "The Draft that the lines go to." }) }),
  output: orderAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const into = await loadOrder(tx, shopId, input.into);
      if (into === null) throw invalidField("/into", "is no order of the shop");
      await refuseWhileInFlight(tx, call, order);
      const lineItemIds = order.lineItems.map(() => call.ids.next("pol"));
      const decided = decideMerge(order, into, lineItemIds, contextOf(call));
      await deleteOrder(tx, shopId, order, stampOf(call), `Merged ${order.poNumber} into ${into.poNumber}.`);
      return await savedOrder(tx, call, into, decided);
    }),
});
