/**
 * The access token of a store: one that does not expire, or one that is exchanged for the app's client id and secret
 * and renewed.
 *
 * Owns: when a token is renewed, and that among nodes one does it. Does not own: what is asked with it (client.ts).
 */
import { z } from "zod";
import { hourMs } from "../../base/time/calendar.ts";
import { sleep } from "../../base/time/waiting.ts";
import { clocksApartMsMax } from "../../core/access/rate-limit.ts";
import {
  claimRenewal,
  endRenewalStatement,
  loadToken,
  type RenewedToken,
  saveTokenStatement,
} from "../../shop/storefront/storefront-tokens.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine, Tx } from "../../store/store.ts";
import type { SecretBox } from "../../base/secret-box.ts";
import { retryAfterOf } from "../http.ts";
import { StorefrontError } from "../storefront.ts";
import { jsonOrNull } from "../../base/json.ts";

/** Time before its end at which a token is renewed. Shopify's hold for a day. */
const renewAheadMs = 30 * 60 * 1_000;

/** Time limit of the exchange. */
export const grantMsMax = 8_000;

/** Time for which a process has the renewal for itself; above `grantMsMax`. */
const renewalMs = 9_000;

/** Between an exchange that has failed and the next one. */
const renewalPauseMs = 2_000;

/** Between two looks at the renewal of another process. */
const pollMs = 200;

/** Time for which a token is used whose end Shopify does not state. */
const unsaidMs = hourMs;

/** Bytes of the answer that are read. */
export const grantAnswerBytesMax = 65_536;

interface Grant {
  readonly accessToken: string;
  readonly expiresAtMs: number;
}

const grantAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() });

/**
 * Exchanges the app's client id and secret for a token of the store.
 *
 * @throws StorefrontError; its message has neither.
 */
export async function askForGrant(
  origin: string,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  clock: Clock,
): Promise<Grant> {
  const refused = (kind: StorefrontError["kind"], message: string): StorefrontError =>
    new StorefrontError(kind, message, { landed: "no" });
  let text: string;
  try {
    const response = await fetch(`${origin}/admin/oauth/access_token`, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }).toString(),
      signal: AbortSignal.timeout(grantMsMax),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 429)
        throw new StorefrontError("throttled", "Shopify gives no more access tokens for now", {
          landed: "no",
          retryAfterMs: retryAfterOf(response.headers),
        });
      if (response.status >= 500) throw refused("error", `Shopify gave no access token (HTTP ${response.status})`);
      throw refused(
        "auth",
        `Shopify gives no access token for the client id and secret (HTTP ${response.status}): one of them is wrong, or the app is not installed in the store`,
      );
    }
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      bytes += piece.byteLength;
      if (bytes > grantAnswerBytesMax)
        throw refused("error", "Shopify's answer to the request for a token is too large");
      pieces.push(piece);
    }
    text = Buffer.concat(pieces).toString("utf8");
  } catch (error) {
    if (error instanceof StorefrontError) throw error;
    const isLate = error instanceof Error && error.name === "TimeoutError";
    throw refused(isLate ? "timeout" : "error", "Shopify could not be asked for an access token");
  }
  const parsed = grantAnswer.safeParse(jsonOrNull(text));
  if (!parsed.success) throw refused("error", "Shopify's answer to the request for a token cannot be understood");
  const { access_token: accessToken, expires_in: seconds } = parsed.data;
  return { accessToken, expiresAtMs: clock.now() + (seconds === undefined ? unsaidMs : seconds * 1_000) };
}

/** Where a store's token comes from. */
export interface TokenSource {
  /** @throws StorefrontError */
  current(): Promise<string>;
  /**
   * Shopify has refused this token. @returns another one; null when there is none to be had. @throws StorefrontError
   */
  instead(refused: string): Promise<string | null>;
}

/** A token that does not expire. */
export const fixedToken = (accessToken: string): TokenSource => ({
  current: () => Promise.resolve(accessToken),
  instead: () => Promise.resolve(null),
});

interface RenewalDependencies {
  readonly shopId: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly origin: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The token of the connection, and when it ends; null: nobody has said. */
  readonly first: { readonly accessToken: string; readonly expiresAtMs: number | null };
  /** Names the connection: a new one has other tokens. */
  readonly madeFor: string;
}

interface HeldToken {
  readonly accessToken: string;
  readonly expiresAtMs: number | null;
}

/** A token that is renewed before it ends, and when Shopify refuses it. */
export class RenewingToken implements TokenSource {
  readonly #parts: RenewalDependencies;
  #held: HeldToken;
  #renewing: Promise<string> | null = null;

  constructor(parts: RenewalDependencies) {
    this.#parts = parts;
    this.#held = parts.first;
  }

  #isFresh({ expiresAtMs }: HeldToken, aheadMs: number): boolean {
    return expiresAtMs === null || expiresAtMs > this.#parts.clock.now() + aheadMs;
  }

  async current(): Promise<string> {
    const held = this.#held;
    if (this.#isFresh(held, renewAheadMs)) return held.accessToken;
    try {
      return await this.#renewed(held.accessToken);
    } catch (error) {
      // It holds for a while yet.
      if (error instanceof StorefrontError && this.#isFresh(held, 0)) return held.accessToken;
      throw error;
    }
  }

  async instead(refused: string): Promise<string | null> {
    const { accessToken } = this.#held;
    return accessToken === refused ? await this.#renewed(refused) : accessToken;
  }

  /** A token other than this one. All who ask at a time get the same. */
  #renewed(than: string): Promise<string> {
    this.#renewing ??= this.#renewOrSay(than).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewOrSay(than: string): Promise<string> {
    try {
      return await this.#renew(than);
    } catch (error) {
      if (error instanceof StorefrontError) throw error;
      throw new StorefrontError("error", "the renewed access token could not be read or stored", {
        landed: "no",
        cause: error,
      });
    }
  }

  async #renew(than: string): Promise<string> {
    const { shopId, engine, clock } = this.#parts;
    const endsAtMs = clock.now() + renewalMs * 2;
    for (;;) {
      const found =
        (await engine.peek(shopId, (tx) => this.#renewedByAnother(tx, than))) ??
        // Seen again in the turn that claims: the other one may have renewed it since.
        (await engine.write(shopId, async (tx) => (await this.#renewedByAnother(tx, than)) ?? (await this.#claim(tx))));
      if (found === "claimed") return await this.#exchange();
      if (found !== "another") {
        this.#held = found;
        return found.accessToken;
      }
      if (clock.now() >= endsAtMs)
        throw new StorefrontError("timeout", "the access token was not renewed in time", { landed: "no" });
      await sleep(pollMs);
    }
  }

  /** The stored token; null when it is this one, or ends soon. */
  async #renewedByAnother(tx: Tx, than: string): Promise<HeldToken | null> {
    const { shopId, madeFor } = this.#parts;
    const stored = await loadToken(tx, shopId, madeFor);
    const found = stored === null ? null : this.#opened(stored);
    return found !== null && found.accessToken !== than && this.#isFresh(found, renewAheadMs) ? found : null;
  }

  async #claim(tx: Tx): Promise<"claimed" | "another"> {
    const { shopId, clock, madeFor } = this.#parts;
    const nowMs = clock.now();
    const untilMs = nowMs + renewalMs;
    // Nodes' times differ a little: a renewal that ends a little later than one that begins now is another node's.
    const times = { nowMs, untilMs, aheadMs: untilMs + clocksApartMsMax };
    return (await claimRenewal(tx, shopId, madeFor, times)) ? "claimed" : "another";
  }

  #opened({ token, expiresAtMs }: RenewedToken): HeldToken {
    const { secrets, shopId } = this.#parts;
    return { accessToken: secrets.open(shopId, token), expiresAtMs };
  }

  async #exchange(): Promise<string> {
    const { shopId, engine, clock, secrets, origin, madeFor } = this.#parts;
    try {
      const { accessToken, expiresAtMs } = await askForGrant(origin, this.#parts, clock);
      const token = secrets.seal(shopId, accessToken);
      await engine.write(shopId, (tx) => tx.batch([saveTokenStatement(shopId, madeFor, { token, expiresAtMs })]));
      this.#held = { accessToken, expiresAtMs };
      return accessToken;
    } catch (error) {
      const end = endRenewalStatement(shopId, madeFor, clock.now() + renewalPauseMs);
      await engine.write(shopId, (tx) => tx.batch([end])).catch(() => {});
      throw error;
    }
  }
}
