/** Follow-on work of a change that its answer waits for (C38). */
import type { EffectOutcome } from "../../core/order/effect.ts";
import type { Committed } from "../operation.ts";

/** The effects and mails that the answer of a change waits for, each as long as nothing is known of it. */
export function awaitedOf({ earlierEffectIds = [], effects, mailIds = [] }: Committed<unknown>) {
  const effectIds = [...earlierEffectIds, ...effects.map(({ effectId }) => effectId)];
  const awaitedIds = [...effectIds, ...mailIds];
  const pending = new Map(awaitedIds.map((id): [string, EffectOutcome] => [id, { state: "pending" }]));
  return { effectIds, mailIds, pending };
}
