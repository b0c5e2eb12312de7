/** What a data directory (data-directory.ts) and a database (database.ts) are once they are open: the same to whoever serves or commands. */
import type { AdminContext } from "./admin/operation.ts";
import type { Gauge } from "./http/metrics.ts";
import { dueImports } from "./exchange/import-run.ts";
import { dueEffects } from "./shop/effects.ts";
import type { Clock, Coordination, DueRows, Engine, Ids } from "./store/store.ts";
import type { SandboxControl } from "./storefront/sandbox/control.ts";
import type { Storefront } from "./storefront/storefront.ts";

/** The rows by which nodes find the shops that have work due (D77). */
export const dueRows: readonly DueRows[] = [dueEffects, dueImports];

export interface OpenStore {
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly ids: Ids;
  /** No other process is on it. */
  readonly alone: boolean;
  /** What it tells an operator about itself, for `GET /metrics`. */
  readonly gauges: readonly Gauge[];
  /** As a person knows it; without secrets. */
  readonly place: string;
  /** Nothing was ever kept here. */
  readonly isNew: boolean;
  sandboxOf(shopId: string): Storefront & SandboxControl;
  /** What the operator's operations need; `wakeOutbox` is told of effects that may have come in. */
  adminContext(wakeOutbox: AdminContext["wakeOutbox"]): AdminContext;
  /** From now on it holds data: it is no first start any more. */
  settle(): Promise<void>;
  /** Closes everything and gives back what was claimed. */
  close(): Promise<void>;
}
