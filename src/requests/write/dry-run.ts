/**
 * A dry run of a write (C81): the operation itself, all its changes in one transaction that is rolled back.
 *
 * What the operation looks up elsewhere, such as variants at the storefront, is looked up between two tries of the
 * transaction (S5). Follow-on work is attempted in the transaction, with a storefront that takes everything.
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import { Fault } from "../../base/fault.ts";
import type { Tx } from "../../store/store.ts";
import type { ApprovalCause } from "../../core/access/approvals.ts";
import type { Answer, Call, Committed, Rehearsal } from "../operation.ts";
import { awaitedOf } from "./awaited.ts";
import type { CallDependencies } from "./call.ts";
import { dryStorefront } from "./dry-storefront.ts";
import { LookUps, LookUpsNeeded } from "./look-ups.ts";

/** Ends the transaction of a dry run, which must not be committed. */
class RolledBack extends Error {
  readonly found: Rehearsal;

  constructor(found: Rehearsal) {
    super("a dry run is rolled back");
    this.found = found;
  }
}

/** Rounds of look-ups in one dry run: an operation makes two or three, one after another. */
const lookUpRoundsMax = 8;

const changedRetryAfterMs = 1_000;

/** Dependencies of a dry run. */
interface DryDependencies extends Pick<CallDependencies, "outbox"> {
  /** Runs a transaction of the shop. */
  readonly write: Call["change"];
}

/** @throws Fault what the write would be refused with. */
export async function dryRun(
  deps: DryDependencies,
  call: Call,
  run: (call: Call) => Promise<Answer<unknown>>,
): Promise<Rehearsal> {
  const lookUps = new LookUps();
  for (let rounds = 0; rounds <= lookUpRoundsMax; rounds += 1)
    try {
      await deps.write(async (tx) => {
        const { storefront, writes } = dryStorefront(call.storefront, lookUps);
        const causes: ApprovalCause[] = [];
        const answer = await run(dryCall(deps, call, tx, { storefront, lookUps, causes }));
        throw new RolledBack({ answer, writes: Object.fromEntries(Object.entries(writes).filter(hasAny)), causes });
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
  {
    storefront,
    lookUps,
    causes,
  }: { readonly storefront: Call["storefront"]; readonly lookUps: LookUps; readonly causes: ApprovalCause[] },
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
      documentOf: (of, purchaseOrderId, kind, next) =>
        // No more of the order than what counts: its instants are others in each round.
        lookUps.of(JSON.stringify(["document", of, purchaseOrderId, kind, next?.status, next?.version]), () =>
          real.mailing.documentOf(of, purchaseOrderId, kind, next),
        ),
    },
    read: within,
    readQuery: (query, input) =>
      lookUps.of(JSON.stringify(["query", query.name, input]), () => real.readQuery(query, input)),
    afterwards: () => {},
    needDecision: (found) => void causes.push(...found),
    rehearse: () => Promise.reject(new Error("a dry run is not rehearsed")),
    change: within,
    settle: (effectIds) => outcomesOf(effectIds),
    async commit(work) {
      const result = await work(tx);
      const { effectIds, pending } = awaitedOf(result);
      return await answerOf(tx, result, new Map([...pending, ...(await outcomesOf(effectIds))]));
    },
  };
}

const answerOf = async <Output>(
  tx: Tx,
  { answer, answerAfter }: Pick<Committed<Output>, "answer" | "answerAfter">,
  outcomes: ReadonlyMap<string, EffectOutcome>,
): Promise<Answer<Output>> => (await answerAfter?.(tx, outcomes)) ?? answer(outcomes);
