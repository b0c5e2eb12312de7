/**
 * First attempts of effects inside the transaction of a dry run, which is rolled back (C81). They take the steps of a
 * run (work.ts) with a storefront that only notes what it is told.
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import { type ClaimedEffect, claimLane, loadStandings, pendingLanes } from "../../shop/storefront/effects.ts";
import type { Tx } from "../../store/store.ts";
import { type Storefront, StorefrontError } from "../../storefront/storefront.ts";
import type { CallStep, Work, WorkContext } from "./step.ts";
import { begin } from "./work.ts";

const never = new AbortController().signal;

/** Names dry runs in claims, which are never committed. */
const owner = "dry-run";

/** @returns what became of each of these effects; `pending` where another runner is at work on its lane. */
export async function rehearse(
  tx: Tx,
  context: WorkContext,
  effectIds: readonly string[],
  storefront: Storefront,
): Promise<ReadonlyMap<string, EffectOutcome>> {
  const { shopId } = context;
  for (const lane of await pendingLanes(tx, shopId, effectIds)) {
    const times = { nowMs: context.now(), leasedUntilMs: context.leasedUntilMs() };
    await attempt(tx, context, await claimLane(tx, shopId, lane, owner, times), storefront);
  }
  const standings = await loadStandings(tx, shopId, effectIds);
  return new Map([...standings].map(([effectId, { outcome }]) => [effectId, outcome]));
}

async function attempt(
  tx: Tx,
  context: WorkContext,
  claimed: readonly ClaimedEffect[],
  storefront: Storefront,
): Promise<void> {
  let step = await begin(tx, context, claimed);
  while (step.kind === "call") step = await (await called(step, storefront))(tx);
}

async function called(step: CallStep, storefront: Storefront): Promise<Work> {
  try {
    return await step.call(storefront, never);
  } catch (error) {
    if (error instanceof StorefrontError) return step.failed(error);
    throw error;
  }
}
