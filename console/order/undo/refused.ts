/** Words for what was not taken back, and why. */
import type { Problem } from "../../data/client.ts";
import type { Told } from "../../parts/frame/told.ts";
import { failed } from "../../parts/frame/failed.ts";
import { hrefOf } from "../../router.ts";
import { undoTexts as words } from "../../texts/en/order/undo.ts";
import { texts } from "../../texts/en/texts.ts";
import { isWorthRepeating } from "../notices.tsx";
import type { FullOrder } from "../order-state.ts";

export const linkTo = ({ purchaseOrderId, poNumber }: Pick<FullOrder, "purchaseOrderId" | "poNumber">) => ({
  href: hrefOf("orders", purchaseOrderId),
  title: words.open(poNumber),
});

/** Says why something was not taken back. @param order  null: it is gone. @param again  takes it back once more. */
export function refused(problem: Problem, order: FullOrder | null, again: () => Promise<Told>): Told {
  const { reason, approvalRequestId } = problem;
  if (approvalRequestId !== undefined)
    return {
      text: words.waits,
      state: "waiting",
      link: { href: hrefOf("approvals", approvalRequestId), title: texts.problem.seeRequest },
    };
  const link = order === null ? {} : { link: linkTo(order) };
  if (order !== null && reason === "VERSION_MISMATCH")
    return { text: words.overtaken(order.poNumber), state: "failed", ...link };
  return { ...failed(words.refused, problem), ...(isWorthRepeating(problem) ? { undo: again } : link) };
}
