/** The share of a story in which writes need a decision (C77 to C80): who asks, who decides, and what comes between. */
import { dayMs } from "../../src/base/time/calendar.ts";
import { approvalDefaults } from "../../src/core/access/approvals.ts";
import type { Random } from "../world/random.ts";
import type { AskStep, Step } from "./story.ts";
import { callersOf } from "./callers.ts";

/** Caps of a day, in cents: some orders are within. */
export const dayValues = [3_000, 8_000, 20_000] as const;

const shareOfApprovals = 0.5;

type AskAt = { readonly afterMs: number } & AskStep;

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
  const byMs = approvalDefaults.approvalDays * dayMs + random.pick([-60_000, 60_000, 60_000]);
  const clock: Step = { afterMs: random.pick([0, 400]), do: "clock", byMs, afterTasks: 0 };
  const asks = played.flatMap((step) => (step.do === "ask" ? [step] : []));
  const late = asks.slice(0, 3).map((step, request) => decisionStep(random, step, request));
  return played.toSpliced(atStep, 0, clock, ...late);
}

/** In place of a step, a decision about one of the writes that wait, the newest first. */
function decisionStep(random: Random, step: AskAt, request: number): AskAt {
  const decision = random.pick(["approve", "approve", "approve", "reject", "withdraw"] as const);
  const key = random.pick(decision === "withdraw" ? callersOf("propose", "person") : callersOf("person", "operator"));
  return { ...step, key, ask: { op: "decide", decision, request } };
}

/**
 * A decision, and what others ask of its order meanwhile. The disk is busy with another order, so that the decision waits between its looks at the
 * order.
 */
function besideOthers(random: Random, step: AskAt, decided: AskAt, ofWaiting: number): readonly AskAt[] {
  const order = { ofWaiting };
  const lines = [{ variant: 0, ordered: 1, unitCost: 1 }];
  const asks = [
    { op: "forward", share: 1, order },
    { op: "rename", name: `name ${random.int(1, 9)}`, order },
    { op: "add-line", variant: random.int(0, 3), ordered: 1, order },
  ] as const;
  const other = (): AskAt => ({
    ...step,
    afterMs: random.pick([0, 0, 1]),
    key: random.pick(callersOf("write")),
    ask: random.pick(asks),
  });
  const busy: AskAt = { ...other(), afterMs: step.afterMs, ask: { op: "create", located: true, lines } };
  return [busy, { ...decided, afterMs: random.pick([0, 0, 1]) }, other(), other()];
}

function approvalSteps(random: Random, step: AskAt): readonly Step[] {
  const kind = random.next();
  if (kind < 0.5) {
    const kind = random.pick(["propose", "limited", "limited", "person"] as const);
    const [key = 0] = callersOf(kind);
    // What caps and rules are about is an order that is sent.
    const sends = kind !== "propose" && step.ask.op !== "create" && random.chance(0.6);
    return [sends ? { ...step, key, ask: { op: "forward", share: 1, order: random.int(0, 5) } } : { ...step, key }];
  }
  if (kind < 0.57)
    return [{ afterMs: step.afterMs, do: "limit", shop: step.shop, dayValueMax: random.pick(dayValues) }];
  const request = random.pick([0, 0, 0, 1, 2]);
  const decided = decisionStep(random, step, request);
  const beside = random.next();
  if (beside < 0.1) {
    const kill = { do: "kill", withPower: true, downMs: 400, afterTasks: random.int(1, 40) } as const;
    return [decided, { afterMs: random.pick([0, 1, 5]), ...kill }];
  }
  if (beside < 0.2) return [decided, { ...decisionStep(random, step, request), afterMs: random.pick([0, 0, 1, 5]) }];
  if (beside < 0.45) return besideOthers(random, step, decided, request);
  return [decided];
}
