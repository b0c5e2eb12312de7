/**
 * An open store: a data directory (service/data-directory.ts) or a database (service/database.ts), in the same shape
 * for the service and for commands.
 */
import type { AdminContext } from "../admin/operation.ts";
import type { Gauge } from "../http/metrics.ts";
import { dueImports, importClaims } from "../exchange/import-run.ts";
import type { AuditRowPlace } from "../shop/audit/audit-journal.ts";
import { deliveryClaims, dueDeliveries } from "../shop/events/deliveries.ts";
import { dueEffects } from "../shop/storefront/effects.ts";
import { dueMails, mailClaims } from "../shop/supplier/mails.ts";
import { duePulls, pullClaims } from "../shop/storefront/storefront-pulls.ts";
import { lockClaims } from "../shop/storefront/storefront-turns.ts";
import { dueReminders } from "../shop/supplier/reminders.ts";
import type { ReaderStore } from "../threads/reader-pool.ts";
import type { ShopDue } from "../jobs/runner.ts";
import type { LoopShare } from "../store/loop-share.ts";
import type { Claims } from "../store/claims.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Coordination, DueRows, Engine, Log } from "../store/store.ts";
import type { StorefrontConnections } from "../storefront/connections.ts";
import type { SandboxControl } from "../storefront/sandbox/control.ts";
import type { Storefront } from "../storefront/storefront.ts";

/** The rows by which nodes find the shops that have work due (D77). */
export const dueRows: readonly DueRows[] = [dueEffects, dueImports, dueDeliveries, dueMails, duePulls, dueReminders];

/** Rows that nodes may claim for long. The others give back the claims of a node that has died (C38). */
export const longClaims: readonly Claims[] = [importClaims, deliveryClaims, mailClaims, pullClaims, lockClaims];

/**
 * Dependencies of the operator's operations on the rest of the process. `calls` absent: no outbox runs; effects wait
 * for the next start. `storefronts` absent: none can be connected.
 */
type AdminAsks = Pick<AdminContext, "wakeOutbox" | "webhooks" | "documents" | "mailIsOn" | "publicUrl"> &
  Partial<Pick<AdminContext, "calls" | "storefronts" | "wakePull" | "connecting">>;

/** For operations of a process whose outbox does not run. */
export const callsWithoutOutbox = (storefronts: StorefrontConnections, log: Log): AdminContext["calls"] => ({
  outbox: {
    settle: (_shopId, effectIds) => Promise.resolve(new Map(effectIds.map((id) => [id, { state: "pending" }]))),
    rehearse: () => Promise.resolve(new Map()),
  },
  storefrontOf: (shop) => Promise.resolve(storefronts.open(shop)),
  log,
});

export interface OpenStore {
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Sharing of the event loop among its shops. */
  readonly loop: LoopShare;
  /** No other process uses it. */
  readonly alone: boolean;
  /** Its metrics, for `GET /metrics`. */
  readonly gauges: readonly Gauge[];
  /** Measures its sizes for the metrics, at most every half minute. If that fails, the last ones stay. */
  readonly measure: () => Promise<void>;
  /**
   * Where this process is alone on the store: shops with webhooks, and those in which an earlier process may have left
   * effects, mails or pulls.
   */
  shopsWith(kind: "effects" | "endpoints" | "mails" | "pulls", signal: AbortSignal): AsyncIterable<string>;
  /** Where this process is alone on the store: the shops that have reminders, and when each one's next is due. */
  shopsWithReminders(signal: AbortSignal): AsyncIterable<ShopDue>;
  /** Access of reader threads to it. */
  readonly readerStore: ReaderStore;
  /** Its directory or address as it is shown to people; without secrets. */
  readonly place: string;
  /**
   * Where audit rows of reads wait until they are moved to their shops' logs; null: each shop's are written at once.
   */
  readonly auditJournal: AuditRowPlace | null;
  /**
   * Name by which a command recognises a server on this store. That of a data directory is new whenever one is opened;
   * that of a database is the same on all nodes. It is public.
   */
  readonly identity: string;
  /** It has never held data. */
  readonly isNew: boolean;
  sandboxOf(shopId: string): Storefront & SandboxControl;
  /** The context of the operator's operations. */
  adminContext(asks: AdminAsks): AdminContext;
  /** Calls the listener after each write of this process that has added events, with the shop's id. */
  onEvents(listener: (shopId: string) => void): void;
  /** Calls the listener after each write of this process that has added reminders. */
  onReminders(listener: (reminder: ShopDue) => void): void;
  /** Records that the first start has succeeded: the next start is not a first one. */
  completeFirstStart(): Promise<void>;
  /** Closes everything and releases what was claimed. */
  close(): Promise<void>;
}
