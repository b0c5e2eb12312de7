/** What a change led to: a refusal with its details, what others did meanwhile, follow-on work that failed, warnings. */
import type { FunctionComponent } from "preact";
import type { ErrorDetails, PurchaseOrder, VariantDetail } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { texts } from "../texts.ts";
import { Guard, lineNamed } from "./guard.tsx";
import type { Meanwhile, OrderState, Outcome, Refusal } from "./order-state.ts";

const isVariantDetail = (detail: ErrorDetails[number]): detail is VariantDetail => "issue" in detail;

export const Notices: FunctionComponent<{ readonly state: OrderState; readonly order: PurchaseOrder }> = ({
  state,
  order,
}) => {
  const { refusal, meanwhile, outcome } = state;
  return (
    <>
      {meanwhile.value === null ? null : <MeanwhileNotice meanwhile={meanwhile.value} close={() => state.dismiss()} />}
      {refusal.value === null ? null : <RefusalNotice refusal={refusal.value} order={order} />}
      {outcome.value === null ? null : <OutcomeNotice outcome={outcome.value} state={state} order={order} />}
    </>
  );
};

const MeanwhileNotice: FunctionComponent<{ readonly meanwhile: Meanwhile; readonly close: () => void }> = ({
  meanwhile: { names, difference, isMerged },
  close,
}) => {
  const words = texts.meanwhile;
  const parts = [
    difference.changedLines > 0 ? words.changedLines(difference.changedLines) : null,
    difference.addedLines > 0 ? words.addedLines(difference.addedLines) : null,
    difference.deletedLines > 0 ? words.deletedLines(difference.deletedLines) : null,
    difference.fields.length > 0 ? words.changedFields(difference.fields.length) : null,
  ].filter((part) => part !== null);
  return (
    <div class={isMerged ? "notice" : "problem"} role="alert">
      <p>
        <strong>
          {names.length === 0 ? words.somebody : names.join(", ")}{" "}
          {parts.length === 0 ? words.somethingElse : parts.join(", ")}.
        </strong>{" "}
        {isMerged ? words.merged : words.notMerged}
      </p>
      <button type="button" onClick={close}>
        {words.dismiss}
      </button>
    </div>
  );
};

const RefusalNotice: FunctionComponent<{ readonly refusal: Refusal; readonly order: PurchaseOrder }> = ({
  refusal: { problem, again },
  order,
}) => {
  const variants = problem.details.filter(isVariantDetail);
  if (problem.code === "INVENTORY_GUARD_ISSUES" && variants.length > 0)
    return <Guard variants={variants} order={order} again={again} />;
  const unplaced = problem.details.flatMap((detail) =>
    "lineItemId" in detail ? [`${lineNamed(order, detail.lineItemId)}: ${detail.message}`] : [],
  );
  const isWorthRepeating =
    problem.code === "UNREACHABLE" || problem.code.startsWith("DO_") || problem.code === "TIMEOUT";
  return (
    <>
      <ProblemNotice problem={problem} {...(isWorthRepeating ? { again: () => void again([]) } : {})} />
      {unplaced.length === 0 ? null : (
        <ul class="details">
          {unplaced.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </>
  );
};

const OutcomeNotice: FunctionComponent<{
  readonly outcome: Outcome;
  readonly state: OrderState;
  readonly order: PurchaseOrder;
}> = ({ outcome: { recovery, warnings, sideEffects }, state, order }) => {
  const details = [sideEffects.storefrontSync?.detail, sideEffects.incoming?.detail, sideEffects.tagSync?.detail];
  return (
    <>
      {recovery === null ? null : (
        <div class="problem" role="alert">
          <p>
            <strong>{texts.outcome.title}.</strong> {details.filter((detail) => detail !== undefined).join(" ")}
          </p>
          <p class="quiet">{recovery}</p>
          <PushAgain state={state} order={order} />
        </div>
      )}
      {warnings.length === 0 ? null : (
        <div class="notice" role="status">
          <p>
            <strong>{texts.outcome.warnings}:</strong>
          </p>
          <ul>
            {warnings.map((warning) => (
              <li key={warning.path + warning.message}>{warning.message}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
};

/** Clears the attempts that failed and pushes stock once more: the recovery of every failed push. */
export const PushAgain: FunctionComponent<{ readonly state: OrderState; readonly order: PurchaseOrder }> = ({
  state,
  order: { purchaseOrderId, storefrontSyncState },
}) => {
  const push = async (): Promise<void> => {
    if (storefrontSyncState === "failed") {
      const cleared = await state.change<"purchase_order_storefront_sync_reset">({
        send: (ifMatch) => openpo.call("purchase_order_storefront_sync_reset", { purchaseOrderId }, { ifMatch }),
        touches: [],
      });
      if (cleared === null) return;
    }
    await state.change<"purchase_order_storefront_sync">({
      send: (ifMatch, resolutions) =>
        openpo.call(
          "purchase_order_storefront_sync",
          { purchaseOrderId, awaitConfirmation: true, ...(resolutions.length === 0 ? {} : { resolutions }) },
          { ifMatch },
        ),
      touches: [],
    });
  };
  return (
    <button type="button" disabled={state.isSaving.value} onClick={() => void push()}>
      {texts.outcome.push}
    </button>
  );
};
