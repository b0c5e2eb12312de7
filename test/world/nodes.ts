/**
 * Load on several nodes of one database while something is done to them, and the judgement afterwards: no acknowledged change is lost, each key has one
 * effect, every answer has its place in one order of changes, and the stock is right (S1–S4, H2, O1, O6, C17–C20, C34, C38–C41).
 */
import assert from "node:assert/strict";
import { z } from "zod";
import { systemClock } from "../../src/base/time/system.ts";
import { operations } from "../../src/operations/registry.ts";
import { operate } from "../support/clients.ts";
import { contractOf, type Observed } from "../support/openapi/contract.ts";
import { rowsOf } from "../support/programs/nodes.ts";
import { pause, until } from "../support/until.ts";
import type { Attempt } from "./client.ts";
import { answerOf } from "./deeds.ts";
import { endTables, judgeEnd, type Row, type ShopEnd } from "./end.ts";
import { type EventTold, judgeHistory } from "./history.ts";
import { Load, openingOnHand } from "./load.ts";
import { type Random, randomOf } from "./random.ts";

/** Half of all clients work on the first shop. */
const shopIds = ["hot", "mild", "cool", "cold"] as const;
const drainMsMax = 120_000;
/** How long the database may take on a busy machine to sync rows that no answer waits for (D5). */
const unsyncedMsMax = 5_000;
const findingsShownMax = 5;

/** Faults of the sandbox, for calls or for the items of a push. The last one is slow. */
const faults = [
  ...["changeOnHand", "changeOnHand", "setIncoming", "readOnHand", "writeCosts", "*"].flatMap((call) =>
    ["error", "throttled", "lost-response"].map((outcome) => ({ call, outcome })),
  ),
  { call: "changeOnHand", outcome: "refused" },
  { call: "changeOnHand", outcome: "refused" },
  { call: "changeOnHand", outcome: "timeout" },
];

const sandboxAnswer = z.object({
  data: z.object({
    variants: z.array(
      z.object({
        variantId: z.string(),
        unitCost: z.number().nullable(),
        levels: z.array(z.object({ locationId: z.string(), onHand: z.number(), incoming: z.number() })),
      }),
    ),
  }),
});

interface NodesOptions {
  /** Addresses of the service: nodes, or a load balancer. */
  readonly nodes: readonly { readonly url: string }[];
  /** The database of the nodes. */
  readonly databaseUrl: string;
  readonly clients: number;
  readonly seconds: number;
  /** Seeds the clients' steps. */
  readonly seed: number;
  /** Default: today's document. */
  readonly contract?: (observed: Observed) => void;
}

/** What the load has come to, for a line about it and for further looks. */
export interface LoadTold {
  readonly answers: number;
  /** Why requests were sent again, with how often each. */
  readonly repeats: ReadonlyMap<string, number>;
}

export class NodesLoad {
  readonly #options: NodesOptions;
  readonly #load: Load;
  readonly #random: Random;
  readonly shopIds = shopIds;
  /** When the database was stopped or killed, by the machine's time. */
  readonly #crashedAtMs: number[] = [];
  #isTimeOver = false;
  #isDisrupted = true;
  /** What has failed first ends all work. */
  #broken: { readonly error: unknown } | null = null;

  private constructor(options: NodesOptions, load: Load) {
    this.#options = options;
    this.#load = load;
    this.#random = randomOf(`${options.seed}/nodes`);
  }

  static async open(options: NodesOptions): Promise<NodesLoad> {
    const { nodes, clients, seed, contract = contractOf(operations) } = options;
    let made: NodesLoad | null = null;
    const load = await Load.open({
      urls: () => nodes.map(({ url }) => url),
      check: ({ method, target }, answer) => contract({ method, target, ...answer, body: answer.text }),
      seed: String(seed),
      shopIds,
      shopOf: (index) => shopIds[index % 2 === 0 ? 0 : 1 + (((index - 1) / 2) % (shopIds.length - 1))] ?? "hot",
      settings: () => ({ followOnWaitMs: 500, confirmationWaitMs: 3_000 }),
      clients,
      inAHurry: false,
      isOver: () => made?.isOver ?? false,
    });
    return (made = new NodesLoad(options, load));
  }

  /** The load is over: time is up and nothing is disrupted any more, or something has failed. */
  get isOver(): boolean {
    return this.isBroken || (this.#isTimeOver && !this.#isDisrupted);
  }

  get isBroken(): boolean {
    return this.#broken !== null;
  }

  /** The database is about to be stopped or killed. */
  crashes(): void {
    this.#crashedAtMs.push(systemClock.now());
  }

  /** Runs clients while `disrupting` does what it does, until the time is over and that has ended, or something fails. */
  async run(disrupting: (isTimeOver: () => boolean) => Promise<void>): Promise<LoadTold> {
    const endMs = performance.now() + this.#options.seconds * 1_000;
    const isTimeOver = (): boolean => (this.#isTimeOver ||= this.isBroken || performance.now() >= endMs);
    const disruptingUntilOver = async (): Promise<void> => {
      await disrupting(isTimeOver);
      this.#isDisrupted = false;
    };
    const changing = async (): Promise<void> => {
      while (!this.isOver) {
        isTimeOver();
        await this.#changeFaults();
        await pause(700);
      }
    };
    const keep = (error: unknown): void => void (this.#broken ??= { error });
    await Promise.all([disruptingUntilOver(), changing(), this.#load.run()].map((each) => each.catch(keep)));
    if (this.#broken !== null) throw this.#broken.error;
    return this.#told();
  }

  #told(): LoadTold {
    const repeats = new Map(this.#load.losses);
    for (const { reply } of this.#load.client.attempts) {
      const { error } = reply === null || reply.status < 400 ? {} : answerOf(reply);
      if (reply === null || error?.retryable !== true) continue;
      const why = `${reply.status} ${error.reason ?? error.code}`;
      repeats.set(why, (repeats.get(why) ?? 0) + 1);
    }
    return { answers: this.#load.client.answered, repeats };
  }

  /** Makes the storefront of a shop slow, and some of its next calls fail. */
  async #changeFaults(): Promise<void> {
    const random = this.#random;
    const settings = {
      latencyMs: random.int(0, 120),
      applyDelayMs: random.int(0, 200),
      faults: Array.from({ length: random.int(0, 2) }, () => ({ ...random.pick(faults), times: random.int(1, 3) })),
    };
    const { url } = random.pick(this.#options.nodes);
    // If the node or the database is down, the faults stay unchanged.
    await operate(url, "PUT", `/shops/${random.pick(shopIds)}/sandbox/faults`, settings).catch(() => null);
  }

  /** Waits for the follow-on work of each shop, asks for everything that was acknowledged again, and judges what was told and what is there. */
  async prove(): Promise<void> {
    const { nodes } = this.#options;
    const [{ url } = { url: "" }] = nodes;
    for (const shopId of shopIds) await operate(url, "PUT", `/shops/${shopId}/sandbox/faults`, {});
    await this.#untilQuiet();
    await this.#load.client.finish();
    await this.#untilQuiet();
    const found: string[] = [];
    for (const history of await this.#load.histories()) {
      const { shopId, attempts, events } = history;
      const tell = (finding: string): void => void found.push(`${shopId}: ${finding}`);
      // A key is claimed and given back without waiting for the disk.
      const mayHoldKey = (attempt: Attempt): boolean => this.#isNearCrash(attempt);
      const { findings, orders, approvals } = judgeHistory({ ...history, isUnknown, mayHoldKey });
      findings.forEach(tell);
      const end = await this.#endOf(url, shopId, events);
      const opening = openingOnHand * 1_000;
      const mayMissRow = (attempt: Attempt): boolean => this.#mayMissRow(attempt);
      judgeEnd(
        { end, attempts, orders, approvals, openingOnHand: opening, mayMissRow, isUnknown, knowsAll: false },
        tell,
      );
      if (attempts.every(({ reply }) => reply === null)) tell("nothing was answered");
      const lost = new Map(attempts.map((attempt) => [attempt.chain, attempt]));
      for (const { reply, idempotencyKey, deed } of lost.values())
        if (idempotencyKey !== null && (reply === null || isUnknown({ reply })))
          tell(`${JSON.stringify(deed)} under ${idempotencyKey} has no answer in the end`);
    }
    assert.deepEqual(found.slice(0, findingsShownMax), [], `${found.length} findings with seed ${this.#options.seed}`);
  }

  /** Audit rows of what has changed nothing are lost with the database, and refusals have none while it is away. */
  #mayMissRow(attempt: Attempt): boolean {
    return isUnknown(attempt) || this.#isNearCrash(attempt);
  }

  #isNearCrash({ answeredMs }: Attempt): boolean {
    const atMs = performance.timeOrigin + answeredMs;
    return this.#crashedAtMs.some((crashMs) => Math.abs(atMs - crashMs) <= unsyncedMsMax);
  }

  async #untilQuiet(): Promise<void> {
    const sql = "select effect_id, kind, attempts, detail from openpo.effect where shop_id = $1 and state = 'pending'";
    const pending = (): Promise<readonly object[]> =>
      Promise.all(shopIds.map((shopId) => rowsOf(this.#options.databaseUrl, shopId, sql))).then((all) => all.flat());
    const isQuiet = async (): Promise<boolean> => (await pending()).length === 0;
    await until(async () => `the end of follow-on work: ${JSON.stringify(await pending())}`, isQuiet, drainMsMax);
  }

  async #endOf(url: string, shopId: string, events: readonly EventTold[]): Promise<ShopEnd> {
    const tables: Record<string, readonly Row[]> = {};
    for (const table of endTables) {
      const rows = await rowsOf<Record<string, string | number | null>>(
        this.#options.databaseUrl,
        shopId,
        `select * from openpo.${table} where shop_id = $1`,
      );
      tables[table] = rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])),
      );
    }
    const { variants } = sandboxAnswer.parse(await operate(url, "GET", `/shops/${shopId}/sandbox`)).data;
    const storefront = variants.flatMap(({ variantId, levels }) =>
      levels.map(({ locationId, onHand, incoming }) => ({
        variantId,
        locationId,
        onHand: Math.round(onHand * 1_000),
        incoming: Math.round(incoming * 1_000),
      })),
    );
    return { shopId, tables, auditFindings: [], events, storefront };
  }
}

/** The driver gives whole numbers of 64 bits as text. */
const plain = (name: string, value: string | number | null): string | number | null =>
  typeof value === "string" && /^-?\d+$/.test(value) && !/(_id|_number|name|reference)$/.test(name)
    ? Number(value)
    : value;

/** The database was lost, perhaps after the commit: the same request under its key is told what has become of it. */
const isUnknown = ({ reply }: Pick<Attempt, "reply">): boolean => reply !== null && reply.status >= 500;

export const shownRepeats = ({ answers, repeats }: LoadTold): string =>
  `${answers} answers; repeated after: ${[...repeats].map(([why, count]) => `${why} ${count}`).join(", ")}`;
