/** Outcome of an action for several orders: the number that was done, and why each other one was not. */
import type { FunctionComponent } from "preact";
import { Icon } from "../../parts/icon.tsx";
import { hrefOf } from "../../router.ts";
import { tickedTexts as words } from "../../texts/en/order/ticked.ts";
import { texts } from "../../texts/en/texts.ts";
import type { Summary, Undone } from "./run.ts";

export const SummaryNotice: FunctionComponent<{ readonly summary: Summary; readonly close: () => void }> = ({
  summary: { done, undone },
  close,
}) => {
  const countOf = (wanted: Undone["kind"]): number => undone.filter(({ kind }) => kind === wanted).length;
  const [waiting, refused] = [countOf("waiting"), countOf("refused")];
  return (
    <div class="notice summary" role="status">
      <button type="button" class="plain icon-only" aria-label={words.close} title={words.close} onClick={close}>
        <Icon name="x" />
      </button>
      <p>
        <strong>
          {[
            done > 0 || undone.length === 0 ? words.done(done) : null,
            waiting > 0 ? words.waiting(waiting) : null,
            refused > 0 ? words.refused(refused) : null,
          ]
            .filter((part) => part !== null)
            .join(", ")}
        </strong>
      </p>
      {undone.length === 0 ? null : (
        <ul>
          {undone.map(({ order: { purchaseOrderId, poNumber }, says, approvalRequestId }) => (
            <li key={purchaseOrderId}>
              <a href={hrefOf("orders", purchaseOrderId)}>{poNumber}</a> {says}{" "}
              {approvalRequestId === null ? null : (
                <a href={hrefOf("approvals", approvalRequestId)}>{texts.problem.seeRequest}</a>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
