/**
 * One simulation: a story is played, then everything that went wrong is put right, and what is left is collected for the judge (check.ts).
 */
import { copyFileSync, cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { asMoney } from "../../src/core/money/money.ts";
import type { ApprovalRule } from "../../src/core/access/approvals.ts";
import { outboxLimits } from "../../src/jobs/outbox/limits.ts";
import { limitStatement, saveShop } from "../../src/shop/access/accounts.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import type { Log } from "../../src/store/store.ts";
import { type SandboxControl } from "../../src/storefront/sandbox/control.ts";
import type { SandboxCall } from "../../src/storefront/sandbox/faults.ts";
import { openSandbox } from "../../src/storefront/sandbox/sandbox.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import type { Reply } from "../../src/requests/envelope.ts";
import type { LimitsGiven } from "../world/approvals.ts";
import { type Attempt, Client, type Sent } from "../world/client.ts";
import { type Ask, type Deed, deedOn, otherThan, variantAt, variantIds } from "../world/deeds.ts";
import type { ShopEnd } from "../world/end.ts";
import type { EventTold } from "../world/history.ts";
import { type Random, randomOf } from "../world/random.ts";
import { keysOf } from "./callers.ts";
import { type CostCall, type CostReading, CostWatch } from "./costs.ts";
import { Disk, type Loss } from "./disk.ts";
import { eventsOf, openService, pendingEffects, rowsOf, type Service, storefrontOf } from "./service.ts";
import { Watch } from "./states/watch.ts";
import { type ApprovalPlan, shopIds, type Step, type Story } from "./story.ts";
import { baseShop, makeTemplate } from "./template.ts";
import { Machine, Process, ProcessEnded, replace } from "./time.ts";

/** A reading of a shop's events while the story went on. */
interface EventReading {
  readonly shopId: string;
  readonly events: readonly EventTold[];
}

/** What a simulation has come to, for the judge. */
export interface Course {
  readonly story: Story;
  readonly attempts: readonly Attempt[];
  readonly ends: readonly ShopEnd[];
  readonly readings: readonly EventReading[];
  readonly kills: number;
  readonly powerCuts: number;
  /** Errors that the program has logged. */
  readonly errors: readonly string[];
  /** What the story says went wrong, as far as it happened. */
  readonly happened: ReadonlySet<Step["do"]>;
  /** What the simulation itself found wrong, such as work that never ends. */
  readonly findings: readonly string[];
  readonly elapsedMs: number;
  readonly tasksRun: number;
  /** From when on nothing went wrong any more, as virtual time. */
  readonly quietFromMs: number;
  /** By shop, the limits that its key was given. */
  readonly limits: ReadonlyMap<string, readonly LimitsGiven[]>;
  /** What storefronts were told of unit costs, and what they have shown. */
  readonly costs: { readonly calls: readonly CostCall[]; readonly readings: readonly CostReading[] };
  /** What was seen of storefronts, crashes and turns. */
  readonly watch: Watch;
  /** What power cuts have taken. */
  readonly lost: ReadonlySet<Loss>;
}

const { callTimeLimitMs } = outboxLimits;

/** Between a client and the service, one way. */
const networkMsMax = 2;

/** How long what goes on may take when nothing goes wrong any more. */
const restMsMax = 15 * 60_000;

/** Makes the data directory that every simulation begins with, the same each time. */
export async function prepare(directory: string): Promise<void> {
  const random = randomOf("template");
  const maker = new Process("template");
  const machine = new Machine(random, maker);
  const undo = [machine.install(), new Disk(machine, random, directory).install()];
  try {
    await machine.settle(maker, () => makeTemplate(directory));
  } finally {
    for (const each of undo.reverse()) each();
  }
}

export async function play(story: Story, template: string, directory: string): Promise<Course> {
  const random = randomOf(story.seed);
  const outside = new Process("outside");
  const machine = new Machine(random.named("order"), outside);
  machine.processorMs = story.processorMs;
  const disk = new Disk(machine, random.named("disk"), directory);
  disk.weather.mayLosePower = story.steps.some(
    (step) =>
      (step.do === "kill" && (!step.withPower || step.openingTasks !== undefined)) || step.do === "failing-sync",
  );
  mkdirSync(directory, { recursive: true });
  copyTemplate(template, path.join(directory, "0"), shopIds.slice(0, story.shops.length));
  const undo = [machine.install(), disk.install()];
  const rejected: string[] = [];
  const onRejection = (error: unknown): void => {
    rejected.push(`unhandled rejection: ${textOf(error)}`);
  };
  process.on("unhandledRejection", onRejection);
  const world = new World(story, random, machine, disk, outside, directory);
  undo.push(replace(process, { exit: () => world.exit() }));
  try {
    const course = await world.play().catch((error: unknown) => world.brokenOff(error));
    const thrown = machine.uncaught.map((error) => `thrown to nobody: ${textOf(error)}`);
    return { ...course, findings: [...course.findings, ...rejected, ...thrown] };
  } finally {
    process.off("unhandledRejection", onRejection);
    for (const each of undo.reverse()) each();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Copies the data directory with these shops. */
function copyTemplate(from: string, to: string, shops: readonly string[]): void {
  for (const folder of ["shops", "sandbox"]) {
    mkdirSync(path.join(to, folder), { recursive: true });
    for (const shopId of shops)
      copyFileSync(path.join(from, folder, `${shopId}.db`), path.join(to, folder, `${shopId}.db`));
  }
  copyFileSync(path.join(from, "format"), path.join(to, "format"));
}

/** One of them, by a number that may be larger than there are; from the end if it is negative. */
const nth = <Each>(all: readonly Each[], index: number): Each | undefined => all.at(index % Math.max(1, all.length));

function deedOf(client: Client, shopId: string, ask: Ask): Deed | null {
  if (ask.op === "list") return { op: "list" };
  if (ask.op === "create")
    return { ...ask, lines: ask.lines.map(({ variant, ...line }) => ({ ...line, variantId: variantAt(variant) })) };
  if (ask.op === "decide") {
    const waiting = nth(client.waiting(shopId), ask.request);
    return waiting === undefined ? null : { op: ask.decision, approvalRequestId: waiting.approvalRequestId };
  }
  const seen = client.seen(shopId);
  const { order: asked } = ask;
  const order =
    typeof asked === "number"
      ? nth(seen, asked)?.order
      : seen.find(
          ({ order: { purchaseOrderId } }) => purchaseOrderId === nth(client.waiting(shopId), asked.ofWaiting)?.orderId,
        )?.order;
  return order === undefined ? null : deedOn(order, ask);
}

/** The shop's rule; none without a plan. */
const rulesOf = (plan: ApprovalPlan | null): readonly ApprovalRule[] =>
  plan === null || plan.ruleAbove === null
    ? []
    : [
        {
          ruleId: "large",
          name: "Large orders",
          when: { totalAbove: asMoney(plan.ruleAbove * 100), supplierIds: null, locationIds: null, actors: "any" },
          approvers: { roles: ["owner"], personIds: [] },
        },
      ];

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** The running process of the service, or the one that is being started. */
interface Node {
  readonly process: Process;
  readonly directory: string;
  service: Service | null;
  readonly startedMs: number;
  /** What clients have sent and not got an answer to. */
  readonly waiting: Set<() => void>;
}

class World {
  readonly #story: Story;
  readonly #random: Random;
  readonly #network: Random;
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #outside: Process;
  readonly #directory: string;
  readonly #errors: string[] = [];
  readonly #findings: string[] = [];
  readonly #limits = new Map<string, readonly LimitsGiven[]>();
  readonly #readings: EventReading[] = [];
  readonly #happened = new Set<Step["do"]>();
  #platforms: ((shopId: string) => Storefront & SandboxControl) | null = null;
  readonly #platformProcess = new Process("platform");
  #node: Node | null = null;
  #starts = 0;
  /** After so many tasks of its own the next process ends. */
  #openingTasks: number | null = null;
  #powerCuts = 0;
  #kills = 0;
  #isFull = false;
  #quietFromMs = 0;
  readonly #costs = new CostWatch(
    () => this.#machine.elapsedMs,
    (shopId, variantIds) => this.#afterCosts(shopId, variantIds),
  );
  readonly #watch: Watch;
  /** By shop, what others set after the next costs that the service writes. */
  readonly #prices = new Map<string, Extract<Step, { readonly do: "price" }>>();

  constructor(story: Story, random: Random, machine: Machine, disk: Disk, outside: Process, directory: string) {
    this.#story = story;
    this.#random = random;
    this.#network = random.named("network");
    this.#machine = machine;
    this.#watch = new Watch(machine);
    this.#disk = disk;
    this.#outside = outside;
    this.#directory = directory;
  }

  get #shops(): readonly string[] {
    return shopIds.slice(0, this.#story.shops.length);
  }

  async play(): Promise<Course> {
    const { steps, syncMsMax } = this.#story;
    this.#disk.weather.syncMsMax = syncMsMax;
    const machine = this.#machine;
    await this.#openPlatform();
    await machine.settle(this.#outside, () => this.#start(path.join(this.#directory, "0")));
    await this.#setUp();
    let moment = (): number => 0;
    for (const [shop, { approvals }] of this.#story.shops.entries())
      if (approvals !== null) await this.#limit({ shop, ...approvals }, moment);
    const client = new Client({
      keys: new Map(this.#shops.map((shopId) => [shopId, keysOf(shopId)])),
      random: this.#random.named("client"),
      sleep: (ms) => machine.sleep(ms),
      now: () => machine.elapsedMs,
      send: (sent) => this.#send(sent),
      isNamedByService: false,
      lostPauseMs: 300,
      waitMsMax: 5_000,
    });
    moment = () => client.moment();
    for (const step of steps) {
      await machine.settle(this.#outside, () => machine.sleep(step.afterMs));
      machine.current = this.#outside;
      await this.#take(step, client);
    }
    await this.#putRight();
    if (!(await machine.runUntil(() => client.isIdle, restMsMax))) this.#findings.push("a client never got an answer");
    await this.#untilAtRest();
    await machine.settle(this.#outside, () => client.finish());
    await this.#untilAtRest();
    // What the storefront has accepted is to be seen by then; by a clock that was set, hours later.
    await machine.settle(
      this.#outside,
      () => machine.sleep(this.#happened.has("clock") ? 2 * 3_600_000 : 5_000),
      Infinity,
    );
    const ends = await this.#collect();
    const service = this.#node?.service;
    if (service !== null && service !== undefined)
      await machine.settle(this.#node?.process ?? this.#outside, () => service.close());
    return {
      story: this.#story,
      attempts: client.attempts,
      ends,
      readings: this.#readings,
      kills: this.#kills,
      powerCuts: this.#powerCuts,
      errors: this.#errors,
      happened: this.#happened,
      findings: this.#findings,
      elapsedMs: machine.elapsedMs,
      tasksRun: machine.tasksRun,
      quietFromMs: this.#quietFromMs,
      limits: this.#limits,
      costs: this.#costs,
      watch: this.#watch,
      lost: this.#disk.lost,
    };
  }

  /** What has come of a simulation that could not be played to its end. */
  brokenOff(error: unknown): Course {
    return {
      story: this.#story,
      attempts: [],
      ends: [],
      readings: [],
      kills: this.#kills,
      powerCuts: this.#powerCuts,
      errors: this.#errors,
      happened: this.#happened,
      findings: [...this.#findings, `the simulation broke off: ${textOf(error)}`],
      elapsedMs: this.#machine.elapsedMs,
      tasksRun: this.#machine.tasksRun,
      quietFromMs: this.#quietFromMs,
      limits: this.#limits,
      costs: this.#costs,
      watch: this.#watch,
      lost: this.#disk.lost,
    };
  }

  get #isUp(): boolean {
    const node = this.#node;
    return node !== null && node.service !== null && node.process.isAlive;
  }

  /** Runs something beside the story in the service's process; if that ends meanwhile, in the next one. */
  async #inService<T>(work: (service: Service) => Promise<T>): Promise<T> {
    for (;;) {
      const isUp = (): boolean => this.#isUp;
      if (!(await this.#machine.runUntil(isUp, restMsMax))) throw new Error("the service does not run");
      const node = this.#node;
      const service = node?.service;
      if (node === null || service === null || service === undefined) throw new Error("the service does not run");
      try {
        return await this.#machine.settle(node.process, () => work(service));
      } catch (error) {
        if (!(error instanceof ProcessEnded)) throw error;
      }
    }
  }

  /** Runs something at a shop's storefront. */
  async #atStorefront<T>(shopId: string, work: (control: SandboxControl) => Promise<T>): Promise<T> {
    const platforms = this.#platforms;
    if (platforms === null) return await this.#inService((service) => work(service.sandboxOf(shopId)));
    return await this.#machine.settle(this.#platformProcess, () => work(platforms(shopId)));
  }

  async #openPlatform(): Promise<void> {
    if (!this.#story.platformApart) return;
    const machine = this.#machine;
    const directory = path.join(this.#directory, "platform");
    cpSync(path.join(this.#directory, "0", "sandbox"), directory, { recursive: true });
    // Its clock is its own, and nobody sets it.
    const clock = { now: () => machine.wallMs - machine.setByMs };
    const engine = await machine.settle(this.#platformProcess, () =>
      openSqliteEngine({
        directory,
        schemaDirectory: path.join(import.meta.dirname, "../../src/storefront/sandbox/schema"),
        shopsOpenMax: 8,
        clock,
      }),
    );
    this.#platforms = (shopId) => openSandbox({ engine, clock, shopId });
  }

  /** The platform as the service reaches it: over a network, on which a call is under way for a moment both ways. */
  #remote(shopId: string): Storefront {
    const platforms = this.#platforms;
    if (platforms === null) throw new Error("there is no platform apart");
    const platform = platforms(shopId);
    const caller = this.#machine.current;
    const call = <T>(make: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        this.#machine.after(
          this.#delay(),
          () => {
            const back = (settle: () => void): void => void this.#machine.after(this.#delay(), settle, caller);
            make().then(
              (value) => back(() => resolve(value)),
              (error: Error) => back(() => reject(error)),
            );
          },
          this.#platformProcess,
        );
      });
    // What a caller that is gone, or has given up, has sent is under way all the same.
    const onlyItems = { signal: new AbortController().signal };
    return {
      capabilities: platform.capabilities,
      checkVariants: (ids) => call(() => platform.checkVariants(ids, onlyItems)),
      activateVariants: (ids) => call(() => platform.activateVariants(ids, onlyItems)),
      changeOnHand: (changes, context) => call(() => platform.changeOnHand(changes, { ...context, ...onlyItems })),
      readOnHand: (changes, context) => call(() => platform.readOnHand(changes, { ...context, ...onlyItems })),
      setIncoming: (levels, context) => call(() => platform.setIncoming(levels, { ...context, ...onlyItems })),
      writeCosts: (costs, context) => call(() => platform.writeCosts(costs, { ...context, ...onlyItems })),
      readCosts: (ids) => call(() => platform.readCosts(ids, onlyItems)),
      setTags: (changes, context) => call(() => platform.setTags(changes, { ...context, ...onlyItems })),
    };
  }

  #delay(): number {
    return 0.05 + this.#network.next() * networkMsMax;
  }

  /** How long a request is under way. What arrives at the same moment is taken in together. */
  #untilArrival(): number {
    const { arrivalsEveryMs } = this.#story;
    const nowMs = this.#machine.elapsedMs;
    const atMs = nowMs + this.#delay();
    return (arrivalsEveryMs === 0 ? atMs : Math.ceil(atMs / arrivalsEveryMs) * arrivalsEveryMs) - nowMs;
  }

  /** A process that was killed tells nothing more. */
  #logOf(process: Process): Log {
    return {
      info: () => {},
      warn: (_fields, message) => void this.#watch.warnings.add(message),
      error: (fields, message) => {
        if (!process.isAlive) return;
        const err = "err" in fields ? fields.err : null;
        this.#errors.push(`${message} ${err instanceof Error ? (err.stack ?? "") : JSON.stringify(fields)}`);
      },
    };
  }

  /** Starts the service in a process of its own. */
  async #start(directory: string): Promise<void> {
    const process = new Process(`service ${(this.#starts += 1)}`);
    const node: Node = {
      process,
      directory,
      service: null,
      startedMs: this.#machine.elapsedMs,
      waiting: new Set(),
    };
    this.#node = node;
    const tasks = this.#openingTasks;
    this.#openingTasks = null;
    if (tasks !== null && this.#kills > 0) this.#machine.afterTasks(process, tasks, () => this.#kill(false, 400));
    const open = async (): Promise<void> => {
      try {
        node.service = await openService({
          directory,
          walPagesMax: this.#story.walPagesMax,
          journal: this.#story.journal,
          storedAnswersBytesMax: this.#story.storedAnswersBytesMax,
          log: this.#logOf(process),
          storefrontOf: this.#platforms === null ? null : (shopId) => this.#remote(shopId),
          watched: (shopId, storefront) => this.#watch.of(shopId, this.#costs.of(shopId, storefront)),
          wrote: (shopId) => this.#watch.wrote(shopId),
          random: () => this.#random.next(),
        });
      } catch (error) {
        if (process.isAlive) this.#findings.push(`the service did not start: ${textOf(error)}`);
      }
      this.#quietFromMs = Math.max(this.#quietFromMs, this.#machine.elapsedMs);
    };
    await new Promise<void>((resolve) => {
      this.#machine.after(0, () => void open().then(resolve), process);
    });
  }

  async #setUp(): Promise<void> {
    await this.#inService(async ({ engine, clock }) => {
      for (const [index, shopId] of this.#shops.entries()) {
        const plan = this.#story.shops[index];
        if (plan === undefined) continue;
        const { approvals, ...settings } = plan;
        const approvalRules = rulesOf(approvals);
        await engine.write(shopId, (tx) =>
          saveShop(tx, { ...baseShop(shopId, clock.now()), ...settings, approvalRules }),
        );
      }
    });
  }

  /** Hands a request to the service that runs then. Null: there was no answer. */
  #send(sent: Sent): Promise<Reply | null> {
    const asking = this.#machine.current;
    return new Promise((resolve) => {
      this.#machine.after(this.#untilArrival(), () => {
        const node = this.#node;
        const service = node?.service;
        let isOver = false;
        const end = (reply: Reply | null): void => {
          if (isOver) return;
          isOver = true;
          node?.waiting.delete(lost);
          this.#machine.after(this.#delay(), () => resolve(reply), asking);
        };
        const lost = (): void => end(null);
        if (node === null || service === null || service === undefined || !node.process.isAlive) {
          end(null);
          return;
        }
        node.waiting.add(lost);
        this.#machine.after(
          0,
          () => {
            service.answer(sent).then(end, (error: unknown) => {
              this.#findings.push(`a request was rejected: ${textOf(error)}`);
              end(null);
            });
          },
          node.process,
        );
      });
    });
  }

  async #take(step: Step, client: Client): Promise<void> {
    const isUp = this.#isUp;
    switch (step.do) {
      case "ask":
        this.#ask(step, client);
        return;
      case "limit": {
        const { approvals = null } = this.#story.shops[step.shop] ?? {};
        if (approvals !== null) await this.#limit({ ...approvals, ...step }, () => client.moment());
        return;
      }
      case "kill":
        if (!isUp) return;
        this.#happened.add("kill");
        this.#killAfter(step);
        this.#openingTasks = step.openingTasks ?? null;
        return;
      case "failing-sync":
        this.#happened.add("failing-sync");
        this.#disk.weather.syncsThatFail = 1;
        return;
      case "slow-disk":
        this.#disk.weather.syncMsMax = step.syncMsMax;
        return;
      case "full-disk":
        if (!isUp || this.#isFull) return;
        this.#happened.add("full-disk");
        this.#setFull(true);
        this.#machine.after(step.forMs, () => this.#setFull(false));
        return;
      case "clock": {
        this.#happened.add("clock");
        const process = this.#node?.process;
        const set = (): void => {
          this.#machine.setByMs += step.byMs;
          const requests = this.#node?.waiting.size ?? 0;
          this.#watch.clocksSet.push({ byMs: step.byMs, requests });
        };
        if (step.afterTasks === 0 || !isUp || process === undefined) set();
        else this.#machine.afterTasks(process, step.afterTasks, set);
        return;
      }
      case "price": {
        const shopId = this.#shops[step.shop];
        if (shopId !== undefined) this.#prices.set(shopId, step);
        return;
      }
      case "faults":
      case "variant": {
        if (this.#platforms === null && !isUp) return;
        const shopId = this.#shops[step.shop];
        if (shopId === undefined) return;
        this.#happened.add(step.do);
        // Nothing waits for it: the story goes on meanwhile.
        const process = this.#platforms === null ? (this.#node?.process ?? this.#outside) : this.#platformProcess;
        this.#machine.after(0, () => void this.#trouble(step, shopId).catch(() => {}), process);
      }
    }
  }

  /** Gives the shop's key with limits these. */
  async #limit(
    { shop, dayValueMax, beyond }: Pick<ApprovalPlan, "dayValueMax" | "beyond"> & { readonly shop: number },
    moment: () => number,
  ): Promise<void> {
    const shopId = this.#shops[shop] ?? "";
    const { keyId = "" } = keysOf(shopId).find(({ kind }) => kind === "limited") ?? {};
    const none = {
      orderValueMax: null,
      monthValueMax: null,
      unitCostRisePercentMax: null,
      supplierIds: null,
      locationIds: null,
    };
    const limits = { ...none, dayValueMax: asMoney(dayValueMax * 100), beyond };
    const sentAt = moment();
    const given = [...(this.#limits.get(shopId) ?? [])];
    const index = given.push({ keyId, dayValueMax, beyond, sentAt, answeredAt: Infinity }) - 1;
    this.#limits.set(shopId, given);
    await this.#inService(({ engine }) =>
      engine.write(shopId, (tx) => tx.batch([limitStatement(shopId, keyId, limits)])),
    );
    given[index] = { keyId, dayValueMax, beyond, sentAt, answeredAt: moment() };
  }

  /** Begins what the step asks; the story goes on meanwhile. */
  #ask(step: Extract<Step, { readonly do: "ask" }>, client: Client): void {
    const { shop, key, ask, keyed, tries, twice, clashes, asSeen } = step;
    const shopId = this.#shops[shop];
    const deed = shopId === undefined ? null : deedOf(client, shopId, ask);
    if (shopId === undefined || deed === null) return;
    const seen =
      asSeen && "orderId" in deed
        ? client.seen(shopId).find(({ order }) => order.purchaseOrderId === deed.orderId)
        : undefined;
    const request = {
      ...client.request(shopId, deed, keyed, key),
      had: deed.op === "read" ? (seen ?? null) : null,
      ifVersion: deed.op === "read" ? null : (seen?.order.version ?? null),
    };
    void client.persist(request, tries);
    if (twice) void client.persist(request, tries);
    const other = clashes ? otherThan(deed) : null;
    if (other !== null) void client.persist({ ...request, deed: other, clashes: true }, tries);
  }

  /** Somebody else sets a unit cost at the storefront, soon after the service has written some. */
  #afterCosts(shopId: string, variantIds: readonly string[]): void {
    const step = this.#prices.get(shopId);
    const [variantId] = variantIds;
    if (step === undefined || variantId === undefined) return;
    this.#prices.delete(shopId);
    const set = async (): Promise<void> => {
      this.#happened.add("price");
      await this.#control(shopId)?.patchVariant(variantId, { unitCost: asMoney(step.unitCost) });
    };
    const process = this.#platforms === null ? (this.#node?.process ?? this.#outside) : this.#platformProcess;
    this.#machine.after(step.delayMs, () => void set().catch(() => {}), process);
  }

  #control(shopId: string): SandboxControl | null {
    return this.#platforms?.(shopId) ?? this.#node?.service?.sandboxOf(shopId) ?? null;
  }

  async #trouble(step: Extract<Step, { readonly do: "faults" | "variant" }>, shopId: string): Promise<void> {
    const control = this.#control(shopId);
    if (control === null) return;
    if (step.do === "faults") {
      const { latencyMs, applyDelayMs } = step;
      const faults = step.faults.map((fault) => ({ ...fault, call: fault.call as SandboxCall | "*" }));
      await control.replaceFaults({ latencyMs, applyDelayMs, faults });
      return;
    }
    const variantId = variantIds[step.variant] ?? variantIds[0];
    await control.patchVariant(variantId, { status: step.status as "active" | "inactive" });
  }

  #setFull(isFull: boolean): void {
    this.#isFull = isFull;
    if (this.#node !== null) this.#disk.setFull(this.#node.process, isFull);
  }

  #killAfter({ withPower, downMs, afterTasks }: Extract<Step, { readonly do: "kill" }>): void {
    const process = this.#node?.process;
    if (process === undefined) return;
    const kill = (): void => {
      if (process.isAlive && this.#isUp) this.#kill(withPower, downMs);
    };
    if (afterTasks === 0) kill();
    else this.#machine.afterTasks(process, afterTasks, kill);
  }

  /** Ends the process where it stands, and starts another one later. */
  #kill(withPower: boolean, downMs: number): void {
    const node = this.#node;
    if (node === null) return;
    node.process.isAlive = false;
    this.#watch.crashes.push({
      atMs: this.#machine.elapsedMs,
      withPower,
      ranMs: this.#machine.elapsedMs - node.startedMs,
      syncs: this.#disk.syncsOf(node.process),
    });
    this.#kills += 1;
    if (!withPower) this.#powerCuts += 1;
    this.#setFull(false);
    for (const lost of node.waiting) lost();
    const next = path.join(this.#directory, String(this.#starts));
    this.#disk.crash(node.process, node.directory, next, withPower);
    node.service = null;
    this.#machine.after(downMs, () => void this.#start(next), this.#outside);
  }

  /** The program ends its process, as after a sync that has failed. The disk may have forgotten what it was to sync. */
  exit(): never {
    if (this.#node?.process === this.#machine.current && this.#node.process.isAlive) this.#kill(false, 700);
    throw new Error("the process has ended");
  }

  /** Nothing goes wrong any more. */
  async #putRight(): Promise<void> {
    const machine = this.#machine;
    machine.current = this.#outside;
    this.#disk.weather.syncMsMax = 2;
    this.#disk.weather.syncsThatFail = 0;
    if (this.#isFull) this.#setFull(false);
    // A sync that is about to fail ends the process.
    await machine.settle(this.#outside, () => machine.sleep(1_000));
    for (const shopId of this.#shops)
      await this.#atStorefront(shopId, async (control) => {
        await control.replaceFaults({ latencyMs: 0, applyDelayMs: 0, faults: [] });
        for (const variantId of variantIds) await control.patchVariant(variantId, { status: "active" });
      });
    // A call that has begun takes as long as the storefront did then.
    const slowestMs = Math.max(...this.#story.steps.map((step) => (step.do === "faults" ? step.latencyMs : 0)), 0);
    this.#quietFromMs = Math.max(this.#quietFromMs, machine.elapsedMs + Math.min(slowestMs, callTimeLimitMs));
  }

  /** Runs until no effect is pending in any shop. */
  async #untilAtRest(): Promise<void> {
    const machine = this.#machine;
    const untilMs = machine.elapsedMs + restMsMax;
    for (;;) {
      let pending = 0;
      for (const shopId of this.#shops) pending += await this.#inService((service) => pendingEffects(service, shopId));
      await this.#readEvents();
      if (pending === 0) return;
      if (machine.elapsedMs > untilMs) {
        this.#findings.push(`${pending} effects are still pending after ${restMsMax / 60_000} quiet minutes`);
        return;
      }
      await machine.settle(this.#outside, () => machine.sleep(500));
    }
  }

  async #readEvents(): Promise<void> {
    for (const shopId of this.#shops)
      this.#readings.push({ shopId, events: await this.#inService((service) => eventsOf(service, shopId)) });
  }

  async #collect(): Promise<readonly ShopEnd[]> {
    const ends: ShopEnd[] = [];
    for (const shopId of this.#shops) {
      const rows = await this.#inService((service) => rowsOf(service, shopId));
      ends.push({ shopId, ...rows, storefront: await this.#atStorefront(shopId, storefrontOf) });
    }
    return ends;
  }
}
