/**
 * Tells a person what they did to an order, and takes it back when they ask for it. The opposite call is made for the
 * version that they have made and no other: nothing of what others did since is lost.
 */
import { type CallOptions, newIdempotencyKey, type Output, type Result } from "../../../client/index.ts";
import { openpo, problemOf } from "../../data/client.ts";
import { statusName } from "../../data/format.ts";
import { type Told, told } from "../../parts/frame/told.ts";
import { undoTexts as words } from "../../texts/en/order/undo.ts";
import { texts } from "../../texts/en/texts.ts";
import { nameOf } from "../lines/edit-cell.tsx";
import type { FullOrder, Made, OrderState, Writing } from "../order-state.ts";
import { madeAgain } from "./draft.ts";
import {
  canBeMadeAgain,
  canComeBack,
  catalogueLine,
  customLine,
  isOtherwise,
  moveBack,
  replacedBy,
} from "./inverse.ts";
import { refused } from "./refused.ts";

/** The call that takes a change back, and the words for it. */
interface WayBack<Name extends Writing> {
  readonly send: (options: CallOptions) => Promise<Result<Name>>;
  readonly undone: (answer: Output<Name>) => string;
}

/** Tells what was done. @param wayBack  null: there is none. */
function tell<Name extends Writing>(
  text: string,
  { state, before, etag }: { readonly state: OrderState; readonly before: FullOrder; readonly etag: string },
  wayBack: WayBack<Name> | null,
): void {
  if (wayBack === null) {
    told.value = { text };
    return;
  }
  const options = { ifMatch: etag, idempotencyKey: newIdempotencyKey() };
  const undo = async (): Promise<Told> => {
    const result = await state.takeBack(() => wayBack.send(options));
    return result.ok ? { text: wayBack.undone(result.data) } : refused(problemOf(result), before, undo);
  };
  told.value = { text, undo };
}

/** An edit of the header or of lines. @param of  the line, or the number of lines, whose field it is. */
function tellEdited(
  state: OrderState,
  made: Made<"purchase_order_update" | "purchase_order_line_item_update">,
  field: string,
  of: string | number | null = null,
): void {
  const { before, answer } = made;
  const what = of === null ? field : words.what(field, typeof of === "number" ? words.lines(of) : of);
  const replaced = replacedBy(before, answer.purchaseOrder);
  if (answer.purchaseOrder.version === before.version) return;
  const { purchaseOrderId } = before;
  const undone = (): string => words.restored(what);
  const text = words.saved(what);
  if (replaced === null) tell(text, { state, ...made }, null);
  else if (replaced.lines.length === 0)
    tell<"purchase_order_update">(
      text,
      { state, ...made },
      {
        send: (options) => openpo.call("purchase_order_update", { ...replaced.header, purchaseOrderId }, options),
        undone,
      },
    );
  else
    tell<"purchase_order_line_item_update">(
      text,
      { state, ...made },
      {
        send: (options) =>
          openpo.call("purchase_order_line_item_update", { purchaseOrderId, lines: replaced.lines }, options),
        undone,
      },
    );
}

/** A line that was deleted. One of which something was confirmed or cancelled cannot be what it was. */
function tellLineDeleted(state: OrderState, made: Made<"purchase_order_line_item_delete">): void {
  const { before, answer } = made;
  const { purchaseOrderId, lineItems } = before;
  const [line] = lineItems.filter(({ poLineItemId }) => answer.deletedLineItemIds.includes(poLineItemId));
  if (line === undefined) return;
  const name = nameOf(line);
  const backs = (back = lineItems.at(-1)): string =>
    [
      words.back(name),
      lineItems.at(-1) === line ? null : words.isLast,
      back !== undefined && isOtherwise(line, back) ? words.isOtherwise : null,
    ]
      .filter((part) => part !== null)
      .join(" ");
  tell<"purchase_order_line_item_add" | "purchase_order_line_item_add_custom">(
    words.deleted(name),
    { state, ...made },
    canComeBack(line)
      ? {
          send: (options) =>
            line.isCustom
              ? openpo.call("purchase_order_line_item_add_custom", { purchaseOrderId, ...customLine(line) }, options)
              : openpo.call(
                  "purchase_order_line_item_add",
                  { purchaseOrderId, lineItems: [catalogueLine(line)] },
                  options,
                ),
          undone: (added) => backs(added.lineItems[0]),
        }
      : null,
  );
}

/** One line that was added, or several together. */
function tellLinesAdded(
  state: OrderState,
  made: Made<"purchase_order_line_item_add" | "purchase_order_line_item_add_custom">,
): void {
  const { purchaseOrderId } = made.before;
  const { lineItems } = made.answer;
  const [first] = lineItems;
  const what = first !== undefined && lineItems.length === 1 ? nameOf(first) : words.lines(lineItems.length);
  const lineItemIds = lineItems.map(({ poLineItemId }) => poLineItemId);
  tell<"purchase_order_line_item_delete">(
    words.added(what),
    { state, ...made },
    {
      send: (options) => openpo.call("purchase_order_line_item_delete", { purchaseOrderId, lineItemIds }, options),
      undone: () => words.takenOut(what),
    },
  );
}

/** Tells what was confirmed: the supplier's word is not taken back here. */
function tellConfirmed({ before, answer }: Made<"purchase_order_confirm">): void {
  const { status } = answer.purchaseOrder;
  const isMoved = status !== before.status;
  told.value = {
    text: isMoved ? words.moved(before.poNumber, statusName(status)) : words.saved(texts.order.columns.confirmed),
  };
}

/** A move by name. */
function tellMoved(state: OrderState, made: Made<"purchase_order_status">): void {
  const { before, answer } = made;
  const { purchaseOrderId, poNumber } = before;
  const { status: now } = answer.purchaseOrder;
  const status = moveBack(before, answer.purchaseOrder, answer.sideEffects.email !== undefined);
  tell<"purchase_order_status">(
    words.moved(poNumber, statusName(now)),
    { state, ...made },
    status === null
      ? null
      : {
          send: (options) => openpo.call("purchase_order_status", { purchaseOrderId, status }, options),
          undone: () => words.movedBack(poNumber, statusName(status)),
        },
  );
}

/** An order that was deleted. */
function tellDeleted(order: FullOrder): void {
  if (!canBeMadeAgain(order)) {
    told.value = { text: words.deleted(order.poNumber) };
    return;
  }
  // However often it is asked for, each of its calls is made once.
  const keys: string[] = [];
  const keyOf = (step: number): string => (keys[step] ??= newIdempotencyKey());
  const undo = async (): Promise<Told> => await madeAgain(order, keyOf, undo);
  told.value = { text: words.deletedDraft(order.poNumber), undo };
}

/** The ways to tell of each kind of change. */
export const telling = { tellEdited, tellLineDeleted, tellLinesAdded, tellConfirmed, tellMoved, tellDeleted } as const;
