/**
 * What happens in a simulation, step by step: what clients ask, and what goes wrong. A story is made from a seed, and can be cut shorter.
 */
import type { Random } from "./random.ts";
import { randomOf } from "./random.ts";

export const shopIds = ["north", "south", "east"] as const;
export const variantIds = ["red", "blue", "green"] as const;
export const locationId = "warehouse";

/** What a client asks of an order. Quantities are shares of what the client has seen. */
export type OrderAsk =
  /** Whatever brings the order nearer to its end. */
  | { readonly op: "forward"; readonly share: number }
  | { readonly op: "status"; readonly to: string }
  | { readonly op: "resume" }
  | { readonly op: "confirm"; readonly all: boolean; readonly line: number; readonly share: number }
  | { readonly op: "receive"; readonly line: number; readonly share: number; readonly over: boolean }
  | { readonly op: "unreceive"; readonly line: number; readonly share: number }
  | { readonly op: "complete" }
  | { readonly op: "quick-complete" }
  | { readonly op: "sync"; readonly waits: boolean }
  | { readonly op: "reset" }
  | { readonly op: "delete" }
  | { readonly op: "rename"; readonly name: string }
  | { readonly op: "add-line"; readonly variant: number; readonly ordered: number }
  | { readonly op: "read" };

export type Ask =
  | {
      readonly op: "create";
      readonly located: boolean;
      readonly lines: readonly { readonly variant: number; readonly ordered: number; readonly unitCost: number }[];
    }
  | ({ readonly order: number } & OrderAsk)
  | { readonly op: "list" };

interface AskStep {
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
}

export interface StorefrontFault {
  readonly call: string;
  readonly outcome: "error" | "throttled" | "timeout" | "refused" | "lost-response";
  readonly variantIds: readonly string[] | null;
  readonly times: number;
}

export type Step = { readonly afterMs: number } & (
  | AskStep
  /** `afterTasks`: how many steps of its own the service makes before it ends, wherever it stands then. */
  | { readonly do: "kill"; readonly withPower: boolean; readonly downMs: number; readonly afterTasks: number }
  | {
      readonly do: "faults";
      readonly shop: number;
      readonly latencyMs: number;
      readonly applyDelayMs: number;
      readonly faults: readonly StorefrontFault[];
    }
  | { readonly do: "variant"; readonly shop: number; readonly variant: number; readonly status: string }
  | { readonly do: "slow-disk"; readonly syncMsMax: number }
  | { readonly do: "full-disk"; readonly forMs: number }
  | { readonly do: "failing-sync" }
  | { readonly do: "clock"; readonly byMs: number }
);

export interface ShopPlan {
  readonly autoSyncOnReceiving: boolean;
  readonly followOnWaitMs: number;
  readonly confirmationWaitMs: number;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
  readonly rateLimit: { readonly capacity: number; readonly refillPerSecond: number };
}

export interface Story {
  readonly seed: string;
  /** The shops that take part. */
  readonly shops: readonly ShopPlan[];
  /** Where the storefront is: in the service's process, or at a platform of its own that goes on when the service is killed. */
  readonly platformApart: boolean;
  /** With so many pages a shop's `-wal` file is moved into its database file. */
  readonly walPagesMax: number;
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

const statuses = ["Draft", "Sent", "Confirmed", "In Progress", "Partially Received", "Received", "Completed"] as const;

/** Most orders go forward; how often each of the other asks comes up. */
const asks: readonly (readonly [weight: number, make: (random: Random) => OrderAsk])[] = [
  [40, (random) => ({ op: "forward", share: random.pick([0.25, 0.5, 1, 1]) })],
  [6, (random) => ({ op: "status", to: random.pick(["Cancelled", "On Hold", "Disputed"]) })],
  [4, () => ({ op: "resume" })],
  [6, (random) => ({ op: "status", to: random.pick(statuses) })],
  [
    6,
    (random) => ({
      op: "confirm",
      all: random.chance(0.3),
      line: random.int(0, 2),
      share: random.pick([0, 0.5, 1, 1.1]),
    }),
  ],
  [
    14,
    (random) => ({
      op: "receive",
      line: random.int(0, 2),
      share: random.pick([0.2, 0.5, 0.8, 1, 1.2]),
      over: random.chance(0.2),
    }),
  ],
  [10, (random) => ({ op: "unreceive", line: random.int(0, 2), share: random.pick([0.1, 0.5, 1, 2]) })],
  [4, () => ({ op: "complete" })],
  [4, () => ({ op: "quick-complete" })],
  [6, (random) => ({ op: "sync", waits: random.chance(0.6) })],
  [3, () => ({ op: "reset" })],
  [3, () => ({ op: "delete" })],
  [4, (random) => ({ op: "rename", name: `name ${random.int(1, 9)}` })],
  [4, (random) => ({ op: "add-line", variant: random.int(0, 3), ordered: random.int(1, 8) })],
  [14, () => ({ op: "read" })],
];

const weightOfAll = asks.reduce((sum, [weight]) => sum + weight, 0);

/** Any ask of an order. */
export function orderAsk(random: Random): OrderAsk {
  let left = random.next() * weightOfAll;
  for (const [weight, make] of asks) {
    left -= weight;
    if (left < 0) return make(random);
  }
  return { op: "read" };
}

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
      faults: Array.from({ length: random.int(1, 3) }, () => ({
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
  return { afterMs, do: "clock", byMs: random.pick([-3_600_000, -5_000, -50, 50, 5_000, 600_000]) };
}

/** The story of a seed. */
export function storyOf(seed: string): Story {
  const random = randomOf(`${seed}/story`);
  const shops = random.pick([1, 1, 2, 3]);
  const troubled = random.pick([0, 0.05, 0.1, 0.2]);
  const length = random.int(15, 60);
  const steps: Step[] = [];
  let orders = 0;
  for (let index = 0; index < length; index += 1) {
    if (index > 3 && random.chance(troubled)) {
      steps.push(trouble(random, shops));
      continue;
    }
    const step = askStep(random, shops, orders);
    if (step.ask.op === "create") orders += 1;
    steps.push({ afterMs: random.pick([0, 0, 1, 3, 10, 50, 400]), ...step });
  }
  return {
    seed,
    shops: Array.from({ length: shops }, () => ({
      autoSyncOnReceiving: random.chance(0.75),
      followOnWaitMs: random.pick([0, 20, 2_000]),
      confirmationWaitMs: random.pick([500, 5_000]),
      costSyncMode: random.pick(["unit-cost", "unit-cost", "moving-average", "disabled"] as const),
      onOrderTag: random.chance(0.5) ? "on-order" : null,
      rateLimit: random.chance(0.1) ? { capacity: 8, refillPerSecond: 2 } : { capacity: 1_000, refillPerSecond: 1_000 },
    })),
    platformApart: random.chance(0.5),
    walPagesMax: random.pick([1_000, 1_000, 60, 15]),
    steps,
  };
}
