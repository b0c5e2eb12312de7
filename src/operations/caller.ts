/**
 * Who asks: a shop and one of its API keys, found by the key alone (S7).
 */
import { parseApiKey } from "../core/api-key.ts";
import { Fault } from "../core/fault.ts";
import { type ApiKey, type Shop, findApiKey, loadShop } from "../shop/accounts.ts";
import type { Engine, Tx } from "../store/store.ts";

/** An API key, a revoked one too, and the shop that it belongs to. */
export interface Caller {
  readonly shop: Shop;
  readonly key: ApiKey;
}

/**
 * Finds the caller by the key that was sent.
 *
 * @param bearerToken the API key, or null when none was sent in a readable form.
 * @throws Fault UNAUTHORIZED the same one for every key that is not one of a shop's.
 */
export async function identify(engine: Engine, bearerToken: string | null): Promise<Caller> {
  return (await identifyWith(engine, bearerToken, () => Promise.resolve(null))).caller;
}

/** Finds the caller and, in the same round trip, reads what `alongside` reads. @throws Fault UNAUTHORIZED as `identify` does. */
export async function identifyWith<T>(
  engine: Engine,
  bearerToken: string | null,
  alongside: (tx: Tx, shopId: string, secretHash: string) => Promise<T>,
): Promise<{ readonly caller: Caller; readonly found: T }> {
  const parsed = bearerToken === null ? null : parseApiKey(bearerToken);
  if (parsed === null) throw unauthorized();
  const { shopId, secretHash } = parsed;
  try {
    return await engine.peek(shopId, async (tx) => {
      const [key, shop, found] = await Promise.all([
        findApiKey(tx, shopId, secretHash),
        loadShop(tx, shopId),
        alongside(tx, shopId, secretHash),
      ]);
      if (key === null || shop === null) throw unauthorized();
      return { caller: { shop, key }, found };
    });
  } catch (error) {
    throw error instanceof Fault && error.code === "NOT_FOUND" ? unauthorized() : error;
  }
}

/**
 * Checks that the key may ask for anything at all.
 *
 * @throws Fault UNAUTHORIZED  the key is revoked.
 * @throws Fault PLAN_REQUIRED the shop's plan has no API.
 */
export function admit({ shop, key }: Caller): void {
  if (key.revokedAtMs !== null) throw unauthorized();
  if (!shop.planRestApi)
    throw new Fault("PLAN_REQUIRED", "The shop's plan does not include the REST API.", {
      action: "Change the shop's plan.",
    });
}

/** The shop that a key names, before anything of the key was checked; null when it names none. */
export const namedShop = (bearerToken: string | null): string | null => bearerToken?.split("_", 3)[1] ?? null;

const unauthorized = (): Fault =>
  new Fault("UNAUTHORIZED", "The API key is missing, invalid or revoked.", {
    action: "Send Authorization: Bearer <API_KEY> with a key of the shop.",
  });
