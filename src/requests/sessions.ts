/**
 * People who are signed in at the console, found by the bearer that their page sends (C49, C50).
 *
 * Owns: how long sessions and bearers live, what ends them, and the role that a session gives. Does not own: signing in
 * (people/), the rows (shop/access/people.ts).
 */
import { lesserRole, type Role, roleOfScope } from "../core/access/role.ts";
import { parseSecret } from "../base/secret.ts";
import { loadShop } from "../shop/access/accounts.ts";
import { findBearer, type SignedInSession } from "../shop/access/people.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Coordination, Engine, Tx } from "../store/store.ts";
import { operatorName, orUnauthorized, type PersonCaller, type SignedIn, unauthorized } from "./caller.ts";

/** A session ends when it was not seen for this time. */
export const sessionIdleMs = 43_200_000;

/** Lifetime of a bearer. */
export const bearerMs = 600_000;

/** True if a bearer token is one of a session, a valid one or not. */
export const isSessionBearer = (token: string | null): token is string => token?.startsWith("ops_") === true;

/**
 * Returns the person of a session; null when it has ended: it was idle for too long, or its API key is revoked or
 * paused.
 */
export function signedInBy(session: SignedInSession, nowMs: number): (SignedIn & { readonly personId: string }) | null {
  const { personId, name, keyId, keyScope, isKeyShut, lastSeenAtMs } = session;
  if (lastSeenAtMs <= nowMs - sessionIdleMs) return null;
  if (keyId !== null && (keyScope === null || isKeyShut)) return null;
  return { personId, name, role: roleOf(session), keyId };
}

/** Returns the rights of a session: never more than those of its API key. */
const roleOf = ({ role, keyScope }: SignedInSession): Role =>
  keyScope === null ? role : lesserRole(role, roleOfScope[keyScope]);

/** The operator in a shop: an owner without a person. */
export const operatorHere: SignedIn = { personId: null, name: operatorName, role: "owner", keyId: null };

/** True if the caller is the operator, with the admin token or signed in. */
export const isOperator = (person: SignedIn | null): boolean => person === null || person.personId === null;

/**
 * Finds the person by the bearer and, in the same read, what `alongside` reads for the holder of idempotency keys.
 *
 * @throws Fault UNAUTHORIZED when the bearer is not one, has expired, or its session has ended.
 */
export async function identifyPerson<T>(
  deps: { readonly engine: Engine; readonly coordination: Coordination; readonly clock: Clock },
  bearerToken: string,
  alongside: (tx: Tx, shopId: string, holderId: string) => Promise<T>,
): Promise<{ readonly caller: PersonCaller; readonly found: T }> {
  const { engine, coordination, clock } = deps;
  const parsed = parseSecret("ops", bearerToken);
  if (parsed === null) throw unauthorized();
  const { shopId, secretHash } = parsed;
  const nowMs = clock.now();
  const { bearer, shop, person, found } = await orUnauthorized(
    engine.peek(
      shopId,
      async (tx) => {
        const [bearer, shop] = await Promise.all([findBearer(tx, shopId, secretHash), loadShop(tx, shopId)]);
        if (bearer === null || shop === null || bearer.expiresAtMs <= nowMs) throw unauthorized();
        const person = bearer.session === null ? operatorHere : signedInBy(bearer.session, nowMs);
        if (person === null) throw unauthorized();
        return { bearer, shop, person, found: await alongside(tx, shopId, person.personId ?? operatorName) };
      },
      secretHash,
    ),
  );
  if (
    bearer.operatorSession !== null &&
    !(await coordination.hasOperatorSession(bearer.operatorSession, nowMs - sessionIdleMs))
  )
    throw unauthorized();
  return { caller: { shop, key: null, person }, found };
}
