/**
 * One request to a store's Admin API, and what its failure means: whether a write may have landed, and whether to ask
 * again (F3).
 *
 * Owns: deadlines, the first two layers of errors (HTTP and the answer's `errors`). Does not own: the
 * third, `userErrors` inside the data (adjust.ts and the others), nor when to ask (client.ts).
 *
 * The token goes to the host that was checked when the shop was connected, and nowhere else: redirects are not
 * followed.
 */
import { z } from "zod";
import { retryAfterOf, storefrontRequestMsMax, bodyText, unreached } from "../http.ts";
import { limitedTo } from "../../base/time/waiting.ts";
import { StorefrontError } from "../storefront.ts";
import type { ThrottleStatus } from "./pacing.ts";
import type { TokenSource } from "./token.ts";

/** A connected store. */
export interface ShopifyStore {
  /** `https://example.myshopify.com`, without a path. */
  readonly origin: string;
  /** `2026-10`. */
  readonly apiVersion: string;
  readonly tokens: TokenSource;
}

/** Shopify does not accept the token. Nothing was done. */
export class TokenRefused extends StorefrontError {}

const envelope = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({ message: z.string(), extensions: z.object({ code: z.string().nullish() }).nullish().catch(null) }),
    )
    .nullish(),
  extensions: z
    .object({
      cost: z
        .object({
          requestedQueryCost: z.number(),
          throttleStatus: z.object({
            maximumAvailable: z.number(),
            currentlyAvailable: z.number(),
            restoreRate: z.number(),
          }),
        })
        .nullish(),
    })
    .nullish(),
});

/** An answer of the API: its data, or why there is none. */
export interface ShopifyAnswer {
  readonly data: unknown;
  /** The answer's own errors, whose first one decides; null when it has data only. */
  readonly error: { readonly code: string | null; readonly message: string } | null;
  readonly requestedCost: number | null;
  readonly throttle: ThrottleStatus | null;
  /** The version that has answered, when it is another than was asked. */
  readonly otherVersion: string | null;
}

/**
 * Sends one document.
 *
 * @param body   the JSON of the request, byte by byte.
 * @param writes whether it changes something: then a failure may have landed.
 * @throws StorefrontError when there is no answer of the API. Its message never has the token.
 */
export async function sendToShopify(
  store: ShopifyStore,
  body: string,
  accessToken: string,
  { writes, signal }: { readonly writes: boolean; readonly signal: AbortSignal | undefined },
): Promise<ShopifyAnswer> {
  const maybe = writes ? "maybe" : "no";
  if (signal?.aborted === true)
    throw new StorefrontError("timeout", "nobody waited for Shopify's answer", { landed: "no" });
  const ends = limitedTo(storefrontRequestMsMax, signal);
  try {
    const response = await fetch(`${store.origin}/admin/api/${store.apiVersion}/graphql.json`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "x-shopify-access-token": accessToken,
      },
      body,
      signal: ends,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw errorOfStatus(response, maybe);
    }
    return answerFrom(await bodyText("Shopify", response), response, store.apiVersion, maybe);
  } catch (error) {
    if (error instanceof StorefrontError) throw error;
    if (ends.aborted) throw new StorefrontError("timeout", "Shopify did not answer in time", { landed: maybe });
    throw unreached("Shopify", error, maybe);
  }
}

function answerFrom(text: string, response: Response, statedVersion: string, landed: "no" | "maybe"): ShopifyAnswer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new StorefrontError("error", "Shopify's answer is not JSON", { landed });
  }
  const parsed = envelope.safeParse(json);
  if (!parsed.success) throw new StorefrontError("error", "Shopify's answer cannot be understood", { landed });
  const { data, errors, extensions } = parsed.data;
  const [first] = errors ?? [];
  const served = response.headers.get("x-shopify-api-version");
  return {
    data,
    error: first === undefined ? null : { code: first.extensions?.code ?? null, message: first.message },
    requestedCost: extensions?.cost?.requestedQueryCost ?? null,
    throttle: extensions?.cost?.throttleStatus ?? null,
    otherVersion: served === null || served === statedVersion ? null : served,
  };
}

/** Returns the error of a status other than 200. Shopify does nothing with a request that it answers with a 4xx. */
function errorOfStatus({ status, headers }: Response, landed: "no" | "maybe"): StorefrontError {
  const auth = (message: string): StorefrontError => new StorefrontError("auth", message, { landed: "no" });
  switch (status) {
    case 401:
      return new TokenRefused(
        "auth",
        "Shopify does not accept the access token: it was revoked, has expired, or the app was removed from the store",
        { landed: "no" },
      );
    case 402:
      return auth("the Shopify store is frozen because a bill was not paid");
    case 403:
      return auth("Shopify refuses access to the store: the store is blocked, or the app may not use it");
    case 404:
      return auth("Shopify does not know the store, or the API version is not served any more");
    case 423:
      return auth("the Shopify store is locked");
    case 429: {
      const retryAfterMs = retryAfterOf(headers);
      return new StorefrontError("throttled", "Shopify takes no more calls for now", { landed: "no", retryAfterMs });
    }
    default:
      if (status >= 300 && status < 400)
        return auth(`Shopify redirected the call (HTTP ${status}), which is not followed`);
      return new StorefrontError("error", `Shopify failed (HTTP ${status})`, {
        landed: status >= 500 ? landed : "no",
      });
  }
}
