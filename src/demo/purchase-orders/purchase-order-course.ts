/**
 * Course of a demo order, step by step: quantities, status, log and receipts, in the words in which the service itself
 * writes them.
 */
import type { Calendar } from "../calendar.ts";
import { type DemoVariant, fullName, variantWith } from "../catalogue.ts";
import type { DemoOrder, Quantities, Step } from "./purchase-orders.ts";
import { clerk, owner } from "../shop.ts";
import { linesCounted } from "../../core/order/lines.ts";

/** A line and its quantities. Custom lines have no catalogue variant. */
export interface CountedLine {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly sku: string;
  readonly name: string;
  readonly variant: DemoVariant | null;
  readonly unitCost: number;
  readonly ordered: number;
  readonly confirmed: number;
  readonly received: number;
  readonly rejected: number;
}

/** Returns the quantity of a line that is still to come. */
export const pendingOf = ({ ordered, confirmed, received, rejected }: CountedLine): number =>
  Math.max(0, (confirmed > 0 ? confirmed : ordered) - received - rejected);

/** An order as it is now, and how it came to that. */
export interface Course {
  readonly status: string;
  readonly previousStatus: string;
  readonly lines: readonly CountedLine[];
  readonly log: readonly object[];
  readonly receipts: readonly object[];
  /** When each status was reached, as header fields. */
  readonly reachedAt: Readonly<Record<string, string>>;
  readonly updatedAt: string;
}

/** The header field that holds when a status was reached. */
const reachedFields: Readonly<Record<string, string>> = {
  Sent: "sentAt",
  Confirmed: "confirmedAt",
  Received: "receivedAt",
  Completed: "completedAt",
  Cancelled: "cancelledAt",
};

/** The lines of an order before its first step. */
function linesOf(order: DemoOrder, key: string, variants: readonly DemoVariant[]): readonly CountedLine[] {
  const none = { confirmed: 0, received: 0, rejected: 0 };
  const catalogueLines = Object.entries(order.lines).map(([sku, ordered], index) => {
    const variant = variantWith(variants, sku);
    const poLineItemId = `pol_demo_${key}_${index + 1}`;
    const { variantId, terms } = variant;
    const name = fullName(variant);
    return { poLineItemId, variantId, sku, name, variant, unitCost: terms?.unitCost ?? 0, ordered, ...none };
  });
  const customLines = (order.customLines ?? []).map(({ productName, quantity, unitCost }, index) => {
    const poLineItemId = `pol_demo_${key}_${catalogueLines.length + index + 1}`;
    const variantId = `CSTM-demo-${key}-${index + 1}`;
    return { poLineItemId, variantId, sku: "", name: productName, variant: null, unitCost, ordered: quantity, ...none };
  });
  return [...catalogueLines, ...customLines];
}

/** An order before its first step. */
interface Begun {
  readonly order: DemoOrder;
  readonly key: string;
  readonly poNumber: string;
}

/** Goes through the steps of an order. */
export function courseOf(
  { order, key, poNumber }: Begun,
  variants: readonly DemoVariant[],
  calendar: Calendar,
): Course {
  let lines = linesOf(order, key, variants);
  const reached = ["Draft"];
  const log: object[] = [];
  const receipts: object[] = [];
  const reachedAt: Record<string, string> = {};
  let updatedAt = "";
  for (const [index, step] of order.steps.entries()) {
    const before = lines;
    const status = reached.at(-1) ?? "Draft";
    lines = before.map((line) => lineAfter(line, step));
    const next = statusAfter(status, step, lines);
    const occurredAt = calendar.at(step.daysAgo, index * stepMinutes);
    updatedAt = occurredAt;
    if (next !== status) {
      reached.push(next);
      const field = reachedFields[next];
      if (field !== undefined) reachedAt[field] = occurredAt;
    }
    const changes = changesOf(before, lines);
    const entry = { logId: `log_demo_${key}_${index + 1}`, occurredAt, actor: isByClerk(step) ? clerk : owner };
    log.push({ ...entry, ...logEntryOf(step, poNumber, { status, next, lines, changes }) });
    const receipt = receiptOf(step, before, lines);
    if (receipt !== null)
      receipts.push({ receiptId: `rcpt_demo_${key}_${receipts.length + 1}`, receivedAt: occurredAt, ...receipt });
  }
  const [previousStatus = "Draft", status = "Draft"] = reached.slice(-2);
  return { status, previousStatus, lines, log, receipts, reachedAt, updatedAt };
}

/** Two steps of one day are at least so far apart. */
const stepMinutes = 20;

const isByClerk = ({ did }: Step): boolean => did === "received" || did === "took back";

function lineAfter(line: CountedLine, step: Step): CountedLine {
  const of = (quantities: Quantities | undefined, otherwise: number): number =>
    quantities === undefined ? otherwise : (quantities[line.sku] ?? 0);
  switch (step.did) {
    case "confirmed":
      return { ...line, confirmed: of(step.quantities, line.ordered) };
    case "received":
      return {
        ...line,
        received: line.received + of(step.quantities, pendingOf(line)),
        rejected: line.rejected + of(step.rejected, 0),
      };
    case "took back":
      return { ...line, received: line.received - of(step.quantities, 0) };
    case "created":
    case "sent":
    case "started":
    case "fixed the rate":
    case "held":
    case "completed":
      return line;
  }
}

function statusAfter(status: string, step: Step, lines: readonly CountedLine[]): string {
  const isAllIn = lines.every((line) => pendingOf(line) === 0);
  switch (step.did) {
    case "created":
    case "fixed the rate":
      return status;
    case "sent":
      return "Sent";
    case "confirmed":
      return lines.every(({ confirmed }) => confirmed > 0) ? "Confirmed" : "Partially Confirmed";
    case "started":
      return "In Progress";
    case "received":
    case "took back":
      return isAllIn ? "Received" : "Partially Received";
    case "completed":
      return "Completed";
    case "held":
      return step.as;
  }
}

interface Change {
  readonly field: string;
  readonly poLineItemId: string;
  readonly before: number;
  readonly after: number;
}

function changesOf(before: readonly CountedLine[], after: readonly CountedLine[]): readonly Change[] {
  const fields = [
    ["quantityConfirmed", "confirmed"],
    ["quantityReceived", "received"],
    ["quantityRejected", "rejected"],
  ] as const;
  return after.flatMap((line, index) =>
    fields.flatMap(([field, member]): readonly Change[] => {
      const was = before[index]?.[member] ?? 0;
      return was === line[member] ? [] : [{ field, poLineItemId: line.poLineItemId, before: was, after: line[member] }];
    }),
  );
}

/** Facts from which a log entry is made. */
interface Happened {
  readonly status: string;
  readonly next: string;
  readonly lines: readonly CountedLine[];
  readonly changes: readonly Change[];
}

/** The log entry of a step as the service words it. */
function logEntryOf(step: Step, poNumber: string, { status, next, lines, changes }: Happened): object {
  const move = { field: "status", poLineItemId: null, before: status, after: next };
  const moved = next === status ? "" : `; moved from ${status} to ${next}`;
  const touched = linesCounted(new Set(changes.map(({ poLineItemId }) => poLineItemId)).size);
  const all = next === status ? changes : [...changes, move];
  switch (step.did) {
    case "created":
      return { action: "create", message: `Created ${poNumber} as a Draft with ${linesCounted(lines.length)}.` };
    case "confirmed":
      return { action: "confirm", message: `Confirmed ${touched}${moved}.`, changes: all };
    case "received":
      return { action: "receive", message: `Received goods on ${touched}${moved}.`, changes: all };
    case "took back":
      return { action: "unreceive", message: `Took goods back on ${touched} (${step.reason})${moved}.`, changes: all };
    case "completed":
      return { action: "complete", message: `Completed from ${status}.`, changes: all };
    case "fixed the rate": {
      const change = { field: "fxRateOverride", poLineItemId: null, before: null, after: step.fxRateOverride };
      return { action: "edit", message: "Changed fxRateOverride.", changes: [change] };
    }
    case "sent":
    case "started":
    case "held":
      return { action: "status", message: `Moved from ${status} to ${next}.`, changes: all };
  }
}

/** Returns the goods that came in, or were taken back; null when a step did neither. */
function receiptOf(step: Step, before: readonly CountedLine[], after: readonly CountedLine[]): object | null {
  if (step.did !== "received" && step.did !== "took back") return null;
  const lines = after.flatMap((line, index) => {
    const quantityDelta = line.received - (before[index]?.received ?? 0);
    const { poLineItemId, variantId, received } = line;
    return quantityDelta === 0 ? [] : [{ poLineItemId, variantId, quantityDelta, quantityReceivedAfter: received }];
  });
  return step.did === "received"
    ? { source: "receive", recordedBy: clerk.name, lines }
    : { source: "unreceive", recordedBy: clerk.name, reason: step.reason, lines };
}
