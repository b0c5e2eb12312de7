/**
 * Two Drafts of one supplier and place become one. An entry of the menu offers it where there is another one; the
 * question has what the service says that a merge would make.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { money } from "../data/format.ts";
import type { Choice } from "../data/look-ups.ts";
import { shopId } from "../data/session.ts";
import { MergeInto } from "../parts/dialogs/merge-into.tsx";
import { forgetAll } from "./kept.ts";
import { go, hrefOf } from "../router.ts";
import { mergeTexts as words } from "../texts/en/order/merge.ts";
import type { FullOrder, OrderState } from "../order/order-state.ts";
import { dotted } from "../texts/isolated.ts";

const choicesMax = 10;

/** Drafts that the order can end in, newest first. */
async function othersOf(order: FullOrder, search = ""): Promise<readonly PurchaseOrderHeader[] | Problem> {
  const { purchaseOrderId, supplierId, locationId, currencyCode } = order;
  const result = await openpo.call("purchase_order_list", {
    status: ["Draft"],
    ...(supplierId === null ? {} : { supplierId }),
    ...(locationId === null ? {} : { locationId }),
    ...(search === "" ? {} : { search }),
    limit: 50,
  });
  if (!result.ok) return problemOf(result);
  return result.data.purchaseOrders.filter(
    (each) =>
      each.purchaseOrderId !== purchaseOrderId &&
      each.supplierId === supplierId &&
      each.locationId === locationId &&
      each.currencyCode === currencyCode,
  );
}

const sizeOf = ({ itemCount, grandTotal, currencyCode }: PurchaseOrderHeader): string =>
  words.size(itemCount, money(grandTotal, currencyCode));

interface EntryProps {
  readonly order: FullOrder;
  readonly run: () => void;
}

/** Says so where there is no other Draft to merge it into. */
export const MergeEntry: FunctionComponent<EntryProps> = ({ order, run }) => {
  const isOffered = useSignal<boolean | null>(null);
  useEffect(() => {
    void othersOf(order).then((others) => (isOffered.value = "message" in others ? null : others.length > 0));
  }, []);
  if (isOffered.value === null) return null;
  return isOffered.value ? (
    <button type="button" onClick={run}>
      {words.into}
    </button>
  ) : (
    <div class="why-not quiet">
      <p>{words.action}</p>
      <p>{words.alone}</p>
    </div>
  );
};

interface MergeProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  readonly onClose: () => void;
}

export const MergeDrafts: FunctionComponent<MergeProps> = ({ state, order, onClose }) => {
  const { purchaseOrderId, poNumber } = order;
  /** The version that was asked about: another one is not merged unseen. */
  const ifMatch = useRef("");
  const call = async (into: string, dryRun: boolean) => {
    const input = { shopId: shopId(), purchaseOrderId, into, ...(dryRun ? { dryRun } : {}) };
    const result = await openpo.call("purchase_order_merge", input, { ifMatch: ifMatch.current });
    if (!result.ok) void state.read();
    return result;
  };
  const search = async (text: string): Promise<readonly Choice[] | Problem> => {
    const others = await othersOf(order, text);
    if ("message" in others) return others;
    return others.slice(0, choicesMax).map((each) => ({
      id: each.purchaseOrderId,
      title: dotted([each.poNumber, each.poName]),
      hint: sizeOf(each),
    }));
  };
  const questionOf = async (into: Choice) => {
    ifMatch.current = state.etag();
    const made = await call(into.id, true);
    if (!made.ok) return problemOf(made);
    return {
      title: words.title(poNumber, into.title),
      text: words.text(poNumber, order.itemCount, into, sizeOf(made.data.purchaseOrder)),
    };
  };
  const merge = async (into: string): Promise<Problem | null> => {
    const result = await call(into, false);
    if (!result.ok)
      return result.status === 412
        ? { ...problemOf(result), ...words.stale(poNumber), code: "", reason: null }
        : problemOf(result);
    forgetAll();
    go(hrefOf("orders", into));
    return null;
  };
  return (
    <MergeInto
      title={words.of(poNumber)}
      stays={words.stays}
      action={words.action}
      search={search}
      questionOf={questionOf}
      merge={merge}
      onClose={onClose}
    />
  );
};
