/**
 * The one list of faults that are planted in the program, by name, each with who must find it. test/tidy/planted.test.ts holds that each can still
 * be planted.
 */
import type { Planted } from "./plant.ts";

export const mutantVariable = "OPENPO_MUTANT";

/** Seeds of the simulator within which each is found. */
export const mutantSeedsMax = 500;

export interface Mutant extends Planted {
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

export const mutants: readonly Mutant[] = [
  // The audit log.
  {
    name: "link-without-head",
    file: "src/requests/audit/audit-trail.ts",
    from: "    return statements;",
    to: "    return statements.slice(0, -1);",
    breaks: "D350: the head does not follow the links",
  },
  {
    name: "row-changed-without-link",
    file: "src/requests/perform.ts",
    from: "        ...(await auditTrail.statements(tx, shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])),",
    to: "        ...(await auditTrail.statements(tx, shop.shopId, [auditEntryOf(request, reply, { nowMs: clock.now() })])).slice(0, 1),",
    breaks: "D350: a row that is written again is in no later link",
  },
  // The embedded engine.
  {
    name: "answers-before-sync",
    file: "src/store/sqlite/door.ts",
    from: "if (file.synced) for (const settle of whenSynced) settle();",
    to: "if (whenSynced.length >= 0) for (const settle of whenSynced) settle();",
    breaks: "S4: a write is acknowledged before its sync",
  },
  {
    name: "reads-before-sync",
    file: "src/store/sqlite/door.ts",
    from: "if (gated && !file.synced)",
    to: "if (gated && !file.synced && file.busy && file.untilMoved !== null)",
    breaks: "S4: a read tells what is not on disk",
  },
  {
    name: "no-sync",
    file: "src/store/sqlite/file.ts",
    from: "    if (mustSync || this.#moveDue) this.#sync();",
    to: "    if (mustSync) this.#synced = this.#due;\n    if (this.#moveDue) this.#sync();",
    breaks: "W1: commits are never synced",
  },
  {
    name: "sync-covers-later-commits",
    file: "src/store/sqlite/file.ts",
    from: "      this.#synced = covered;",
    to: "      this.#synced = this.#due;",
    breaks: "W1: a sync counts for commits that were made after it began",
  },
  {
    name: "wal-name-not-synced",
    file: "src/store/sqlite/file.ts",
    from: "    if (this.#isListed) {",
    to: "    if (!this.#isListed || this.#isListed) {",
    breaks: "W1: the name of the -wal file is not on disk when its content is",
  },
  {
    name: "found-wal-not-synced",
    file: "src/store/sqlite/file.ts",
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
    from: "      fdatasync(main, (error) => {",
    to: "      setImmediate((error: Error | null = null) => {",
    breaks: "W3: the -wal file is begun anew before the database file is synced",
  },
  {
    name: "unsynced-pages-are-moved",
    file: "src/store/sqlite/file.ts",
    from: "      if (this.#moveDue && commits === this.#commits) this.#moveWal();",
    to: "      if (this.#moveDue) this.#moveWal();",
    breaks:
      "W3: what was committed during a sync is moved out of the -wal file before it is synced; a power cut then damages the file",
    seed: 2_450,
  },
  {
    name: "failed-sync-is-forgotten",
    file: "src/store/sqlite/file.ts",
    from: "      if (error !== null) {\n        this.#fail(error);\n        return;\n      }\n      this.#synced = covered;",
    to: "      this.#synced = covered;",
    breaks: "W4: a failed sync counts as one",
  },
  {
    name: "refused-write-is-kept",
    file: "src/store/sqlite/door.ts",
    from: "        if (!keep && tx.wrote) {",
    to: "        if (!keep && tx.wrote && group.length === 1) {",
    breaks: "S2: of writes that are committed together a failed one is kept",
  },
  {
    name: "writes-before-a-refused-one-are-lost",
    file: "src/store/sqlite/door.ts",
    from: "          file.beginWith(kept.flat());",
    to: "          file.begin();",
    breaks: "S2: of writes that are committed together those before a failed one are acknowledged and not kept",
  },
  {
    name: "full-disk-is-acknowledged",
    file: "src/store/sqlite/door.ts",
    from: "      this.#abandon(file, error);\n      throw error instanceof StoreFailure ? error.fault : error;",
    to: "      this.#abandon(file, error);\n      if (!(error instanceof StoreFailure)) throw error;",
    breaks: "S2: what a full disk has not taken is acknowledged",
  },
  {
    name: "group-runs-backwards",
    file: "src/store/sqlite/door.ts",
    from: "      for (const write of group) {\n        if (result.left",
    to: "      for (const write of [...group].reverse()) {\n        if (result.left",
    breaks: "S1: writes are not run in the order in which they were accepted",
  },
  // The queue.
  {
    name: "waits-by-the-time-of-day",
    file: "src/store/queue.ts",
    from: "options.elapsedMs ?? (() => performance.now())",
    to: "options.elapsedMs ?? (() => Date.now())",
    breaks: "Q2: what waits is refused when the clock is set forward",
  },
  // The outbox.
  {
    name: "push-not-stored-first",
    file: "src/jobs/outbox/steps/stock-push.ts",
    from: "      : insertPushStatement(shopId, purchaseOrderId, sent, context.now()),",
    to: '      : { sql: "select 1", params: [] },',
    breaks: "S3: a push is sent under a reference that is not stored",
  },
  {
    name: "new-reference-on-resend",
    file: "src/jobs/outbox/steps/stock-push.ts",
    from: "    call: async (storefront, signal) => {\n      const changes = sent.items.map",
    to: '    call: async (storefront, signal) => {\n      sent.reference = ids.next("push");\n      const changes = sent.items.map',
    breaks: "F1: a push is repeated under another reference",
  },
  {
    name: "unknown-counts-as-not-landed",
    file: "src/jobs/outbox/steps/stock-push.ts",
    from: '  if (error.landed === "no") await tx.batch',
    to: '  if (error.landed !== "no" || error.landed === "no") await tx.batch',
    breaks: "F3: a push whose answer was lost counts as not landed",
  },
  {
    name: "landed-twice",
    file: "src/jobs/outbox/steps/stock-push.ts",
    from: '    item.result === null ? { ...item, result: resultOf(results[index], shown[index] === true) } : item,\n  );\n  const landed = items.filter((item, index) => item.result?.outcome === "landed" && sent.items[index]?.result === null);',
    to: '    item.result === null ? { ...item, result: resultOf(results[index], shown[index] === true) } : item,\n  );\n  const landed = [...items, ...items].filter((item) => item.result?.outcome === "landed");',
    breaks: "C40: what has landed is counted twice in the shop's own stock",
  },
  {
    name: "claims-survive-a-restart",
    file: "src/jobs/outbox/runner.ts",
    from: "        await engine.write(shopId, (tx) => tx.batch([release]), { durable: false });",
    to: "        void release;",
    breaks: "O1: the claims of a process that died are not released at the next start",
  },
  {
    name: "nothing-is-resumed",
    file: "src/jobs/outbox/runner.ts",
    from: "    for await (const shopId of options.shopsToResume?.(stop.signal) ?? (await engine.list())) {\n      if (stop.signal.aborted) return;",
    to: '    for await (const shopId of options.shopsToResume?.(stop.signal) ?? (await engine.list())) {\n      if (shopId !== "") return;',
    breaks: "C38: effects that a crash has left are not resumed",
  },
  {
    name: "no-retries",
    file: "src/jobs/outbox/limits.ts",
    from: "attempts >= attemptsMax) return null;",
    to: "attempts >= 1) return null;",
    breaks: "C38: a storefront that fails once is given up",
  },
  {
    name: "incoming-of-before",
    file: "src/jobs/outbox/steps/mirror.ts",
    from: "    incoming: asQuantity(ledger.get(variantId) ?? 0),",
    to: "    incoming: asQuantity(Math.max(ledger.get(variantId) ?? 0, 1_000)),",
    breaks: "C41: the storefront is told a wrong incoming quantity",
  },
  {
    name: "one-effect-of-a-run",
    file: "src/jobs/outbox/steps/mirror.ts",
    from: "  const variantIds = [...new Set(run.flatMap(({ effect }) => effect.variantIds))];\n  const rows",
    to: "  const variantIds = [...new Set(run.slice(-1).flatMap(({ effect }) => effect.variantIds))];\n  const rows",
    breaks: "C41: of effects that are claimed together only the last is carried out",
  },
  {
    name: "effects-outside-the-commit",
    file: "src/shop/storefront/effects.ts",
    from: "values (?, ?, ?, ?, ?, ?, 'pending', 0, ?, null, 0, null, ?, null, ?)`;",
    to: "values (?, ?, ?, ?, ?, ?, 'skipped', 0, ?, null, 0, null, ?, null, ?)`;",
    breaks: "S3: what a change asks for is not in the outbox",
  },
  // Unit costs that are read back.
  {
    name: "replaced-cost-has-failed",
    file: "src/jobs/outbox/steps/costs.ts",
    from: "shown === row.unitCost ? null : await loadReplacingCost(tx, shopId, row, shown)",
    to: "shown === row.unitCost || shopId !== null ? null : await loadReplacingCost(tx, shopId, row, shown)",
    breaks: "C45: a cost that was written and replaced since counts as failed",
  },
  {
    name: "any-cost-counts-as-ours",
    file: "src/core/storefront/cost-sync.ts",
    from: 'if (shown === unitCost) return { outcome: "applied", reason: null };',
    to: 'if (shown !== null) return { outcome: "applied", reason: null };',
    breaks: "C45: a cost counts as applied though the storefront shows another one",
  },
  // Idempotency.
  {
    name: "no-claim",
    file: "src/requests/idempotency.ts",
    from: "      runs = isHeld;\n      if (holder === null) return",
    to: "      runs = isHeld = true;\n      if (record === null) return",
    breaks: "C19: two attempts under a key run at the same time",
  },
  {
    name: "answer-not-stored",
    file: "src/requests/perform.ts",
    from: "      ...(keyed === null ? [] : await idempotency.storeStatements(tx, keyed, { reply, purchaseOrderId }, beside)),\n    ],",
    to: "    ],",
    breaks: "C20: the answer does not commit with its change",
    found: "both",
  },
  {
    name: "answer-stored-afterwards",
    file: "src/requests/write/call.ts",
    from: "  await tx.batch(await store.statements(tx, reply));\n  // Without",
    to: "  if (effectIds.length === 0) await tx.batch(await store.statements(tx, reply));\n  // Without",
    breaks: "C20: with follow-on work, the answer is stored after the change",
  },
  {
    name: "answer-is-changed",
    file: "src/requests/perform.ts",
    from: "    if (!sameReply(first, reply))\n      await tx.batch([",
    to: "    if (sameReply(first, reply))\n      await tx.batch([",
    breaks: "C18: a replay tells the first answer, not the last",
  },
  {
    name: "refusals-not-stored",
    file: "src/requests/perform.ts",
    from: "    if (!isStoredRefusal(error)) throw error;",
    to: "    if (isStoredRefusal(error) || !isStoredRefusal(error)) throw error;",
    breaks: "C19: a refusal is not stored under the key",
  },
  {
    name: "stored-refusal-of-everything",
    file: "src/requests/idempotency.ts",
    from: '      if (headers !== null && headers["X-Request-Id"] !== requestId) throw inProgress();',
    to: "      void headers, requestId;",
    breaks: "H2: an attempt does not look whether another has stored its answer",
    found: {
      byTest: "test/nodes/keys.test.ts",
      why: "a second line of defence: in one process the claim in memory keeps the second attempt away",
    },
  },
  {
    name: "neither-claim-nor-refusal",
    file: "src/requests/idempotency.ts",
    from: '      if (headers !== null && headers["X-Request-Id"] !== requestId) throw inProgress();',
    to: "      void headers, requestId;",
    with: "no-claim",
    breaks: "H2, C19: both lines of defence are gone, and a request under a key has two effects",
  },
  {
    name: "keys-shared-by-all",
    file: "src/requests/idempotency.ts",
    from: "      const idempotencyKey = keyOfWrite(incoming);\n      if (idempotencyKey === null) return false;",
    to: "      const idempotencyKey = keyOfWrite(incoming);\n      if (idempotencyKey !== undefined) return false;",
    breaks: "C18: an answered key takes a token, and its body is not looked at first",
  },
  {
    name: "replay-with-its-own-request-id",
    file: "src/requests/idempotency.ts",
    from: "      return { status, headers: replayHeaders, body, errorCode: null, answeredAtMs: storedAtMs };",
    to: '      return { status, headers: replayHeaders, body: body.replace(request.requestId, "").replace(/req_\\d+/, request.requestId), errorCode: null, answeredAtMs: storedAtMs };',
    breaks: "C18: a replay is not byte for byte the first answer",
  },
  // What the others rest on.
  {
    name: "event-number-from-the-process",
    file: "src/shop/events/events.ts",
    from: "(select coalesce(max(sequence), 0) + 1 from event where shop_id = ?)",
    to: "(select coalesce(max(sequence), 0) + 1 + (case when max(sequence) % 7 = 6 then 1 else 0 end) from event where shop_id = ?)",
    breaks: "E2: the sequence of events has gaps",
  },
  // What clients that ask at the same time are told.
  {
    name: "stale-memory",
    file: "src/store/cache.ts",
    from: "    if (!stands(entry)) {",
    to: "    if (!stands(entry) && Math.random() < 0.5) {",
    breaks: "D111: what is remembered is answered though its rows have changed",
    found: "linear",
    engine: "sqlite",
  },
  {
    name: "stale-read",
    file: "src/operations/purchase-orders/access.ts",
    from: "  if (page.end === null) return { ...header, lineItems: page.lineItems };",
    to: `  const kept = ((globalThis as any).keptOrders ??= new Map());
  const known = kept.get(purchaseOrderId);
  if (known !== undefined && performance.now() - known.at < 1_000) return known.order;
  if (page.end === null) kept.set(purchaseOrderId, { at: performance.now(), order: { ...header, lineItems: page.lineItems } });
  if (page.end === null) return { ...header, lineItems: page.lineItems };`,
    breaks: "S1: a read is answered with what was read up to a second before",
    found: "linear",
  },
  {
    name: "lost-update",
    file: "src/operations/purchase-orders/access.ts",
    from: "  const order = await loadOrder(tx, call.shop.shopId, purchaseOrderId);\n",
    to: `  const kept = ((globalThis as any).loadedOrders ??= new Map());
  const known = kept.get(purchaseOrderId);
  const order = known !== undefined && performance.now() - known.at < 1_000 ? known.order : await loadOrder(tx, call.shop.shopId, purchaseOrderId);
  if (order !== known?.order) kept.set(purchaseOrderId, { at: performance.now(), order });
`,
    breaks: "S1: a change is decided on an order that others have changed meanwhile",
    found: "linear",
  },
  {
    name: "turn-without-lock",
    file: "src/store/postgres/engine.ts",
    from: '  text: `select "${schemaName}".engine_turn($1, ${String(marked)}) as opened`,',
    to: '  text: `select "${schemaName}".engine_append($1)::text || ${String(marked)} as opened`,',
    breaks: "S1: nodes change a shop at the same time",
    found: "linear",
    engine: "postgres",
  },
  {
    name: "answer-before-commit",
    file: "src/requests/write/call.ts",
    from: `tracedWrite(engine, tracing, shopId, (tx) =>
      lastChange(tx, store, release, work),
    );`,
    to: `new Promise<Awaited<ReturnType<typeof lastChange<Output>>>>((resolve, reject) => {
      tracedWrite(engine, tracing, shopId, async (tx) => {
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
  from: "const defaultWalPagesMax = 1_000;",
  to: "const defaultWalPagesMax = 60;",
};

/** Whether seeds of the simulator find it. */
export const isOfSimulator = ({ found = "simulator" }: Mutant): boolean => found === "simulator" || found === "both";

/** Whether the clients of linear/clients.ts are told something impossible by it, on this engine. */
export const isOfLinear = ({ found, engine }: Mutant, on: "sqlite" | "postgres"): boolean =>
  (found === "linear" || found === "both") && (engine === undefined || engine === on);
