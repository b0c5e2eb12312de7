/**
 * The pure model of purchase orders: what a request makes of an order, written from the specification and knowing nothing of the rules' code.
 * Quantities are whole thousandths. What the storefront does in between (pushes, and what they bar) is not in it: where that decides, the
 * model does not know.
 */
import { addedUnitCost, type Deed, type OrderDeed } from "./deeds.ts";
import type { EventTold } from "./history.ts";

export interface ModelLine {
  readonly id: string;
  readonly variantId: string;
  /** Of a unit, in ten-thousandths. */
  readonly cost: number;
  readonly ordered: number;
  readonly confirmed: number;
  readonly received: number;
  readonly rejected: number;
  readonly cancelled: number;
}

export interface ModelOrder {
  readonly id: string;
  readonly poNumber: string;
  readonly name: string | null;
  readonly located: boolean;
  readonly status: string;
  readonly previous: string;
  readonly lines: readonly ModelLine[];
  readonly deleted: "no" | "hidden" | "gone";
}

/** What the model says of a request. `unsure`: it may be refused because of what is synced, and is `next` otherwise. */
type Verdict =
  | { readonly kind: "changes"; readonly next: ModelOrder; readonly unsure: boolean }
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly why: string };

export const isCustom = ({ variantId }: Pick<ModelLine, "variantId">): boolean => variantId.startsWith("CSTM-");
type Quantities = Pick<ModelLine, "ordered" | "confirmed" | "received" | "rejected" | "cancelled">;

export const baseOf = (line: Quantities): number => (line.confirmed > 0 ? line.confirmed : line.ordered);
export const accountedOf = (line: Quantities): number => line.received + line.rejected + line.cancelled;
export const pendingOf = (line: Quantities): number => Math.max(0, baseOf(line) - accountedOf(line));
export const isGone = (line: Quantities): boolean => line.cancelled >= line.ordered && line.received === 0;

export const held = ["Cancelled", "On Hold", "Disputed"];
export const openStatuses = ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"];
export const editable = ["Draft", ...openStatuses];
const withGoods = ["In Progress", "Partially Received", "Received"];

/** What is to be paid for it, in cents (C35). */
export function valueOf({ status, lines }: ModelOrder): number {
  const isClosed = status === "Completed" || status === "Cancelled";
  const owed = (line: ModelLine): number => line.received + (isClosed ? 0 : pendingOf(line));
  return Math.floor(lines.reduce((sum, line) => sum + owed(line) * line.cost, 0) / 100_000 + 0.5);
}

/** True from when it leaves Draft until it is cancelled. One that is held counts as before. */
export function hasLeftDraft({ status, previous }: ModelOrder): boolean {
  const counted = status === "On Hold" || status === "Disputed" ? previous : status;
  return counted !== "Draft" && counted !== "Cancelled";
}

/** Spec "Moves through POST /purchase-orders/{id}/status". */
export const moves: Readonly<Record<string, readonly string[]>> = {
  Draft: ["Sent"],
  Sent: ["Cancelled", "On Hold", "Disputed", "Draft"],
  "Partially Confirmed": ["Cancelled", "On Hold", "Disputed"],
  Confirmed: ["In Progress", "Cancelled", "On Hold", "Disputed", "Sent"],
  "In Progress": ["Confirmed", "Cancelled", "On Hold", "Disputed"],
  "Partially Received": ["Cancelled", "On Hold", "Disputed"],
  Received: ["Partially Received", "In Progress", "On Hold", "Disputed"],
  Completed: ["Received", "Partially Received", "In Progress"],
};

const refused = (why: string): Verdict => ({ kind: "refused", why });

const moved = (order: ModelOrder, status: string, lines = order.lines): ModelOrder =>
  status === order.status ? { ...order, lines } : { ...order, lines, status, previous: order.status };

const changes = (next: ModelOrder, unsure = false): Verdict => ({ kind: "changes", next, unsure });

const thousandths = (units: number): number => Math.round(units * 1_000);

/** Each named line as `change` makes it; null when a line is not there or `change` refuses. */
function withLines(
  order: ModelOrder,
  named: readonly (readonly [line: string, quantity: number])[],
  change: (line: ModelLine, quantity: number) => ModelLine | null,
): readonly ModelLine[] | null {
  const next = new Map(order.lines.map((line) => [line.id, line]));
  for (const [id, quantity] of named) {
    const line = next.get(id);
    const made = line === undefined ? null : change(line, thousandths(quantity));
    if (made === null) return null;
    next.set(id, made);
  }
  return [...next.values()];
}

const isSame = (a: readonly ModelLine[], b: readonly ModelLine[]): boolean => JSON.stringify(a) === JSON.stringify(b);

const receivedStatus = (lines: readonly ModelLine[]): string =>
  lines.every((line) => pendingOf(line) === 0) ? "Received" : "Partially Received";

const unreached = ["UPSTREAM_STOREFRONT", "TIMEOUT"];
const guarded = ["INVENTORY_GUARD_ISSUES", ...unreached];

/** Refusals whose reason lies at the storefront, by the writes that ask it (C28, C44, C45). */
const atStorefront: Partial<Record<Deed["op"], readonly string[]>> = {
  status: guarded,
  confirm: guarded,
  receive: guarded,
  "quick-complete": guarded,
  sync: guarded,
  complete: unreached,
};

/** Refusals whose reason lies at the storefront, which a request may get. Null: it is about nothing that was asked for. */
export const refusalsAtStorefront = (deed: Deed | null): readonly string[] =>
  deed === null || (deed.op === "status" && deed.to !== "Sent") ? [] : (atStorefront[deed.op] ?? []);

/** The order that a request has made. */
export function created(
  deed: Extract<Deed, { readonly op: "create" }>,
  made: { readonly id: string; readonly poNumber: string; readonly lineIds: readonly string[] },
): ModelOrder {
  return {
    id: made.id,
    poNumber: made.poNumber,
    name: null,
    located: deed.located,
    status: "Draft",
    previous: "Draft",
    deleted: "no",
    lines: deed.lines.map((line, index) => newLine(made.lineIds[index] ?? "", line)),
  };
}

interface AddedLine {
  readonly variantId: string;
  readonly ordered: number;
  readonly unitCost: number;
}

const newLine = (id: string, { variantId, ordered, unitCost }: AddedLine): ModelLine => ({
  id,
  variantId,
  cost: Math.round(unitCost * 10_000),
  ordered: thousandths(ordered),
  confirmed: 0,
  received: 0,
  rejected: 0,
  cancelled: 0,
});

/**
 * What becomes of an order by a request.
 *
 * @param added ids and variants of lines that the request has added, if it has.
 */
export function verdictOn(
  order: ModelOrder,
  deed: OrderDeed,
  added: readonly { readonly poLineItemId: string; readonly variantId: string }[],
): Verdict {
  if (order.deleted !== "no") return refused("the order is deleted");
  switch (deed.op) {
    case "status":
      return verdictOnMove(order, deed.to);
    case "confirm":
      return verdictOnConfirm(order, deed);
    case "receive":
      return verdictOnReceive(order, deed);
    case "unreceive": {
      if (!withGoods.includes(order.status)) return refused("nothing is taken back in this status");
      const lines = withLines(order, deed.amounts, (line, amount) =>
        amount > line.received || amount <= 0 ? null : { ...line, received: line.received - amount },
      );
      if (lines === null) return refused("more than was received");
      return changes(
        moved(order, lines.every((line) => line.received === 0) ? "In Progress" : receivedStatus(lines), lines),
      );
    }
    case "complete":
      return ["Received", "Partially Received"].includes(order.status)
        ? changes(moved(order, "Completed"))
        : refused("it cannot be completed in this status");
    case "quick-complete":
      if (order.status !== "In Progress") return refused("only in In Progress");
      if (!order.lines.some((line) => line.confirmed > 0)) return refused("nothing to receive");
      return changes(moved(order, "Completed", quicklyReceived(order)));
    case "delete":
      if (order.status === "Draft") return changes({ ...order, deleted: "gone" });
      return order.status === "Cancelled" ? changes({ ...order, deleted: "hidden" }) : refused("not in this status");
    case "rename":
      return deed.name === order.name ? { kind: "same" } : changes({ ...order, name: deed.name });
    case "add-line": {
      if (!editable.includes(order.status)) return refused("no lines are added in this status");
      const [line] = added;
      return changes({
        ...order,
        lines: [
          ...order.lines,
          newLine(line?.poLineItemId ?? "", {
            variantId: line?.variantId ?? "",
            ordered: deed.ordered,
            unitCost: addedUnitCost[deed.variantId === null ? "custom" : "variant"],
          }),
        ],
      });
    }
    case "sync":
      return ["Sent", "Partially Confirmed", "Confirmed", ...withGoods].includes(order.status)
        ? { kind: "same" }
        : refused("not in this status");
    case "reset":
    case "read":
      return { kind: "same" };
  }
}

/** The lines once everything outstanding that was confirmed is received. */
const quicklyReceived = (order: ModelOrder): readonly ModelLine[] =>
  order.lines.map((line) => (line.confirmed > 0 ? { ...line, received: line.received + pendingOf(line) } : line));

function verdictOnMove(order: ModelOrder, to: string): Verdict {
  const { status, lines } = order;
  if (to === "Completed" || to === status) return refused("not a move");
  if (held.includes(status)) {
    if (to !== order.previous) return refused("not the previous status");
  } else if (!(moves[status] ?? []).includes(to)) return refused("not a listed move");
  const isBack = ["Draft", "Sent", "Partially Confirmed", "Confirmed"].includes(to);
  if (isBack && lines.some((line) => line.received > 0)) return refused("goods bar it");
  if (to === "Sent" && !order.located) return refused("no location");
  const unconfirmed = lines.some((line) => line.confirmed === 0 && !isGone(line));
  if (status === "Confirmed" && to === "In Progress" && unconfirmed) return refused("unconfirmed lines");
  // What is synced bars it too.
  return changes(moved(order, to), isBack);
}

function verdictOnConfirm(order: ModelOrder, { totals }: Extract<Deed, { readonly op: "confirm" }>): Verdict {
  const { status } = order;
  if (!["Sent", "Partially Confirmed", "Confirmed", "In Progress"].includes(status))
    return refused("not in this status");
  const named =
    totals === "all"
      ? order.lines.flatMap((line) => (isGone(line) ? [] : [[line.id, line.ordered / 1_000] as const]))
      : totals;
  const lines = withLines(order, named, (line, confirmed) => {
    if (confirmed > line.ordered) return null;
    const next = { ...line, confirmed };
    return totals !== "all" && baseOf(next) < baseOf(line) && baseOf(next) < accountedOf(line) ? null : next;
  });
  if (lines === null) return refused("not what was ordered");
  if (status === "In Progress") return isSame(lines, order.lines) ? { kind: "same" } : refused("work has begun");
  const to =
    totals === "all"
      ? "In Progress"
      : !lines.some((line) => line.confirmed > 0)
        ? "Sent"
        : lines.every((line) => isGone(line) || line.confirmed > 0)
          ? "Confirmed"
          : "Partially Confirmed";
  return to === status && isSame(lines, order.lines) ? { kind: "same" } : changes(moved(order, to, lines));
}

function verdictOnReceive(order: ModelOrder, { totals, over }: Extract<Deed, { readonly op: "receive" }>): Verdict {
  if (!withGoods.includes(order.status)) return refused("nothing is received in this status");
  let lowers = false;
  const lines = withLines(order, totals, (line, received) => {
    if (received === line.received) return line;
    if (received < line.received) lowers = true;
    const next = { ...line, received };
    return !over && accountedOf(next) > baseOf(line) ? null : next;
  });
  if (lines === null) return refused("more than was expected");
  if (isSame(lines, order.lines)) return { kind: "same" };
  return changes(moved(order, receivedStatus(lines), lines), lowers);
}

/** The order as the model has it after a change whose event was told. `tell` gets what the model does not agree with. */
export function afterEvent(
  order: ModelOrder,
  deed: OrderDeed,
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
