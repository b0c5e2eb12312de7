/**
 * Engines and transactions that pass every call on, for whoever changes or watches some of the calls.
 */
import type { Engine, Statement, Tx, TxCache } from "./store.ts";

/** The engine as an object of functions, so that some of them can be replaced. */
export const delegated = (engine: Engine): Engine => ({
  embedded: engine.embedded,
  create: (shopId) => engine.create(shopId),
  exists: (shopId) => engine.exists(shopId),
  remove: (shopId) => engine.remove(shopId),
  list: () => engine.list(),
  shopsWithDueRows: (nowMs) => engine.shopsWithDueRows(nowMs),
  shopsWithValue: (value) => engine.shopsWithValue(value),
  read: (shopId, work, onSeen) => engine.read(shopId, work, onSeen),
  peek: (shopId, work, credential) => engine.peek(shopId, work, credential),
  write: (shopId, work, options) => engine.write(shopId, work, options),
  isOpen: (shopId) => engine.isOpen(shopId),
  admit: (shopId) => engine.admit(shopId),
  ready: () => engine.ready(),
  close: () => engine.close(),
});

/** A transaction that tells of each statement before it is run. */
export class NoticingTx implements Tx {
  readonly #tx: Tx;
  readonly #notice: (statement: Statement) => void;

  constructor(tx: Tx, notice: (statement: Statement) => void) {
    this.#tx = tx;
    this.#notice = notice;
  }

  get cache(): TxCache | undefined {
    return this.#tx.cache;
  }

  all<R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> {
    this.#notice({ sql, params: params ?? [] });
    return this.#tx.all<R>(sql, params);
  }

  async giveWay(): Promise<void> {
    await this.#tx.giveWay?.();
  }

  batch(statements: readonly Statement[]): Promise<void> {
    for (const statement of statements) this.#notice(statement);
    return this.#tx.batch(statements);
  }
}
