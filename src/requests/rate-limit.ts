/**
 * The rate limit of one request: its token, and the headers that show the shop's bucket (C6, C18).
 */
import { Fault } from "../base/fault.ts";
import { mention } from "../core/order/guidance.ts";
import type { BucketReading } from "../core/access/rate-limit.ts";
import type { Shop } from "../shop/access/accounts.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Coordination } from "../store/store.ts";
import type { Caller } from "./caller.ts";

/** One request's access to its shop's bucket. */
export interface RequestTokens {
  /** Takes a token, once whatever the number of calls. @throws Fault RATE_LIMITED when there is none. */
  take(): Promise<void>;
  /** Puts the token back: the request turned out to be one that needs none. */
  giveBack(): Promise<void>;
  /** True if the request has its token. One that has not is a refusal or a replay. */
  readonly taken: boolean;
  /** The `RateLimit` headers as of `take`. Without a `take`, the bucket is read for them. */
  headers(): Promise<Readonly<Record<string, string>>>;
}

/**
 * A bucket of a shop: its API keys share one, whoever has signed in with one too; its people another with the same
 * parameters (C49, C50).
 */
type Bucket = "shop" | "people";

export const bucketOf = ({ person }: Pick<Caller, "person">): Bucket =>
  person === null || person.keyId !== null ? "shop" : "people";

/**
 * @param known what the bucket has answered already when it was asked for this request's token; null: it was not asked.
 */
export function requestTokens(
  coordination: Pick<Coordination, "takeToken" | "giveToken" | "peekTokens">,
  clock: Clock,
  { shopId, rateLimit }: Pick<Shop, "shopId" | "rateLimit">,
  bucket: Bucket = "shop",
  known: BucketReading | null = null,
): RequestTokens {
  // A shop's id has no space, so no shop's bucket has this name.
  const name = bucket === "shop" ? shopId : `${shopId} ${bucket}`;
  let state = known;
  let taken = false;
  return {
    get taken() {
      return taken;
    },
    async take() {
      if (taken) return;
      state = known ?? (await coordination.takeToken(name, rateLimit, clock.now()));
      if (state.retryAfterMs !== null)
        throw new Fault("RATE_LIMITED", "The shop's rate limit is reached.", {
          retryAfterMs: Math.max(1, Math.ceil(state.retryAfterMs)),
          action: `Wait as long as ${mention("retryAfter")} says, then send the same request again.`,
        });
      taken = true;
    },
    async giveBack() {
      if (!taken) return;
      taken = false;
      state = await coordination.giveToken(name, rateLimit, clock.now());
    },
    async headers() {
      state ??= await coordination.peekTokens(name, rateLimit, clock.now());
      const { capacity, refillPerSecond } = rateLimit;
      // IETF draft 10: `t` is the seconds until the bucket is full.
      return {
        "RateLimit-Policy": `"${bucket}";q=${Math.floor(capacity)};w=${Math.max(1, Math.ceil(capacity / refillPerSecond))}`,
        RateLimit: `"${bucket}";r=${Math.floor(state.remaining)};t=${Math.ceil(state.resetAfterMs / 1000)}`,
      };
    },
  };
}
