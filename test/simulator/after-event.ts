import type { Deed } from "./client.ts";
import { type ModelOrder, quicklyReceived, verdictOn } from "./model.ts";
import type { EventTold } from "./world.ts";

/** The order as the model has it after a change whose event was told. `tell` gets what the model does not agree with. */
export function afterEvent(
  order: ModelOrder,
  deed: Exclude<Deed, { readonly op: "create" | "list" }>,
  event: EventTold,
  tell: (finding: string) => void,
): ModelOrder {
  // /quick-complete receives in one change and completes in another.
  if (deed.op === "quick-complete") {
    if (event.type === "purchase_order.received") return { ...order, lines: quicklyReceived(order) };
    return { ...order, status: "Completed", previous: order.status };
  }
  const verdict = verdictOn(order, deed, event.data.lines.slice(-1));
  if (verdict.kind === "changes") return verdict.next;
  if (verdict.kind === "refused") tell(`the model refuses it, since ${verdict.why}: ${JSON.stringify(order)}`);
  else if (deed.op !== "reset") tell("by the model it changes nothing");
  return order;
}
