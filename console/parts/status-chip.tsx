/** A state, by colour and word. */
import type { FunctionComponent } from "preact";
import type { PurchaseOrderStatus } from "../../client/index.ts";

type Tone = "neutral" | "waiting" | "active" | "done" | "bad";

const tones: Readonly<Record<PurchaseOrderStatus, Tone>> = {
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

export const StatusChip: FunctionComponent<{ readonly status: PurchaseOrderStatus }> = ({ status }) => (
  <span class={`chip ${tones[status]}`}>{status}</span>
);
