/**
 * Deletes expired rows a few at a time, while requests add new ones: audit rows (`auditRetentionDays`), stored answers
 * (C21) and events (C56). A sweep never holds a shop for long, however many rows have expired, and a shop without
 * requests needs none.
 */
import { dayMs } from "../../base/time/calendar.ts";
import { idempotencyLifetimeMs } from "../../core/access/idempotency.ts";
import { RecentMap } from "../../base/recent-map.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import { sweepAudit } from "../../shop/audit/audit-chain.ts";
import { pruningEntry } from "../../shop/audit/audit-retention.ts";
import { sweepDeliveries } from "../../shop/events/deliveries.ts";
import { sweepEvents } from "../../shop/events/events.ts";
import { sweepIdempotency } from "../../shop/access/idempotency.ts";
import type { StoreCounts } from "../store-counts.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine, Log, Tx } from "../../store/store.ts";

/**
 * Requests of a shop after which a slice of its old rows is deleted: five times as many as the requests can have added.
 */
export const sweepEveryRequests = 50;

/** The same for a shop whose file is closed: a sweep opens it then (SQLite). */
export const sweepLateRequests = 500;

/** Shops whose requests are counted for that. */
export const sweepShopsMax = 10_000;

/** Rows of each kind that one sweep deletes. */
export const sweptRowsMax = 250;

interface SweepDependencies {
  readonly engine: Pick<Engine, "write" | "isOpen">;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: StoreCounts;
  readonly ids: Ids;
  readonly auditTrail: Pick<AuditTrail, "statements">;
}

export class Sweeps {
  readonly #deps: SweepDependencies;
  /** Requests of each shop since its last sweep. */
  readonly #requests = new RecentMap<number>(sweepShopsMax);

  constructor(deps: SweepDependencies) {
    this.#deps = deps;
  }

  /**
   * Counts a request of the shop. Every `sweepEveryRequests` of them a sweep follows. While the shop's file is closed
   * it waits, for `sweepLateRequests` at most. Rows are added to an open file, and a sweep that opened one would cost
   * more than the reads.
   */
  count({ shopId, auditRetentionDays }: Pick<Shop, "shopId" | "auditRetentionDays">): void {
    const requests = (this.#requests.get(shopId) ?? sweepEveryRequests - 1) + 1;
    const isTime = requests >= (this.#deps.engine.isOpen(shopId) ? sweepEveryRequests : sweepLateRequests);
    this.#requests.set(shopId, isTime ? 0 : requests);
    const slices = Math.floor(requests / sweepEveryRequests);
    if (isTime) void this.#sweep(shopId, auditRetentionDays, slices);
  }

  /** Deletes a slice of rows, and further ones, each in a turn of its own, as long as they are full. */
  async #sweep(shopId: string, auditRetentionDays: number, slices: number): Promise<void> {
    const { log } = this.#deps;
    try {
      for (let slice = 0; slice < slices; slice += 1)
        if ((await this.#sweepSlice(shopId, auditRetentionDays)) < sweptRowsMax) return;
    } catch (error) {
      // The next one deletes what this one would have.
      log.warn({ shopId, err: error }, "old rows could not be deleted");
    }
  }

  /** @returns how many rows of one kind were deleted, at most. */
  async #sweepSlice(shopId: string, auditRetentionDays: number): Promise<number> {
    const { engine, clock, counts } = this.#deps;
    const nowMs = clock.now();
    const [answers, , auditRows] = await engine.write(
      shopId,
      (tx) =>
        Promise.all([
          sweepIdempotency(tx, shopId, nowMs - idempotencyLifetimeMs, sweptRowsMax),
          tx.batch([sweepEvents(shopId, nowMs, sweptRowsMax), sweepDeliveries(shopId, sweptRowsMax)]),
          auditRetentionDays === 0 ? 0 : this.#pruneAudit(tx, shopId, auditRetentionDays, nowMs),
        ]),
      { durable: false },
    );
    counts.sweptAnswers += answers.rows;
    counts.sweptAnswerBytes += answers.bytes;
    counts.sweptAuditRows += auditRows;
    return Math.max(answers.rows, auditRows);
  }

  /** Deletes old audit rows, and writes the row that tells of it. @returns how many were deleted. */
  async #pruneAudit(tx: Tx, shopId: string, auditRetentionDays: number, nowMs: number): Promise<number> {
    const { ids, auditTrail } = this.#deps;
    const untilMs = nowMs - auditRetentionDays * dayMs;
    const { rows, anchor } = await sweepAudit(tx, shopId, { untilMs, nowMs }, sweptRowsMax);
    if (anchor !== null) {
      const names = { auditId: ids.next("aud"), requestId: ids.next("req") };
      const entry = pruningEntry(shopId, anchor, { auditRetentionDays, untilMs, nowMs }, names);
      await tx.batch(await auditTrail.statements(tx, shopId, [entry]));
    }
    return rows;
  }
}
