/**
 * A dry run of a write (C81): the operation itself, all its changes in one transaction that is rolled back.
 *
 * What the operation looks up elsewhere, such as variants at the storefront, is looked up between two tries of the
 * transaction (S5). Follow-on work is attempted in the transaction, with a storefront that takes everything.
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import { Fault } from "../../base/fault.ts";
import type { Tx } from "../../store/store.ts";
import type { Answer, Call, Committed, Operation } from "../operation.ts";
import type { IdentifiedRequest } from "../request.ts";
import { type CallDependencies, nothingStored, openCall, tracingOf } from "./call.ts";
import { dryStorefront, type StorefrontWrites } from "./dry-storefront.ts";
import { LookUps, LookUpsNeeded } from "./look-ups.ts";
import { tracedWrite } from "./traced-write.ts";

/** Answer of a write that was taken back. */
interface DryRun {
  readonly answer: Answer<unknown>;
  /** Messages to the storefront that were not sent; without the kinds of which there is nothing. */
  readonly writes: Partial<StorefrontWrites>;
}

/** Ends the transaction of a dry run, which must not be committed. */
class RolledBack extends Error {
  readonly found: DryRun;

  constructor(found: DryRun) {
    super("a dry run is rolled back");
    this.found = found;
  }
}

/** Rounds of look-ups in one dry run: an operation makes two or three, one after another. */
const lookUpRoundsMax = 8;

const changedRetryAfterMs = 1_000;

/** @throws Fault what the write would be refused with. */
export async function dryRun(
  deps: CallDependencies,
  request: IdentifiedRequest,
  operation: Operation,
  run: (call: Call) => Promise<Answer<unknown>>,
): Promise<DryRun> {
  const { call } = await openCall(deps, request, operation, nothingStored);
  const lookUps = new LookUps();
  for (let rounds = 0; rounds <= lookUpRoundsMax; rounds += 1)
    try {
      await tracedWrite(deps.engine, tracingOf(deps, request.incoming), call.shop.shopId, async (tx) => {
        const { storefront, writes } = dryStorefront(call.storefront, lookUps);
        const answer = await run(dryCall(deps, call, tx, { storefront, lookUps }));
        throw new RolledBack({ answer, writes: Object.fromEntries(Object.entries(writes).filter(hasAny)) });
      });
    } catch (error) {
      if (error instanceof RolledBack) return error.found;
      if (!(error instanceof LookUpsNeeded)) throw error;
      await lookUps.make();
    }
  throw new Fault("DO_OVERLOADED", "The order kept being changed while its variants were looked up.", {
    action: "Send the same request again.",
    retryAfterMs: changedRetryAfterMs,
  });
}

const noWait = 0;

const hasAny = ([, entries]: readonly [string, readonly unknown[]]): boolean => entries.length > 0;

/** The call inside the transaction of its dry run. */
function dryCall(
  { outbox }: Pick<CallDependencies, "outbox">,
  real: Call,
  tx: Tx,
  { storefront, lookUps }: { readonly storefront: Call["storefront"]; readonly lookUps: LookUps },
): Call {
  const { shopId } = real.shop;
  const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => work(tx);
  const outcomesOf = async (effectIds: readonly string[]): Promise<ReadonlyMap<string, EffectOutcome>> =>
    effectIds.length === 0 ? new Map() : await outbox.rehearse(tx, shopId, effectIds, storefront);
  return {
    ...real,
    // Nothing is waited for: what is not done at once is answered as under way.
    shop: { ...real.shop, confirmationWaitMs: noWait },
    ahead: null,
    storefront,
    mailing: {
      ...real.mailing,
      documentOf: (...asked) =>
        lookUps.of(JSON.stringify(["document", asked]), () => real.mailing.documentOf(...asked)),
    },
    read: within,
    readQuery: (query, input) =>
      lookUps.of(JSON.stringify(["query", query.name, input]), () => real.readQuery(query, input)),
    afterwards: () => {},
    change: within,
    settle: (effectIds) => outcomesOf(effectIds),
    async commit(work) {
      const { earlierEffectIds = [], effects, mailIds = [], ...result } = await work(tx);
      const effectIds = [...earlierEffectIds, ...effects.map(({ effectId }) => effectId)];
      const pending = [...effectIds, ...mailIds].map((id): [string, EffectOutcome] => [id, { state: "pending" }]);
      return await answerOf(tx, result, new Map([...pending, ...(await outcomesOf(effectIds))]));
    },
  };
}

const answerOf = async <Output>(
  tx: Tx,
  { answer, answerAfter }: Pick<Committed<Output>, "answer" | "answerAfter">,
  outcomes: ReadonlyMap<string, EffectOutcome>,
): Promise<Answer<Output>> => (await answerAfter?.(tx, outcomes)) ?? answer(outcomes);
