/**
 * The one list of faults that are planted in the program, by name, each with who must find it. test/tidy/planted.test.ts holds that each can still
 * be planted.
 */
import type { Fault } from "../../src/base/fault.ts";
import type { changeDigest, undecidable } from "../../src/core/access/approvals.ts";
import type { KeyLimits } from "../../src/core/access/limits.ts";
import type { readBackCost } from "../../src/core/storefront/cost-sync.ts";
import type { retryDelayMs } from "../../src/jobs/outbox/limits.ts";
import type { createOutbox } from "../../src/jobs/outbox/runner.ts";
import type { Step } from "../../src/jobs/outbox/step.ts";
import type { mirrorIncoming } from "../../src/jobs/outbox/steps/mirror.ts";
import type { planPush } from "../../src/jobs/outbox/steps/stock-push.ts";
import type { AuditTrail } from "../../src/requests/audit/audit-trail.ts";
import type { sameReply } from "../../src/requests/envelope.ts";
import type { createIdempotency, Idempotency, isStoredRefusal } from "../../src/requests/idempotency.ts";
import type { statusNow } from "../../src/requests/approvals/request-json.ts";
import type { end, pendingRequest } from "../../src/operations/approvals/decide.ts";
import type { orderOf, orderToShow } from "../../src/operations/purchase-orders/access.ts";
import type { loadReplacingCost } from "../../src/shop/storefront/cost-sync.ts";
import { loadApprovalRequest } from "../../src/shop/access/approval-requests.ts";
import type { loadSpending } from "../../src/shop/order/order-spend.ts";
import type { effectRow, releaseOthersStatement } from "../../src/shop/storefront/effects.ts";
import type { insertPushStatement } from "../../src/shop/storefront/stock-pushes.ts";
import type { ShopQueue } from "../../src/store/queue.ts";
import type { ShopDoor } from "../../src/store/sqlite/door.ts";
import { changeOf, textForm } from "../../src/store/change.ts";
import { tables } from "../../src/shop/tables.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import type { Around, Inside, Planted } from "./plant.ts";

export const mutantVariable = "OPENPO_MUTANT";

/** Seeds of the simulator within which each is found. */
export const mutantSeedsMax = 500;

interface Breaking {
  /** What it breaks. */
  readonly breaks: string;
  /**
   * Who finds it: seeds of the simulator (`npm run simulate:mutants`), the clients of `npm run test:linear`, both, or a test, where no seed can.
   * Default: the simulator.
   */
  readonly found?: "simulator" | "linear" | "both" | { readonly byTest: string; readonly why: string };
  /** The first seed of the simulator that is played. Default 1. */
  readonly seed?: number;
  /** The engine on which it is one. Default: both. */
  readonly engine?: "sqlite" | "postgres";
}

export type Mutant = (Around | Inside) & Breaking;

/** A fault around something of this type. */
const around = <Original>(
  fault: Omit<Around, "around"> & Breaking & { readonly around: (original: Original) => Original },
): Mutant => fault;

/** A statement that does nothing. */
const nothing = changeOf(textForm(tables.shop, "select 1", []), []);

/** The step, whose call goes to a storefront with other methods. */
const calling = (step: Step, other: (storefront: Storefront) => Partial<Storefront>): Step =>
  step.kind === "call"
    ? { ...step, call: (storefront, signal) => step.call({ ...storefront, ...other(storefront) }, signal) }
    : step;

/** What is kept of answers, with other methods. */
const keeping =
  (other: (made: Idempotency) => Partial<Idempotency>) =>
  (original: typeof createIdempotency): typeof createIdempotency =>
  (deps) => {
    const made = original(deps);
    return { ...made, ...other(made) };
  };

const unrefused = keeping((made) => ({
  refuseIfAnswered: (tx, request) => made.refuseIfAnswered(tx, request).catch(() => 0),
}));

/** Tells what was read up to a second before. */
const remembered = <Args extends readonly [unknown, unknown, string], Order>(
  original: (...args: Args) => Promise<Order>,
): typeof original => {
  const kept = new Map<string, { readonly at: number; readonly order: Order }>();
  return async (...args) => {
    const known = kept.get(args[2]);
    if (known !== undefined && performance.now() - known.at < 1_000) return known.order;
    const order = await original(...args);
    kept.set(args[2], { at: performance.now(), order });
    return order;
  };
};

export const mutants: readonly Mutant[] = [
  // The audit log.
  around<AuditTrail["statements"]>({
    name: "link-without-head",
    file: "src/requests/audit/audit-trail.ts",
    of: "AuditTrail.statements",
    around: (original) =>
      async function (this: AuditTrail, ...args) {
        return (await original.apply(this, args)).slice(0, -1);
      },
    breaks: "D350: the head does not follow the links",
  }),
  {
    name: "row-changed-without-link",
    file: "src/requests/perform.ts",
    inside: "replaceAnswer",
    from: "        ...(await auditTrail.statements(tx, shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])),",
    to: "        ...(await auditTrail.statements(tx, shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])).slice(0, 1),",
    breaks: "D350: a row that is written again is in no later link",
  },
  // The embedded engine.
  {
    name: "answers-before-sync",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#turn",
    from: "if (file.synced) for (const settle of whenSynced) settle();",
    to: "if (whenSynced.length >= 0) for (const settle of whenSynced) settle();",
    breaks: "S4: a write is acknowledged before its sync",
  },
  around<ShopDoor["read"]>({
    name: "reads-before-sync",
    file: "src/store/sqlite/door.ts",
    of: "ShopDoor.read",
    around: (original) =>
      function (this: ShopDoor, work, _gated, onSeen) {
        return original.call(this, work, false, onSeen) as never;
      },
    breaks: "S4: a read tells what is not on disk",
  }),
  {
    name: "no-sync",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.commit",
    from: "    if (mustSync || this.#moveDue) this.#sync();",
    to: "    if (mustSync) this.#synced = this.#due;\n    if (this.#moveDue) this.#sync();",
    breaks: "W1: commits are never synced",
  },
  {
    name: "sync-covers-later-commits",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.#sync",
    from: "      this.#synced = covered;",
    to: "      this.#synced = this.#due;",
    breaks: "W1: a sync counts for commits that were made after it began",
  },
  {
    name: "wal-name-not-synced",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.#syncWal",
    from: "    if (this.#isListed) {",
    to: "    if (!this.#isListed || this.#isListed) {",
    breaks: "W1: the name of the -wal file is not on disk when its content is",
  },
  {
    name: "found-wal-not-synced",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.constructor",
    from: "if (!migrated && this.#isWalEmpty) return;",
    to: "if (!migrated) return;",
    breaks: "W8: what a killed process has committed and not synced is told by the next one before it is on disk",
    found: {
      byTest: "test/store/sqlite/found-wal.test.ts",
      why: "a process must be killed within a sync, and the power be cut after the next one has told of it and before that one syncs anything",
    },
  },
  {
    name: "move-not-synced",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.#move",
    from: "      fdatasync(main, (error) => {",
    to: "      setImmediate((error: Error | null = null) => {",
    breaks: "W3: the -wal file is begun anew before the database file is synced",
  },
  {
    name: "unsynced-pages-are-moved",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.#sync",
    from: "      if (this.#moveDue && commits === this.#commits) this.#moveWal();",
    to: "      if (this.#moveDue) this.#moveWal();",
    breaks:
      "W3: what was committed during a sync is moved out of the -wal file before it is synced; a power cut then damages the file",
    seed: 2_450,
  },
  {
    name: "failed-sync-is-forgotten",
    file: "src/store/sqlite/file.ts",
    inside: "ShopFile.#sync",
    from: "      if (error !== null) {\n        this.#fail(error);\n        return;\n      }\n      this.#synced = covered;",
    to: "      this.#synced = covered;",
    breaks: "W4: a failed sync counts as one",
  },
  {
    name: "refused-write-is-kept",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#runGroup",
    from: "        if (!keep && tx.wrote) {",
    to: "        if (!keep && tx.wrote && group.length === 1) {",
    breaks: "S2: of writes that are committed together a failed one is kept",
  },
  {
    name: "writes-before-a-refused-one-are-lost",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#runGroup",
    from: "          file.beginWith(kept.flat());",
    to: "          file.begin();",
    breaks: "S2: of writes that are committed together those before a failed one are acknowledged and not kept",
  },
  {
    name: "full-disk-is-acknowledged",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#runGroup",
    from: "      this.#abandon(file, error);\n      throw error instanceof StoreFailure ? error.fault : error;",
    to: "      this.#abandon(file, error);\n      if (!(error instanceof StoreFailure)) throw error;",
    breaks: "S2: what a full disk has not taken is acknowledged",
  },
  {
    name: "group-runs-backwards",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#runGroup",
    from: "      for (const write of group) {\n        if (result.left",
    to: "      for (const write of [...group].reverse()) {\n        if (result.left",
    breaks: "S1: writes are not run in the order in which they were accepted",
  },
  // The queue.
  around<typeof ShopQueue>({
    name: "waits-by-the-time-of-day",
    file: "src/store/queue.ts",
    of: "ShopQueue",
    around: (original) =>
      new Proxy(original, {
        construct: (target, [options]: ConstructorParameters<typeof ShopQueue>) =>
          new target({ elapsedMs: () => Date.now(), ...options }),
      }),
    breaks: "Q2: what waits is refused when the clock is set forward",
  }),
  // The outbox.
  around<typeof insertPushStatement>({
    name: "push-not-stored-first",
    file: "src/shop/storefront/stock-pushes.ts",
    of: "insertPushStatement",
    around: () => () => nothing,
    breaks: "S3: a push is sent under a reference that is not stored",
  }),
  around<typeof planPush>({
    name: "new-reference-on-resend",
    file: "src/jobs/outbox/steps/stock-push.ts",
    of: "planPush",
    around:
      (original) =>
      async (...args) => {
        const step = await original(...args);
        let calls = 0;
        return calling(step, (storefront) => ({
          changeOnHand: (changes, write) =>
            storefront.changeOnHand(changes, {
              ...write,
              reference: `${write.reference}-${performance.now()}-${(calls += 1)}`,
            }),
        }));
      },
    breaks: "F1: a push is repeated under another reference",
  }),
  around<typeof planPush>({
    name: "unknown-counts-as-not-landed",
    file: "src/jobs/outbox/steps/stock-push.ts",
    of: "planPush",
    around:
      (original) =>
      async (...args) => {
        const step = await original(...args);
        if (step.kind !== "call") return step;
        return { ...step, failed: (error) => step.failed(Object.create(error, { landed: { value: "no" } })) };
      },
    breaks: "F3: a push whose answer was lost counts as not landed",
  }),
  {
    name: "landed-twice",
    file: "src/jobs/outbox/steps/stock-push.ts",
    inside: "recordPush",
    from: '    item.result === null ? { ...item, result: resultOf(results[index], shown[index] === true) } : item,\n  );\n  const landed = items.filter((item, index) => item.result?.outcome === "landed" && sent.items[index]?.result === null);',
    to: '    item.result === null ? { ...item, result: resultOf(results[index], shown[index] === true) } : item,\n  );\n  const landed = [...items, ...items].filter((item) => item.result?.outcome === "landed");',
    breaks: "C40: what has landed is counted twice in the shop's own stock",
  },
  around<typeof releaseOthersStatement>({
    name: "claims-survive-a-restart",
    file: "src/shop/storefront/effects.ts",
    of: "releaseOthersStatement",
    around: () => () => nothing,
    breaks: "O1: the claims of a process that died are not released at the next start",
    found: {
      byTest: "test/outbox/outbox.test.ts",
      why: "the work is done when the lease ends, so that a story comes to the same end",
    },
  }),
  around<typeof createOutbox>({
    name: "nothing-is-resumed",
    file: "src/jobs/outbox/runner.ts",
    of: "createOutbox",
    around: (original) => (options) => original({ ...options, shopsToResume: async function* () {} }),
    breaks: "C38: effects that a crash has left are not resumed",
  }),
  around<typeof retryDelayMs>({
    name: "no-retries",
    file: "src/jobs/outbox/limits.ts",
    of: "retryDelayMs",
    around:
      (original) =>
      (limits, ...args) =>
        original({ ...limits, attemptsMax: 1 }, ...args),
    breaks: "C38: a storefront that fails once is given up",
  }),
  around<typeof mirrorIncoming>({
    name: "incoming-of-before",
    file: "src/jobs/outbox/steps/mirror.ts",
    of: "mirrorIncoming",
    around:
      (original) =>
      async (...args) =>
        calling(await original(...args), (storefront) => ({
          setIncoming: (levels, context) =>
            storefront.setIncoming(
              levels.map((level) =>
                level.incoming < 1_000 ? { ...level, incoming: 1_000 as typeof level.incoming } : level,
              ),
              context,
            ),
        })),
    breaks: "C41: the storefront is told a wrong incoming quantity",
  }),
  around<typeof mirrorIncoming>({
    name: "one-effect-of-a-run",
    file: "src/jobs/outbox/steps/mirror.ts",
    of: "mirrorIncoming",
    around: (original) => async (tx, work, locationId, run) => {
      const last = run.at(-1)?.effect.variantIds ?? [];
      return calling(await original(tx, work, locationId, run), (storefront) => ({
        async setIncoming(levels, context) {
          const told = levels.filter(({ variantId }) => last.includes(variantId));
          const results = await storefront.setIncoming(told, context);
          return levels.flatMap((level) => results[Math.max(0, told.indexOf(level))] ?? []);
        },
      }));
    },
    breaks: "C41: of effects that are claimed together only the last is carried out",
  }),
  around<typeof effectRow>({
    name: "effects-outside-the-commit",
    file: "src/shop/storefront/effects.ts",
    of: "effectRow",
    around:
      (made) =>
      (...asked) => ({ ...made(...asked), state: "skipped" }),
    breaks: "S3: what a change asks for is not in the outbox",
  }),
  // Unit costs that are read back.
  around<typeof loadReplacingCost>({
    name: "replaced-cost-has-failed",
    file: "src/shop/storefront/cost-sync.ts",
    of: "loadReplacingCost",
    around: () => () => Promise.resolve(null),
    breaks: "C45: a cost that was written and replaced since counts as failed",
  }),
  around<typeof readBackCost>({
    name: "any-cost-counts-as-ours",
    file: "src/core/storefront/cost-sync.ts",
    of: "readBackCost",
    around: (original) => (row, shown, replacing) =>
      shown === null ? original(row, shown, replacing) : { outcome: "applied", reason: null },
    breaks: "C45: a cost counts as applied though the storefront shows another one",
  }),
  // Idempotency.
  {
    name: "no-claim",
    file: "src/requests/idempotency.ts",
    inside: "claimedAttempt",
    from: "      runs = isHeld;\n      if (holder === null) return",
    to: "      runs = isHeld = true;\n      if (record === null) return",
    breaks: "C19: two attempts under a key run at the same time",
  },
  around<typeof createIdempotency>({
    name: "answer-not-stored",
    file: "src/requests/idempotency.ts",
    of: "createIdempotency",
    around: keeping(() => ({ storeStatements: () => Promise.resolve([]) })),
    breaks: "C20: the answer does not commit with its change",
    found: "both",
  }),
  {
    name: "answer-stored-afterwards",
    file: "src/requests/write/call.ts",
    inside: "lastChange",
    from: "  await tx.batch(await store.statements(tx, reply));\n  // Without",
    to: "  if (effectIds.length === 0) await tx.batch(await store.statements(tx, reply));\n  // Without",
    breaks: "C20: with follow-on work, the answer is stored after the change",
  },
  around<typeof sameReply>({
    name: "answer-is-changed",
    file: "src/requests/envelope.ts",
    of: "sameReply",
    around: (original) => (one, other) => !original(one, other),
    breaks: "C18: a replay tells the first answer, not the last",
  }),
  around<typeof isStoredRefusal>({
    name: "refusals-not-stored",
    file: "src/requests/idempotency.ts",
    of: "isStoredRefusal",
    around:
      () =>
      (_error): _error is Fault =>
        false,
    breaks: "C19: a refusal is not stored under the key",
  }),
  around<typeof createIdempotency>({
    name: "stored-refusal-of-everything",
    file: "src/requests/idempotency.ts",
    of: "createIdempotency",
    around: unrefused,
    breaks: "H2: an attempt does not look whether another has stored its answer",
    found: {
      byTest: "test/nodes/keys.test.ts",
      why: "a second line of defence: in one process the claim in memory keeps the second attempt away",
    },
  }),
  around<typeof createIdempotency>({
    name: "neither-claim-nor-refusal",
    file: "src/requests/idempotency.ts",
    of: "createIdempotency",
    around: unrefused,
    breaks: "H2, C19: both lines of defence are gone, and a request under a key has two effects",
    with: "no-claim",
  }),
  around<typeof createIdempotency>({
    name: "keys-shared-by-all",
    file: "src/requests/idempotency.ts",
    of: "createIdempotency",
    around: keeping(() => ({ wasAnswered: () => Promise.resolve(false) })),
    breaks: "C18: an answered key takes a token, and its body is not looked at first",
  }),
  around<typeof createIdempotency>({
    name: "replay-with-its-own-request-id",
    file: "src/requests/idempotency.ts",
    of: "createIdempotency",
    around: keeping((made) => ({
      async replayOf(request, stored) {
        const reply = await made.replayOf(request, stored);
        const { requestId } = request;
        return { ...reply, body: reply.body.replace(requestId, "").replace(/req_\d+/, requestId) };
      },
    })),
    breaks: "C18: a replay is not byte for byte the first answer",
  }),
  // Approvals.
  around<typeof pendingRequest>({
    name: "decided-again",
    file: "src/operations/approvals/decide.ts",
    of: "pendingRequest",
    around: (original) => async (tx, call, approvalRequestId) => {
      const request = await loadApprovalRequest(tx, call.shop.shopId, approvalRequestId);
      return request === null || request.status === "pending" ? await original(tx, call, approvalRequestId) : request;
    },
    breaks: "C80: a request that was decided is decided again, and acts again",
  }),
  around<typeof pendingRequest>({
    name: "decided-at-the-same-time",
    file: "src/operations/approvals/decide.ts",
    of: "pendingRequest",
    around: (original) => {
      const looked = new Map<string, ReturnType<typeof original>>();
      return (tx, call, approvalRequestId) => {
        const request = looked.get(call.requestId) ?? original(tx, call, approvalRequestId);
        looked.set(call.requestId, request);
        return request;
      };
    },
    breaks: "C80: whether a request waits is not looked at again in the change that it makes",
  }),
  around<typeof changeDigest>({
    name: "any-change-is-approved",
    file: "src/core/access/approvals.ts",
    of: "changeDigest",
    around: () => () => "any",
    breaks: "C80: what is done is not compared with what whoever approved it was shown",
  }),
  around<(call: never, request: never, asked: never, write: object) => object>({
    name: "changed-while-it-is-approved",
    file: "src/operations/approvals/approve.ts",
    of: "approved",
    around: (original) => (call, request, asked, write) => original(call, request, asked, { ...write, digest: null }),
    breaks: "C80: an order that changes between the dry run of what is approved and its commit is changed all the same",
  }),
  around<typeof end>({
    name: "decision-after-its-change",
    file: "src/operations/approvals/decide.ts",
    of: "end",
    around: (original) => async (tx, call, request, cleared) => {
      if (request.status !== "approved") await original(tx, call, request, cleared);
      else setImmediate(() => void call.change((later) => original(later, call, request, cleared)).catch(() => {}));
    },
    breaks: "C80: a decision is stored after what it has done, and a crash in between does it again",
  }),
  around<typeof statusNow>({
    name: "nothing-expires",
    file: "src/requests/approvals/request-json.ts",
    of: "statusNow",
    around:
      () =>
      ({ status }) =>
        status,
    breaks: "C80: a request is decided that has expired",
  }),
  around<typeof undecidable>({
    name: "anybody-decides",
    file: "src/core/access/approvals.ts",
    of: "undecidable",
    around: () => () => null,
    breaks: "C79: who has asked approves it himself",
  }),
  around<(...args: readonly never[]) => object>({
    name: "approved-by-nobody",
    file: "src/operations/approvals/approve.ts",
    of: "asAsker",
    around:
      (original) =>
      (...args) => ({ ...original(...args), approvedBy: null }),
    breaks: "C80: the log does not name who has approved",
  }),
  around<(...args: readonly never[]) => object>({
    name: "approved-counts-for-nobody",
    file: "src/operations/approvals/approve.ts",
    of: "asAsker",
    around:
      (original) =>
      (...args) => ({ ...original(...args), limitedKeyId: null }),
    breaks: "C78: what was approved does not count towards the limits of the key that has asked",
  }),
  around<typeof loadSpending>({
    name: "cap-of-before",
    file: "src/shop/order/order-spend.ts",
    of: "loadSpending",
    around: (original) => {
      const before = new Map<string, KeyLimits>();
      return async (tx, shopId, keyId, today) => {
        const spending = await original(tx, shopId, keyId, today);
        if (spending === null) return null;
        const limits = before.get(`${shopId} ${keyId}`) ?? spending.limits;
        before.set(`${shopId} ${keyId}`, limits);
        return { ...spending, limits };
      };
    },
    breaks: "C78: a cap that was lowered still counts as it was",
  }),
  // What the others rest on.
  around<{ readonly sql: string }>({
    name: "event-number-from-the-process",
    file: "src/shop/events/events.ts",
    of: "insertEvent",
    around: (form) => ({
      ...form,
      sql: form.sql.replace("0) + 1 from", "0) + 1 + (case when max(sequence) % 7 = 6 then 1 else 0 end) from"),
    }),
    breaks: "E2: the sequence of events has gaps",
  }),
  // What clients that ask at the same time are told.
  around<(...args: readonly never[]) => boolean>({
    name: "stale-memory",
    file: "src/store/cache.ts",
    of: "stands",
    around:
      (original) =>
      (...args) =>
        original(...args) || Math.random() < 0.5,
    breaks: "D111: what is remembered is answered though its rows have changed",
    found: "linear",
    engine: "sqlite",
  }),
  around<typeof orderToShow>({
    name: "stale-read",
    file: "src/operations/purchase-orders/access.ts",
    of: "orderToShow",
    around: remembered,
    breaks: "S1: a read is answered with what was read up to a second before",
    found: "linear",
  }),
  around<typeof orderOf>({
    name: "lost-update",
    file: "src/operations/purchase-orders/access.ts",
    of: "orderOf",
    around: remembered,
    breaks: "S1: a change is decided on an order that others have changed meanwhile",
    found: "linear",
  }),
  around<(schemaName: string, shopId: string, marked: boolean) => object>({
    name: "turn-without-lock",
    file: "src/store/postgres/engine.ts",
    of: "turnOf",
    around: (original) => (schemaName, shopId, marked) => ({
      ...original(schemaName, shopId, marked),
      text: `select "${schemaName}".engine_append($1)::text || ${String(marked)} as opened`,
    }),
    breaks: "S1: nodes change a shop at the same time",
    found: "linear",
    engine: "postgres",
  }),
  {
    name: "answer-before-commit",
    file: "src/requests/write/call.ts",
    inside: "openCallAs",
    from: "change((tx) => lastChange(tx, store, release, work));",
    to: `new Promise<Awaited<ReturnType<typeof lastChange<Output>>>>((resolve, reject) => {
      change(async (tx) => {
        const done = await lastChange(tx, store, release, work);
        resolve(done);
        return done;
      }).catch(reject);
    });`,
    breaks: "S4: a change is acknowledged before it is committed",
    found: "linear",
    engine: "postgres",
  },
  {
    name: "acknowledged-and-rolled-back",
    file: "src/store/sqlite/door.ts",
    inside: "ShopDoor.#runGroup",
    from: "        if (!keep && tx.wrote) {",
    to: "        const writes = ((globalThis as any).writesRun = ((globalThis as any).writesRun ?? 0) + 1);\n        const isLost = keep && writes > 200 && Math.random() < 0.1;\n        if (isLost) kept.pop();\n        if (isLost || (!keep && tx.wrote)) {",
    breaks: "S4: a change is acknowledged and not kept",
    found: "linear",
    engine: "sqlite",
  },
];

/** A change that is no fault: short recordings of calls on files (faults/power-cuts.ts) have many moves of a `-wal` file into its database file. */
export const fewPages: Planted = {
  name: "few-pages",
  file: "src/store/sqlite/file.ts",
  of: "defaultWalPagesMax",
  around: () => 60,
};

/** What takes the place of what a fault of this name stands around. Loaded modules ask. */
export function aroundOf(name: string): Around["around"] {
  const found = [...mutants, fewPages].find((each) => each.name === name);
  if (found === undefined || !("of" in found)) throw new Error(`${name} stands around nothing`);
  return found.around;
}

/** Whether seeds of the simulator find it. */
export const isOfSimulator = ({ found = "simulator" }: Mutant): boolean => found === "simulator" || found === "both";

/** Whether the clients of world/load.ts are told something impossible by it, on this engine. */
export const isOfLinear = ({ found, engine }: Mutant, on: "sqlite" | "postgres"): boolean =>
  (found === "linear" || found === "both") && (engine === undefined || engine === on);
