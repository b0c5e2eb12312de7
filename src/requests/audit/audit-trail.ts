/**
 * Writes audit rows with their link in the shop's chain of hashes (shop/audit/audit-chain.ts).
 *
 * On an embedded engine the link gets its place at once. Among nodes rows are also written outside the shop's turn, so
 * links wait and get their places `auditPlaceMs` later, all that wait at once (D350). Links that a node has left are
 * placed with the next ones of the shop.
 */
import { dayMs } from "../../base/time/calendar.ts";
import { Fault } from "../../base/fault.ts";
import type { AuditEntry } from "../../shop/audit/audit.ts";
import { type ChainPoint, placedAudit, placeLinks, waitingAudit } from "../../shop/audit/audit-chain.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine, Log, Statement, Tx } from "../../store/store.ts";

/** Delay after its first row until a link of the audit log gets its place in the chain, among nodes (D350). */
export const auditPlaceMs = 1_000;

/** Links of the audit log that get their places in one turn. */
export const auditLinksPlacedMax = 128;

/** The order of links among nodes is that of their clocks; on one node, that in which they were written. */
const ordersPerMs = 1_000;

interface AuditTrailDependencies {
  readonly engine: Pick<Engine, "write" | "embedded">;
  readonly clock: Clock;
  readonly log: Log;
}

export class AuditTrail {
  readonly #deps: AuditTrailDependencies;
  /** Shops with links that wait. */
  readonly #waiting = new Set<string>();
  /** Of the link that was written last. */
  #order = 0;

  constructor(deps: AuditTrailDependencies) {
    this.#deps = deps;
  }

  /** Returns the statements that write these rows and their link, within one write. */
  async statements(tx: Tx, shopId: string, entries: readonly AuditEntry[]): Promise<readonly Statement[]> {
    const { engine, clock } = this.#deps;
    if (!engine.embedded) {
      if (this.#waiting.size === 0) setTimeout(() => void this.#place(), auditPlaceMs).unref();
      this.#waiting.add(shopId);
      this.#order = Math.max(this.#order + 1, clock.now() * ordersPerMs);
      return waitingAudit(shopId, entries, this.#order);
    }
    const nowMs = clock.now();
    const { before, statements } = await placedAudit(tx, shopId, entries, nowMs);
    this.#tell(shopId, before, nowMs);
    return statements;
  }

  async #place(): Promise<void> {
    const shopIds = [...this.#waiting];
    this.#waiting.clear();
    for (const shopId of shopIds) await this.place(shopId);
  }

  /** Gives the links of the shop that wait their places. */
  async place(shopId: string): Promise<void> {
    const { engine, clock, log } = this.#deps;
    try {
      for (;;) {
        const nowMs = clock.now();
        const { placed, before } = await engine.write(
          shopId,
          (tx) => placeLinks(tx, shopId, nowMs, auditLinksPlacedMax),
          { durable: false },
        );
        if (placed > 0) this.#tell(shopId, before, nowMs);
        if (placed < auditLinksPlacedMax) return;
      }
    } catch (error) {
      // A store that is busy, closed or removed: the shop's next rows bring them along.
      if (!(error instanceof Fault)) log.error({ shopId, err: error }, "links of the audit log have no places yet");
    }
  }

  /** On the first request of a day, tells the head of the day before: who keeps the log can compare. */
  #tell(
    shopId: string,
    { head, headAtMs }: { readonly head: ChainPoint; readonly headAtMs: number | null },
    nowMs: number,
  ): void {
    if (headAtMs === null || Math.floor(headAtMs / dayMs) >= Math.floor(nowMs / dayMs)) return;
    const { position, hash } = head;
    this.#deps.log.info({ shopId, auditHead: `${position}:${hash}`, at: headAtMs }, "head of the audit log");
  }
}
