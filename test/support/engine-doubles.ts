/** Engines that stand between a test's subject and a real one. */
import { Fault } from "../../src/core/fault.ts";
import type { Engine } from "../../src/store/store.ts";

/** The engine as an object of functions, to replace one of them. */
export const delegated = (engine: Engine): Engine => ({
  create: (shopId) => engine.create(shopId),
  exists: (shopId) => engine.exists(shopId),
  remove: (shopId) => engine.remove(shopId),
  list: () => engine.list(),
  shopsWithDueRows: (nowMs) => engine.shopsWithDueRows(nowMs),
  read: (shopId, work) => engine.read(shopId, work),
  peek: (shopId, work) => engine.peek(shopId, work),
  write: (shopId, work, options) => engine.write(shopId, work, options),
  admit: (shopId) => engine.admit(shopId),
  ready: () => engine.ready(),
  close: () => engine.close(),
});

/** What an engine answers that a network away was lost while it committed. */
const unknownOutcome = (): Fault =>
  new Fault("DO_UNAVAILABLE", "Whether this was kept is not known.", { retryAfterMs: 1 });

/** An engine of which some writes are kept and then reported as failed: their answer was lost. */
export const losingAnswers = (engine: Engine, isLost: () => boolean): Engine => ({
  ...delegated(engine),
  async write(shopId, work, options) {
    const value = await engine.write(shopId, work, options);
    if (isLost()) throw unknownOutcome();
    return value;
  },
});
