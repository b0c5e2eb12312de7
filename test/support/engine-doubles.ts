/** Wrappers around a real engine that change or fail some of its calls. */
import { Fault } from "../../src/core/fault.ts";
import type { Engine } from "../../src/store/store.ts";

/** Returns the engine as an object of functions, so that a test can replace one of them. */
export const delegated = (engine: Engine): Engine => ({
  embedded: engine.embedded,
  create: (shopId) => engine.create(shopId),
  exists: (shopId) => engine.exists(shopId),
  remove: (shopId) => engine.remove(shopId),
  list: () => engine.list(),
  shopsWithDueRows: (nowMs) => engine.shopsWithDueRows(nowMs),
  read: (shopId, work, onSeen) => engine.read(shopId, work, onSeen),
  peek: (shopId, work) => engine.peek(shopId, work),
  write: (shopId, work, options) => engine.write(shopId, work, options),
  admit: (shopId) => engine.admit(shopId),
  ready: () => engine.ready(),
  close: () => engine.close(),
});

/** The fault of an engine whose connection was lost during a commit. */
const unknownOutcome = (): Fault =>
  new Fault("DO_UNAVAILABLE", "Whether this was kept is not known.", { retryAfterMs: 1 });

/** Wraps an engine so that some writes commit but are reported as failed, as if their answer was lost. */
export const losingAnswers = (engine: Engine, isLost: () => boolean): Engine => ({
  ...delegated(engine),
  async write(shopId, work, options) {
    const value = await engine.write(shopId, work, options);
    if (options?.durable !== false && isLost()) throw unknownOutcome();
    return value;
  },
});
