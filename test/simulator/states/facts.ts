/** What a course shows of one shop, as the table of states (table.ts) asks for it. */
import { isReplay } from "../../../src/requests/envelope.ts";
import type { CallerKind } from "../../world/approvals.ts";
import type { Attempt } from "../../world/client.ts";
import { answerOf, type Deed } from "../../world/deeds.ts";
import type { Row, ShopEnd } from "../../world/end.ts";
import type { EventTold } from "../../world/history.ts";
import { keysOf } from "../callers.ts";
import type { Course } from "../world.ts";
import type { StorefrontCall } from "./watch.ts";

/** A request that was sent once. */
export interface Told extends Attempt {
  /** 0: no answer has come. */
  readonly status: number;
  /** Of a refusal. */
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly isReplay: boolean;
  /** It has changed something. */
  readonly isDone: boolean;
  readonly by: CallerKind;
}

/** True if both were under way at the same time. */
export const isBeside = (one: Told, other: Told): boolean =>
  one !== other && one.sentAt < other.answeredAt && other.sentAt < one.answeredAt;

/** True if one of the list is followed by another, by these looks. */
export function isFollowed<Each>(
  list: readonly Each[],
  first: (each: Each) => boolean,
  then: (each: Each, first: Each) => boolean,
): boolean {
  return list.some((one, index) => first(one) && list.slice(index + 1).some((other) => then(other, one)));
}

const isAboutOrder = ({ type }: EventTold): boolean => type.startsWith("purchase_order.");

export class ShopFacts {
  readonly course: Course;
  readonly shopId: string;
  readonly told: readonly Told[];
  /** Those with the same idempotency key and the same content, in the order in which they were sent. */
  readonly chains: readonly (readonly Told[])[];
  readonly events: readonly EventTold[];
  /** The events of each order. */
  readonly orders: readonly (readonly EventTold[])[];
  readonly calls: readonly StorefrontCall[];
  readonly #tables: ShopEnd["tables"];

  constructor(course: Course, { shopId, events, tables }: ShopEnd) {
    this.course = course;
    this.shopId = shopId;
    this.events = events;
    this.#tables = tables;
    const done = new Set(
      events.filter((event) => !/^(?:storefront|cost)_sync/.test(event.type)).map((event) => event.requestId),
    );
    const kinds = new Map(keysOf(shopId).map(({ keyId, kind }) => [keyId, kind]));
    this.told = course.attempts.flatMap((attempt): Told | [] => {
      if (attempt.shopId !== shopId) return [];
      const { reply } = attempt;
      const {
        code = "",
        reason = "",
        message = "",
      } = reply === null || reply.status < 400 ? {} : (answerOf(reply).error ?? {});
      return {
        ...attempt,
        status: reply?.status ?? 0,
        code,
        reason,
        message,
        isReplay: reply !== null && isReplay(reply),
        isDone: done.has(attempt.requestId),
        by: kinds.get(attempt.keyId) ?? "write",
      };
    });
    const keyed = this.told.filter(({ idempotencyKey }) => idempotencyKey !== null);
    this.chains = [...Map.groupBy(keyed, ({ chain, clashes }) => `${chain} ${clashes}`).values()];
    this.orders = [...Map.groupBy(events.filter(isAboutOrder), ({ data }) => data.purchaseOrderId).values()];
    this.calls = course.watch.calls.filter((call) => call.shopId === shopId);
  }

  rows(table: string): readonly Row[] {
    return this.#tables[table] ?? [];
  }

  /** Some request was answered so. */
  isTold(look: (told: Told) => boolean): boolean {
    return this.told.some(look);
  }

  /** Requests with this deed. */
  of(op: Deed["op"]): readonly Told[] {
    return this.told.filter(({ deed }) => deed.op === op);
  }

  /** A request is followed by another one under its key. */
  isRepeated(first: (told: Told) => boolean, then: (told: Told, first: Told) => boolean): boolean {
    return this.chains.some((chain) => isFollowed(chain, first, then));
  }

  /** An order has an event of the first type, and then one of each other. */
  hasOrder(...types: readonly string[]): boolean {
    return this.orders.some((events) => {
      let at = 0;
      for (const { type } of events) if (type === `purchase_order.${types[at]}`) at += 1;
      return at >= types.length;
    });
  }

  /** Some effect of this kind has ended so. */
  hasEffect(kind: string, look: (row: Row) => boolean): boolean {
    return this.rows("effect").some((row) => row["kind"] === kind && look(row));
  }

  /** A call is followed by another one under its reference. */
  isCalledAgain(
    first: (call: StorefrontCall) => boolean,
    then: (call: StorefrontCall, first: StorefrontCall) => boolean,
  ): boolean {
    const byReference = Map.groupBy(
      this.calls.filter(({ reference }) => reference !== null),
      ({ name, reference }) => `${name} ${reference}`,
    );
    return [...byReference.values()].some((calls) => calls.length > 1 && isFollowed(calls, first, then));
  }
}
