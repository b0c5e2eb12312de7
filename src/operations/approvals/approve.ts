/**
 * Approving a request (C80): the operation that was asked for is run under the order's present state, in the asker's
 * name.
 *
 * It is run dry first: where that would do something else than the request shows, nothing is done. The last change is
 * compared once more, in its transaction, which also stores the decision. So what was approved is done once, and a
 * request that was decided elsewhere meanwhile changes nothing.
 */
import { Fault } from "../../base/fault.ts";
import { keyOf } from "../../core/access/actor.ts";
import type { ApprovalCause, Cleared } from "../../core/access/approvals.ts";
import {
  rehearsedWrite,
  ordersNamed,
  type RehearsedWrite,
  seenAfter,
} from "../../requests/approvals/rehearsed-write.ts";
import { asFault } from "../../requests/envelope.ts";
import { type Call, type Committed, type Operation, operation } from "../../requests/operation.ts";
import { awaitedOf } from "../../requests/write/awaited.ts";
import { type ApprovalRequest, askerOf, decidedStatement } from "../../shop/access/approval-requests.ts";
import type { Tx } from "../../store/store.ts";
import {
  decision,
  type DecisionAnswer,
  decisionInput,
  decisionOf,
  end,
  ended,
  NotDecider,
  path,
  pendingRequest,
  requireDecider,
  shown,
} from "./decide.ts";

/** The order has changed between the dry run of what was approved and its commit: it is looked at again. */
class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

/** Tries of carrying out what was approved, while its order keeps being changed. */
const approvedTriesMax = 3;

const changedRetryAfterMs = 1_000;

/** True for a refusal that stands: the operation itself refuses, whatever is sent again. */
const isRefusal = (fault: Fault): boolean => !fault.retryable && fault.status < 500;

/** @param find the operation of this name; null: there is none any more. */
export const approveRequestOf = (find: (name: string) => Operation | null) =>
  operation({
    ...decision,
    name: "approval_request_approve",
    title: "Approve a request",
    summary: "Approves what was asked for, and does it.",
    description:
      "It is done under the order's present state, in the name of whoever asked. Where it would do something else by now, it is not done: `status` says `overtaken`, and `now` what it would do. `failed`: it is refused by now.",
    route: { method: "POST", path: `${path}/approve` },
    input: decisionInput,
    faults: [...decision.faults, "UPSTREAM_STOREFRONT"],
    async run(call, { approvalRequestId, comment }) {
      for (let tries = 1; tries <= approvedTriesMax; tries += 1) {
        const request = await call.read(async (tx) => {
          const pending = await pendingRequest(tx, call, approvalRequestId);
          const { isRevoked } = await askerOf(tx, call.shop.shopId, pending);
          if (isRevoked)
            throw new Fault("INVALID_INPUT", "The key that has asked for this is revoked.", { action: "Reject it." });
          await requireDecider(tx, call, pending, pending.causes);
          return pending;
        });
        const asked = find(request.operation);
        const parsed = asked?.input.safeParse(request.input);
        const outcome =
          asked === null || parsed?.success !== true
            ? new Fault("INVALID_INPUT", "This version of the service has no such write any more.")
            : await carriedOut(call, request, asked, { input: parsed.data, comment });
        if (outcome === "again") continue;
        if (!(outcome instanceof Fault)) return outcome;
        const { code, reason, message } = outcome;
        return await ended(call, approvalRequestId, () =>
          Promise.resolve({
            status: "failed",
            decision: { ...decisionOf(call, comment), refusal: { code, reason, message } },
          }),
        );
      }
      throw new Fault("DO_OVERLOADED", "The order kept being changed while this was approved.", {
        action: "Look at the order, and approve it again.",
        retryAfterMs: changedRetryAfterMs,
      });
    },
  });

/** The call in which what was approved is done, in the name of whoever asked. */
const asAsker = ({ actor }: Call, { requestedBy, operation: asked }: ApprovalRequest) => ({
  actor: requestedBy,
  approvedBy: actor,
  operation: asked,
  limitedKeyId: keyOf(requestedBy),
  ifMatch: null,
  ahead: null,
});

/**
 * Does what was approved, if it still is what was asked for.
 *
 * @returns a fault: the operation refuses it. `again`: the order has changed meanwhile.
 */
async function carriedOut(
  call: Call,
  request: ApprovalRequest,
  asked: Operation,
  { input, comment }: { readonly input: unknown; readonly comment: string | null },
): Promise<DecisionAnswer | Fault | "again"> {
  const name = asAsker(call, request);
  try {
    const rehearsed =
      request.begunBy === null
        ? await rehearsedWrite(call, input, (dry) => asked.run({ ...dry, ...name }, input))
        : null;
    if (rehearsed !== null && rehearsed.digest !== request.digest)
      return await ended(call, request.approvalRequestId, async (tx) => {
        await requireDecider(tx, call, request, request.causes);
        return { status: "overtaken", decision: decisionOf(call, comment), now: shownChange(rehearsed) };
      });
    return await approved(call, request, asked, { input, comment, digest: rehearsed?.digest ?? null });
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return "again";
    const fault = asFault(error);
    if (!isRefusal(fault) || fault instanceof NotDecider) throw error;
    return fault;
  }
}

const shownChange = ({ answer, changes }: RehearsedWrite) => ({ preview: answer.data, changes });

/** A write as it was approved. */
interface ApprovedWrite {
  readonly input: unknown;
  readonly comment: string | null;
  /** `changeDigest` of its dry run; null: it was begun before, and is not compared. */
  readonly digest: string | null;
}

/** Runs the operation. Its last change commits with the decision. */
async function approved(
  call: Call,
  request: ApprovalRequest,
  asked: Operation,
  { input, comment, digest }: ApprovedWrite,
): Promise<DecisionAnswer> {
  const { shopId } = call.shop;
  const causes: ApprovalCause[] = [...request.causes];
  const cleared: Cleared[] = [];
  const answered: DecisionAnswer[] = [];
  let isBegun = request.begunBy !== null;
  const checked = async (tx: Tx): Promise<ApprovalRequest> => {
    const pending = await pendingRequest(tx, call, request.approvalRequestId);
    await requireDecider(tx, call, pending, causes);
    return pending;
  };
  const decide = async (tx: Tx): Promise<ApprovalRequest> => {
    const next = { ...(await checked(tx)), status: "approved", decision: decisionOf(call, comment) } as const;
    await end(tx, call, next, cleared.at(-1) ?? null);
    return next;
  };
  await asked.run(
    {
      ...call,
      ...asAsker(call, request),
      needDecision(found, order) {
        causes.push(...found);
        if (found.some(({ cause }) => cause === "rule")) cleared.push(order);
      },
      async change(work) {
        const result = await call.change(async (tx) => {
          const changed = await work(tx);
          if (!isBegun)
            await tx.batch([decidedStatement(shopId, { ...(await checked(tx)), begunBy: call.actor }, null)]);
          return changed;
        });
        isBegun = true;
        return result;
      },
      async commit<Output>(work: (tx: Tx) => Promise<Committed<Output>>) {
        const made: Committed<Output>[] = [];
        const answer = await call.commit(async (tx) => {
          const before = await ordersNamed(tx, shopId, input);
          const committed = await work(tx);
          if (digest !== null && !isBegun && (await seenAfter(tx, shopId, before, committed)).digest !== digest)
            throw new ChangedMeanwhile();
          made.push(committed);
          const next = await decide(tx);
          const { effects, earlierEffectIds = [], mailIds = [] } = committed;
          return { effects, earlierEffectIds, mailIds, answer: () => shown(call, next) };
        });
        answered.push(answer);
        const committed = made.at(-1);
        if (committed === undefined) throw new Error("nothing was committed");
        return committed.answer(awaitedOf(committed).pending);
      },
    },
    input,
  );
  return (
    answered.at(-1) ??
    (await call.commit(async (tx) => {
      const next = await decide(tx);
      return { effects: [], answer: () => shown(call, next) };
    }))
  );
}
