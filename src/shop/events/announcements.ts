/**
 * Tells the process that a write has added events or reminders, so that what follows from them need not search for
 * them.
 *
 * The engine is wrapped, so that no writer has to remember it. What other nodes write is not announced.
 */
import { delegated, NoticingTx } from "../../store/delegated.ts";
import type { Engine, Statement } from "../../store/store.ts";
import { addsEvent } from "./events.ts";
import { remindsAtMs } from "../supplier/reminders.ts";
import { isChange } from "../../store/change.ts";

type EventListener = (shopId: string) => void;

/** @param dueAtMs when the earliest of them is due. */
type ReminderListener = (reminder: { readonly shopId: string; readonly dueAtMs: number }) => void;

/** An engine that announces, after its commit, each write that has added events or reminders. */
export function announcing(engine: Engine): {
  readonly engine: Engine;
  readonly onEvents: (listener: EventListener) => void;
  readonly onReminders: (listener: ReminderListener) => void;
} {
  const eventListeners: EventListener[] = [];
  const reminderListeners: ReminderListener[] = [];
  return {
    onEvents: (listener) => void eventListeners.push(listener),
    onReminders: (listener) => void reminderListeners.push(listener),
    engine: {
      ...delegated(engine),
      async write(shopId, work, options) {
        if (options?.append === true) return await engine.write(shopId, work, options);
        let hasEvents = false;
        let dueAtMs: number | null = null;
        const result = await engine.write(
          shopId,
          (tx) => {
            // An attempt that failed has added nothing.
            hasEvents = false;
            dueAtMs = null;
            const notice = (statement: Statement): void => {
              if (!isChange(statement)) return;
              hasEvents ||= addsEvent(statement);
              const atMs = remindsAtMs(statement);
              if (atMs !== null) dueAtMs = Math.min(atMs, dueAtMs ?? atMs);
            };
            return work(new NoticingTx(tx, notice));
          },
          options,
        );
        if (hasEvents) for (const listener of eventListeners) listener(shopId);
        if (dueAtMs !== null) for (const listener of reminderListeners) listener({ shopId, dueAtMs });
        return result;
      },
    },
  };
}
