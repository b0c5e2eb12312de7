/**
 * Audit rows of refused requests: a row each up to a rate, and beyond it one row a minute that counts them.
 *
 * Owns: the counts of the running minute, in memory. A stop or a crash loses those of the last second. Does not own:
 * what a row holds (audit.ts).
 */
import { minuteMs } from "../../base/time/calendar.ts";
import { RecentMap } from "../../base/recent-map.ts";
import type { AuditEntry } from "../../shop/audit/audit.ts";
import type { Engine, Log, Tx } from "../../store/store.ts";
import { auditAlone } from "./audit.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { StoreCounts } from "../store-counts.ts";

/** Refusals of one API key in a minute that have a row each in the audit log. One more row counts the others. */
export const refusalRowsPerMinuteMax = 100;

/** API keys whose refusals of this minute are counted. */
export const refusalKeysMax = 10_000;

/** Longest time for which a count is ahead of its row. */
const countedForMs = 1_000;

/** The refusals of one API key in one minute. */
interface Minute {
  readonly minute: number;
  rows: number;
  /** The row that counts what is beyond `refusalRowsPerMinuteMax`: the first such request, with their number. */
  beyond: AuditEntry | null;
  timer: ReturnType<typeof setTimeout> | null;
}

interface RefusalDependencies {
  readonly engine: Pick<Engine, "write">;
  readonly auditTrail: Pick<AuditTrail, "statements">;
  readonly log: Log;
  readonly counts: StoreCounts;
}

export class Refusals {
  readonly #engine: Pick<Engine, "write">;
  readonly #auditTrail: Pick<AuditTrail, "statements">;
  readonly #log: Log;
  readonly #counts: StoreCounts;
  readonly #minutes = new RecentMap<Minute>(refusalKeysMax);

  constructor({ engine, auditTrail, log, counts }: RefusalDependencies) {
    this.#engine = engine;
    this.#auditTrail = auditTrail;
    this.#log = log;
    this.#counts = counts;
  }

  /** Writes the refusal's row, or counts it. @throws Fault when the store cannot be written. */
  async add(shopId: string, entry: AuditEntry): Promise<void> {
    const current = this.#minuteOf(
      `${shopId} ${entry.keyId ?? entry.personId ?? ""}`,
      Math.floor(entry.atMs / minuteMs),
    );
    if (current.rows < refusalRowsPerMinuteMax) {
      current.rows += 1;
      await this.#write(shopId, entry);
      this.#counts.auditRows += 1;
      return;
    }
    const { beyond } = current;
    current.beyond = beyond === null ? entry : { ...beyond, count: beyond.count + 1 };
    current.timer ??= setTimeout(() => void this.#writeCount(shopId, current), countedForMs).unref();
  }

  #minuteOf(key: string, minute: number): Minute {
    const known = this.#minutes.get(key);
    if (known?.minute === minute) return known;
    const current: Minute = { minute, rows: 0, beyond: null, timer: null };
    this.#minutes.set(key, current);
    return current;
  }

  async #writeCount(shopId: string, current: Minute): Promise<void> {
    current.timer = null;
    if (current.beyond === null) return;
    try {
      await this.#write(shopId, current.beyond);
    } catch (error) {
      this.#log.warn({ shopId, err: error, count: current.beyond.count }, "refusals are not counted in the audit log");
    }
  }

  async #write(shopId: string, entry: AuditEntry): Promise<void> {
    const work = async (tx: Tx): Promise<void> => tx.batch(await this.#auditTrail.statements(tx, shopId, [entry]));
    await this.#engine.write(shopId, work, auditAlone);
  }
}
