/**
 * Counts what somebody tries, so that guessing is slow (C49, C64).
 *
 * Owns: the counts, in memory. Whoever is counted by the connection's address is counted by nothing that a header says
 * of it. Each node counts for itself.
 */
import { Fault } from "../base/fault.ts";
import { RecentMap } from "../base/recent-map.ts";
import type { Clock } from "../base/time/clock.ts";

/** Failed sign-ins that an address has at once, before it has to wait. */
export const signInFailuresMax = 30;

/** One more failed sign-in of an address is allowed after this time. */
export const signInFailureMs = 10_000;

/** Unknown links that an address may ask for at once, before it has to wait. A link that is good is always answered. */
export const linkGuessesMax = 30;

/** One more unknown link of an address is looked up after this time. */
export const linkGuessMs = 10_000;

/** Requests by one link that are answered at once, before it has to wait. */
export const linkRequestsMax = 60;

/** One more request by a link is answered after this time. */
export const linkRequestMs = 1_000;

/** Links whose requests are counted by a process. */
export const linksCountedMax = 10_000;

/** Clients that an address may register at once, before it has to wait. */
export const registrationsMax = 20;

/** One more client of an address is registered after this time. */
export const registrationEveryMs = 30_000;

/** Clients that may be registered at once from all addresses together, before they have to wait. */
export const registrationsOfAllMax = 200;

/** One more client of any address is registered after this time. */
export const registrationOfAllEveryMs = 2_000;

/** Documents that an address may have fetched at once, before it has to wait. */
export const clientDocumentsMax = 20;

/** One more document is fetched for an address after this time. */
export const clientDocumentEveryMs = 10_000;

/** Wrong codes and tokens that an address may send at once, before it has to wait. A right one is always taken. */
export const tokenGuessesMax = 30;

/** One more wrong code or token of an address is looked up after this time. */
export const tokenGuessMs = 10_000;

/** Links to sign in by that an address may ask for at once, before it has to wait. */
export const signInLinksMax = 30;

/** One more link of an address is mailed after this time. */
export const signInLinkEveryMs = 10_000;

/** Links to sign in by that may be asked for at once from all addresses together, before they have to wait. */
export const signInLinksOfAllMax = 100;

/** One more link of any address is mailed after this time. */
export const signInLinkOfAllEveryMs = 2_000;

/** Addresses whose wrong admin tokens are counted. */
export const guessersMax = 10_000;

interface AttemptLimits {
  /** Attempts at once, before somebody has to wait. */
  readonly atOnceMax: number;
  /** One more is allowed after this time. */
  readonly everyMs: number;
  /** Of how many attempts are counted. */
  readonly countedMax: number;
  /** Message for a caller that has to wait. */
  readonly message: string;
}

/**
 * Failed sign-ins of each address. A right secret is taken from there all the same: many people may be behind one
 * address.
 */
export const signInsOfAddress: AttemptLimits = {
  atOnceMax: signInFailuresMax,
  everyMs: signInFailureMs,
  countedMax: guessersMax,
  message: "Too many sign-ins from this address have failed.",
};

/** Failed sign-ins with each secret, from wherever they come. One that has failed too often is not looked up again. */
export const signInsWithSecret: AttemptLimits = {
  ...signInsOfAddress,
  message: "Too many sign-ins with this secret have failed.",
};

/**
 * Links of suppliers that an address has asked for and that lead nowhere. One that is good is answered all the same
 * (D273).
 */
export const linkGuesses: AttemptLimits = {
  atOnceMax: linkGuessesMax,
  everyMs: linkGuessMs,
  countedMax: guessersMax,
  message: "Too many links from this address lead nowhere.",
};

/** Requests by each link of a supplier. */
export const linkRequests: AttemptLimits = {
  atOnceMax: linkRequestsMax,
  everyMs: linkRequestMs,
  countedMax: linksCountedMax,
  message: "There were too many requests by this link.",
};

/** Clients that an address registers. */
export const registrationsOfAddress: AttemptLimits = {
  atOnceMax: registrationsMax,
  everyMs: registrationEveryMs,
  countedMax: guessersMax,
  message: "Too many clients were registered from this address.",
};

/** Clients that are registered, from wherever. */
export const registrationsOfAll: AttemptLimits = {
  atOnceMax: registrationsOfAllMax,
  everyMs: registrationOfAllEveryMs,
  countedMax: 1,
  message: "Too many clients were registered.",
};

/** Documents of clients that are fetched for an address. */
export const documentsOfAddress: AttemptLimits = {
  atOnceMax: clientDocumentsMax,
  everyMs: clientDocumentEveryMs,
  countedMax: guessersMax,
  message: "Too many client documents were asked for from this address.",
};

/** Codes and tokens that an address has sent and that are none. One that is good is taken all the same. */
export const tokenGuesses: AttemptLimits = {
  atOnceMax: tokenGuessesMax,
  everyMs: tokenGuessMs,
  countedMax: guessersMax,
  message: "Too many wrong codes or tokens were sent from this address.",
};

/** Links to sign in by that an address asks for. */
export const signInLinksOfAddress: AttemptLimits = {
  atOnceMax: signInLinksMax,
  everyMs: signInLinkEveryMs,
  countedMax: guessersMax,
  message: "Too many links to sign in were asked for from this address.",
};

/** Links to sign in by that are asked for, from wherever. */
export const signInLinksOfAll: AttemptLimits = {
  atOnceMax: signInLinksOfAllMax,
  everyMs: signInLinkOfAllEveryMs,
  countedMax: 1,
  message: "Too many links to sign in were asked for.",
};

export class Attempts {
  readonly #clock: Clock;
  readonly #limits: AttemptLimits;
  /** Until when the attempts of somebody count, one after the other. */
  readonly #busyUntilMs: RecentMap<number>;

  constructor(clock: Clock, limits: AttemptLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#busyUntilMs = new RecentMap(limits.countedMax);
  }

  /** @throws Fault RATE_LIMITED when there were too many attempts. */
  admit(who: string): void {
    const { atOnceMax, everyMs, message } = this.#limits;
    const nowMs = this.#clock.now();
    const aheadMs = (this.#busyUntilMs.get(who) ?? nowMs) - nowMs;
    const waitMs = aheadMs - (atOnceMax - 1) * everyMs;
    if (waitMs > 0)
      throw new Fault("RATE_LIMITED", message, {
        retryAfterMs: Math.min(waitMs, everyMs),
        action: "Wait as long as Retry-After says, then try again.",
      });
  }

  /** Counts an attempt. @throws Fault RATE_LIMITED instead when there were too many. */
  take(who: string): void {
    this.admit(who);
    this.count(who);
  }

  /** Counts an attempt. */
  count(who: string): void {
    const nowMs = this.#clock.now();
    const untilMs = Math.max(nowMs, this.#busyUntilMs.get(who) ?? nowMs) + this.#limits.everyMs;
    this.#busyUntilMs.set(who, untilMs);
  }
}
