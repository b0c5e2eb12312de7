/** Faults planted in a served program, each of which the clients of linear/clients.ts must be told something impossible by. */
import type { Planted } from "../support/plant.ts";

export interface LinearMutant extends Planted {
  readonly breaks: string;
  /** The engine on which it is one; null: on both. */
  readonly engine: "sqlite" | "postgres" | null;
}

export const linearMutants: readonly LinearMutant[] = [
  {
    name: "stale-memory",
    file: "src/store/memory.ts",
    from: "    if (!stands(entry)) {",
    to: "    if (!stands(entry) && Math.random() < 0.5) {",
    breaks: "D111: what is remembered is answered though its rows have changed",
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
    engine: null,
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
    engine: null,
  },
  {
    name: "turn-without-lock",
    file: "src/store/postgres/engine.ts",
    from: '  text: `select "${schemaName}".engine_turn($1, ${String(marked)}) as opened`,',
    to: '  text: `select "${schemaName}".engine_append($1)::text || ${String(marked)} as opened`,',
    breaks: "S1: nodes change a shop at the same time",
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
    engine: "postgres",
  },
  {
    name: "acknowledged-and-rolled-back",
    file: "src/store/sqlite/door.ts",
    from: "        if (!keep && tx.wrote) {",
    to: "        const writes = ((globalThis as any).writesRun = ((globalThis as any).writesRun ?? 0) + 1);\n        const isLost = keep && writes > 200 && Math.random() < 0.1;\n        if (isLost) kept.pop();\n        if (isLost || (!keep && tx.wrote)) {",
    breaks: "S4: a change is acknowledged and not kept",
    engine: "sqlite",
  },
  {
    name: "keys-are-forgotten",
    file: "src/requests/perform.ts",
    from: "      ...(keyed === null ? [] : await idempotency.storeStatements(tx, keyed, reply, beside)),\n    ],",
    to: "    ],",
    breaks: "C20: a key whose answer was lost has a second effect",
    engine: null,
  },
];
