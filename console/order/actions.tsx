/** Buttons for the next steps of the order, and the reasons why others are closed. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import { newIdempotencyKey, type PurchaseOrderStatus } from "../../client/index.ts";
import { openQuestions } from "../approvals/open-questions.ts";
import { NeedsApproval, useCauses } from "../approvals/before.tsx";
import { approvalTexts } from "../texts/en/shop/approvals.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { type Role, shopId, signedIn } from "../data/session.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { useActionsHere } from "../parts/frame/here.ts";
import { Icon } from "../parts/icon.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Pop } from "../parts/pop.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { forgetAll } from "../orders/kept.ts";
import { go, hrefOf, listHref } from "../router.ts";
import { obstacleTexts } from "../texts/en/order/obstacles.ts";
import { texts } from "../texts/en/texts.ts";
import {
  type Activity,
  closedTo,
  grave,
  isConfirmedShort,
  isNextMove,
  isSendable,
  mayMove,
  movesOf,
  moveTitle,
  obstacleTo,
} from "./moves.ts";
import { PushAgain } from "./notices.tsx";
import type { FullOrder, OrderState } from "./order-state.ts";
import { dotted } from "../texts/isolated.ts";

const MergeEntry = lazy(async () => (await import("../orders/merge.tsx")).MergeEntry, { isQuiet: true });
const MergeDrafts = lazy(async () => (await import("../orders/merge.tsx")).MergeDrafts, { isQuiet: true });

const words = texts.orderActions;

interface ActionsProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  /** Opens what sends the order to its supplier. */
  readonly send: () => void;
}

/** Confirms every line as it was ordered. */
export const confirmAll = (state: OrderState, { purchaseOrderId }: FullOrder) =>
  state.change<"purchase_order_confirm">({
    send: (ifMatch, resolutions) =>
      openpo.call(
        "purchase_order_confirm",
        { purchaseOrderId, confirmAll: true, ...(resolutions.length === 0 ? {} : { resolutions }) },
        { ifMatch },
      ),
    touches: null,
    made: (made) => state.tell(({ tellConfirmed }) => tellConfirmed(made)),
  });

export const Actions: FunctionComponent<ActionsProps> = ({ state, order, send }) => {
  const chosen = useSignal<PurchaseOrderStatus | "delete" | "merge" | null>(null);
  const problem = useSignal<Problem | null>(null);
  const role = signedIn()?.person.role ?? "viewer";
  const { purchaseOrderId } = order;
  const isOpen = (activity: Activity): boolean => obstacleTo(order, activity, role) === null;

  const move = (status: PurchaseOrderStatus): void => {
    void state.change<"purchase_order_status">({
      send: (ifMatch, resolutions) =>
        openpo.call(
          "purchase_order_status",
          { purchaseOrderId, status, ...(resolutions.length === 0 ? {} : { resolutions }) },
          { ifMatch },
        ),
      touches: null,
      made: (made) => state.tell(({ tellMoved }) => tellMoved(state, made)),
    });
  };
  const remove = async (): Promise<Problem | null> => {
    const result = await openpo.call("purchase_order_delete", { purchaseOrderId }, { ifMatch: state.etag() });
    if (result.ok) {
      forgetAll();
      state.tell(({ tellDeleted }) => tellDeleted(order));
      go(listHref("orders"));
      return null;
    }
    return problemOf(result);
  };
  const carryOut = async (to: PurchaseOrderStatus | "delete"): Promise<Problem | null> => {
    if (to === "delete") return await remove();
    move(to);
    return null;
  };
  // However often it is sent, it makes one order.
  const key = useRef(newIdempotencyKey());
  const orderAgain = async (): Promise<void> => {
    const input = { shopId: shopId(), purchaseOrderId };
    const result = await openpo.call("purchase_order_again", input, { idempotencyKey: key.current });
    if (result.ok) {
      key.current = newIdempotencyKey();
      forgetAll();
      go(hrefOf("orders", result.data.purchaseOrder.purchaseOrderId));
    } else problem.value = problemOf(result);
  };
  const isBusy = state.isSaving.value;
  const moves = mayMove(role) ? movesOf(order) : [];
  const causes = useCauses(order, moves.includes("Sent"));
  const moveItem = (to: PurchaseOrderStatus): Item => ({
    title: to === "Sent" && causes.length > 0 ? approvalTexts.askToSend : moveTitle(order.status, to),
    isGrave: grave.includes(to),
    run: () => {
      if (grave.includes(to)) chosen.value = to;
      else move(to);
    },
  });
  const maySend = mayMove(role) && isSendable(order);
  const isClosing = isOpen("complete") || isOpen("quick-complete");
  const complete = when(isClosing, { title: words.complete, href: hrefOf("orders", purchaseOrderId, "complete") });
  const isNext = (to: PurchaseOrderStatus): boolean => isNextMove(order.status, to);
  // What is most likely wanted comes first, and is the button; the others are in the menu.
  const items: readonly Item[] = [
    ...when(mayMove(role) && order.status === "Draft", { title: words.send, run: send }),
    ...when(isOpen("confirm") && !isConfirmedShort(order) && order.status !== "Confirmed", {
      title: words.confirmAll,
      run: () => void confirmAll(state, order),
    }),
    ...moves.filter(isNext).map(moveItem),
    ...(order.status === "Received" ? complete : []),
    ...when(isOpen("receive"), { title: words.receive, href: hrefOf("receive", purchaseOrderId) }),
    ...when(isOpen("confirm"), { title: words.confirm, href: hrefOf("orders", purchaseOrderId, "confirm") }),
    ...(order.status === "Received" ? [] : complete),
    ...when(maySend, { title: words.sendAgain, run: send }),
    ...moves.filter((to) => !isNext(to)).map(moveItem),
    ...when(mayMove(role), { title: words.again, run: () => void orderAgain() }),
    ...when(isOpen("delete"), { title: words.delete, isGrave: true, run: () => (chosen.value = "delete") }),
  ];
  const print: Item = { title: texts.orderDocument.print, href: hrefOf("orders", purchaseOrderId, "print") };
  useActionsHere(
    (isBusy ? [] : [...items, print]).map(({ title, href, run }) => ({
      title,
      hint: order.poNumber,
      icon: "shopping-cart",
      run: () => (href === undefined ? run?.() : go(href)),
    })),
  );
  const [first, ...others] = items;
  const asked = chosen.value === "merge" ? null : chosen.value;
  const action = asked === null || asked === "delete" ? words.delete : words.moves[asked];
  // One action of a place is the primary one: the answer to a question comes before.
  const isPressing = openQuestions.value === 0 && !done.includes(order.status);
  return (
    <section aria-label={words.title} class="next">
      <div class="buttons">
        {isOpen("sync") && ["failed", "partial"].includes(order.storefrontSyncState) ? (
          <PushAgain state={state} order={order} />
        ) : null}
        {first === undefined ? null : (
          <ItemButton item={first} isDisabled={isBusy} look={isPressing ? "primary" : undefined} />
        )}
        <Pop button={<Icon name="ellipsis" />} buttonClass="icon-only" label={words.more} isMenu isAtEnd>
          {others.map((item) => (
            <ItemButton
              key={item.title}
              item={item}
              isDisabled={isBusy}
              look={item.isGrave === true ? "danger" : undefined}
            />
          ))}
          {mayMove(role) && order.status === "Draft" ? (
            <MergeEntry order={order} run={() => (chosen.value = "merge")} />
          ) : null}
          <WhyNot order={order} role={role} />
        </Pop>
      </div>
      <NeedsApproval causes={causes} />
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {chosen.value === "merge" ? (
        <MergeDrafts state={state} order={order} onClose={() => (chosen.value = null)} />
      ) : null}
      {asked === null ? null : (
        <AskFirst
          title={words.sure(action)}
          text={dotted([order.poNumber, order.supplierName])}
          action={action}
          no={words.no}
          run={() => carryOut(asked)}
          onClose={() => (chosen.value = null)}
        />
      )}
    </section>
  );
};

/** Step that a person may take with the order: here, or at a place of its own. */
interface Item {
  readonly title: string;
  /** True if a person is asked once more. */
  readonly isGrave?: boolean;
  readonly run?: () => void;
  readonly href?: string;
}

const when = (isOffered: boolean, item: Item): readonly Item[] => (isOffered ? [item] : []);

/** Statuses in which nothing is pressing. */
const done: readonly PurchaseOrderStatus[] = ["Completed", "Cancelled"];

interface ItemButtonProps {
  readonly item: Item;
  readonly isDisabled: boolean;
  readonly look: "primary" | "danger" | undefined;
}

const ItemButton: FunctionComponent<ItemButtonProps> = ({ item: { title, href, run }, isDisabled, look }) =>
  href === undefined ? (
    <button type="button" class={look} disabled={isDisabled} onClick={run}>
      {title}
    </button>
  ) : (
    <a class={look} href={href}>
      {title}
    </a>
  );

/** Entries that are not open now, those of one reason together. */
const WhyNot: FunctionComponent<{ readonly order: FullOrder; readonly role: Role }> = ({ order, role }) => {
  const titles = { ...words, ...words.moves, send: words.sendAgain, merge: words.merge };
  const byObstacle = Map.groupBy(closedTo(order, role), ({ obstacle }) => obstacle);
  return (
    <>
      {[...byObstacle].map(([obstacle, closed]) => (
        <div key={obstacle} class="why-not quiet">
          <p>{closed.map(({ what }) => titles[what]).join(" · ")}</p>
          <p>{obstacleTexts[obstacle]}</p>
        </div>
      ))}
    </>
  );
};
