/**
 * A process's first check of each shop of a data directory. Work that a dead process has left there is finished before
 * the shop is served (I2 of exchange/import.ts).
 *
 * Owns: which shops were not looked at yet. Does not own: what is finished (exchange/import.ts, outbox).
 *
 * A start does not wait for this: with thousands of shops it would take seconds. A shop is looked at when it is first
 * used. Meanwhile all are gone through, one after another, without opening their files.
 */
import { abandonedImports } from "../exchange/import-run.ts";
import { hasPendingEffects } from "../shop/storefront/effects.ts";
import { mailsDue } from "../shop/supplier/mails.ts";
import { pullDueAtMs } from "../shop/storefront/storefront-pulls.ts";
import type { ShopDue } from "../jobs/runner.ts";
import { nextReminderAtMs } from "../shop/supplier/reminders.ts";
import { hasEndpoints } from "../shop/events/webhook-endpoints.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Engine, Log, Tx, Work } from "../store/store.ts";

interface ArrivalsOptions {
  /** The shops that there are at the start. */
  readonly shopIds: readonly string[];
  readonly engine: Engine;
  /** Reads a shop like `Engine.peek`, at a lower cost where its file is closed. */
  readonly peekClosed: <T>(shopId: string, work: Work<T>) => Promise<T>;
  /** Told of every shop. */
  readonly learn: (tx: Tx, shopId: string) => Promise<void>;
  /** Told of every shop whose file is another one. */
  readonly forget: (shopId: string) => void;
  /** Finishes what imports have left in a shop. */
  readonly finish: (engine: Engine, shopId: string) => Promise<void>;
  readonly log: Log;
}

/** Work that an earlier process may have left in a shop, for others to resume. */
interface Left {
  readonly effects: boolean;
  /** Webhooks that may have deliveries. */
  readonly endpoints: boolean;
  /** Mails that are not sent yet. */
  readonly mails: boolean;
  /** A pull of the storefront goes on, or begins. */
  readonly pulls: boolean;
  /** When the shop's next reminder is due; null without one. */
  readonly reminderAtMs: number | null;
}

const nothing: Left = { effects: false, endpoints: false, mails: false, pulls: false, reminderAtMs: null };

/** Kinds of work that go through all shops at every start. Mails are resumed only where there is a mail server. */
const goers = ["effects", "endpoints", "pulls", "reminders"] as const;

type Goer = (typeof goers)[number] | "mails";

/** Work that was found in a shop, and those who have not asked for it yet. */
interface Found {
  readonly left: Promise<Left>;
  readonly waiting: Set<Goer>;
}

export class ShopArrivals {
  readonly #options: ArrivalsOptions;
  /** Work that was found by one of those who go through the shops, until the others have it too. */
  readonly #found = new Map<string, Found>();
  /** Shops that were not looked at yet; those at which somebody is looking now have a promise. */
  readonly #left: Map<string, Promise<void> | null>;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
    this.#left = new Map(options.shopIds.map((shopId) => [shopId, null]));
  }

  /** The engine, at which a shop's first request waits until what was left is finished. */
  get engine(): Engine {
    const { engine } = this.#options;
    return {
      ...engine,
      remove: (shopId) => {
        this.#left.delete(shopId);
        return engine.remove(shopId);
      },
      read: async (shopId, work, onSeen) => {
        if (this.#left.has(shopId)) await this.#finished(shopId);
        return await engine.read(shopId, work, onSeen);
      },
      peek: async (shopId, work, credential) => {
        if (this.#left.has(shopId) && credential === undefined) await this.#finished(shopId);
        return await engine.peek(shopId, work, credential);
      },
      write: async (shopId, work, options) => {
        if (this.#left.has(shopId)) await this.#finished(shopId);
        return await engine.write(shopId, work, options);
      },
    };
  }

  /** The shop has another file, as after a restore: what was left in it is finished when it is used next. */
  replaced(shopId: string): void {
    this.#options.forget(shopId);
    this.#left.set(shopId, null);
  }

  /** @throws Fault when the shop cannot be read or written; the next use tries again. */
  async #finished(shopId: string): Promise<void> {
    const { engine, finish } = this.#options;
    const finishing = this.#left.get(shopId) ?? finish(engine, shopId);
    this.#left.set(shopId, finishing);
    try {
      await finishing;
      this.#left.delete(shopId);
    } catch (error) {
      if (this.#left.has(shopId)) this.#left.set(shopId, null);
      if (!isNotFound(error)) throw error;
      this.#left.delete(shopId);
    }
  }

  /** Goes through all shops of the start. Yields those in which something of this kind may be left. */
  async *shopsWith(kind: "effects" | "endpoints" | "mails" | "pulls", signal: AbortSignal): AsyncGenerator<string> {
    for await (const { shopId, left } of this.#through(kind, signal)) if (left[kind]) yield shopId;
  }

  /** Goes through all shops of the start. Yields those that have reminders. */
  async *shopsWithReminders(signal: AbortSignal): AsyncGenerator<ShopDue> {
    for await (const { shopId, left } of this.#through("reminders", signal))
      if (left.reminderAtMs !== null) yield { shopId, dueAtMs: left.reminderAtMs };
  }

  /** Each shop is looked at once for all of `goers`. */
  async *#through(goer: Goer, signal: AbortSignal): AsyncGenerator<{ readonly shopId: string; readonly left: Left }> {
    for (const shopId of this.#options.shopIds) {
      if (signal.aborted) return;
      const found = this.#found.get(shopId) ?? { left: this.#look(shopId, signal), waiting: new Set<Goer>(goers) };
      found.waiting.delete(goer);
      if (goer !== "mails" && found.waiting.size > 0) this.#found.set(shopId, found);
      else if (goer !== "mails") this.#found.delete(shopId);
      yield { shopId, left: await found.left };
    }
  }

  async #look(shopId: string, signal: AbortSignal): Promise<Left> {
    const { peekClosed, learn, log } = this.#options;
    // Other requests go first.
    await new Promise((resolve) => void setImmediate(resolve));
    try {
      const { imports, ...left } = await peekClosed(shopId, async (tx) => {
        await learn(tx, shopId);
        return {
          imports: (await abandonedImports(tx, shopId, Number.MAX_SAFE_INTEGER)).length > 0,
          effects: await hasPendingEffects(tx, shopId),
          endpoints: await hasEndpoints(tx, shopId),
          mails: (await mailsDue(tx, shopId)).queued > 0,
          pulls: (await pullDueAtMs(tx, shopId)) !== null,
          reminderAtMs: await nextReminderAtMs(tx, shopId),
        };
      });
      if (imports && this.#left.has(shopId)) await this.#finished(shopId);
      else if (this.#left.get(shopId) === null) this.#left.delete(shopId);
      return left;
    } catch (error) {
      // Requests of that shop get a 503; the other shops are served.
      if (!isNotFound(error) && !signal.aborted) log.error({ err: error, shopId }, "shop cannot be opened");
      return nothing;
    }
  }
}
