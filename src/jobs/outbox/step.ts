/**
 * The steps of a run: a change of the shop, then a call of the storefront, then the next change. What all kinds of
 * effects share.
 */
import type { Effect, EffectOutcome } from "../../core/order/effect.ts";
import { type ClaimedEffect, postponeStatement, settleEffectStatement } from "../../shop/storefront/effects.ts";
import type { RecordStamp } from "../../shop/catalogue/record-log.ts";
import type { Stamp } from "../../shop/order/purchase-orders.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Tx } from "../../store/store.ts";
import type { Storefront, StorefrontError } from "../../storefront/storefront.ts";

/** A change of the shop that decides the next step. It may run again if it was not kept, or if that is not known. */
export type Work = (tx: Tx) => Promise<Step>;

export type Step = EndStep | CallStep;

/** The run is over; effects whose outcome is `pending` have been put off. */
interface EndStep {
  readonly kind: "ended";
  readonly outcomes: ReadonlyMap<string, EffectOutcome>;
}

/** Call the storefront, then run the change that its result leads to. */
export interface CallStep {
  readonly kind: "call";
  call(storefront: Storefront, signal: AbortSignal): Promise<Work>;
  failed(error: StorefrontError): Work;
}

/** Tools that a run's steps share besides the transaction. */
export interface WorkContext {
  readonly shopId: string;
  readonly ids: Ids;
  /** References of the stock pushes that this run has inserted, whether or not it knows that the insert was kept. */
  readonly begunPushes: Set<string>;
  readonly now: () => number;
  /** When an effect that has had so many attempts is tried again; null when it has failed for good. */
  retryAtMs(attempts: number, error: StorefrontError | null): number | null;
  leasedUntilMs(): number;
}

/** Under whose name the outbox changes an order. */
export const systemStamp = ({ now, ids }: WorkContext): Stamp => ({
  actor: { type: "system", id: null, name: null },
  operation: null,
  requestId: null,
  nowMs: now(),
  ids,
});

/** Under whose name a run of effects changes records: that of its latest effect. */
export function recordStamp(context: WorkContext, run: readonly ClaimedEffect[]): RecordStamp {
  const latest = run.at(-1);
  if (latest === undefined) throw new Error("a run has no effect");
  const operation = latest.effect.kind.replaceAll("-", "_");
  return { ...systemStamp(context), operation, requestId: latest.effectId };
}

type KindOf<K extends Effect["kind"]> = Extract<Effect, { readonly kind: K }>;

/** Effects of one lane that were claimed together; all of one kind. */
export type Run<K extends Effect["kind"]> = readonly (ClaimedEffect & { readonly effect: KindOf<K> })[];

/** The trace of the latest request that asked for one of these effects; the call is made for all of them. */
export const traceparentOfRun = (run: readonly ClaimedEffect[]): string | null => run.at(-1)?.traceparent ?? null;

export const isKind = <K extends Effect["kind"]>(effect: Effect, kind: K): effect is KindOf<K> => effect.kind === kind;

export const skipped: EffectOutcome = { state: "skipped" };

const pending: EffectOutcome = { state: "pending" };

/** Ends the run: settles its effects, and puts off those whose outcome is `pending`, with `detail` as the reason. */
export async function endRun(
  tx: Tx,
  context: WorkContext,
  run: readonly ClaimedEffect[],
  outcomeOf: (entry: ClaimedEffect) => EffectOutcome,
  detail: string,
  error: StorefrontError | null,
): Promise<Step> {
  const outcomes = new Map(run.map((entry) => [entry.effectId, outcomeOf(entry)]));
  await tx.batch(
    run.map(({ effectId, attempts }) => {
      const outcome = outcomes.get(effectId) ?? pending;
      return outcome.state === "pending"
        ? postponeStatement(context.shopId, effectId, context.retryAtMs(attempts, error) ?? context.now(), detail)
        : settleEffectStatement(context.shopId, effectId, outcome, context.now());
    }),
  );
  return { kind: "ended", outcomes };
}

/** The outcome of an effect without a result: tried again, or failed when this was its last attempt. */
export const retryOrFail = (
  context: WorkContext,
  entry: ClaimedEffect,
  error: StorefrontError | null,
  detail: string,
  itemCount: number,
): EffectOutcome =>
  context.retryAtMs(entry.attempts, error) === null
    ? { state: "failed", detail: `${detail} (tried ${entry.attempts} times).`, itemCount }
    : pending;

/** Ends a run whose call has failed as a whole. */
export const endFailedRun = (
  tx: Tx,
  context: WorkContext,
  run: readonly ClaimedEffect[],
  error: StorefrontError,
): Promise<Step> =>
  endRun(tx, context, run, (entry) => retryOrFail(context, entry, error, error.message, 0), error.message, error);

/** Problems that a detail names. */
const namedProblemsMax = 5;

/** The distinct problems as one sentence. */
export function problemsText(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  const more = distinct.length > namedProblemsMax ? `, and ${distinct.length - namedProblemsMax} more` : "";
  return `${distinct.slice(0, namedProblemsMax).join(", ")}${more}.`;
}
