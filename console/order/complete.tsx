/**
 * Completing: what each product will cost, the exchange rate where one is needed, and what became of it at the
 * storefront.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { money, number, numberIn, typed } from "../data/format.ts";
import { signedIn } from "../data/session.ts";
import { obstacleTexts } from "../texts/en/order/obstacles.ts";
import { texts } from "../texts/en/texts.ts";
import { Attachments } from "./attachments.tsx";
import { lineNamed } from "./guard.tsx";
import { obstacleTo } from "./moves.ts";
import { PushAgain } from "./notices.tsx";
import type { FullOrder, OrderState } from "./order-state.ts";
import { noteRefused } from "../unsaved.ts";

const words = texts.complete;

type Done = Output<"purchase_order_complete"> | Output<"purchase_order_quick_complete">;

interface CompleteProps {
  readonly state: OrderState;
  readonly order: FullOrder;
}

export const Complete: FunctionComponent<CompleteProps> = ({ state, order }) => {
  const done = useSignal<Done | null>(null);
  const wrong = useSignal<string | null>(null);
  const session = signedIn();
  const role = session?.person.role ?? "viewer";
  const shopCurrency = session?.shop.currencyCode ?? order.currencyCode;
  const [whole, quick] = [obstacleTo(order, "complete", role), obstacleTo(order, "quick-complete", role)];
  const { purchaseOrderId } = order;

  /** Keeps the rate that was written, if it is another one. @returns whether the order may be completed. */
  const keepRate = async (written: string): Promise<boolean> => {
    const fxRateOverride = written === "" ? null : numberIn(written);
    wrong.value = written !== "" && fxRateOverride === null ? texts.order.notNumber : null;
    if (wrong.value !== null) {
      noteRefused();
      return false;
    }
    if (fxRateOverride === order.fxRateOverride) return true;
    const answer = await state.change<"purchase_order_update">({
      send: (ifMatch) => openpo.call("purchase_order_update", { purchaseOrderId, fxRateOverride }, { ifMatch }),
      touches: [{ lineItemId: null, field: "fxRateOverride" }],
      seen: order,
    });
    if (answer === null) noteRefused();
    const [detail] = answer === null ? (state.refusal.value?.problem.details ?? []) : [];
    if (detail !== undefined && "path" in detail) wrong.value = detail.message;
    return answer !== null;
  };
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const rate = new FormData(event.currentTarget).get("fxRateOverride");
    if (order.currencyCode !== shopCurrency && !(await keepRate(typeof rate === "string" ? rate.trim() : ""))) return;
    done.value =
      whole === null
        ? await state.change<"purchase_order_complete">({
            send: (ifMatch) => openpo.call("purchase_order_complete", { purchaseOrderId }, { ifMatch }),
            touches: null,
          })
        : await state.change<"purchase_order_quick_complete">({
            send: (ifMatch, resolutions) =>
              openpo.call(
                "purchase_order_quick_complete",
                { purchaseOrderId, ...(resolutions.length === 0 ? {} : { resolutions }) },
                { ifMatch },
              ),
            touches: null,
          });
  };
  const isOpen = whole === null || quick === null;
  return (
    <section aria-labelledby="complete">
      <h2 id="complete">{words.title}</h2>
      {order.status === "Completed" ? <p class="notice">{words.done}</p> : null}
      {order.status !== "Completed" && !isOpen && whole !== null ? (
        <p class="notice">
          {words.closed} {obstacleTexts[whole]}
        </p>
      ) : null}
      {isOpen ? (
        <form class="stack" data-asks onSubmit={(event) => void submit(event)}>
          <p class="quiet">{words.lead}</p>
          {whole === null && order.quantityPending > 0 ? <p>{words.remaining(number(order.quantityPending))}</p> : null}
          {order.currencyCode === shopCurrency ? null : (
            <label>
              {words.fx(order.currencyCode, shopCurrency)}
              <input
                name="fxRateOverride"
                inputMode="decimal"
                defaultValue={order.fxRateOverride === null ? "" : typed(order.fxRateOverride)}
                aria-invalid={wrong.value !== null}
                aria-describedby="fx-hint"
              />
              <span id="fx-hint" class={wrong.value === null ? "quiet" : "cell-note"}>
                {wrong.value ?? words.fxHint}
              </span>
            </label>
          )}
          <p class="buttons">
            <button class="primary" disabled={state.isSaving.value}>
              {whole === null ? words.now : words.quick}
            </button>
          </p>
        </form>
      ) : null}
      {["failed", "partial"].includes(order.storefrontSyncState) && obstacleTo(order, "sync", role) === null ? (
        <PushAgain state={state} order={order} />
      ) : null}
      {done.value === null ? null : <Result done={done.value} order={order} />}
      <Costs order={order} />
      <Attachments purchaseOrderId={purchaseOrderId} version={order.version} />
    </section>
  );
};

const Result: FunctionComponent<{ readonly done: Done; readonly order: FullOrder }> = ({ done, order }) => (
  <div class="notice" role="status">
    <p>{words.synced(done.costSync.syncedVariantCount)}</p>
    {done.costSync.warnings.length === 0 ? null : (
      <ul>
        {done.costSync.warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    )}
    {"confirmation" in done ? (
      <>
        <h3>{words.confirmation}</h3>
        <ul>
          {done.confirmation.lines.map((line) => (
            <li key={line.lineItemId}>
              {lineNamed(order, line.lineItemId)}: {words.lineStates[line.status]} {line.reason}
            </li>
          ))}
        </ul>
      </>
    ) : null}
  </div>
);

/** Received goods and their costs. */
const Costs: FunctionComponent<{ readonly order: FullOrder }> = ({ order }) => (
  <details open>
    <summary>{words.costs}</summary>
    <ul class="items">
      {order.lineItems.map((line) => (
        <li key={line.poLineItemId}>
          <span>
            {lineNamed(order, line.poLineItemId)} <span class="quiet">× {number(line.quantityReceived)}</span>
          </span>
          <span class="amount">{money(line.unitCost, line.unitCostCurrencyCode)}</span>
        </li>
      ))}
    </ul>
  </details>
);
