/**
 * Steps that bring stories to states to which steps at random seldom come (table.ts). Each kind comes in a share of the stories and takes random numbers
 * of its own, so that the other stories stay as they are. They take the place of as many requests.
 */
import { dayMs } from "../../../src/base/time/calendar.ts";
import type { Ask } from "../../world/deeds.ts";
import type { Random } from "../../world/random.ts";
import { callersOf } from "../callers.ts";
import type { AskStep, Step } from "../story.ts";

/** What is known of a story when its steps are chosen. */
interface Setting {
  readonly platformApart: boolean;
  /** Some of its writes need a decision. */
  readonly decides: boolean;
  /** Its clock goes forward by days, and what was given up before is forgotten. */
  readonly expires: boolean;
}

/** A request is answered by then, if nothing keeps it: it waits for follow-on work for up to two seconds. */
const answeredMs = 2_500;

/** The orders that became known last. */
const [newest, secondNewest] = [-1, -2];

function asking(random: Random, shop: number, ask: Ask, other: Partial<AskStep & { afterMs: number }> = {}): Step {
  return {
    afterMs: random.pick([30, 100]),
    do: "ask",
    shop,
    key: random.int(0, 1),
    keyed: random.chance(0.7),
    tries: 8,
    twice: false,
    clashes: false,
    asSeen: false,
    ask,
    ...other,
  };
}

const on = { order: newest } as const;
const forward: Ask = { op: "forward", share: 1, ...on };
const moved = (to: string): Ask => ({ op: "status", to, ...on });
const resume: Ask = { op: "resume", ...on };
const received = (share: number, over = false): Ask => ({ op: "receive", line: 0, share, over, ...on });
const confirmed = (share: number): Ask => ({ op: "confirm", all: false, line: 0, share, ...on });
const takenBack: Ask = { op: "unreceive", line: 0, share: 1, ...on };
const quickly: Ask = { op: "quick-complete", ...on };
const completed: Ask = { op: "complete", ...on };

/** The ways of an order from its draft, each of which comes to states of the table. */
const ways: readonly (readonly Ask[])[] = [
  [forward, confirmed(0.5), confirmed(0), forward, received(1.2, true), takenBack],
  [forward, { op: "add-line", variant: 1, ordered: 2, ...on }, moved("On Hold"), resume, moved("Cancelled"), resume],
  [forward, moved("Cancelled"), { op: "delete", ...on }, { op: "read", ...on }],
  [forward, forward, received(0.5), received(0.2), forward],
  [forward, forward, forward, completed, forward, takenBack, completed],
  [forward, forward, quickly],
  [forward, forward, quickly, moved("Received"), { op: "unreceive", line: 0, share: 0.5, ...on }, completed],
];

/** What somebody else asks of an order at the same time as its completion. */
const besideCompletion: readonly Ask[] = [moved("On Hold"), moved("In Progress"), takenBack];

/** One order that goes its way. */
function way(random: Random, shop: number): readonly Step[] {
  const lines = Array.from({ length: 2 }, (_, variant) => ({
    variant,
    ordered: random.pick([2, 5]),
    unitCost: 1,
  }));
  const steps = [{ op: "create", located: true, lines } as const, ...random.pick(ways)].flatMap(
    (ask): readonly Step[] => {
      const completes = ask.op === "complete" || ask.op === "quick-complete";
      const other = completes ? { afterMs: answeredMs, keyed: true } : { afterMs: random.pick([300, answeredMs]) };
      const step = asking(random, shop, ask, other);
      const beside = completes ? random.next() : 1;
      if (beside < 0.4) {
        const outcome = random.pick(["error", "refused", "lost-response"] as const);
        const faults = [{ call: "writeCosts", outcome, variantIds: null, times: 1 }];
        return [{ afterMs: 30, do: "faults", shop, latencyMs: 0, applyDelayMs: 0, faults }, step];
      }
      if (beside < 0.8) {
        const slow: Step = { afterMs: 30, do: "faults", shop, latencyMs: 100, applyDelayMs: 0, faults: [] };
        return [
          slow,
          step,
          asking(random, shop, random.pick(besideCompletion), { afterMs: random.pick([20, 150]), tries: 1 }),
        ];
      }
      return [step];
    },
  );
  return [...calm(shop), ...steps, storefrontThat(shop, { afterMs: answeredMs })];
}

/** What a storefront takes for each call that is slow: longer than until a lease is renewed, than a lease, than is waited for. */
const slowCallMs = [2_000, 6_000, 12_000] as const;

/** All that a slow or failing storefront has been asked is over by then. */
const overMs = 16_000;

type FaultsStep = Extract<Step, { readonly do: "faults" }>;

const storefrontThat = (shop: number, other: Partial<FaultsStep>): Step => ({
  afterMs: 50,
  do: "faults",
  shop,
  latencyMs: 0,
  applyDelayMs: 0,
  faults: [],
  ...other,
});

/** A storefront at which nothing is wrong. */
const calm = (shop: number): readonly Step[] => [
  storefrontThat(shop, {}),
  ...[0, 1].map((variant) => ({ afterMs: 0, do: "variant", shop, variant, status: "active" }) as const),
];

const fault = (
  call: string,
  outcome: FaultsStep["faults"][number]["outcome"],
  times: number,
): FaultsStep["faults"][number] => ({ call, outcome, variantIds: null, times });

/** A new order, worth less than any rule is about unless its lines cost much, and what is asked of it. */
function orderThat(random: Random, shop: number, unitCost: number, ...asks: readonly Ask[]): readonly Step[] {
  const lines = [0, 1].map((variant) => ({ variant, ordered: 5, unitCost }));
  const steps = [{ op: "create", located: true, lines } as const, ...asks].map((ask) =>
    asking(random, shop, ask, { key: 0, afterMs: answeredMs }),
  );
  return [...calm(shop), ...steps];
}

/** An order whose goods come while the storefront does not do what it should, until it does again. */
function withGoods(random: Random, shop: number, bad: Partial<FaultsStep>, ...after: readonly Step[]): readonly Step[] {
  const work = [
    asking(random, shop, forward),
    asking(random, shop, { op: "forward", share: 1, order: 0 }, { afterMs: 0 }),
  ];
  return [
    ...orderThat(random, shop, 1, forward, forward),
    storefrontThat(shop, bad),
    ...work,
    ...after,
    storefrontThat(shop, { afterMs: overMs }),
  ];
}

/**
 * A storefront that is slow when it is told of goods that are taken back: it is not asked before. Sometimes a clock goes forward meanwhile, by more than a
 * lease lasts.
 */
function slow(random: Random, shop: number): readonly Step[] {
  const clock: Step = { afterMs: random.pick([200, 400]), do: "clock", byMs: 15_000, afterTasks: 0 };
  return [
    ...orderThat(random, shop, 1, forward, forward, forward),
    storefrontThat(shop, { afterMs: answeredMs, latencyMs: random.pick(slowCallMs) }),
    asking(random, shop, takenBack),
    ...(random.chance(0.4) ? [clock] : []),
    storefrontThat(shop, { afterMs: overMs }),
  ];
}

/** Attempts but for the last one, and more than there are. */
const [failedAttempts, tooMany] = [6, 20];

/** Storefronts that take what they are told at the last attempt, or too late, that lose answers, refuse, and show late what they have taken. */
const badStorefronts: readonly Partial<FaultsStep>[] = [
  { faults: [fault("changeOnHand", "error", failedAttempts), fault("setIncoming", "timeout", failedAttempts)] },
  { faults: [fault("changeOnHand", "lost-response", 1), fault("changeOnHand", "error", tooMany)] },
  {
    faults: [
      fault("changeOnHand", "lost-response", 1),
      fault("setIncoming", "throttled", 2),
      fault("setTags", "error", 1),
    ],
  },
  { faults: [fault("changeOnHand", "refused", 1)] },
  { applyDelayMs: 6_000 },
];

function bad(random: Random, shop: number): readonly Step[] {
  const sync = asking(random, shop, { op: "sync", waits: true, ...on });
  return withGoods(random, shop, random.pick(badStorefronts), sync);
}

/** A clock that goes back by days while effects wait for their next attempt. */
function daysBack(random: Random, shop: number): readonly Step[] {
  const faults = ["changeOnHand", "setIncoming", "setTags"].map((call) => fault(call, "error", tooMany));
  return withGoods(random, shop, { faults }, { afterMs: 500, do: "clock", byMs: -2 * dayMs, afterTasks: 0 });
}

/** Two orders of the same variants that are completed at the same time. Sometimes somebody else sets a price as well. */
function completions(random: Random, shop: number): readonly Step[] {
  const price: Step = { afterMs: 0, do: "price", shop, unitCost: 9_980_001, delayMs: random.pick([0, 1, 5]) };
  return [
    ...orderThat(random, shop, 1, forward, forward, forward),
    ...orderThat(random, shop, 1.25, forward, forward, forward),
    ...(random.chance(0.4) ? [price] : []),
    asking(random, shop, completed, { afterMs: 300 }),
    asking(random, shop, { op: "complete", order: secondNewest }, { afterMs: random.pick([0, 1, 5]) }),
    asking(random, shop, moved("Received"), { afterMs: 400 }),
    asking(random, shop, takenBack, { afterMs: 200 }),
  ];
}

/** Clients of one shop that come while its `-wal` file is moved, which those before them have brought about. */
const [crowdFirst, crowdLength] = [8, 32];

/** Requests of many clients, for which a shop's turn has to wait. Sometimes the power fails meanwhile. */
function crowd(random: Random, shop: number): readonly Step[] {
  const asked = (index: number): Ask =>
    index % 8 === 7 ? { op: "list" } : { op: "rename", name: `name ${index}`, order: index % 4 };
  const cut = { do: "kill", withPower: false, downMs: 400, afterTasks: random.int(1, 60) } as const;
  return [
    ...orderThat(random, shop, 1),
    { afterMs: answeredMs, do: "slow-disk", syncMsMax: 100 },
    ...Array.from({ length: crowdLength }, (_, index) =>
      asking(random, shop, asked(index), { afterMs: index === crowdFirst ? 80 : 0, tries: 3 }),
    ),
    ...(random.chance(0.5) ? [{ afterMs: random.pick([1, 5, 20]), ...cut }] : []),
    { afterMs: 300, do: "slow-disk", syncMsMax: 2 },
  ];
}

/** A process that ends as soon as it has opened what the one before it has left. */
const killedTwice = (random: Random): readonly Step[] => [
  {
    afterMs: random.pick([0, 5]),
    do: "kill",
    withPower: random.chance(0.5),
    downMs: 400,
    afterTasks: random.int(0, 20),
    openingTasks: random.int(1, 6),
  },
];

/** Two writes of the same version of an order, and readers who ask for what is newer. */
function versions(random: Random, shop: number): readonly Step[] {
  const order = random.int(0, 5);
  const name = (): Ask => ({ op: "rename", name: `name ${random.int(1, 99)}`, order });
  const seen = { asSeen: true };
  return [
    asking(random, shop, name(), seen),
    asking(random, shop, name(), { ...seen, afterMs: random.pick([0, 1]) }),
    asking(random, shop, { op: "read", order }, { ...seen, keyed: false, afterMs: 100 }),
    asking(random, shop, { op: "read", order }, { ...seen, keyed: false, afterMs: 100 }),
  ];
}

/** A disk that is full when orders are made. */
const fullDisk = (random: Random, shop: number): readonly Step[] => [
  { afterMs: 50, do: "full-disk", forMs: 1_000 },
  ...Array.from({ length: 4 }, () =>
    asking(
      random,
      shop,
      { op: "create", located: true, lines: [0, 1].map((variant) => ({ variant, ordered: 2, unitCost: 1 })) },
      { keyed: true, afterMs: 1 },
    ),
  ),
];

/** A clock that is set while several requests are under way. */
const clockSet = (random: Random, shop: number): readonly Step[] => [
  ...Array.from({ length: 5 }, (_, order) => asking(random, shop, { op: "forward", share: 1, order }, { afterMs: 0 })),
  { afterMs: 2, do: "clock", byMs: random.pick([-3_600_000, -5_000, 15_000, 600_000]), afterTasks: 0 },
];

/** More requests of a shop than its rate allows, each of them twice. */
const hurry = (random: Random, shop: number): readonly Step[] =>
  Array.from({ length: 12 }, (_, index) =>
    asking(
      random,
      shop,
      { op: "rename", name: `name ${index}`, order: index % 3 },
      { keyed: true, twice: true, afterMs: random.pick([0, 5]) },
    ),
  );

/** A key meets a limit, and the limit is raised. */
function limits(random: Random, shop: number): readonly Step[] {
  const [key = 0] = callersOf("limited");
  const limit = (dayValueMax: number, afterMs: number): Step => ({ afterMs, do: "limit", shop, dayValueMax });
  return [
    ...orderThat(random, shop, 19.99),
    ...orderThat(random, shop, 19.99),
    limit(3_000, answeredMs),
    asking(random, shop, { op: "forward", share: 1, order: secondNewest }, { key, keyed: true, tries: 1 }),
    asking(random, shop, forward, { key, keyed: false, tries: 1 }),
    limit(1_000_000, random.pick([0, 1])),
    asking(random, shop, forward, { key, keyed: false, tries: 1 }),
  ];
}

/** Writes of a key that may only propose: it takes one back, and tries to approve the next, whose approval is cut short. */
function proposals(random: Random, shop: number): readonly Step[] {
  const [[key = 0], [operator = 0], [person = 0]] = [callersOf("propose"), callersOf("operator"), callersOf("person")];
  const proposed = asking(random, shop, forward, { key, keyed: true, afterMs: answeredMs });
  const decided = (by: number, decision: "approve" | "withdraw", afterMs: number): Step =>
    asking(random, shop, { op: "decide", decision, request: 0 }, { key: by, keyed: false, tries: 1, afterMs });
  return [
    ...orderThat(random, shop, 1),
    proposed,
    decided(key, "withdraw", answeredMs),
    ...orderThat(random, shop, 1),
    proposed,
    decided(key, "approve", answeredMs),
    decided(operator, "approve", 100),
    { afterMs: random.pick([1, 2]), do: "kill", withPower: true, downMs: 400, afterTasks: random.int(1, 20) },
    decided(person, "approve", 1_000),
  ];
}

type Kind = (random: Random, shop: number) => readonly Step[];

/** Each kind with its share of the stories that may have it. */
const kinds = {
  ways: { share: 0.35, kind: (random, shop) => [...way(random, shop), ...way(random, shop)] },
  versions: { share: 0.08, kind: versions },
  "slow storefront": { share: 0.12, kind: slow },
  "bad storefront": { share: 0.2, kind: bad },
  "days back": { share: 0.08, kind: daysBack },
  completions: { share: 0.12, kind: completions },
  crowd: { share: 0.06, kind: crowd },
  hurry: { share: 0.05, kind: hurry },
  "killed twice": { share: 0.08, kind: killedTwice },
  "full disk": { share: 0.06, kind: fullDisk },
  "clock set": { share: 0.1, kind: clockSet },
  limits: { share: 0.2, kind: limits },
  proposals: { share: 0.2, kind: proposals },
} as const satisfies Readonly<Record<string, { readonly share: number; readonly kind: Kind }>>;

type Name = keyof typeof kinds;

/** Whether a story may have a kind. */
const mayHave: Partial<Readonly<Record<Name, (setting: Setting) => boolean>>> = {
  // A storefront in the process would show what it has accepted days later.
  "days back": ({ platformApart, expires }) => platformApart && !expires,
  "slow storefront": ({ expires }) => !expires,
  "bad storefront": ({ expires }) => !expires,
  limits: ({ decides }) => decides,
  proposals: ({ decides }) => decides,
};

const names = Object.keys(kinds) as readonly Name[];

/** The kinds of these steps that the story of a seed has. */
export const seldomIn = (random: Random, setting: Setting): readonly Name[] =>
  names.filter((name) => random.named(name).chance(kinds[name].share) && mayHave[name]?.(setting) !== false);

/** Steps before them, in which orders are made. */
const firstSteps = 8;

/** The steps with those of these kinds. */
export function withSeldom(
  random: Random,
  shops: number,
  chosen: readonly Name[],
  steps: readonly Step[],
): readonly Step[] {
  // What belongs together stays together.
  let played: readonly (readonly Step[])[] = steps.map((step) => [step]);
  for (const name of chosen) {
    const own = random.named(`${name} steps`);
    const added = kinds[name].kind(own, own.int(0, shops - 1));
    const at = own.int(Math.min(firstSteps, played.length), played.length);
    let left = added.length;
    // What goes wrong stays in its place.
    const kept = played
      .slice(at)
      .filter(([step, ...others]) => step?.do !== "ask" || others.length > 0 || (left -= 1) < 0);
    played = [...played.slice(0, at), added, ...kept];
  }
  return played.flat();
}
