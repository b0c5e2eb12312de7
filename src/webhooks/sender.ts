/**
 * The sender of webhooks: hands deliveries to their endpoints after the commit that made them, by one process or by
 * many (C60).
 *
 * Owns: what is sent when, how much at a time, claims and records. Does not own: when a shop has its turn
 * (jobs/runner.ts), what an attempt means (core/events/webhooks.ts), one attempt (post.ts), the rows
 * (shop/events/deliveries.ts).
 *
 * A shop with something to send goes from turn to turn. One short write records the results and claims what is due;
 * then that is sent.
 *
 * Invariants:
 * - L1. A delivery is sent at least once: it is over only when an attempt has been recorded. A process that dies loses
 *       its claims soon (D473), or at the next start when it is the only one on the store. One that stops
 *       gives them back.
 * - L2. At most `perEndpointMax` attempts of an endpoint run at a time on all processes. In this process at most
 *       `attemptsRunningMax` run, and of a shop three quarters of that. Endpoints that fail or are slow get half of the
 *       places together, those of a shop a quarter, and one that fails only one. So they hold up no other. Shops have
 *       turns, and so have the endpoints of a shop (D300).
 * - L3. No transaction is open while an attempt runs, and a shop without endpoints costs nothing.
 */
import { withinMs } from "../base/time/waiting.ts";
import { RecentMap } from "../base/recent-map.ts";
import { type SecretBox, SecretUnreadable } from "../base/secret-box.ts";
import { type EventDraft } from "../core/events/events.ts";
import { noSpans, type Span, type SpanFacts, type Spans, traceparentUnder } from "../base/spans.ts";
import {
  type AttemptResult,
  afterAttempt,
  dueAheadMsMax,
  isDelivered,
  type DisabledReason,
  type EndpointHealth,
} from "../core/events/webhooks.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  claimMax,
  countLeased,
  countWaiting,
  deliveryClaims,
  dueDeliveries,
  giveBackStatement,
  dueNowStatement,
  nextDueAtMs,
  parkStatement,
  recordStatement,
  stillClaimed,
} from "../shop/events/deliveries.ts";
import { eventStatements } from "../shop/events/events.ts";
import {
  disableStatements,
  hasEndpoints,
  healthStatement,
  listEndpoints,
  type WebhookEndpoint,
} from "../shop/events/webhook-endpoints.ts";
import { claimedByOthers, giveBackClaims } from "../store/claims.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Ids } from "../base/time/clock.ts";
import type { Engine, Statement, Tx } from "../store/store.ts";
import { JobRunner, type JobsOptions } from "../jobs/runner.ts";
import type { ConnectPolicy } from "./addresses.ts";
import type { Resolve } from "./names.ts";
import { attemptMsMax, post } from "./post.ts";
import { openedSecrets, sealedStatements, signedHeaders } from "./signature.ts";

interface SenderLimits {
  /** Attempts of an endpoint that run at a time. */
  readonly perEndpointMax: number;
  /** Attempts of all endpoints that run at a time. */
  readonly attemptsRunningMax: number;
  /** Attempts of a shop that run at a time. */
  readonly perShopMax: number;
  /** Attempts that run at a time of endpoints that fail or are slow. */
  readonly slowRunningMax: number;
  /** The same of one shop. */
  readonly slowPerShopMax: number;
  /** Lease of a claim. */
  readonly leaseMs: number;
  /** Interval at which a shop is looked at again in which something is due and cannot be claimed. */
  readonly againMs: number;
  /** Time for which `close` waits for attempts that run. */
  readonly closeWaitMs: number;
  /** Time limit of an attempt. */
  readonly attemptMsMax: number;
}

export const senderLimits: SenderLimits = {
  perEndpointMax: 4,
  attemptsRunningMax: 64,
  perShopMax: 48,
  slowRunningMax: 32,
  slowPerShopMax: 16,
  leaseMs: 30_000,
  againMs: 1_000,
  closeWaitMs: 3_000,
  attemptMsMax,
};

/** Failures in a row after which an endpoint gets one attempt at a time. */
const failuresUntilFailing = 3;

/**
 * An endpoint that took as long for its latest attempt is slow. Of one that is quicker deliveries may be claimed ahead.
 */
const quickMs = 1_000;

/** Deliveries of a disabled endpoint that one turn stops. */
const parkedMax = 500;

/** Deliveries of an endpoint that are counted for the metrics, and how often that is while they are being sent. */
const countedMax = 1_000;

const countedEveryMs = 10_000;

/** Shops whose results are recorded at a time. */
const shopsAtOnceMax = 64;

/**
 * Shops that are remembered to have no endpoints, and among other nodes how long. Their searches find what another node
 * has added.
 */
export const withoutMax = 100_000;

const withoutMs = 30_000;

interface SenderOptions extends JobsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  readonly policy: ConnectPolicy;
  readonly resolve: Resolve;
  /** Box in which secrets of endpoints are sealed at rest. */
  readonly secrets: SecretBox;
  /** Limits that differ from `senderLimits`. */
  readonly limits?: Partial<SenderLimits>;
}

/** Backlog of deliveries, for the metrics. */
interface SenderBacklog {
  /**
   * Deliveries that wait or are being sent, as counted last: when a shop had nothing more to send at the time, and
   * every ten seconds.
   */
  readonly deliveries: number;
  /** When the longest waiting one was due; null when none is due. */
  readonly dueAtMs: number | null;
  /** Attempts of this process that failed. */
  readonly failedTotal: number;
  /** Endpoints that this process has disabled. */
  readonly disabledTotal: number;
  /** Disabled endpoints of shops in which this process has taken a turn. */
  readonly disabled: number;
}

export interface Sender {
  /**
   * Sends what is due in the shop. Called after every write with an event, so it costs nothing where nobody is told.
   */
  wake(shopId: string): void;
  /** The shop's endpoints have changed. */
  endpointsChanged(shopId: string): void;
  /** Sends what earlier processes have left. Among other nodes, goes on searching for what they leave. */
  start(): Promise<void>;
  /** Reads no shop. */
  backlog(): SenderBacklog;
  /** Begins nothing more, waits for what runs and gives the rest back. */
  close(): Promise<void>;
}

/** A delivery that was claimed, and is waiting for its attempt. */
interface Waiting extends ClaimedDelivery {
  readonly leasedUntilMs: number;
}

/** A delivery whose claim ends. `result` is null when it was not sent. */
interface Finished {
  readonly delivery: ClaimedDelivery;
  readonly result: AttemptResult | null;
}

/** An endpoint as of the latest turn, with what is claimed of it. */
interface Lane {
  endpoint: WebhookEndpoint;
  readonly waiting: Waiting[];
  running: number;
  /** Duration of its latest attempt; null before the first. */
  lastMs: number | null;
}

interface ShopLanes {
  /** By endpoint, the one that has waited longest for a place first. */
  readonly lanes: Map<string, Lane>;
  running: number;
  /** Attempts that run of endpoints that fail or are slow. */
  slowRunning: number;
  finished: Finished[];
  /** When something is due next, as of the latest turn. */
  dueAtMs: number | null;
  /** Deliveries that wait, and when they were counted. */
  backlog: number;
  countedAtMs: number;
}

/** Findings of one turn. */
interface Round {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly claimed: readonly Waiting[];
  readonly dueAtMs: number | null;
  /** Endpoints that it has disabled. */
  readonly disabled: number;
  /** Null: they were not counted. */
  readonly backlog: number | null;
}

export function createSender(options: SenderOptions): Sender {
  return new WebhookSender(options);
}

class WebhookSender implements Sender {
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  readonly #owner: string;
  /** The one that has waited longest for a place first. */
  readonly #shops = new Map<string, ShopLanes>();
  /** Shops that had no endpoints, and when that was seen. */
  readonly #without = new RecentMap<number>(withoutMax);
  /** Number of disabled endpoints, by shops that have any. */
  readonly #disabled = new Map<string, number>();
  #failedTotal = 0;
  #disabledTotal = 0;
  readonly #aborting = new AbortController();
  #attempts = new Set<Promise<void>>();
  #slowRunning = 0;
  readonly #runner: JobRunner;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = { ...senderLimits, ...options.limits };
    this.#owner = options.ids.claimant();
    this.#runner = new JobRunner(options, {
      what: "webhooks",
      runningMax: shopsAtOnceMax,
      table: dueDeliveries.table,
      release: (shopId) => giveBackClaims(deliveryClaims, shopId, claimedByOthers(this.#owner), options.clock.now()),
      nextDueAtMs: async (tx, shopId) => ((await hasEndpoints(tx, shopId)) ? options.clock.now() : null),
      run: (shopId) => this.#turn(shopId),
    });
  }

  wake(shopId: string): void {
    const { search, clock } = this.#options;
    const seenAtMs = this.#without.get(shopId);
    if (seenAtMs !== undefined && (search === null || clock.now() - seenAtMs < withoutMs)) return;
    this.#check(shopId);
  }

  endpointsChanged(shopId: string): void {
    this.#without.delete(shopId);
    this.#check(shopId);
  }

  /** Takes a turn in the shop if it has endpoints. Looking for that takes no turn. */
  #check(shopId: string): void {
    if (this.#shops.has(shopId)) this.#runner.wake(shopId);
    else void this.#look(shopId);
  }

  async #look(shopId: string): Promise<void> {
    const { engine, clock, log } = this.#options;
    try {
      if (await engine.peek(shopId, (tx) => hasEndpoints(tx, shopId))) this.#runner.wake(shopId);
      else this.#without.set(shopId, clock.now());
    } catch (error) {
      if (!isNotFound(error)) log.warn({ shopId, err: error }, "the shop's webhooks could not be looked for");
    }
  }

  async start(): Promise<void> {
    await this.#runner.start();
  }

  async close(): Promise<void> {
    const turned = this.#runner.close();
    await withinMs(Promise.all(this.#attempts), this.#limits.closeWaitMs);
    this.#aborting.abort();
    await Promise.all([turned, ...this.#attempts]);
    for (const [shopId, shop] of this.#shops) {
      for (const { waiting } of shop.lanes.values())
        shop.finished.push(...waiting.splice(0).map((delivery) => ({ delivery, result: null })));
      if (shop.finished.length > 0) await this.#writeTurn(shopId, shop).catch(() => {});
    }
  }

  backlog(): SenderBacklog {
    const nowMs = this.#options.clock.now();
    let deliveries = 0;
    let dueAtMs = Number.POSITIVE_INFINITY;
    for (const shop of this.#shops.values()) {
      deliveries += shop.backlog;
      dueAtMs = Math.min(dueAtMs, shop.dueAtMs ?? dueAtMs);
    }
    return {
      deliveries,
      dueAtMs: dueAtMs > nowMs ? null : dueAtMs,
      failedTotal: this.#failedTotal,
      disabledTotal: this.#disabledTotal,
      disabled: [...this.#disabled.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  /** Takes a turn in the shop. @returns when it comes back. A shop in which nothing runs or is due is forgotten. */
  async #turn(shopId: string): Promise<number | null> {
    const shop = this.#shops.get(shopId) ?? {
      lanes: new Map<string, Lane>(),
      running: 0,
      slowRunning: 0,
      finished: [],
      dueAtMs: null,
      backlog: 0,
      countedAtMs: 0,
    };
    this.#shops.set(shopId, shop);
    try {
      const { dueAtMs } = await this.#writeTurn(shopId, shop);
      if (dueAtMs === null) this.#forgetIfIdle(shopId, shop);
      // What is due and was not claimed has to wait for attempts that run: ours end in a turn, others are looked at
      // again.
      const nowMs = this.#options.clock.now();
      return dueAtMs === null || dueAtMs > nowMs ? dueAtMs : nowMs + this.#limits.againMs;
    } catch (error) {
      if (isNotFound(error)) {
        this.#shops.delete(shopId);
        this.#disabled.delete(shopId);
      }
      throw error;
    }
  }

  #forgetIfIdle(shopId: string, shop: ShopLanes): void {
    const isIdle = [...shop.lanes.values()].every((lane) => lane.running === 0 && lane.waiting.length === 0);
    if (isIdle && shop.finished.length === 0) this.#shops.delete(shopId);
  }

  /** One write: records what has finished and claims what is due. Then what was claimed is sent. */
  async #writeTurn(shopId: string, shop: ShopLanes): Promise<Round> {
    const { engine, clock } = this.#options;
    const finished = shop.finished;
    shop.finished = [];
    let round: Round;
    try {
      round = await engine.write(shopId, (tx) => this.#work(tx, shopId, shop, finished), { durable: false });
    } catch (error) {
      shop.finished.unshift(...finished);
      throw error;
    }
    this.#note(shopId, shop, round);
    if (round.endpoints.length === 0) this.#without.set(shopId, clock.now());
    for (const endpoint of round.endpoints) {
      const lane = shop.lanes.get(endpoint.endpointId);
      if (lane === undefined) shop.lanes.set(endpoint.endpointId, { endpoint, waiting: [], running: 0, lastMs: null });
      else lane.endpoint = endpoint;
    }
    for (const delivery of round.claimed) shop.lanes.get(delivery.endpointId)?.waiting.push(delivery);
    this.#send();
    return round;
  }

  /** Keeps what the metrics tell. */
  #note(shopId: string, shop: ShopLanes, { endpoints, disabled, dueAtMs, backlog }: Round): void {
    this.#disabledTotal += disabled;
    const count = endpoints.filter(({ status }) => status === "disabled").length;
    if (count === 0) this.#disabled.delete(shopId);
    else this.#disabled.set(shopId, count);
    shop.dueAtMs = dueAtMs;
    if (backlog === null) return;
    shop.backlog = backlog;
    shop.countedAtMs = this.#options.clock.now();
  }

  async #work(tx: Tx, shopId: string, shop: ShopLanes, finished: readonly Finished[]): Promise<Round> {
    const { clock, ids } = this.#options;
    const nowMs = clock.now();
    const [found, still] = await Promise.all([
      listEndpoints(tx, shopId),
      stillClaimed(
        tx,
        shopId,
        this.#owner,
        finished.map(({ delivery }) => delivery.deliveryId),
      ),
    ]);
    await tx.batch(found.flatMap((endpoint) => sealedStatements(this.#options.secrets, shopId, endpoint)));
    const recorded = this.#recorded(
      shopId,
      found,
      finished.filter(({ delivery }) => still.has(delivery.deliveryId)),
    );
    await tx.batch(recorded.statements);
    for (const [endpointId, reason] of recorded.disabled) {
      const event: EventDraft = { type: "webhook_endpoint.disabled", data: { endpointId, reason } };
      const stamp = { actor: { type: "system", id: null, name: null } as const, requestId: null, nowMs, ids };
      await tx.batch([...disableStatements(shopId, endpointId, reason), ...eventStatements(shopId, event, stamp)]);
    }
    const endpoints = found.map((endpoint): WebhookEndpoint => {
      const health = recorded.health.get(endpoint.endpointId) ?? endpoint;
      const status = recorded.disabled.has(endpoint.endpointId) ? "disabled" : endpoint.status;
      return { ...endpoint, ...health, status };
    });
    const enabled = endpoints.filter(({ status }) => status === "enabled");
    await tx.batch(
      endpoints
        .filter(({ status }) => status === "disabled")
        .map(({ endpointId }) => parkStatement(shopId, endpointId, parkedMax)),
    );
    const claimed = this.#runner.stopping.aborted ? [] : await this.#claim(tx, shopId, shop, enabled, nowMs);
    const sending = enabled.map(({ endpointId }) => endpointId);
    let dueAtMs = await nextDueAtMs(tx, shopId, sending);
    if (dueAtMs !== null && dueAtMs - nowMs > dueAheadMsMax) {
      await tx.batch([dueNowStatement(shopId, nowMs + dueAheadMsMax, nowMs)]);
      dueAtMs = nowMs;
    }
    const counts = claimed.length === 0 || nowMs >= shop.countedAtMs + countedEveryMs;
    const backlog = counts ? await countWaiting(tx, shopId, sending, countedMax) : null;
    return { endpoints, claimed, dueAtMs, disabled: recorded.disabled.size, backlog };
  }

  /** Returns the meaning of the attempts, in the order in which they ended. */
  #recorded(
    shopId: string,
    endpoints: readonly WebhookEndpoint[],
    finished: readonly Finished[],
  ): {
    readonly statements: readonly Statement[];
    readonly health: ReadonlyMap<string, EndpointHealth>;
    readonly disabled: ReadonlyMap<string, DisabledReason>;
  } {
    const { clock, random } = this.#options;
    const statements: Statement[] = [];
    const health = new Map<string, EndpointHealth>();
    const disabled = new Map<string, DisabledReason>();
    for (const { delivery, result } of finished) {
      const { deliveryId, endpointId, attempts } = delivery;
      const endpoint = endpoints.find((each) => each.endpointId === endpointId);
      if (result === null || endpoint === undefined) {
        statements.push(
          giveBackStatement(shopId, this.#owner, deliveryId, endpoint === undefined ? null : clock.now()),
        );
        continue;
      }
      const after = afterAttempt(health.get(endpointId) ?? endpoint, attempts, result, clock.now(), random());
      statements.push(recordStatement(shopId, this.#owner, deliveryId, after.delivery));
      health.set(endpointId, after.health);
      if (after.disabled !== null && endpoint.status === "enabled") disabled.set(endpointId, after.disabled);
    }
    for (const [endpointId, fared] of health) statements.push(healthStatement(shopId, endpointId, fared));
    return { statements, health, disabled };
  }

  async #claim(
    tx: Tx,
    shopId: string,
    shop: ShopLanes,
    enabled: readonly WebhookEndpoint[],
    nowMs: number,
  ): Promise<readonly Waiting[]> {
    if (enabled.length === 0) return [];
    const leased = await countLeased(tx, shopId, nowMs);
    const leasedUntilMs = nowMs + this.#limits.leaseMs;
    const claims = enabled.map(async (endpoint) => {
      const { endpointId } = endpoint;
      const lane = shop.lanes.get(endpointId);
      const ours = lane === undefined ? 0 : lane.running + lane.waiting.length;
      const all = leased.get(endpointId) ?? 0;
      // Ahead of its attempts only while no other process has any of the endpoint's.
      const isQuick = (lane?.lastMs ?? quickMs) < quickMs && endpoint.failures === 0 && all <= ours;
      const room = (isQuick ? claimMax : this.#allowed(endpoint)) - Math.max(all, ours);
      if (room <= 0) return [];
      const found = await claimDeliveries(tx, shopId, endpointId, room, { owner: this.#owner, nowMs, leasedUntilMs });
      return found.map((delivery): Waiting => ({ ...delivery, leasedUntilMs }));
    });
    return (await Promise.all(claims)).flat();
  }

  #allowed(endpoint: EndpointHealth): number {
    return isFailing(endpoint) ? 1 : this.#limits.perEndpointMax;
  }

  /** Begins attempts as far as the bounds allow, of each shop in turn (L2). */
  #send(): void {
    // A shop that has begun one comes again after all others.
    for (const [shopId, shop] of this.#shops) {
      if (this.#runner.stopping.aborted || this.#attempts.size >= this.#limits.attemptsRunningMax) return;
      if (!this.#sendOne(shopId, shop)) continue;
      this.#shops.delete(shopId);
      this.#shops.set(shopId, shop);
    }
  }

  /** Begins an attempt of the shop, of each endpoint in turn. @returns whether there was one to begin. */
  #sendOne(shopId: string, shop: ShopLanes): boolean {
    const { perShopMax, slowRunningMax, slowPerShopMax } = this.#limits;
    if (shop.running >= perShopMax) return false;
    const hasSlowPlace = this.#slowRunning < slowRunningMax && shop.slowRunning < slowPerShopMax;
    for (const [endpointId, lane] of shop.lanes) {
      if (lane.running >= this.#allowed(lane.endpoint)) continue;
      const slow = isSlow(lane);
      if (slow && !hasSlowPlace) continue;
      const delivery = lane.waiting.shift();
      if (delivery === undefined) continue;
      shop.lanes.delete(endpointId);
      shop.lanes.set(endpointId, lane);
      this.#begin(shopId, shop, lane, delivery, slow ? 1 : 0);
      return true;
    }
    return false;
  }

  /** @param slow 1 for an attempt that counts among the slow ones, else 0. */
  #begin(shopId: string, shop: ShopLanes, lane: Lane, delivery: Waiting, slow: 0 | 1): void {
    lane.running += 1;
    shop.running += 1;
    shop.slowRunning += slow;
    this.#slowRunning += slow;
    const attempt = this.#finish(shopId, shop, lane, delivery).finally(() => {
      this.#attempts.delete(attempt);
      shop.running -= 1;
      shop.slowRunning -= slow;
      this.#slowRunning -= slow;
      // A place is free, for any shop.
      this.#send();
    });
    this.#attempts.add(attempt);
  }

  async #finish(shopId: string, shop: ShopLanes, lane: Lane, delivery: Waiting): Promise<void> {
    const span = this.#spanOf(shopId, delivery);
    const result = await this.#attempt(shopId, lane, delivery, span);
    span.end(factsOf(result));
    lane.running -= 1;
    if (result !== null) lane.lastMs = result.ms;
    if (result !== null && !isDelivered(result)) this.#failedTotal += 1;
    shop.finished.push({ delivery, result });
    this.#runner.wake(shopId);
  }

  #spanOf(shopId: string, { endpointId, eventId, attempts, traceparent }: Waiting): Span {
    const { spans = noSpans } = this.#options;
    return spans.start("webhook.attempt", traceparent, {
      "openpo.shop.id": shopId,
      "openpo.webhook.endpoint.id": endpointId,
      "openpo.event.id": eventId,
      "openpo.webhook.attempt": attempts,
      "http.request.method": "POST",
    });
  }

  /** One attempt; null: it was not made, or was ended by the end of the service. Never rejects. */
  async #attempt(
    shopId: string,
    { endpoint }: Lane,
    { eventId, text, leasedUntilMs, ...delivery }: Waiting,
    span: Span,
  ): Promise<AttemptResult | null> {
    const { clock, policy, resolve, log, secrets } = this.#options;
    if (text === null) return { kind: "failed", ms: 0, reason: "the event is no longer kept" };
    const timeoutMs = this.#limits.attemptMsMax;
    if (leasedUntilMs - clock.now() < timeoutMs) return null;
    try {
      const signed = signedHeaders(openedSecrets(secrets, shopId, endpoint), eventId, text, clock.now());
      const traceparent = traceparentUnder(span, delivery.traceparent);
      const headers = traceparent === null ? signed : { ...signed, traceparent };
      return await post(endpoint.url, headers, text, { policy, resolve, timeoutMs, aborting: this.#aborting.signal });
    } catch (error) {
      if (error instanceof SecretUnreadable) return { kind: "failed", ms: 0, reason: error.message };
      log.error(
        { endpointId: endpoint.endpointId, err: error },
        "an attempt to send a webhook has failed unexpectedly",
      );
      return { kind: "failed", ms: 0, reason: "the attempt failed" };
    }
  }
}

const isFailing = ({ failures }: EndpointHealth): boolean => failures >= failuresUntilFailing;

const isSlow = ({ endpoint, lastMs }: Lane): boolean => isFailing(endpoint) || (lastMs ?? 0) >= quickMs;

/** Returns the facts of an attempt for its span. Neither the URL nor the answer: either may have a secret in it. */
function factsOf(result: AttemptResult | null): SpanFacts {
  if (result === null) return { "openpo.webhook.given_back": true };
  if (result.kind === "failed") return { "error.type": "no_answer" };
  const { status } = result;
  return { "http.response.status_code": status, ...(isDelivered(result) ? {} : { "error.type": String(status) }) };
}
