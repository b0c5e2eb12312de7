/**
 * The caller: a shop and one of its API keys, found by the key alone (S7), or a person signed in at the console
 * (sessions.ts).
 */
import { hash } from "node:crypto";
import type { Actor } from "../core/access/actor.ts";
import { parseApiKey } from "../core/access/api-key.ts";
import { Fault } from "../base/fault.ts";
import { RecentMap } from "../base/recent-map.ts";
import { covers, leastRole, type Role } from "../core/access/role.ts";
import {
  type ApiKey,
  type Shop,
  type StoredCaller,
  findApiKey,
  loadCaller,
  loadShop,
} from "../shop/access/accounts.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Engine, Footprint, Tx } from "../store/store.ts";
import { bytesOfText, Cache } from "../store/cache.ts";
import type { Operation } from "./operation.ts";

/** API keys with their shops that a process remembers: some 8,000. */
export const callersRememberedBytesMax = 16_777_216;

/** An API key, a revoked one too, and the shop that it belongs to. */
export interface KeyCaller {
  readonly shop: Shop;
  readonly key: ApiKey;
  readonly person: null;
}

/** A person who is signed in. */
export interface SignedIn {
  /** Null: the operator, who acts as an owner (C55). */
  readonly personId: string | null;
  readonly name: string;
  readonly role: Role;
  /** The API key by which the person has signed in (C49); null for everybody else. */
  readonly keyId: string | null;
}

/** The person, or the operator, as the activity log and events name them. */
export const actorOf = (person: SignedIn | null): Actor => ({
  type: "user",
  id: person?.personId ?? null,
  name: person?.name ?? operatorName,
  ...(person === null || person.keyId === null ? {} : { keyId: person.keyId }),
});

/** A person who is signed in, and the shop. */
export interface PersonCaller {
  readonly shop: Shop;
  readonly key: null;
  readonly person: SignedIn;
}

export type Caller = KeyCaller | PersonCaller;

/** Names the operator in the activity log, and as the holder of idempotency keys. No id is like it. */
export const operatorName = "operator";

/** Whose idempotency keys the caller's are: the API key's, or the person's across sessions (C55). */
export const holderOf = ({ key, person }: Caller): string => key?.keyId ?? person?.personId ?? operatorName;

/**
 * Finds the caller by the key that was sent.
 *
 * @param bearerToken the API key, or null when none was sent in a readable form.
 * @throws Fault UNAUTHORIZED the same one for every key that is not one of a shop's.
 */
export async function identify(engine: Engine, bearerToken: string | null): Promise<KeyCaller> {
  return (await identifyWith(engine, bearerToken, () => Promise.resolve(null))).caller;
}

/** Callers that a node among others remembers. */
export const confirmableMax = 4_096;

/**
 * Callers as they were read last, so that one statement can find that nothing of them has changed. What is remembered
 * never counts by itself: it is confirmed by the shop's rows for every request.
 */
export class ConfirmableCallers {
  readonly #callers = new RecentMap<StoredCaller>(confirmableMax);

  /** The caller with this key; null unless it was read before and might ask for something then. */
  find(bearerToken: string | null): StoredCaller | null {
    return bearerToken === null ? null : (this.#callers.get(hashOf(bearerToken)) ?? null);
  }

  remember(bearerToken: string, caller: StoredCaller): void {
    const secret = hashOf(bearerToken);
    if (mayAsk(caller)) this.#callers.set(secret, caller);
    else this.#callers.delete(secret);
  }
}

/** Secrets are not kept. */
const hashOf = (bearerToken: string): string => hash("sha256", bearerToken);

const mayAsk = ({ shop, key }: StoredCaller): boolean =>
  key.revokedAtMs === null && key.pausedAtMs === null && shop.planRestApi;

/** Callers by the hash of the API key, so that the memory holds no keys. */
export class Callers {
  readonly #engine: Engine;
  readonly #cache = new Cache<KnownCaller>(callersRememberedBytesMax);
  readonly #confirmable = new ConfirmableCallers();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Finds the caller and what `alongside` finds, which is not remembered.
   *
   * @param known  what is known of it without a look, once the caller is; null: nothing is.
   * @throws Fault UNAUTHORIZED as `identify` does.
   */
  async identifyWith<T>(
    bearerToken: string | null,
    alongside: ((tx: Tx, shopId: string, secretHash: string) => Promise<T>) | null,
    known: (caller: Caller) => T | null,
  ): Promise<{ readonly caller: Caller; readonly found: T | null }> {
    const engine = this.#engine;
    if (!engine.embedded || bearerToken === null) {
      const { caller, stored, found } = await identifyWith(engine, bearerToken, alongside ?? nothing);
      if (bearerToken !== null) this.#confirmable.remember(bearerToken, stored);
      return { caller, found };
    }
    const secret = hashOf(bearerToken);
    const { caller, shopId, secretHash } = this.#cache.get(secret) ?? (await this.#find(secret, bearerToken));
    const found =
      alongside === null
        ? null
        : (known(caller) ?? (await engine.peek(shopId, (tx) => alongside(tx, shopId, secretHash))));
    return { caller, found };
  }

  /**
   * The caller as it was read last, which counts only if the shop's rows confirm it; null when nothing is known of it.
   */
  known(bearerToken: string | null): StoredCaller | null {
    return this.#confirmable.find(bearerToken);
  }

  async #find(secret: string, bearerToken: string): Promise<KnownCaller> {
    const parsed = parseApiKey(bearerToken);
    if (parsed === null) throw unauthorized();
    const { shopId, secretHash } = parsed;
    // A forged key is refused here, without opening the shop's file.
    await orUnauthorized(this.#engine.peek(shopId, () => Promise.resolve(), secretHash));
    const seen: Footprint[] = [];
    const load = async (tx: Tx): Promise<Caller> => callerFrom(...(await Promise.all(lookUps(tx, shopId, secretHash))));
    // Read and not peeked at: what is remembered is durable.
    const caller = await orUnauthorized(this.#engine.read(shopId, load, (each) => seen.push(each)));
    // Requests that came together have read the same: what is made of a shop is then made once for all of them
    // (`settingsText` in perform.ts).
    const foundMeanwhile = this.#cache.get(secret);
    if (foundMeanwhile !== null) return foundMeanwhile;
    const known = { caller, shopId, secretHash };
    this.#cache.put(secret, known, bytesOfText(JSON.stringify(known)), seen);
    return known;
  }
}

interface KnownCaller {
  readonly caller: Caller;
  readonly shopId: string;
  readonly secretHash: string;
}

const lookUps = (tx: Tx, shopId: string, secretHash: string) =>
  [findApiKey(tx, shopId, secretHash), loadShop(tx, shopId)] as const;

/** @throws Fault UNAUTHORIZED when there is no such key. */
function callerFrom(key: ApiKey | null, shop: Shop | null): KeyCaller {
  if (key === null || shop === null) throw unauthorized();
  return { shop, key, person: null };
}

/**
 * Returns the finding; a secret of a shop that is not there is no secret of anybody's. @throws Fault UNAUTHORIZED then.
 */
export async function orUnauthorized<T>(finding: Promise<T>): Promise<T> {
  try {
    return await finding;
  } catch (error) {
    throw isNotFound(error) ? unauthorized() : error;
  }
}

const nothing = (): Promise<null> => Promise.resolve(null);

/**
 * Finds the caller and, in the same round trip, reads what `alongside` reads.
 *
 * @returns the caller, also as it is stored. @throws Fault UNAUTHORIZED as `identify` does.
 */
export async function identifyWith<T>(
  engine: Engine,
  bearerToken: string | null,
  alongside: (tx: Tx, shopId: string, secretHash: string) => Promise<T>,
): Promise<{ readonly caller: KeyCaller; readonly stored: StoredCaller; readonly found: T }> {
  const parsed = bearerToken === null ? null : parseApiKey(bearerToken);
  if (parsed === null) throw unauthorized();
  const { shopId, secretHash } = parsed;
  return await orUnauthorized(
    engine.peek(
      shopId,
      async (tx) => {
        const [stored, found] = await Promise.all([
          loadCaller(tx, shopId, secretHash),
          alongside(tx, shopId, secretHash),
        ]);
        if (stored === null) throw unauthorized();
        return { caller: { shop: stored.shop, key: stored.key, person: null }, stored, found };
      },
      secretHash,
    ),
  );
}

/**
 * Checks that the key may ask for anything at all.
 *
 * @throws Fault UNAUTHORIZED  the key is revoked, or paused.
 * @throws Fault PLAN_REQUIRED the shop's plan has no API.
 */
export function admit({ shop, key }: Caller): void {
  if (key !== null && key.revokedAtMs !== null) throw unauthorized();
  if (key !== null && key.pausedAtMs !== null)
    throw new Fault("UNAUTHORIZED", "The API key is paused.", {
      action: "Ask an owner of the shop to resume it. The same key then works again.",
    });
  if (!shop.planRestApi)
    throw new Fault("PLAN_REQUIRED", "The shop's plan does not include the REST API.", {
      action: "Change the shop's plan.",
    });
}

/** The shop that a key names, before anything of the key was checked; null when it names none. */
export const namedShop = (bearerToken: string | null): string | null => bearerToken?.split("_", 3)[1] ?? null;

/**
 * Checks that the caller may ask for this operation: by the key's scope, or the person's role (C50).
 *
 * @throws Fault FORBIDDEN_SCOPE when not.
 */
export function checkScope(
  { key, person }: Caller,
  operation: Pick<Operation, "name" | "scope" | "receiving" | "leastRole" | "dryByDefault">,
  isDryRun = false,
): void {
  if (key !== null) {
    if (operation.scope === "read" || key.scope !== "read") return;
    const { name, dryByDefault = false } = operation;
    if (dryByDefault && isDryRun) return;
    throw new Fault(
      "FORBIDDEN_SCOPE",
      `A key with the read scope may not call ${name}${dryByDefault ? ", but for a dry run" : ""}.`,
      { action: "Use a key with the scope write, or propose." },
    );
  }
  const least = leastRole(operation);
  if (!covers(person.role, least))
    throw new Fault("FORBIDDEN_SCOPE", `A ${person.role} may not call ${operation.name}.`, {
      action: `Ask an owner of the shop for the role ${least}.`,
    });
}

/** The refusal of whoever is not known. The same one for every reason. */
export const unauthorized = (): Fault =>
  new Fault("UNAUTHORIZED", "The API key is missing, invalid or revoked.", {
    action: "Send Authorization: Bearer <API_KEY> with a key of the shop.",
  });
