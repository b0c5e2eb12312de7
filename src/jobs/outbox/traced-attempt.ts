/**
 * The span of an attempt at the claimed effects of a lane (C6b). It is under the latest request that asked for one of
 * them, with links to the others.
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import { failureFacts, type Span, type SpanParent, type Spans } from "../../base/spans.ts";
import type { ClaimedEffect } from "../../shop/storefront/effects.ts";
import { traceparentOfRun } from "./step.ts";

/** Of several effects the span has the first of these states. */
const states = ["failed", "pending", "applied", "skipped"] as const;

export class TracedAttempt {
  readonly #spans: Spans;
  readonly #shopId: string;
  #span: Span | null = null;

  constructor(spans: Spans, shopId: string) {
    this.#spans = spans;
    this.#shopId = shopId;
  }

  /** Parent of the spans of its calls. */
  get parent(): SpanParent | null {
    return this.#span?.ids ?? null;
  }

  /** The effects are claimed. Called again, it does nothing. */
  begin(run: readonly ClaimedEffect[]): void {
    const [first] = run;
    if (!this.#spans.recorded || this.#span !== null || first === undefined) return;
    const parent = traceparentOfRun(run);
    const others = new Set(run.flatMap(({ traceparent }) => (traceparent === parent ? [] : (traceparent ?? []))));
    const facts = {
      "openpo.shop.id": this.#shopId,
      "openpo.effect.kind": first.effect.kind,
      "openpo.effect.count": run.length,
      "openpo.effect.attempt": Math.max(...run.map(({ attempts }) => attempts)),
    };
    this.#span = this.#spans.start("effect.attempt", parent, facts, [...others]);
  }

  end(outcomes: ReadonlyMap<string, EffectOutcome>): void {
    const found = new Set([...outcomes.values()].map(({ state }) => state));
    const state = states.find((each) => found.has(each)) ?? null;
    const failed = state === "failed" || state === "pending";
    this.#span?.end({ "openpo.effect.outcome": state, ...(failed ? { "error.type": state } : {}) });
  }

  fail(error: unknown): void {
    this.#span?.end(failureFacts(error));
  }
}
