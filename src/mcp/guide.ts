/**
 * Texts for agents beside the tools: instructions, the status model as a resource, and a prompt that reorders from a
 * forecast view.
 */
import { statuses } from "../core/order/purchase-order.ts";
import { type Activity, movesFrom, statusesOpenTo } from "../core/order/status.ts";
import { forecastGuideText } from "./forecast-guide.ts";

/** Sent to every client when it connects. */
export const instructions = [
  "OpenPO keeps one shop's purchase orders. The key that you were given names the shop and says whether you may write.",
  "An order goes Draft → Sent → Confirmed → In Progress → Received → Completed. purchase_order_status moves it by hand; confirming, receiving and completing have tools of their own and move it themselves. The resource openpo://guides/status-model has the whole table.",
  "Sent marks an order as sent. It sends nothing by itself: the order still has to be given to the supplier.",
  "orders_needing_attention says what to look after today. reorder_from_view drafts orders from a forecast. supplier_list, location_list and variant_search find the ids that writes take; an unknown id is accepted and told in warnings.",
  "Quantities of a line are totals: ordered; confirmed by the supplier (0 until it says something); received in good order; rejected, which came and is no good; cancelled, which will not come. Pending is what is left of the confirmed quantity, or of the ordered one while nothing is confirmed. So 72 came and 2 of them are broken: quantityReceived 70, quantityRejected 2. Repeating totals is safe; only purchase_order_unreceive takes an amount.",
  'A write answers what changed and a nextStep. Its lineItems are the changed lines, without quantities of 0. include: ["order"] answers with the whole order.',
  "Send an idempotencyKey of your own with every write, and the same key when you repeat it: then nothing is done twice after a failure or a lost answer, and the answer says replayed: true.",
  "A refusal says what to do in error.action and names what is wrong in error.details. Retry only when error.retryable is true, after error.retryAfterMs.",
  "An answer with recovery has saved the order, but follow-on work at the storefront (stock, incoming quantities, costs) failed: do what recovery says.",
  "Lists are paged: pass the cursor of one page to get the next, until it is null.",
].join("\n");

interface Guide {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly text: string;
}

const table = statuses
  .map((status) => [status, movesFrom(status)] as const)
  .map(([from, to]) => `| ${from} | ${to.length === 0 ? "only the status in previousStatus" : to.join(", ")} |`)
  .join("\n");

/** The statuses from which a tool does its work, as a cell of a table. */
const from = (activity: Activity): string => statusesOpenTo(activity).join(", ");

export const guides: readonly Guide[] = [
  {
    uri: "openpo://guides/status-model",
    name: "status-model",
    title: "The status model of a purchase order",
    description: "The moves from each status, the tool for each, and what it requires.",
    mimeType: "text/markdown",
    text: `# Statuses of a purchase order

## Moves with purchase_order_status

| From | To |
|---|---|
${table}

- Sent marks the order as sent and sends nothing by itself. It needs a locationId, and variants that are active on the storefront (the inventory guard).
- In Progress from Confirmed needs a confirmed quantity on every line that is not wholly cancelled. Less than ordered will do: the line is then expected to bring what was confirmed.
- After anything is received or pushed to the storefront, the order cannot return to Draft, Sent, Partially Confirmed or Confirmed.

## Moves that other tools make

| Tool | From | To |
|---|---|---|
| purchase_order_create | nothing | Draft |
| purchase_order_confirm with confirmAll | ${from("confirm")} | In Progress |
| purchase_order_confirm with lines | ${from("confirm")} | Sent, Partially Confirmed or Confirmed, as the lines are |
| purchase_order_receive | ${from("receive")} | Partially Received or Received |
| purchase_order_unreceive | ${from("unreceive")} | In Progress, Partially Received or Received |
| purchase_order_complete | ${from("complete")} | Completed |
| purchase_order_quick_complete | ${from("quick-complete")} | Completed |
| purchase_order_delete | ${from("delete")} | gone |

## What will not come

A line stays pending until everything confirmed (ordered, if nothing is confirmed) is received, rejected or cancelled.

- The supplier confirms less than ordered: purchase_order_confirm with lines. Nothing more is then expected of the line.
- Goods came broken: quantityRejected, beside quantityReceived, with purchase_order_receive.
- The rest will not come: quantityCancelled with purchase_order_line_item_update.
- Goods that purchase_order_unreceive took back are pending again. Receive them anew, or set quantityRejected or quantityCancelled.
- purchase_order_complete closes an order short: what is pending is expected no more.

When a tool answers INVENTORY_GUARD_ISSUES, call it again with resolutions: one \`{ lineItemId, action }\` for each entry of error.details, with one of its allowedActions.
`,
  },
  {
    uri: "openpo://guides/forecast-figures",
    name: "forecast-figures",
    title: "How the figures of a forecast view are made",
    description: "What each column of forecast_view_rows means and how it is computed.",
    mimeType: "text/markdown",
    text: forecastGuideText,
  },
];

interface GuidedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  /** The message that the prompt becomes. */
  readonly text: (values: Readonly<Record<string, string>>) => string;
}

export const prompts: readonly GuidedPrompt[] = [
  {
    name: "reorder_from_forecast",
    title: "Reorder from a forecast view",
    description: "Drafts purchase orders to the quantities that a forecast view suggests, for a person to approve.",
    arguments: [
      { name: "viewId", description: "Id of the forecast view; forecast_view_list has them.", required: true },
      { name: "locationId", description: "Id of the location that the goods are to come to.", required: true },
    ],
    text: ({ viewId = "", locationId = "" }) => `Draft the purchase orders that the forecast view ${viewId} suggests.

1. Call reorder_from_view with viewId ${viewId} and locationId ${locationId}. This is a dry run: it changes nothing.
2. Show each supplier's draft with its lines, reasons, total and arrival date. Point out late lines and everything in skipped, with the draft that has it already.
3. Wait for approval. Put quantities that were changed into lines; 0 leaves a variant out.
4. Call reorder_from_view again with dryRun false, those lines and an idempotencyKey of your own.
5. Show the drafts. Move one to Sent with purchase_order_status only when told to.`,
  },
];
