/** The share of a story in which writes need a decision (C77 to C80): who asks, who decides, and what comes between. */
import { dayMs } from "../../src/base/time/calendar.ts";
import { approvalDefaults } from "../../src/core/access/approvals.ts";
import type { Random } from "../world/random.ts";
import type { AskStep, Step } from "./story.ts";
import { callersOf } from "./callers.ts";

/** Caps of a day, in cents: some orders are within. */
export const dayValues = [3_000, 8_000, 20_000] as const;

const shareOfApprovals = 0.5;

/** Steps about approvals in place of others. */
export const withApprovals = (random: Random, steps: readonly Step[]): readonly Step[] =>
  steps.flatMap((step) =>
    step.do === "ask" && random.chance(shareOfApprovals) ? approvalSteps(random, step) : [step],
  );

/** A clock that is set to about the end of requests. There are no idempotency keys then: their answers would end before. */
export function withExpiry(random: Random, steps: readonly Step[]): readonly Step[] {
  const played = steps.map((step) =>
    step.do === "ask" ? { ...step, keyed: false, twice: false, clashes: false } : step,
  );
  const atStep = random.int(Math.floor(played.length / 3), played.length);
  const byMs = approvalDefaults.approvalDays * dayMs + random.pick([-60_000, 60_000]);
  return played.toSpliced(atStep, 0, { afterMs: random.pick([0, 400]), do: "clock", byMs, afterTasks: 0 });
}

function approvalSteps(random: Random, step: { readonly afterMs: number } & AskStep): readonly Step[] {
  const kind = random.next();
  if (kind < 0.5) {
    const key = random.pick(callersOf("propose", "limited", "person"));
    return [{ ...step, key }];
  }
  if (kind < 0.55)
    return [{ afterMs: step.afterMs, do: "limit", shop: step.shop, dayValueMax: random.pick(dayValues) }];
  const decision = random.pick(["approve", "approve", "approve", "reject", "withdraw"] as const);
  const decided: Step = {
    ...step,
    key: random.pick(decision === "withdraw" ? callersOf("propose", "person") : callersOf("person", "operator")),
    ask: { op: "decide", decision, request: random.pick([0, 0, 0, 1, 2]) },
  };
  if (!random.chance(0.1)) return [decided];
  const kill = { do: "kill", withPower: true, downMs: 400, afterTasks: random.int(1, 40) } as const;
  return [decided, { afterMs: random.pick([0, 1, 5]), ...kill }];
}
