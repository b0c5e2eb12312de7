/** A change that needs somebody's decision, which ends its transaction (C77). */
import type { ApprovalCause } from "../../core/access/approvals.ts";
import { Fault } from "../../base/fault.ts";

/** The request pipeline makes an approval request of it. Where there is none, it is a refusal. */
export class DecisionNeeded extends Fault {
  readonly causes: readonly ApprovalCause[];

  constructor(causes: readonly ApprovalCause[]) {
    super("FORBIDDEN_SCOPE", "This needs somebody's approval, which cannot be asked for here.", {
      action: "Make the change at the order itself: that asks for the approval.",
    });
    this.causes = causes;
  }
}
