/** A state, by colour and word. */
import type { FunctionComponent } from "preact";
import { statusName } from "../data/format.ts";
import type { PurchaseOrderStatus } from "../../client/index.ts";

type Tone = "neutral" | "waiting" | "active" | "done" | "bad";

const orderTones: Readonly<Record<PurchaseOrderStatus, Tone>> = {
  Draft: "neutral",
  Sent: "waiting",
  "Partially Confirmed": "waiting",
  Confirmed: "active",
  "In Progress": "active",
  "Partially Received": "active",
  Received: "done",
  Completed: "done",
  Cancelled: "neutral",
  "On Hold": "bad",
  Disputed: "bad",
};

/** Tones of statuses: those of orders, and those that only stock records have. */
const tones = new Map<string, Tone>([
  ...Object.entries(orderTones),
  ["active", "done"],
  ["Counted", "waiting"],
  ["Planned", "waiting"],
  ["Ready to Ship", "waiting"],
  ["In Transit", "active"],
  ["Partially Completed", "active"],
  ["Reverted", "bad"],
]);

export const StatusChip: FunctionComponent<{ readonly status: string }> = ({ status }) => (
  <span class={`chip ${tones.get(status) ?? "neutral"}`}>{statusName(status)}</span>
);
