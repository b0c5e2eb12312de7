/**
 * What happens in a simulation, step by step: what clients ask, and what goes wrong. A story is made from a seed, and can be cut shorter.
 */
import { storedAnswersBytesMax } from "../../src/requests/idempotency.ts";
import { defaultQueueLimits } from "../../src/store/queue.ts";
import { type Ask, orderAsk, variantIds } from "../world/deeds.ts";
import { type Random, randomOf } from "../world/random.ts";
import { seldomIn, withSeldom } from "./states/steps.ts";
import { dayValues, withApprovals, withExpiry } from "./approval-steps.ts";

/** When a shop's writes need a decision, in cents. */
export interface ApprovalPlan {
  /** Orders that are worth more are not sent without one. Null: they are. */
  readonly ruleAbove: number | null;
  /** Of the key with limits. */
  readonly dayValueMax: number;
  readonly beyond: "ask" | "refuse";
}

export const shopIds = ["north", "south", "east"] as const;

export interface AskStep {
  readonly do: "ask";
  readonly shop: number;
  readonly key: number;
  readonly ask: Ask;
  /** With an idempotency key. */
  readonly keyed: boolean;
  /** How often it is sent at most, while there is no answer that ends it. */
  readonly tries: number;
  /** Sent twice at almost the same time. */
  readonly twice: boolean;
  /** At almost the same time, another request is sent under the same idempotency key. */
  readonly clashes: boolean;
  /** A read asks for what is newer than the client has seen, a write is to change what it has seen (C37). */
  readonly asSeen: boolean;
}

interface StorefrontFault {
  readonly call: string;
  readonly outcome: "error" | "throttled" | "timeout" | "refused" | "lost-response";
  readonly variantIds: readonly string[] | null;
  readonly times: number;
}

export type Step = { readonly afterMs: number } & (
  | AskStep
  /**
   * `afterTasks`: how many steps of its own the service makes before it ends, wherever it stands then. `openingTasks`: so many after the next process
   * has begun to open, that one ends too.
   */
  | {
      readonly do: "kill";
      readonly withPower: boolean;
      readonly downMs: number;
      readonly afterTasks: number;
      readonly openingTasks?: number;
    }
  | {
      readonly do: "faults";
      readonly shop: number;
      readonly latencyMs: number;
      readonly applyDelayMs: number;
      readonly faults: readonly StorefrontFault[];
    }
  | { readonly do: "variant"; readonly shop: number; readonly variant: number; readonly status: string }
  /** Soon after the next costs that the service writes there, somebody else sets one of them to this, in ten-thousandths. */
  | { readonly do: "price"; readonly shop: number; readonly unitCost: number; readonly delayMs: number }
  /** The operator gives the key with limits another cap of a day, in cents. */
  | { readonly do: "limit"; readonly shop: number; readonly dayValueMax: number }
  | { readonly do: "slow-disk"; readonly syncMsMax: number }
  | { readonly do: "full-disk"; readonly forMs: number }
  | { readonly do: "failing-sync" }
  /** `afterTasks`: as of a kill. */
  | { readonly do: "clock"; readonly byMs: number; readonly afterTasks: number }
);

interface ShopPlan {
  readonly autoSyncOnReceiving: boolean;
  readonly followOnWaitMs: number;
  readonly confirmationWaitMs: number;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
  readonly rateLimit: { readonly capacity: number; readonly refillPerSecond: number };
  /** Null: nothing needs a decision. */
  readonly approvals: ApprovalPlan | null;
}

export interface Story {
  readonly seed: string;
  /** The shops that take part. */
  readonly shops: readonly ShopPlan[];
  /** Where the storefront is: in the service's process, or at a platform of its own that goes on when the service is killed. */
  readonly platformApart: boolean;
  /** With so many pages a shop's `-wal` file is moved into its database file. */
  readonly walPagesMax: number;
  /** The longest that a sync takes at first. */
  readonly syncMsMax: number;
  /** With so many rows audit rows leave the journal: those of one shop, and those of all. */
  readonly journal: { readonly rowsMax: number; readonly shopRows: number };
  /** What arrives within so long arrives at the same moment; 0: each request at its own. */
  readonly arrivalsEveryMs: number;
  /** How long the processor takes at most between two looks at the clock; 0: no time. */
  readonly processorMs: number;
  /** What a shop's stored answers may take. */
  readonly storedAnswersBytesMax: number;
  readonly steps: readonly Step[];
}

const calls = [
  "checkVariants",
  "changeOnHand",
  "changeOnHand",
  "readOnHand",
  "setIncoming",
  "writeCosts",
  "readCosts",
  "setTags",
  "*",
] as const;

function askStep(random: Random, shops: number, orders: number): AskStep {
  const ask = random.next();
  const keyed = random.chance(0.7);
  return {
    do: "ask",
    shop: random.int(0, shops - 1),
    key: random.int(0, 1),
    keyed,
    tries: random.pick([1, 3, 8]),
    twice: keyed && random.chance(0.15),
    clashes: keyed && random.chance(0.06),
    asSeen: false,
    ask:
      orders === 0 || ask < 0.1
        ? {
            op: "create",
            located: random.chance(0.95),
            lines: Array.from({ length: random.int(1, 3) }, () => ({
              variant: random.int(0, 3),
              ordered: random.pick([1, 2, 2.5, 5, 10]),
              unitCost: random.pick([1, 2.5, 19.99]),
            })),
          }
        : ask < 0.14
          ? { op: "list" }
          : { order: random.int(0, 5), ...orderAsk(random) },
  };
}

/** A storefront that fails for so many calls is given up. */
const outageCalls = 20;

/** The attempts at an effect that is given up are over by then. */
const outageMs = 15_000;

/** A storefront that fails for longer than it is tried, and then works again. */
function outage(random: Random, shops: number): readonly Step[] {
  const shop = random.int(0, shops - 1);
  const first = random.pick(["lost-response", "lost-response", "error", "timeout"] as const);
  const faults: readonly StorefrontFault[] = [
    { call: "changeOnHand", outcome: first, variantIds: null, times: random.pick([1, 2, outageCalls]) },
    {
      call: random.pick(["changeOnHand", "*"]),
      outcome: random.pick(["error", "throttled", "timeout"] as const),
      variantIds: null,
      times: outageCalls,
    },
  ];
  const quiet = { do: "faults", shop, latencyMs: 0, applyDelayMs: 0 } as const;
  return [
    { afterMs: 0, ...quiet, faults },
    ...Array.from({ length: random.int(2, 5) }, () => ({
      afterMs: random.pick([0, 1, 50]),
      ...askStep(random, shops, 1),
      shop,
    })),
    { afterMs: outageMs, ...quiet, faults: [] },
  ];
}

function trouble(random: Random, shops: number): Step {
  const afterMs = random.pick([0, 1, 5, 20, 200]);
  const kind = random.next();
  const shop = random.int(0, shops - 1);
  if (kind < 0.34)
    return {
      afterMs,
      do: "kill",
      withPower: random.chance(0.4),
      downMs: random.pick([400, 400, 700]),
      afterTasks: random.pick([0, random.int(1, 10), random.int(1, 60)]),
    };
  if (kind < 0.72)
    return {
      afterMs,
      do: "faults",
      shop,
      latencyMs: random.pick([0, 0, 20, 300]),
      applyDelayMs: random.pick([0, 0, 50, 2_500]),
      // Without any it is only slow.
      faults: Array.from({ length: random.int(0, 3) }, () => ({
        call: random.pick(calls),
        outcome: random.pick(["error", "throttled", "timeout", "refused", "lost-response", "lost-response"] as const),
        variantIds: random.chance(0.6) ? null : [random.pick(variantIds)],
        times: random.int(1, 4),
      })),
    };
  if (kind < 0.78)
    return { afterMs, do: "variant", shop, variant: random.int(0, 2), status: random.pick(["active", "inactive"]) };
  if (kind < 0.86) return { afterMs, do: "slow-disk", syncMsMax: random.pick([0.5, 20, 100, 200]) };
  if (kind < 0.92) return { afterMs, do: "full-disk", forMs: random.pick([5, 50, 1_000]) };
  if (kind < 0.94) return { afterMs, do: "failing-sync" };
  const byMs = random.pick([-3_600_000, -5_000, -50, 50, 5_000, 15_000, 600_000, 600_000]);
  return { afterMs, do: "clock", byMs, afterTasks: 0 };
}

/**
 * Adds a power cut a few steps after each sync that fails: what was acknowledged as if it had succeeded is gone then. And after some processes that
 * were killed, soon after the next one has started: what that one has found and told is gone then, if it was not synced.
 */
function withPowerCuts(random: Random, steps: readonly Step[]): readonly Step[] {
  const played: Step[] = [];
  let untilCut: number | null = null;
  const cut = (): void => {
    const [afterMs, downMs] = [random.pick([0, 20, 200]), random.pick([400, 700])];
    played.push({ afterMs, do: "kill", withPower: false, downMs, afterTasks: 0 });
    untilCut = null;
  };
  for (const step of steps) {
    played.push(step);
    if (step.do === "failing-sync") untilCut = random.int(2, 5);
    else if (step.do === "kill" && step.withPower && random.chance(0.5))
      played.push({
        afterMs: step.downMs + random.int(1, 400),
        do: "kill",
        withPower: false,
        downMs: 400,
        afterTasks: random.int(0, 20),
      });
    else if (untilCut === 1) cut();
    else if (untilCut !== null) untilCut -= 1;
  }
  if (untilCut !== null) cut();
  return played;
}

/** Requests to a shop that come together before a clock is set, so that some of them wait. */
const burstLength = 6;

/** Sets clocks that go forward by more than anything may wait while requests wait, and again a little later. */
function withWaiting(random: Random, shops: number, steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) => {
    if (step.do !== "clock" || step.byMs < defaultQueueLimits.waitMsMax) return [step];
    const shop = random.int(0, shops - 1);
    return [step, { ...step, byMs: 15_000 }].flatMap((jump): readonly Step[] => [
      ...Array.from({ length: burstLength }, () => ({ afterMs: 0, ...askStep(random, shops, 1), shop })),
      { ...jump, afterMs: random.pick([0, 1, 2]), afterTasks: random.int(1, 60) },
    ]);
  });
}

/** No order costs so much. Each price of others is one of its own. */
const pricesOfOthers = 9_990_001;

/** Prices that others set at the storefronts, put between the steps. */
function withPrices(random: Random, shops: number, steps: readonly Step[]): readonly Step[] {
  if (!random.chance(0.2)) return steps;
  const placed = [...steps];
  for (let index = 0; index < random.int(1, 3); index += 1)
    placed.splice(random.int(0, placed.length), 0, {
      afterMs: 0,
      do: "price",
      shop: random.int(0, shops - 1),
      unitCost: pricesOfOthers + index,
      delayMs: random.pick([0, 1, 5, 50]),
    });
  return placed;
}

/** The story of a seed. */
export function storyOf(seed: string): Story {
  const random = randomOf(`${seed}/story`);
  const shops = random.pick([1, 1, 2, 3]);
  const troubled = random.pick([0, 0.05, 0.1, 0.2]);
  const length = random.int(13, 52);
  const steps: Step[] = [];
  let orders = 0;
  for (let index = 0; index < length; index += 1) {
    if (index > 3 && random.chance(troubled)) {
      if (random.chance(0.05)) steps.push(...outage(random, shops));
      else steps.push(trouble(random, shops));
      continue;
    }
    const step = askStep(random, shops, orders);
    if (step.ask.op === "create") orders += 1;
    steps.push({ afterMs: random.pick([0, 0, 1, 3, 10, 50, 400]), ...step });
  }
  const approvals = random.named("approvals");
  const decides = approvals.chance(0.4);
  const asked = decides ? withApprovals(approvals, steps) : steps;
  const troubledSteps = withPowerCuts(
    random.named("failing syncs"),
    withWaiting(random.named("waiting"), shops, asked),
  );
  const plans = Array.from({ length: shops }, (): ShopPlan => ({
    autoSyncOnReceiving: random.chance(0.75),
    followOnWaitMs: random.pick([0, 20, 2_000]),
    confirmationWaitMs: random.pick([500, 5_000]),
    costSyncMode: random.pick(["unit-cost", "unit-cost", "moving-average", "disabled"] as const),
    onOrderTag: random.chance(0.5) ? "on-order" : null,
    rateLimit: random.chance(0.1) ? { capacity: 8, refillPerSecond: 2 } : { capacity: 1_000, refillPerSecond: 1_000 },
    approvals: decides
      ? {
          ruleAbove: approvals.pick([null, 1_500, 6_000]),
          dayValueMax: approvals.pick(dayValues),
          beyond: approvals.pick(["ask", "refuse"] as const),
        }
      : null,
  }));
  const platformApart = random.chance(0.5);
  const seldom = random.named("seldom");
  const expires = decides && approvals.chance(0.3);
  const chosen = seldomIn(seldom, { platformApart, decides, expires });
  const played = withPrices(random.named("prices"), shops, withSeldom(seldom, shops, chosen, troubledSteps));
  const walPagesMax = random.pick([1_000, 1_000, 60, 15]);
  const arrivalsEveryMs = random.pick([0, 0, 0.5, 2]);
  const processorMs = random.pick([0, 0, 0, 0.2, 2]);
  const isCrowded = chosen.includes("crowd");
  const lowRate = { capacity: 8, refillPerSecond: 2 };
  return {
    seed,
    shops: chosen.includes("hurry") ? plans.map((plan) => ({ ...plan, rateLimit: lowRate })) : plans,
    platformApart,
    // A crowd gathers while a `-wal` file is moved, and none of its turns is over early.
    walPagesMax: isCrowded ? 15 : walPagesMax,
    // A slow disk has more written during a sync, and a power cut more often meets one.
    syncMsMax: random.named("disk").pick([2, 2, 20]),
    // Without room in the journal, reads write to their shops' logs at once: what is not synced meets the moves of their `-wal` files.
    journal: random.named("journal").pick([
      { rowsMax: 0, shopRows: 1 },
      { rowsMax: 0, shopRows: 1 },
      { rowsMax: 0, shopRows: 1 },
      { rowsMax: 0, shopRows: 1 },
      { rowsMax: 0, shopRows: 1 },
      { rowsMax: 1_000, shopRows: 2 },
      { rowsMax: 6, shopRows: 100 },
      { rowsMax: 1_000, shopRows: 100 },
    ]),
    arrivalsEveryMs,
    processorMs: isCrowded ? 0 : processorMs,
    storedAnswersBytesMax: random.chance(0.08) ? random.int(2, 12) * 2_048 : storedAnswersBytesMax,
    steps: expires ? withExpiry(approvals, played) : played,
  };
}
