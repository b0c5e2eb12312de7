/**
 * Assistants that are connected, found by the access token that they send to `/mcp` (C75). No other surface takes one.
 */
import { effectiveScope } from "../core/access/grant.ts";
import { parseSecret } from "../base/secret.ts";
import { loadShop } from "../shop/access/accounts.ts";
import { findToken } from "../shop/access/connections.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Engine } from "../store/store.ts";
import { type KeyCaller, orUnauthorized, unauthorized } from "./caller.ts";

/** True if a bearer token is one of a connection, a valid one or not. */
export const isConnectionToken = (token: string | null): token is string => token?.startsWith("opt_") === true;

/**
 * Finds the connection as the key that it is. It may do what was given, and no more than its person may do now.
 *
 * @throws Fault UNAUTHORIZED when the token is not one, or has expired. A revoked or paused connection is found.
 */
export async function identifyConnection(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  token: string,
): Promise<KeyCaller> {
  const parsed = parseSecret("opt", token);
  if (parsed === null) throw unauthorized();
  const { shopId, secretHash } = parsed;
  const [found, shop] = await orUnauthorized(
    engine.peek(
      shopId,
      (tx) => Promise.all([findToken(tx, shopId, secretHash, "access"), loadShop(tx, shopId)]),
      secretHash,
    ),
  );
  if (found === null || shop === null || found.expiresAtMs <= clock.now()) throw unauthorized();
  const { key, role } = found.connection;
  return { shop, key: { ...key, scope: effectiveScope(key.scope, role) }, person: null };
}
