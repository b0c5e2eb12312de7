/**
 * Tells the process that a write has added events, so that what follows from them need not search for it.
 *
 * The engine is wrapped, so that no writer has to remember it. Events of other nodes are not announced.
 */
import { delegated, NoticingTx } from "../store/delegated.ts";
import type { Engine } from "../store/store.ts";
import { fanOut } from "./deliveries.ts";

/** An engine that announces the shop of each write that has added events, after its commit. */
export function announcingEvents(engine: Engine): {
  readonly engine: Engine;
  readonly onEvents: (listener: (shopId: string) => void) => void;
} {
  const listeners: ((shopId: string) => void)[] = [];
  return {
    onEvents: (listener) => void listeners.push(listener),
    engine: {
      ...delegated(engine),
      async write(shopId, work, options) {
        if (options?.append === true) return await engine.write(shopId, work, options);
        let added = false;
        const result = await engine.write(
          shopId,
          (tx) => {
            // An attempt that failed has added nothing.
            added = false;
            return work(new NoticingTx(tx, (sql) => (added ||= sql === fanOut)));
          },
          options,
        );
        if (added) for (const listener of listeners) listener(shopId);
        return result;
      },
    },
  };
}
