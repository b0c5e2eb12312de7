/**
 * Notices after a change: a refusal with its details, others' changes meanwhile, follow-on work that failed, warnings.
 */
import { serviceTexts } from "../texts/en/service.ts";
import { ServiceSays } from "../parts/service-says.tsx";
import type { FunctionComponent } from "preact";
import type { ErrorDetails, PurchaseOrder, VariantDetail } from "../../client/index.ts";
import { useOpenQuestion } from "../approvals/open-questions.ts";
import { NeedsApproval } from "../approvals/before.tsx";
import { approvalTexts } from "../texts/en/shop/approvals.ts";
import { openpo, type Problem } from "../data/client.ts";
import { signedIn } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { texts } from "../texts/en/texts.ts";
import { Guard, lineNamed } from "./guard.tsx";
import { nameOf } from "./lines/edit-cell.tsx";
import { saidOf } from "./lines/said.ts";
import { obstacleTo } from "./moves.ts";
import type { Meanwhile, OrderState, Outcome, Refusal } from "./order-state.ts";
import { dotted, isolated } from "../texts/isolated.ts";

const isVariantDetail = (detail: ErrorDetails[number]): detail is VariantDetail => "issue" in detail;

export const Notices: FunctionComponent<{ readonly state: OrderState; readonly order: PurchaseOrder }> = ({
  state,
  order,
}) => {
  const { refusal, meanwhile, outcome } = state;
  return (
    <>
      {meanwhile.value === null ? null : (
        <MeanwhileNotice meanwhile={meanwhile.value} order={order} close={() => state.dismiss()} />
      )}
      {refusal.value === null || refusal.value.problem.approvalRequestId !== undefined ? null : (
        <RefusalNotice refusal={refusal.value} state={state} order={order} />
      )}
      {outcome.value === null ? null : <OutcomeNotice outcome={outcome.value} state={state} order={order} />}
    </>
  );
};

/** Lines that are named one by one; of more, only the number is told. */
const linesNamedMax = 5;

interface MeanwhileProps {
  readonly meanwhile: Meanwhile;
  readonly order: PurchaseOrder;
  readonly close: () => void;
}

const MeanwhileNotice: FunctionComponent<MeanwhileProps> = ({
  meanwhile: { names, difference, unsaved },
  order,
  close,
}) => {
  const words = texts.meanwhile;
  const parts = [
    difference.changedLines.length > 0 ? words.changedLines(difference.changedLines.length) : null,
    difference.addedLines.length > 0 ? words.addedLines(difference.addedLines.length) : null,
    difference.deletedLines.length > 0 ? words.deletedLines(difference.deletedLines.length) : null,
    difference.fields.length > 0 ? words.changedFields(difference.fields.length) : null,
  ].filter((part) => part !== null);
  const named = [...difference.changedLines, ...difference.addedLines].map((id) => lineNamed(order, id));
  return (
    <div class={unsaved === null ? "notice" : "problem"} role="alert">
      <p>
        <strong>
          {words.did(
            names.length === 0 ? words.somebody : names.map(isolated).join(", "),
            parts.length === 0 ? words.somethingElse : parts.join(", "),
          )}
        </strong>{" "}
        {unsaved === null ? words.merged : words.notMerged}
      </p>
      {named.length === 0 || named.length > linesNamedMax ? null : <p class="quiet">{dotted(named)}</p>}
      <div class="buttons">
        {unsaved === null ? null : (
          <button type="button" onClick={() => void unsaved.again()}>
            {words.again}
          </button>
        )}
        <button type="button" onClick={close}>
          {words.dismiss}
        </button>
      </div>
    </div>
  );
};

/** Codes of refusals that may go away by themselves, so that the same change is worth sending again. */
const passing: readonly string[] = [
  "UNREACHABLE",
  "RATE_LIMITED",
  "DO_OVERLOADED",
  "DO_UNAVAILABLE",
  "TIMEOUT",
  "UPSTREAM_STOREFRONT",
  "ON_HAND_SYNC_IN_FLIGHT",
];

export const isWorthRepeating = ({ code, reason }: Problem): boolean =>
  passing.includes(code) || reason === "ORDER_EDITED";

interface RefusalProps {
  readonly refusal: Refusal;
  readonly state: OrderState;
  readonly order: PurchaseOrder;
}

const RefusalNotice: FunctionComponent<RefusalProps> = ({ refusal: { problem, again, causes }, state, order }) => {
  const variants = problem.details.filter(isVariantDetail);
  const isGuarded = problem.code === "INVENTORY_GUARD_ISSUES" && variants.length > 0;
  useOpenQuestion(causes !== undefined || isGuarded);
  if (causes !== undefined)
    return (
      <>
        <NeedsApproval causes={causes} />
        <p class="buttons">
          <button type="button" class="primary" onClick={() => void again([])}>
            {approvalTexts.ask}
          </button>
          <button type="button" onClick={() => state.dismiss()}>
            {texts.cancel}
          </button>
        </p>
      </>
    );
  if (isGuarded) return <Guard problem={problem} variants={variants} order={order} again={again} />;
  const unplaced = problem.details.flatMap((detail) =>
    "lineItemId" in detail ? [`${lineNamed(order, detail.lineItemId)}: ${detail.message}`] : [],
  );
  return (
    <>
      <ProblemNotice problem={problem} {...(isWorthRepeating(problem) ? { again: () => void again([]) } : {})} />
      {problem.code === "UPSTREAM_STOREFRONT" ? <PushAgain state={state} order={order} /> : null}
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
  const lines = order.lineItems.map((line) => ({ ...line, name: nameOf(line) }));
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
              <li key={warning.path + warning.message}>
                <ServiceSays sense={serviceTexts.warnings[warning.reason]}>
                  {saidOf(lines, warning.message)}
                </ServiceSays>
              </li>
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
  order,
}) => {
  const { purchaseOrderId, storefrontSyncState } = order;
  // A push that cannot be made any more is no way out; the text of the recovery tells what is.
  if (obstacleTo(order, "sync", signedIn()?.person.role ?? "viewer") !== null) return null;
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
