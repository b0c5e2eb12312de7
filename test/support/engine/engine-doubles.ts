/** Wrappers around a real engine that change or fail some of its calls. */
import { Fault } from "../../../src/base/fault.ts";
import { delegated } from "../../../src/store/delegated.ts";
import type { Engine } from "../../../src/store/store.ts";

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
