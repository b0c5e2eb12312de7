/**
 * The lease of a lane's effects while the storefront is called (O1, O2): renewed as long as the process lives, so that
 * it can be short.
 *
 * Owns: when it is renewed, and whether it holds. Does not own: the rows (shop/storefront/effects.ts).
 */
import type { Clock } from "../../base/time/clock.ts";

/** Of a lease, how much passes before it is renewed: a renewal that fails is followed by others. */
const renewedAfterShare = 0.3;

interface LeaseOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** When it was taken, or renewed last. */
  readonly heldFromMs: number;
  /** Renews it. @returns false when another has it. */
  readonly renew: (untilMs: number) => Promise<boolean>;
  /** Calls that are under way are given up. */
  readonly aborting: AbortSignal;
}

export class HeldLease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #renewing: NodeJS.Timeout;
  #heldFromMs: number;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#heldFromMs = options.heldFromMs;
    this.#renewing = setInterval(() => void this.#renew(), options.leaseMs * renewedAfterShare);
    options.aborting.addEventListener("abort", this.#lose, { once: true });
    if (options.aborting.aborted) this.#lose();
  }

  /** Aborted when the lease is lost, or calls are given up: another may call the storefront by then. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Until when it holds, unless it is renewed. */
  get untilMs(): number {
    return this.#heldFromMs + this.#options.leaseMs;
  }

  /** It is renewed no more. */
  end(): void {
    clearInterval(this.#renewing);
    this.#options.aborting.removeEventListener("abort", this.#lose);
  }

  readonly #lose = (): void => this.#lost.abort();

  async #renew(): Promise<void> {
    const { clock, leaseMs, renew } = this.#options;
    const fromMs = clock.now();
    if (fromMs >= this.untilMs) {
      this.#lose();
      return;
    }
    // A store that refuses for now is asked again, as long as the lease holds.
    const isHeld = await renew(fromMs + leaseMs).catch(() => null);
    if (isHeld === false) this.#lose();
    if (isHeld === true) this.#heldFromMs = Math.max(this.#heldFromMs, fromMs);
  }
}
