import type { Effect, EffectOutcome } from "../core/effect.ts";
import { type ClaimedEffect, putOffStatement, settleEffectStatement } from "../shop/effects.ts";
import type { Ids, Tx } from "../store/store.ts";
import type { Storefront, StorefrontError } from "../storefront/storefront.ts";

/** A change of the shop that ends in the next step. It may be run again if it was not kept, or if that is not known. */
export type Work = (tx: Tx) => Promise<Step>;

export type Step =
  /** Through for now; effects that are `pending` have been put off. */
  | { readonly kind: "ended"; readonly outcomes: ReadonlyMap<string, EffectOutcome> }
  /** Call the storefront, then go on with what the call gives. */
  | {
      readonly kind: "call";
      call(storefront: Storefront, signal: AbortSignal): Promise<Work>;
      failed(error: StorefrontError): Work;
    };

/** What steps are told beside the transaction. */
export interface WorkContext {
  readonly shopId: string;
  readonly ids: Ids;
  /** References of the stock pushes that this run has put down, whether or not the write was told as kept. */
  readonly begunPushes: Set<string>;
  now(): number;
  /** When an effect that has been tried so often is tried again; null when it is given up. */
  retryAtMs(attempts: number, error: StorefrontError | null): number | null;
  leasedUntilMs(): number;
}

type KindOf<K extends Effect["kind"]> = Extract<Effect, { readonly kind: K }>;

/** Effects of one lane, claimed together; a lane holds one kind. */
export type Run<K extends Effect["kind"]> = readonly (ClaimedEffect & { readonly effect: KindOf<K> })[];

export const isKind = <K extends Effect["kind"]>(effect: Effect, kind: K): effect is KindOf<K> => effect.kind === kind;

export const skipped: EffectOutcome = { state: "skipped" };

const pending: EffectOutcome = { state: "pending" };

/** Settles effects, or puts off those that are `pending`. `detail` says what came in their way. */
export async function end(
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
        ? putOffStatement(context.shopId, effectId, context.retryAtMs(attempts, error) ?? context.now(), detail)
        : settleEffectStatement(context.shopId, effectId, outcome, context.now());
    }),
  );
  return { kind: "ended", outcomes };
}

/** Tried again, or failed when that was the last time. */
export const again = (
  context: WorkContext,
  entry: ClaimedEffect,
  error: StorefrontError | null,
  detail: string,
  itemCount: number,
): EffectOutcome =>
  context.retryAtMs(entry.attempts, error) === null
    ? { state: "failed", detail: `${detail} (tried ${entry.attempts} times).`, itemCount }
    : pending;

/** Problems that a detail spells out. */
const namedProblemsMax = 5;

export function problemsText(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  const more = distinct.length > namedProblemsMax ? `, and ${distinct.length - namedProblemsMax} more` : "";
  return `${distinct.slice(0, namedProblemsMax).join(", ")}${more}.`;
}

/** The call failed as a whole. */
export const retry = (
  tx: Tx,
  context: WorkContext,
  run: readonly ClaimedEffect[],
  error: StorefrontError,
): Promise<Step> =>
  end(tx, context, run, (entry) => again(context, entry, error, error.message, 0), error.message, error);
