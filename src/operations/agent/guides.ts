/** Guides for agents: resources at `/mcp`, and a tool for clients that read no resources (C70a). */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { type Activity, movesFrom, statusesOpenTo } from "../../core/order/status.ts";
import { operation } from "../../requests/operation.ts";
import { toolSets } from "../../requests/tool-sets.ts";
import { id } from "../fields.ts";
import { forecastGuideText } from "./forecast-guide.ts";
import { readTool } from "./tool.ts";

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

- purchase_order_status says whether Sent mails the order in this shop. Sent needs a locationId, and variants that are active on the storefront (the inventory guard).
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

const shown = z.strictObject({ name: z.string(), title: z.string(), description: z.string() });

export const readGuide = operation({
  ...readTool,
  name: "guide",
  toolSets,
  title: "Read a guide",
  summary: "How statuses and forecast figures work, in more words than a tool's description.",
  description: "Without name: all that there are.",
  faults: ["NOT_FOUND"],
  input: z.strictObject({ name: id.optional() }).meta({ example: { name: "status-model" } }),
  output: z.strictObject({ guides: z.array(shown).optional(), guide: z.strictObject({ text: z.string() }).optional() }),
  run(_call, { name }) {
    if (name === undefined)
      return Promise.resolve({
        data: { guides: guides.map(({ name: called, title, description }) => ({ name: called, title, description })) },
      });
    const guide = guides.find((each) => each.name === name);
    if (guide === undefined)
      throw new Fault("NOT_FOUND", `There is no guide ${name}.`, {
        action: `Name one of ${guides.map((each) => each.name).join(", ")}.`,
      });
    return Promise.resolve({ data: { guide: { text: guide.text } } });
  },
});
