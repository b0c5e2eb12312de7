/**
 * One request to a Medusa's Admin API, and what its failure means: whether a write may have landed, and whether to ask
 * again (F3).
 *
 * Owns: deadlines, HTTP statuses. Does not own: what an answer means (levels.ts and the others), nor when to ask
 * (client.ts).
 *
 * The key goes to the host that was checked when the shop was connected, and nowhere else: redirects are not followed.
 */
import { z } from "zod";
import { retryAfterOf, storefrontRequestMsMax, bodyText, unreached } from "../http.ts";
import { limitedTo } from "../../base/time/waiting.ts";
import { StorefrontError } from "../storefront.ts";

/** A connected Medusa. */
export interface MedusaStore {
  /** `https://medusa.example.com`, without a path. */
  readonly origin: string;
  readonly secretKey: string;
}

export interface MedusaRequest {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

/** Answer of Medusa: data, or why it refuses the request and has done nothing. */
export type MedusaAnswer =
  | { readonly kind: "data"; readonly data: unknown }
  | { readonly kind: "refused"; readonly status: number; readonly message: string };

/** Medusa has failed at a call (HTTP 500). It takes back what the call had changed by then. */
export class MedusaFailed extends StorefrontError {}

/** Who answers is not Medusa's Admin API, or one that does not have the call. */
export class NotMedusa extends StorefrontError {}

/** Medusa's own errors. Whoever answers otherwise is not its Admin API. */
const refusal = z.object({ type: z.string(), message: z.string() });

/**
 * Sends one request.
 *
 * @param writes whether it changes something: then a failure may have landed.
 * @throws StorefrontError when there is no answer of the API. Its message never has the key.
 */
export async function sendToMedusa(
  { origin, secretKey }: MedusaStore,
  { method, path, body }: MedusaRequest,
  { writes, signal }: { readonly writes: boolean; readonly signal: AbortSignal | undefined },
): Promise<MedusaAnswer> {
  const maybe = writes ? "maybe" : "no";
  if (signal?.aborted === true)
    throw new StorefrontError("timeout", "nobody waited for Medusa's answer", { landed: "no" });
  const ends = limitedTo(storefrontRequestMsMax, signal);
  try {
    const response = await fetch(`${origin}${path}`, {
      method,
      redirect: "manual",
      headers: {
        accept: "application/json",
        authorization: `Basic ${Buffer.from(`${secretKey}:`).toString("base64")}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: ends,
    });
    const error = errorOfStatus(response, maybe);
    if (error !== null) {
      await response.body?.cancel();
      throw error;
    }
    return answerFrom(response.status, await bodyText("Medusa", response), maybe);
  } catch (error) {
    if (error instanceof StorefrontError) throw error;
    if (ends.aborted) throw new StorefrontError("timeout", "Medusa did not answer in time", { landed: maybe });
    throw unreached("Medusa", error, maybe);
  }
}

function answerFrom(status: number, text: string, landed: "no" | "maybe"): MedusaAnswer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    if (status !== 200) throw notMedusa(status);
    throw new StorefrontError("error", "Medusa's answer is not JSON", { landed });
  }
  if (status === 200) return { kind: "data", data: json };
  const parsed = refusal.safeParse(json);
  if (!parsed.success) throw notMedusa(status);
  return { kind: "refused", status, message: parsed.data.message };
}

const notMedusa = (status: number): StorefrontError =>
  new NotMedusa("auth", `this is not the Admin API of a Medusa 2 (HTTP ${status})`, { landed: "no" });

/**
 * Returns the error of a status that is neither data nor a refusal; null for those. Medusa does nothing with a request
 * that it answers with a 4xx.
 */
function errorOfStatus({ status, headers }: Response, landed: "no" | "maybe"): StorefrontError | null {
  const auth = (message: string): StorefrontError => new StorefrontError("auth", message, { landed: "no" });
  if (status === 401) return auth("Medusa does not accept the secret key: it was revoked, or is no secret key");
  if (status === 403) return auth("Medusa refuses the call: the secret key may not do it");
  if (status === 409)
    return new StorefrontError("error", "Medusa had another change under way", { landed: "no", retryAfterMs: 500 });
  if (status === 429)
    return new StorefrontError("throttled", "Medusa takes no more calls for now", {
      landed: "no",
      retryAfterMs: retryAfterOf(headers),
    });
  if (status === 500) return new MedusaFailed("error", "Medusa failed (HTTP 500)", { landed });
  if (status > 500) return new StorefrontError("error", `Medusa failed (HTTP ${status})`, { landed });
  if (status >= 300 && status < 400)
    return new NotMedusa("auth", `the call was redirected (HTTP ${status}), which is not followed`, { landed: "no" });
  return null;
}
