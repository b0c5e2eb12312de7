/**
 * Tells the process that a write has added events, so that what follows from them need not search for it.
 *
 * The engine is wrapped, so that no writer has to remember it. Events of other nodes are not announced.
 */
import type { Engine, Statement, Tx } from "../store/store.ts";
import { fanOut } from "./deliveries.ts";

/** Notices whether the work adds an event. */
class NoticingTx implements Tx {
  readonly #tx: Tx;
  added = false;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  all<R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> {
    return this.#tx.all<R>(sql, params);
  }

  batch(statements: readonly Statement[]): Promise<void> {
    if (!this.added) this.added = statements.some(({ sql }) => sql === fanOut);
    return this.#tx.batch(statements);
  }
}

/** An engine that announces the shop of each write that has added events, after its commit. */
export function announcingEvents(engine: Engine): {
  readonly engine: Engine;
  readonly onEvents: (listener: (shopId: string) => void) => void;
} {
  const listeners: ((shopId: string) => void)[] = [];
  return {
    onEvents: (listener) => void listeners.push(listener),
    engine: {
      embedded: engine.embedded,
      create: (shopId) => engine.create(shopId),
      exists: (shopId) => engine.exists(shopId),
      remove: (shopId) => engine.remove(shopId),
      list: () => engine.list(),
      shopsWithDueRows: (nowMs) => engine.shopsWithDueRows(nowMs),
      read: (shopId, work, onSeen) => engine.read(shopId, work, onSeen),
      peek: (shopId, work, credential) => engine.peek(shopId, work, credential),
      async write(shopId, work, options) {
        if (options?.append === true) return await engine.write(shopId, work, options);
        let added = false;
        const result = await engine.write(
          shopId,
          async (tx) => {
            const noticing = new NoticingTx(tx);
            const done = await work(noticing);
            ({ added } = noticing);
            return done;
          },
          options,
        );
        if (added) for (const listener of listeners) listener(shopId);
        return result;
      },
      admit: (shopId) => engine.admit(shopId),
      ready: () => engine.ready(),
      close: () => engine.close(),
    },
  };
}
