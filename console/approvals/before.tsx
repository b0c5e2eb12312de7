/** Notes before a button is pressed that would only make a request. A shop without rules is asked nothing. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { PurchaseOrder } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { hasApprovalRules } from "../data/session.ts";
import { approvalTexts as words } from "../texts/en/shop/approvals.ts";
import { Causes, type Row } from "./words.tsx";

/** Causes for which a move to Sent would need a decision: none, as far as it is known. */
export function useCauses({ purchaseOrderId, version }: PurchaseOrder, isOffered: boolean): Row["causes"] {
  const causes = useSignal<Row["causes"]>([]);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      const input = { purchaseOrderId, status: "Sent", dryRun: true } as const;
      const result = isOffered && hasApprovalRules() ? await openpo.call("purchase_order_status", input) : null;
      causes.value = result?.ok === true ? (result.data.approvalCauses ?? []) : [];
    };
    void ask();
  }, [version, isOffered]);
  return causes.value;
}

export const NeedsApproval: FunctionComponent<Pick<Row, "causes">> = ({ causes }) =>
  causes.length === 0 ? null : (
    <div class="notice" role="status">
      <strong>{words.needs}</strong>
      <Causes causes={causes} />
    </div>
  );
