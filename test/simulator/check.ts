/**
 * The judge: whether everything that was told in a simulation, and what is left of it, can have come about by the model.
 *
 * The events of a shop are its history: each request that changed something has one, in the order of the commits. The model makes the same
 * requests in that order. Every answer, every reading and everything that is stored must agree with it.
 */
import { afterEvent } from "./after-event.ts";
import { isDeepStrictEqual } from "node:util";
import type { SentItem } from "../../src/core/storefront/stock-push.ts";
import { type Attempt, type Deed, type OrderSeen, logEntryOf } from "./client.ts";
import { judgeCosts } from "./costs.ts";
import { created, isCustom, type ModelOrder, openStatuses, pendingOf, verdictOn } from "./model.ts";
import { storedAnswersBytesMax } from "../../src/requests/idempotency.ts";
import { openingOnHand } from "./template.ts";
import { locationId, variantIds } from "./story.ts";
import { startAtMs } from "./time.ts";
import type { Course, EventTold, Row, ShopEnd } from "./world.ts";

/** An order after one of its changes. */
interface State {
  readonly order: ModelOrder;
  /** Of the event, in the shop's sequence; 0: before the first. */
  readonly sequence: number;
  readonly version: number;
}

const thousandths = (units: number): number => Math.round(units * 1_000);

const orderIdOf = (deed: Deed): string | null => ("orderId" in deed ? deed.orderId : null);

const isAboutStorefront = ({ type }: EventTold): boolean =>
  type.startsWith("storefront_sync.") || type.startsWith("cost_sync.");

/** Everything that is wrong, in words; nothing if all is well. */
export function findings(course: Course): readonly string[] {
  const found = [...course.findings];
  const tells = (what: string): void => void found.push(what);
  for (const error of course.errors) if (!isExpected(error, course)) tells(`the program logged an error: ${error}`);
  for (const end of course.ends) {
    const shop = new ShopJudge(course, end, (what) => tells(`${end.shopId}: ${what}`));
    shop.judge();
  }
  return found;
}

/** Errors that the program rightly logs when a disk fails. */
const isExpected = (error: string, { happened }: Course): boolean =>
  (happened.has("failing-sync") && error.includes("A sync to disk has failed")) ||
  (happened.has("full-disk") && /full|takes no more|disk|cannot be/i.test(error));

/** What is left when nothing goes wrong any more is done by then: a delay before an attempt is 5 s at most, a claim of a process that died 30 s. */
const lateMsMax = 10_000;

/** Attempts at an effect before it has failed (D11). */
const attemptsMax = 7;

/** What may have an effect tried again. */
const calmWithout = ["full-disk", "failing-sync", "clock"] as const;

/** What may have a shop refuse whatever it is asked. A clock that is set is no reason: what waits is not older for it. */
const mayRefuseAll = ["full-disk", "failing-sync", "kill"] as const;

/** Effects that need one attempt. Unit costs that somebody else has set meanwhile are looked at by several. */
const triedOnce: readonly string[] = ["push-stock", "mirror-incoming", "sync-tags"];

/** Refusals that say that nothing was done, and have their reason outside of the order. */
function isOutside(attempt: Attempt, { story, happened }: Course): boolean {
  if (attempt.reply === null) return false;
  const { error } = logEntryOf(attempt.reply);
  const plan = story.shops.find((each) => each.rateLimit.capacity < 100);
  const mayFail = happened.has("faults") || happened.has("variant") || happened.has("full-disk");
  switch (error?.code ?? "") {
    case "RATE_LIMITED":
      return plan !== undefined;
    case "UPSTREAM_STOREFRONT":
    case "TIMEOUT":
    case "INVENTORY_GUARD_ISSUES":
      return mayFail;
    case "ON_HAND_SYNC_IN_FLIGHT":
      return true;
    case "DO_UNAVAILABLE":
    case "DO_OVERLOADED":
      if (story.storedAnswersBytesMax < storedAnswersBytesMax && /stored answers/.test(error?.message ?? ""))
        return true;
      return mayRefuseAll.some((each) => happened.has(each));
    default:
      // Whether they are right is judged with the other requests under the key.
      return error?.reason === "IDEMPOTENCY_IN_PROGRESS" || error?.reason === "IDEMPOTENCY_KEY_REUSED";
  }
}

class ShopJudge {
  readonly #course: Course;
  readonly #end: ShopEnd;
  readonly #tell: (what: string) => void;
  readonly #attempts: readonly Attempt[];
  /** By request, its events. */
  readonly #events = new Map<string, readonly EventTold[]>();
  /** By order, what it was after each of its changes. */
  readonly #states = new Map<string, State[]>();

  constructor(course: Course, end: ShopEnd, tell: (what: string) => void) {
    this.#course = course;
    this.#end = end;
    this.#tell = tell;
    this.#attempts = course.attempts.filter(({ shopId }) => shopId === end.shopId);
    for (const event of end.events) {
      // What became of a push or of costs is told too; the order is not changed by it.
      if (event.requestId === null || isAboutStorefront(event)) continue;
      this.#events.set(event.requestId, [...(this.#events.get(event.requestId) ?? []), event]);
    }
  }

  judge(): void {
    this.#judgeSequence();
    this.#replay();
    this.#judgeChains();
    for (const attempt of this.#attempts) this.#judgeAttempt(attempt);
    this.#judgeRows();
    this.#judgeStock();
    this.#judgeCosts();
    this.#judgeEffects();
    this.#judgeAudit();
  }

  #rows(table: string): readonly Row[] {
    return this.#end.tables[table] ?? [];
  }

  /** E2, C58: the sequence has no gaps, and what was read once stays. */
  #judgeSequence(): void {
    for (const [index, { sequence }] of this.#end.events.entries())
      if (sequence !== index + 1) {
        this.#tell(`event ${index + 1} has the sequence ${sequence}`);
        break;
      }
    for (const { shopId, events } of this.#course.readings)
      if (shopId === this.#end.shopId && !isDeepStrictEqual(events, this.#end.events.slice(0, events.length)))
        this.#tell("events that were read have changed or gone");
  }

  /** The model makes the requests whose events are stored, in their order. */
  #replay(): void {
    let nextNumber = 1_001;
    for (const event of this.#end.events) {
      const orderId = event.data.purchaseOrderId;
      const attempt = this.#attempts.find(({ requestId }) => requestId === event.requestId);
      if (event.requestId !== null && event.requestId !== "req_import" && attempt === undefined)
        this.#tell(`event ${event.sequence} names ${event.requestId}, which nobody has sent`);
      if (isAboutStorefront(event)) continue;
      if (attempt === undefined) continue;
      const states = this.#states.get(orderId) ?? [];
      this.#states.set(orderId, states);
      const before = states.at(-1);
      const { deed } = attempt;
      const told = `event ${event.sequence} (${event.type} of ${orderId} by ${attempt.requestId} ${JSON.stringify(deed)})`;
      if (deed.op === "create") {
        if (before !== undefined) this.#tell(`${told}: the order was there before`);
        if (event.data.poNumber !== `PO-${nextNumber}`) this.#tell(`${told}: the number is ${event.data.poNumber}`);
        nextNumber += 1;
        const lineIds = event.data.lines.map((line) => line.poLineItemId);
        const order = created(deed, { id: orderId, poNumber: event.data.poNumber, lineIds });
        states.push({ order, sequence: event.sequence, version: event.data.version });
        continue;
      }
      if (before === undefined || deed.op === "list" || deed.orderId !== orderId) {
        this.#tell(`${told}: it is not about an order that there is`);
        continue;
      }
      const next = afterEvent(before.order, deed, event, (finding) => this.#tell(`${told}: ${finding}`));
      if (event.data.version <= before.version) this.#tell(`${told}: the version is not above ${before.version}`);
      states.push({ order: next, sequence: event.sequence, version: event.data.version });
      this.#judgeEvent(before.order, next, event, told);
    }
  }

  #judgeEvent(before: ModelOrder, next: ModelOrder, event: EventTold, told: string): void {
    const { status, lines } = event.data;
    if (status.from !== before.status)
      this.#tell(`${told}: it says that the status was ${status.from}, not ${before.status}`);
    const to = next.deleted === "no" ? next.status : null;
    if (status.to !== to) this.#tell(`${told}: it says that the status is ${status.to}, not ${to}`);
    for (const line of lines) {
      const expected = next.lines.find((each) => each.id === line.poLineItemId);
      if (next.deleted !== "no") continue;
      if (expected === undefined) this.#tell(`${told}: the line ${line.poLineItemId} is not on the order`);
      else if (
        thousandths(line.quantityReceived) !== expected.received ||
        thousandths(line.quantityPending) !== pendingOf(expected)
      )
        this.#tell(`${told}: the line ${JSON.stringify(line)} should be ${JSON.stringify(expected)}`);
    }
  }

  /** C17 to C21: of all repetitions of a request under a key one has an effect, and all get the same answer. */
  #judgeChains(): void {
    const chains = new Map<number, Attempt[]>();
    for (const attempt of this.#attempts) {
      const { chain, idempotencyKey } = attempt;
      if (idempotencyKey !== null) chains.set(chain, [...(chains.get(chain) ?? []), attempt]);
    }
    for (const chain of chains.values()) {
      this.#judgeKey(chain);
      for (const clashes of [false, true]) this.#judgeRepetitions(chain.filter((each) => each.clashes === clashes));
    }
  }

  /** C19: of different requests under one key one has an effect, and the other is told that the key was used. */
  #judgeKey(attempts: readonly Attempt[]): void {
    const effective = attempts.filter(({ requestId }) => this.#events.has(requestId));
    if (new Set(effective.map(({ clashes }) => clashes)).size > 1)
      this.#tell(
        `${attempts[0]?.idempotencyKey}: different requests under it, ${effective.map(({ requestId }) => requestId).join(", ")}, have each had an effect`,
      );
    for (const attempt of attempts) {
      const reason = attempt.reply === null ? undefined : logEntryOf(attempt.reply).error?.reason;
      const told = `${attempt.requestId} ${JSON.stringify(attempt.deed)} under ${attempt.idempotencyKey}`;
      const beside = attempts.filter((other) => other !== attempt && other.sentAt < attempt.answeredAt);
      if (reason === "IDEMPOTENCY_KEY_REUSED" && !beside.some(({ clashes }) => clashes !== attempt.clashes))
        this.#tell(`${told}: it was told that the key was used for another request, and no other was sent`);
      const same = beside.filter(
        ({ clashes, answeredAt }) => clashes === attempt.clashes && answeredAt > attempt.sentAt,
      );
      if (reason === "IDEMPOTENCY_IN_PROGRESS" && same.length === 0)
        this.#tell(`${told}: it was told that it is running, and nobody else had sent it`);
    }
  }

  #judgeRepetitions(attempts: readonly Attempt[]): void {
    const [first] = attempts;
    if (first === undefined || first.deed.op === "read" || first.deed.op === "list") return;
    const told = `${first.requestId} ${JSON.stringify(first.deed)} under ${first.idempotencyKey}`;
    const effective = attempts.filter(({ requestId }) => this.#events.has(requestId));
    // A 502 of /quick-complete is not stored, and what it received is kept: the repetition completes (C28).
    if (effective.length > 1 && first.deed.op !== "quick-complete")
      this.#tell(`${told}: ${effective.map(({ requestId }) => requestId).join(", ")} have each had an effect`);
    const kept = attempts.filter(({ reply }) => reply !== null && isKept(reply));
    const bodies = new Set(kept.map(({ reply }) => `${reply?.status} ${reply?.body}`));
    if (bodies.size > 1)
      this.#tell(
        `${told}: its repetitions have got ${bodies.size} answers: ${[...bodies].join(" | ").slice(0, 1_500)}`,
      );
    const originals = kept.filter(({ reply }) => reply?.headers["Idempotent-Replayed"] === undefined);
    if (originals.length > 1) this.#tell(`${told}: ${originals.length} answers are no replays`);
    for (const { requestId, reply, sentAt } of attempts)
      if (reply?.status === 429 && kept.some(({ answeredAt }) => answeredAt < sentAt))
        this.#tell(`${told}: ${requestId} was refused for its rate, and a replay takes no token`);
  }

  /** The sequence up to which a request must have seen the shop, and up to which it can have. */
  #window(attempt: Attempt): { readonly low: number; readonly high: number } {
    let low = 0;
    let high = Number.POSITIVE_INFINITY;
    for (const other of this.#attempts) {
      const events = this.#events.get(other.requestId) ?? [];
      const [first] = events;
      if (first === undefined) continue;
      if (other.answeredAt < attempt.sentAt && other.reply !== null && other.reply.status < 300)
        low = Math.max(low, ...events.map(({ sequence }) => sequence));
      if (other.sentAt > attempt.answeredAt) high = Math.min(high, first.sequence - 1);
    }
    return { low, high };
  }

  /** The states that an order can have had for a request. */
  #possible(orderId: string, attempt: Attempt): readonly State[] {
    const { low, high } = this.#window(attempt);
    const states = this.#states.get(orderId) ?? [];
    const last = states.findLastIndex(({ sequence }) => sequence <= low);
    return states.slice(Math.max(0, last)).filter(({ sequence }) => sequence <= high);
  }

  #judgeAttempt(attempt: Attempt): void {
    const { reply, deed, requestId } = attempt;
    if (reply === null) return;
    const told = `${requestId} ${JSON.stringify(deed)} → ${reply.status}`;
    const { data, error } = logEntryOf(reply);
    const isReplay = reply.headers["Idempotent-Replayed"] !== undefined;
    const events = this.#events.get(requestId) ?? [];
    if (reply.status === 500) this.#tell(`${told}: ${reply.body}`);
    if (error !== undefined) {
      if (events.length > 0 && deed.op !== "quick-complete")
        this.#tell(`${told}: it was refused and has had an effect: ${reply.body}`);
      if (!isReplay && !isOutside(attempt, this.#course)) this.#judgeRefusal(attempt, told);
      return;
    }
    const order = data?.purchaseOrder;
    if (order !== undefined) this.#judgeOrder(order, attempt, told);
    if (data?.purchaseOrders !== undefined) this.#judgeList(data.purchaseOrders, attempt, told);
    if (isReplay || deed.op === "list" || deed.op === "read") return;
    const orderId = orderIdOf(deed);
    if (deed.op === "create" || orderId === null) {
      if (events.length !== 1) this.#tell(`${told}: it was acknowledged and has ${events.length} events`);
      return;
    }
    if (events.length > 0) return;
    const allowed = this.#possible(orderId, attempt).some(({ order }) => verdictOn(order, deed, []).kind === "same");
    if (!allowed) this.#tell(`${told}: it was acknowledged, and no event tells of it`);
  }

  #judgeRefusal(attempt: Attempt, told: string): void {
    const { deed, reply } = attempt;
    const error = reply === null ? undefined : logEntryOf(reply).error;
    const orderId = orderIdOf(deed);
    if (orderId === null || deed.op === "list" || deed.op === "create") {
      this.#tell(`${told}: ${error?.message}`);
      return;
    }
    const states = this.#possible(orderId, attempt);
    // Costs are written between two looks at the order.
    const isOvertaken = /while its costs were written|^Meanwhile/.test(error?.message ?? "") && states.length > 1;
    const mayBe =
      isOvertaken ||
      states.some(({ order }) => {
        if (deed.op === "read") return order.deleted !== "no";
        const verdict = verdictOn(order, deed, []);
        return verdict.kind === "refused" || (verdict.kind === "changes" && verdict.unsure);
      });
    if (!mayBe) this.#tell(`${told}: the model does not refuse it: ${error?.message} ${JSON.stringify(states)}`);
  }

  /** An order that was shown is as it was at its version, and no older than what was acknowledged before. */
  #judgeOrder(seen: OrderSeen, attempt: Attempt, told: string): void {
    const states = this.#states.get(seen.purchaseOrderId) ?? [];
    const state = states.findLast(({ version }) => version <= seen.version);
    if (state === undefined) {
      this.#tell(`${told}: it shows version ${seen.version}, of which no event tells`);
      return;
    }
    const { order } = state;
    const shown = {
      poNumber: seen.poNumber,
      name: seen.poName,
      status: seen.status,
      previous: seen.previousStatus,
      lines: seen.lineItems.map((line) => [
        line.poLineItemId,
        thousandths(line.quantityOrdered),
        thousandths(line.quantityConfirmed),
        thousandths(line.quantityReceived),
        thousandths(line.quantityPending),
      ]),
    };
    const expected = {
      poNumber: order.poNumber,
      name: order.name,
      status: order.status,
      previous: order.previous,
      lines: order.lines.map((line) => [line.id, line.ordered, line.confirmed, line.received, pendingOf(line)]),
    };
    if (!isDeepStrictEqual(shown, expected))
      this.#tell(`${told}: it shows ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
    const isReplay = attempt.reply?.headers["Idempotent-Replayed"] !== undefined;
    const { low } = this.#window(attempt);
    const latest = states.findLast(({ sequence }) => sequence <= low);
    if (!isReplay && latest !== undefined && latest.version > seen.version)
      this.#tell(`${told}: it shows version ${seen.version} after version ${latest.version} was acknowledged`);
  }

  /** Each row is as its order was at its version, and no order is missing that must have been there. */
  #judgeList(rows: readonly Omit<OrderSeen, "lineItems">[], attempt: Attempt, told: string): void {
    if (attempt.reply?.headers["Idempotent-Replayed"] !== undefined) return;
    const seen = new Map(rows.map((row) => [row.purchaseOrderId, row]));
    for (const row of rows) {
      const state = this.#states.get(row.purchaseOrderId)?.findLast(({ version }) => version <= row.version);
      const shown = [row.poNumber, row.poName, row.status, row.previousStatus];
      const { poNumber, name, status, previous } = state?.order ?? {};
      if (!isDeepStrictEqual(shown, [poNumber, name, status, previous]))
        this.#tell(`${told}: it shows ${JSON.stringify(shown)} instead of ${poNumber} ${name} ${status} ${previous}`);
    }
    for (const [orderId] of this.#states) {
      const possible = this.#possible(orderId, attempt);
      const { low } = this.#window(attempt);
      const [first] = possible;
      // It was there before the request, and nothing that may have come before its answer has deleted it.
      const mustBe =
        first !== undefined && first.sequence <= low && possible.every(({ order }) => order.deleted === "no");
      if (mustBe && !seen.has(orderId)) this.#tell(`${told}: ${orderId} is missing`);
      const latest = this.#states.get(orderId)?.findLast(({ sequence }) => sequence <= low);
      const row = seen.get(orderId);
      if (row !== undefined && latest !== undefined && latest.version > row.version)
        this.#tell(`${told}: it shows version ${row.version} of ${orderId} after ${latest.version} was acknowledged`);
    }
  }

  /** What is stored at the end is what the model has made. */
  #judgeRows(): void {
    const orders = new Map(this.#rows("purchase_order").map((row) => [row["purchase_order_id"], row]));
    for (const [orderId, states] of this.#states) {
      const last = states.at(-1);
      if (last === undefined) continue;
      const { order } = last;
      const row = orders.get(orderId);
      orders.delete(orderId);
      if (row === undefined) {
        if (order.deleted !== "gone") this.#tell(`${orderId} is not stored`);
        continue;
      }
      const stored = {
        status: row["status"],
        previous: row["previous_status"],
        number: row["po_number"],
        deleted: row["deleted_at"] === null ? "no" : "hidden",
        lines: this.#rows("purchase_order_line")
          .filter((line) => line["purchase_order_id"] === orderId)
          .sort((a, b) => Number(a["position"]) - Number(b["position"]))
          .map((line) => [
            line["po_line_item_id"],
            line["quantity_ordered"],
            line["quantity_confirmed"],
            line["quantity_received"],
          ]),
      };
      const expected = {
        status: order.status,
        previous: order.previous,
        number: order.poNumber,
        deleted: order.deleted,
        lines: order.lines.map((line) => [line.id, line.ordered, line.confirmed, line.received]),
      };
      if (!isDeepStrictEqual(stored, expected))
        this.#tell(`${orderId} is stored as ${JSON.stringify(stored)} instead of ${JSON.stringify(expected)}`);
    }
    for (const orderId of orders.keys()) this.#tell(`${orderId} is stored, and no event tells of it`);
  }

  /** C40, C41: on hand and incoming, here and at the storefront. */
  #judgeStock(): void {
    const lines = this.#rows("purchase_order_line");
    const orders = new Map(this.#rows("purchase_order").map((row) => [row["purchase_order_id"], row]));
    const refusedForGood = this.#rows("effect").some(
      (row) => row["kind"] === "mirror-incoming" && row["state"] === "failed",
    );
    for (const variantId of variantIds) {
      const own = lines.filter((line) => line["variant_id"] === variantId);
      const synced = own.reduce((sum, line) => sum + Number(line["quantity_synced"]), 0);
      const level = this.#rows("inventory_level").find((row) => row["variant_id"] === variantId);
      const storefront = this.#end.storefront.find(
        (row) => row["variantId"] === variantId && row["locationId"] === locationId,
      );
      const expected = openingOnHand + synced;
      if (level?.["on_hand"] !== expected)
        this.#tell(`on hand of ${variantId} is ${level?.["on_hand"]} here, and ${expected} by what was synced`);
      if (!this.#mayHave(variantId, expected).includes(Number(storefront?.["onHand"])))
        this.#tell(
          `on hand of ${variantId} is ${storefront?.["onHand"]} at the storefront, ${expected} by what was synced`,
        );
      let incoming = 0;
      for (const states of this.#states.values()) {
        const order = states.at(-1)?.order;
        if (order === undefined || order.deleted !== "no" || !openStatuses.includes(order.status)) continue;
        for (const line of order.lines)
          if (line.variantId === variantId && !isCustom(line) && order.located) incoming += pendingOf(line);
      }
      const ledger = this.#rows("incoming").find((row) => row["variant_id"] === variantId)?.["quantity"] ?? 0;
      if (ledger !== incoming) this.#tell(`incoming of ${variantId} is ${ledger}, and ${incoming} by the model`);
      if (!refusedForGood && (storefront?.["incoming"] ?? 0) !== incoming)
        this.#tell(
          `incoming of ${variantId} is ${storefront?.["incoming"]} at the storefront, ${incoming} by the model`,
        );
    }
    // After the pushes of the end nothing is left to push.
    for (const line of lines) {
      const order = orders.get(line["purchase_order_id"] ?? "");
      const isOpen = ["In Progress", "Partially Received", "Received"].includes(String(order?.["status"]));
      const isPushed = String(line["variant_id"]).startsWith("CSTM-") || order?.["deleted_at"] !== null || !isOpen;
      if (!isPushed && line["quantity_synced"] !== line["quantity_received"])
        this.#tell(
          `line ${line["po_line_item_id"]} has received ${line["quantity_received"]} and synced ${line["quantity_synced"]} at the end`,
        );
    }
  }

  /** C45: what the history says of unit costs is what was written and shown. */
  #judgeCosts(): void {
    const { shopId, storefront } = this.#end;
    const { costs, story } = this.#course;
    judgeCosts(
      {
        shopId,
        ...costs,
        rows: this.#rows("cost_sync"),
        orders: new Map(this.#rows("purchase_order").map((row) => [String(row["purchase_order_id"]), row])),
        effects: this.#rows("effect"),
        catalogue: new Map(this.#rows("variant").map((row) => [String(row["variant_id"]), row["unit_cost"]])),
        storefront: new Map(storefront.map((row) => [String(row["variantId"]), row["unitCost"]])),
        pricesOfOthers: new Set(story.steps.flatMap((step) => (step.do === "price" ? step.unitCost : []))),
      },
      (finding) => this.#tell(finding),
    );
  }

  /** What the storefront can have of a variant: what is synced, with or without each push that was given up without an outcome. */
  #mayHave(variantId: string, synced: number): readonly number[] {
    let may = [synced];
    for (const push of this.#rows("stock_push")) {
      if (push["settled_at"] !== null) continue;
      const items = JSON.parse(String(push["items"])) as readonly SentItem[];
      for (const item of items)
        if (item.variantId === variantId && item.result === null)
          may = [...may, ...may.map((onHand) => onHand + item.delta)];
    }
    return may;
  }

  /** C38: what the outbox had to do was tried often enough, no more often than needed, and in time. */
  #judgeEffects(): void {
    const { story, kills, happened } = this.#course;
    const troubles = story.steps.filter((step) => step.do === "faults" || step.do === "variant");
    const mayRefuse = troubles.some(
      (step) => step.do === "variant" || step.faults.some(({ outcome }) => outcome === "refused"),
    );
    const mayFail = mayRefuse || troubles.some((step) => step.do === "faults" && step.faults.length > 0);
    const isCalm = !mayFail && kills === 0 && !calmWithout.some((each) => happened.has(each));
    for (const row of this.#rows("effect")) {
      const attempts = Number(row["attempts"]);
      const told = `the effect ${row["effect_id"]} (${row["kind"]}, ${row["state"]}, ${attempts} attempts, ${row["detail"]})`;
      if (row["state"] === "failed" && attempts < attemptsMax && !mayRefuse)
        this.#tell(`${told} was given up too early`);
      if (attempts > attemptsMax) this.#tell(`${told} was tried too often`);
      if (isCalm && attempts > 1 && triedOnce.includes(String(row["kind"])))
        this.#tell(`${told} was tried again, and nothing had failed`);
      // By a clock that was set, nobody knows when it was.
      const lateMs = happened.has("clock") ? 0 : this.#lateMs(row);
      if (lateMs > lateMsMax) this.#tell(`${told} was settled ${Math.round(lateMs)} ms after nothing kept it from it`);
    }
  }

  /** How long an effect has taken since it was asked for and nothing went wrong any more. */
  #lateMs(row: Row): number {
    if (row["settled_at"] === null) return 0;
    const settledMs = Number(row["settled_at"]) - startAtMs;
    // A push of stock that is asked for tries again what was given up.
    const pushesMs = this.#attempts.flatMap(({ deed, sentMs }) =>
      deed.op === "sync" && sentMs < settledMs ? sentMs : [],
    );
    return settledMs - Math.max(this.#course.quietFromMs, Number(row["created_at"]) - startAtMs, ...pushesMs);
  }

  /** H1: every request that was answered has one row, with what it was answered, and the chain of hashes has all rows as they are. */
  #judgeAudit(): void {
    for (const { auditId, kind, position, message } of this.#end.auditFindings)
      this.#tell(`the audit log does not verify: ${auditId} ${kind} at link ${position}: ${message}`);
    const rows = new Map<string, Row[]>();
    for (const row of this.#rows("audit_log")) {
      const requestId = String(row["request_id"]);
      rows.set(requestId, [...(rows.get(requestId) ?? []), row]);
    }
    const { kills, happened } = this.#course;
    const mayMiss = kills > 0 || happened.has("full-disk");
    const known = new Set(this.#attempts.map(({ requestId }) => requestId));
    for (const [requestId, found] of rows) {
      if (!known.has(requestId) && requestId !== "req_import")
        this.#tell(`the audit log has ${requestId}, which nobody has sent`);
      if (found.length > 1) this.#tell(`the audit log has ${found.length} rows of ${requestId}`);
    }
    for (const { requestId, reply, deed } of this.#attempts) {
      if (reply === null) continue;
      const [row] = rows.get(requestId) ?? [];
      const isReplay = reply.headers["Idempotent-Replayed"] !== undefined;
      // Rows of what has changed nothing are not synced before the answer leaves, and refusals beyond a rate share rows.
      const isCertain = reply.status < 300 && !isReplay && deed.op !== "read" && deed.op !== "list";
      if (row === undefined) {
        if (isCertain || (!mayMiss && reply.status !== 429))
          this.#tell(`the audit log has no row of ${requestId}, answered ${reply.status}`);
        continue;
      }
      if (row["status"] !== reply.status || (row["replayed"] === 1) !== isReplay)
        this.#tell(`the audit log says ${row["status"]} of ${requestId}, which was answered ${reply.status}`);
    }
  }
}

/** Whether an answer is one that is stored under a key (C19). */
function isKept({ status, body, headers }: NonNullable<Attempt["reply"]>): boolean {
  if (headers["Idempotent-Replayed"] !== undefined || status < 300) return true;
  const told = JSON.parse(body) as { readonly error: { readonly retryable: boolean; readonly reason?: string } };
  return status < 500 && !told.error.retryable && !(told.error.reason ?? "").startsWith("IDEMPOTENCY_");
}
