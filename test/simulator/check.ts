/**
 * The judge of a simulation: what was told must have come about by the model (world/history.ts) and what is left must be what that makes
 * (world/end.ts), and what only a simulation knows must fit: which refusals had a reason, when effects were tried, and what was written of costs.
 */
import { isDeepStrictEqual } from "node:util";
import { dayMs } from "../../src/base/time/calendar.ts";
import { approvalDefaults } from "../../src/core/access/approvals.ts";
import { storedAnswersBytesMax } from "../../src/requests/idempotency.ts";
import type { Attempt } from "../world/client.ts";
import { answerOf } from "../world/deeds.ts";
import { judgeEnd, type Row, type ShopEnd } from "../world/end.ts";
import { isAboutKey, judgeHistory } from "../world/history.ts";
import { keysOf } from "./callers.ts";
import { judgeCosts } from "./costs.ts";
import { openingOnHand } from "./template.ts";
import { startAtMs } from "./time.ts";
import type { Course } from "./world.ts";

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

/** A call of a storefront that takes longer is given up. */
const callMsMax = 10_000;

/** What may have an effect tried again. */
const calmWithout = ["full-disk", "failing-sync", "clock"] as const;

/** What may have a shop refuse whatever it is asked. A clock that is set is no reason: what waits is not older for it. */
const mayRefuseAll = ["full-disk", "failing-sync", "kill"] as const;

/** Effects that need one attempt. Unit costs that somebody else has set meanwhile are looked at by several. */
const triedOnce: readonly string[] = ["push-stock", "mirror-incoming", "sync-tags"];

/** Refusals that say that nothing was done, and have their reason outside of the order. */
function isOutside(attempt: Attempt, { story, happened }: Course): boolean {
  if (attempt.reply === null) return false;
  const { error } = answerOf(attempt.reply);
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
      if (/kept being changed/.test(error?.message ?? "")) return true;
      if (story.storedAnswersBytesMax < storedAnswersBytesMax && /stored answers/.test(error?.message ?? ""))
        return true;
      return mayRefuseAll.some((each) => happened.has(each));
    default:
      return isAboutKey(error?.reason);
  }
}

class ShopJudge {
  readonly #course: Course;
  readonly #end: ShopEnd;
  readonly #tell: (what: string) => void;
  readonly #attempts: readonly Attempt[];

  constructor(course: Course, end: ShopEnd, tell: (what: string) => void) {
    this.#course = course;
    this.#end = end;
    this.#tell = tell;
    this.#attempts = course.attempts.filter(({ shopId }) => shopId === end.shopId);
  }

  judge(): void {
    const course = this.#course;
    const { shopId, events } = this.#end;
    const attempts = this.#attempts;
    const mayLoseRows = course.kills > 0 || course.happened.has("full-disk");
    const kinds = new Map(keysOf(shopId).map(({ keyId, kind }) => [keyId, kind]));
    const plan = course.story.shops[course.ends.indexOf(this.#end)]?.approvals ?? null;
    const {
      findings: found,
      orders,
      approvals,
    } = judgeHistory({
      shopId,
      attempts,
      events,
      isOutside: (attempt: Attempt) => isOutside(attempt, course),
      approvals: {
        kindOf: (keyId) => kinds.get(keyId) ?? "write",
        limits: course.limits.get(shopId) ?? [],
        ruleAbove: plan?.ruleAbove ?? null,
        endsAfterMs: approvalDefaults.approvalDays * dayMs,
      },
    });
    for (const finding of found) this.#tell(finding);
    // Refusals beyond a rate share rows.
    const mayMissRow = ({ reply }: Attempt): boolean => mayLoseRows || reply?.status === 429;
    judgeEnd({ end: this.#end, attempts, orders, approvals, openingOnHand, mayMissRow, knowsAll: true }, this.#tell);
    this.#judgeReadings();
    this.#judgeCosts();
    this.#judgeEffects();
  }

  #rows(table: string): readonly Row[] {
    return this.#end.tables[table] ?? [];
  }

  /** E2, C58: what was read of the events once stays. */
  #judgeReadings(): void {
    for (const { shopId, events } of this.#course.readings)
      if (shopId === this.#end.shopId && !isDeepStrictEqual(events, this.#end.events.slice(0, events.length)))
        this.#tell("events that were read have changed or gone");
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

  /** C38: what the outbox had to do was tried often enough, no more often than needed, and in time. */
  #judgeEffects(): void {
    const { story, kills, happened } = this.#course;
    const troubles = story.steps.filter((step) => step.do === "faults" || step.do === "variant");
    const mayRefuse = troubles.some(
      (step) => step.do === "variant" || step.faults.some(({ outcome }) => outcome === "refused"),
    );
    const mayFail =
      mayRefuse ||
      troubles.some((step) => step.do === "faults" && (step.faults.length > 0 || step.latencyMs >= callMsMax));
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
}
