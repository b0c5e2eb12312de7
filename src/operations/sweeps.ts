/**
 * Deletes expired rows a few at a time, while requests add new ones: audit rows (`auditRetentionDays`), stored answers (C21) and events (C56). A sweep
 * never holds a shop for long, however many rows have expired, and a shop without requests needs none.
 */
import { dayMs } from "../core/calendar.ts";
import { idempotencyLifetimeMs } from "../core/idempotency.ts";
import { sweepEveryRequests, sweepShopsMax, sweptRowsMax } from "../core/limits.ts";
import { RecentMap } from "../core/recent-map.ts";
import type { Shop } from "../shop/accounts.ts";
import { sweepAudit } from "../shop/audit-chain.ts";
import { sweepDeliveries } from "../shop/deliveries.ts";
import { sweepEvents } from "../shop/events.ts";
import { sweepIdempotency } from "../shop/idempotency.ts";
import type { StoreCounts } from "./counts.ts";
import type { Clock, Engine, Log } from "../store/store.ts";

interface SweepDependencies {
  readonly engine: Pick<Engine, "write">;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: StoreCounts;
}

export class Sweeps {
  readonly #deps: SweepDependencies;
  /** Requests of each shop since its last sweep. */
  readonly #requests = new RecentMap<number>(sweepShopsMax);

  constructor(deps: SweepDependencies) {
    this.#deps = deps;
  }

  /** Counts a request of the shop. Every `sweepEveryRequests` of them a sweep follows. */
  count({ shopId, auditRetentionDays }: Pick<Shop, "shopId" | "auditRetentionDays">): void {
    const requests = (this.#requests.get(shopId) ?? sweepEveryRequests - 1) + 1;
    this.#requests.set(shopId, requests % sweepEveryRequests);
    if (requests >= sweepEveryRequests) void this.#sweep(shopId, auditRetentionDays);
  }

  async #sweep(shopId: string, auditRetentionDays: number): Promise<void> {
    const { engine, clock, log, counts } = this.#deps;
    const nowMs = clock.now();
    try {
      const [answers, , auditRows] = await engine.write(
        shopId,
        (tx) =>
          Promise.all([
            sweepIdempotency(tx, shopId, nowMs - idempotencyLifetimeMs, sweptRowsMax),
            tx.batch([sweepEvents(shopId, nowMs, sweptRowsMax), sweepDeliveries(shopId, sweptRowsMax)]),
            auditRetentionDays === 0
              ? 0
              : sweepAudit(tx, shopId, { untilMs: nowMs - auditRetentionDays * dayMs, nowMs }, sweptRowsMax),
          ]),
        { durable: false },
      );
      counts.sweptAnswers += answers.rows;
      counts.sweptAnswerBytes += answers.bytes;
      counts.sweptAuditRows += auditRows;
    } catch (error) {
      // The next one deletes what this one would have.
      log.warn({ shopId, err: error }, "old rows could not be deleted");
    }
  }
}
