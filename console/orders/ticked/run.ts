/** One action for several orders: what guards the call of each, and why one was refused. */
import type { PurchaseOrderHeader } from "../../../client/index.ts";
import type { Problem } from "../../data/client.ts";
import { sentence } from "../../data/format.ts";
import { runner } from "../../parts/lists/runner.ts";
import { hrefOf } from "../../router.ts";
import { tickedTexts as words } from "../../texts/en/order/ticked.ts";

function says({ reason, message, action, details }: Problem): string {
  if (reason === "VERSION_MISMATCH") return words.stale;
  // Nobody was asked for an address here.
  if (details.some((each) => "path" in each && each.path === "/to")) return words.noAddress;
  return `${sentence(message)} ${action ?? ""}`.trim();
}

/** Follow-on work that a call has left undone: an e-mail that failed, or stock that was not pushed. */
const recoveryIn = (data: object): string | null => {
  const recovery: unknown = Reflect.get(data, "recovery");
  return typeof recovery === "string" ? recovery : null;
};

export const orderRunner = () =>
  runner<PurchaseOrderHeader>({
    tickedOf: ({ purchaseOrderId, poNumber, version }) => ({
      id: purchaseOrderId,
      name: poNumber,
      href: hrefOf("orders", purchaseOrderId),
      // The ETag of an order is its version (C37).
      ifMatch: `"${version}"`,
    }),
    says,
    leftUndone: recoveryIn,
  });
