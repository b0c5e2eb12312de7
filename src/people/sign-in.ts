/**
 * Signing in and out, and the bearers that a session buys (C49, C55).
 *
 * Owns: what a session is given for, and what it is stored as. Does not own: cookies (cookie.ts), how long a session
 * lives and what ends it (requests/sessions.ts), the rows (shop/access/people.ts).
 */
import { randomBytes } from "node:crypto";
import { Fault, invalidField } from "../base/fault.ts";
import { looksOf } from "../base/text/looks.ts";
import { roleOfScope } from "../core/access/role.ts";
import {
  makeSecret,
  noShopId,
  parseSecret,
  type ParsedSecret,
  type SecretKind,
  secretRandomBytes,
} from "../base/secret.ts";
import type { AuditTrail } from "../requests/audit/audit-trail.ts";
import { admit, identify, operatorName, type PersonCaller, type SignedIn } from "../requests/caller.ts";
import { asFault } from "../requests/envelope.ts";
import { bucketOf, requestTokens } from "../requests/rate-limit.ts";
import type { Refusals } from "../requests/audit/refusals.ts";
import { bearerMs, operatorHere, sessionIdleMs, signedInBy } from "../requests/sessions.ts";
import { type ApiKey, loadShop, type Shop } from "../shop/access/accounts.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import { lastSequence } from "../shop/events/events.ts";
import {
  bearerStatements,
  countPeople,
  endSession,
  endSessionsStatements,
  findInvitation,
  findPerson,
  findPersonOfKey,
  findSession,
  hasSession,
  type Invitation,
  namesTaken,
  type Person,
  personStatement,
  seenStatements,
  type Session,
  type SignedInSession,
  sessionStatements,
  useInvitationStatement,
} from "../shop/access/people.ts";
import { findSignInLink, type SignInLink, useLinksStatement } from "../shop/access/sign-in-links.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Coordination, Engine, Statement, Tx } from "../store/store.ts";
import { type Passkeys, type SignedChallenge, unusablePasskey } from "./passkeys.ts";

/** Bytes of a sign-in, and of what is asked about passkeys. It is read before anybody is known. */
export const signInBytesMax = 16_384;

/** People of a shop. */
export const peopleMax = 1_000;

/** Sessions of a person. Beyond it the oldest ends. */
export const sessionsOfPersonMax = 20;

/** Bearers of a session that are valid at a time: one for each page that is open. Beyond it the oldest ends. */
export const bearersOfSessionMax = 20;

export interface SignInDependencies {
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly isAdminToken: (text: string) => boolean;
  readonly passkeys: Pick<Passkeys, "prove">;
}

/** Records of a sign-in in the audit log of its shop. */
export interface SignInTrail {
  readonly auditTrail: Pick<AuditTrail, "statements">;
  readonly refusals: Pick<Refusals, "add">;
  /** The row of this request. */
  readonly row: (person: Pick<SignedIn, "personId" | "keyId">, outcome: SignInOutcome) => AuditEntry;
}

interface SignInOutcome {
  readonly status: number;
  readonly errorCode: string | null;
}

/** Credential of a sign-in. */
export type Credential =
  | { readonly invitation: string }
  | { readonly link: string }
  | { readonly passkey: SignedChallenge }
  | { readonly adminToken: string }
  | { readonly apiKey: string; readonly name: string };

/** A new session: `secret` goes into the cookie. */
interface NewSession {
  readonly secret: string;
  /** Null: the operator's. */
  readonly shopId: string | null;
  readonly personId: string | null;
  readonly sessionId: string | null;
}

const newSecret = (kind: SecretKind, shopId: string) => makeSecret(kind, shopId, randomBytes(secretRandomBytes));

/**
 * Signs in. By a key of a shop it takes a token of the key's bucket, and leaves an audit row, whether it succeeds or
 * not.
 *
 * @throws Fault UNAUTHORIZED     the secret is not one, the invitation or link was used, revoked or has expired, or the
 *                                passkey signs nobody in.
 * @throws Fault FORBIDDEN_SCOPE  the key was made without sign-in.
 * @throws Fault PLAN_REQUIRED    the shop's plan has no API.
 * @throws Fault RATE_LIMITED     the key's bucket is empty.
 * @throws Fault INVALID_INPUT    the shop has too many people, or the name is somebody's.
 */
export async function signIn(
  deps: SignInDependencies,
  credential: Credential,
  userAgent: string | null,
  trail: SignInTrail,
): Promise<NewSession> {
  if ("invitation" in credential) return await byInvitation(deps, credential.invitation, userAgent, trail);
  if ("link" in credential) return await byLink(deps, credential.link, userAgent, trail);
  if ("passkey" in credential) return await byPasskey(deps, credential.passkey, userAgent, trail);
  if ("apiKey" in credential) return await byApiKey(deps, credential, userAgent, trail);
  if (!deps.isAdminToken(credential.adminToken)) throw wrongAdminToken();
  const { text, hash } = newSecret("opc", noShopId);
  await deps.coordination.seeOperatorSession(hash, deps.clock.now());
  return { secret: text, shopId: null, personId: null, sessionId: null };
}

const wrongAdminToken = (): Fault =>
  new Fault("UNAUTHORIZED", "The admin token is wrong.", {
    action: "It is OPENPO_ADMIN_TOKEN, or was printed at the first start and is in the data directory.",
  });

/** A sign-in by a secret that a person was sent. */
interface SecretSignIn<Found> {
  readonly kind: "opi" | "opm";
  /** The secret, or an address that ends with it. */
  readonly sent: string;
  readonly find: (tx: Tx, shopId: string, secretHash: string) => Promise<Found | null>;
  /** Refusal of a secret that nobody can sign in by. */
  readonly unusable: (why: string) => Fault;
  readonly begin: (tx: Tx, shopId: string, found: Found, nowMs: number) => Promise<NewSession>;
}

/** Members that every such secret has. */
interface SentSecret {
  readonly usedAtMs: number | null;
  readonly revokedAtMs?: number | null;
  readonly expiresAtMs: number;
}

const foreign = "is not one of this service";

/** @throws Fault UNAUTHORIZED when nobody can sign in by it. */
async function bySecret<Found extends SentSecret>(
  { engine, clock }: SignInDependencies,
  { kind, sent, find, unusable, begin }: SecretSignIn<Found>,
): Promise<NewSession> {
  const [text = ""] = new RegExp(String.raw`${kind}_[\w-]+$`).exec(sent) ?? [];
  const parsed = parseSecret(kind, text);
  if (parsed === null || parsed.shopId === noShopId) throw unusable(foreign);
  const { shopId, secretHash } = parsed;
  const nowMs = clock.now();
  const usable = async (tx: Tx): Promise<Found> => {
    const found = await find(tx, shopId, secretHash);
    if (found === null) throw unusable(foreign);
    if (found.usedAtMs !== null) throw unusable("was used already");
    if ((found.revokedAtMs ?? null) !== null) throw unusable("was revoked");
    if (found.expiresAtMs <= nowMs) throw unusable("has expired");
    return found;
  };
  try {
    // Guesses cost no turn of the shop.
    await engine.peek(shopId, usable, secretHash);
    return await engine.write(shopId, async (tx) => await begin(tx, shopId, await usable(tx), nowMs));
  } catch (error) {
    throw isNotFound(error) ? unusable(foreign) : error;
  }
}

/** The invitation makes a person. */
const byInvitation = (
  deps: SignInDependencies,
  sent: string,
  userAgent: string | null,
  { auditTrail, row }: SignInTrail,
): Promise<NewSession> =>
  bySecret<Invitation>(deps, {
    kind: "opi",
    sent,
    find: findInvitation,
    unusable: unusableInvitation,
    async begin(tx, shopId, { invitationId, name, email, role }, nowMs) {
      const personId = deps.ids.next("per");
      const person: Person = {
        personId,
        name,
        email,
        role,
        keyId: null,
        language: null,
        createdAtMs: nowMs,
        lastSeenAtMs: nowMs,
      };
      await requireRoom(tx, shopId);
      return await beginSession(deps, tx, shopId, person, { keyId: null, signedInWith: null, userAgent }, [
        personStatement(shopId, person),
        useInvitationStatement(shopId, invitationId, personId, nowMs),
        ...(await auditTrail.statements(tx, shopId, [row(person, begun)])),
      ]);
    },
  });

const unusableInvitation = (why: string): Fault =>
  new Fault("UNAUTHORIZED", `This invitation ${why}.`, {
    action: "Ask an owner of the shop for a new one. The operator makes one with openpo console invite.",
  });

/** The link is its person's. Used once, it ends their other links too. */
const byLink = (
  deps: SignInDependencies,
  sent: string,
  userAgent: string | null,
  { auditTrail, row }: SignInTrail,
): Promise<NewSession> =>
  bySecret<SignInLink>(deps, {
    kind: "opm",
    sent,
    find: findSignInLink,
    unusable: unusableLink,
    async begin(tx, shopId, { personId }, nowMs) {
      const person = await findPerson(tx, shopId, personId);
      if (person === null) throw unusableLink(foreign);
      return await beginSession(deps, tx, shopId, person, { keyId: null, signedInWith: "link", userAgent }, [
        useLinksStatement(shopId, personId, nowMs),
        ...(await auditTrail.statements(tx, shopId, [row({ personId, keyId: null }, begun)])),
      ]);
    },
  });

const unusableLink = (why: string): Fault =>
  new Fault("UNAUTHORIZED", `This link ${why}.`, {
    action: "Type your e-mail at /console, and a new one is mailed.",
  });

async function byPasskey(
  deps: SignInDependencies,
  sent: SignedChallenge,
  userAgent: string | null,
  { auditTrail, row }: SignInTrail,
): Promise<NewSession> {
  const { shopId, personId, useStatements } = await deps.passkeys.prove(sent);
  return await deps.engine.write(shopId, async (tx) => {
    const uses = await useStatements(tx, deps.clock.now());
    const person = await findPerson(tx, shopId, personId);
    if (person === null) throw unusablePasskey();
    return await beginSession(deps, tx, shopId, person, { keyId: null, signedInWith: "passkey", userAgent }, [
      ...uses,
      ...(await auditTrail.statements(tx, shopId, [row({ personId, keyId: null }, begun)])),
    ]);
  });
}

const begun: SignInOutcome = { status: 201, errorCode: null };

/** A key makes one person, of the name that was given last. */
async function byApiKey(
  deps: SignInDependencies,
  { apiKey, name }: { readonly apiKey: string; readonly name: string },
  userAgent: string | null,
  { auditTrail, refusals, row }: SignInTrail,
): Promise<NewSession> {
  const { engine, coordination, clock, ids } = deps;
  const caller = await identify(engine, apiKey);
  const { shopId } = caller.shop;
  const { keyId, scope } = caller.key;
  try {
    admit(caller);
    requireSignIn(caller.key);
    await requestTokens(coordination, clock, caller.shop, bucketOf(caller)).take();
    const nowMs = clock.now();
    return await engine.write(shopId, async (tx) => {
      requireFreeName(await namesTaken(tx, shopId, keyId, nowMs), name);
      const before = await findPersonOfKey(tx, shopId, keyId);
      const person: Person = {
        ...(before ?? {
          personId: ids.next("per"),
          email: null,
          role: roleOfScope[scope],
          keyId,
          language: null,
          createdAtMs: nowMs,
          lastSeenAtMs: nowMs,
        }),
        name,
      };
      return await beginSession(deps, tx, shopId, person, { keyId, signedInWith: null, userAgent }, [
        personStatement(shopId, person),
        ...(await auditTrail.statements(tx, shopId, [row(person, begun)])),
      ]);
    });
  } catch (error) {
    const { status, code } = asFault(error);
    await refusals.add(shopId, row({ personId: null, keyId }, { status, errorCode: code }));
    throw error;
  }
}

/** @throws Fault FORBIDDEN_SCOPE for a key that is a program's alone. */
function requireSignIn({ signIn }: ApiKey): void {
  if (!signIn)
    throw new Fault("FORBIDDEN_SCOPE", "Nobody may sign in with this API key.", {
      action: "Sign in with a key that was made for people, or ask an owner of the shop for an invitation.",
    });
}

/** @throws Fault INVALID_INPUT when the name reads like that of somebody else. */
function requireFreeName(taken: readonly string[], name: string): void {
  if ([operatorName, ...taken].some((each) => looksOf(each) === looksOf(name)))
    throw invalidField("/name", "is the name of somebody else", "Choose another one.");
}

/** @throws Fault INVALID_INPUT when the shop has as many people as it may have. */
async function requireRoom(tx: Tx, shopId: string): Promise<void> {
  if ((await countPeople(tx, shopId)) >= peopleMax)
    throw new Fault("INVALID_INPUT", `The shop has ${peopleMax} people, as many as it may have.`, {
      action: "Ask an owner to remove those who have left.",
    });
}

async function beginSession(
  { clock, ids }: SignInDependencies,
  tx: Tx,
  shopId: string,
  { personId }: Person,
  of: Pick<Session, "keyId" | "signedInWith" | "userAgent">,
  before: readonly Statement[],
): Promise<NewSession> {
  const nowMs = clock.now();
  const { text, hash } = newSecret("opc", shopId);
  const sessionId = ids.next("ses");
  const session: Session = { sessionId, personId, ...of, createdAtMs: nowMs, lastSeenAtMs: nowMs };
  const limits = { idleSinceMs: nowMs - sessionIdleMs, sessionsMax: sessionsOfPersonMax };
  await tx.batch([...before, ...sessionStatements(shopId, session, hash, limits)]);
  return { secret: text, shopId, personId, sessionId };
}

/** A session that a cookie names: a person's, or the operator's. */
type OpenSession =
  | { readonly session: SignedInSession; readonly caller: PersonCaller }
  | { readonly operatorSession: string };

/** The session of the cookie. @throws Fault UNAUTHORIZED when it has ended. */
export async function openSession(deps: SignInDependencies, secret: string | null): Promise<OpenSession> {
  const { engine, coordination, clock } = deps;
  const parsed = secret === null ? null : parseSecret("opc", secret);
  if (parsed === null) throw signedOut();
  const nowMs = clock.now();
  const { shopId, secretHash } = parsed;
  if (shopId === noShopId) {
    if (!(await coordination.hasOperatorSession(secretHash, nowMs - sessionIdleMs))) throw signedOut();
    return { operatorSession: secretHash };
  }
  const { session, shop } = await readShop(engine, parsed);
  const person = session === null ? null : signedInBy(session, nowMs);
  if (session === null || shop === null || person === null) throw signedOut();
  return { session, caller: { shop, key: null, person } };
}

/** The same; null when there is no such session, or it has ended. */
export async function sessionIfOpen(deps: SignInDependencies, secret: string | null): Promise<OpenSession | null> {
  return await openSession(deps, secret).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "UNAUTHORIZED") return null;
    throw error;
  });
}

async function readShop(
  engine: Engine,
  { shopId, secretHash }: ParsedSecret,
): Promise<{ readonly session: SignedInSession | null; readonly shop: Shop | null }> {
  try {
    return await engine.peek(
      shopId,
      async (tx) => {
        const [session, shop] = await Promise.all([findSession(tx, shopId, secretHash), loadShop(tx, shopId)]);
        return { session, shop };
      },
      secretHash,
    );
  } catch (error) {
    throw isNotFound(error) ? signedOut() : error;
  }
}

/** Refusal of a cookie whose session has ended. */
export const signedOut = (): Fault =>
  new Fault("UNAUTHORIZED", "Nobody is signed in here.", { action: "Sign in again at /console." });

/** A bearer: what the page sends as `Authorization`. */
export interface NewBearer {
  readonly token: string;
  readonly expiresAtMs: number;
  /** Of the shop's newest event: what the page reads with the bearer is not older. */
  readonly lastSequence: number;
}

/**
 * Gives a person's session a bearer, and notes that it was seen. The row need not be on disk: a page whose bearer is
 * lost asks for another.
 */
export async function bearerOfPerson(
  deps: SignInDependencies,
  { session, caller }: Extract<OpenSession, { caller: PersonCaller }>,
): Promise<NewBearer> {
  const { shopId } = caller.shop;
  const nowMs = deps.clock.now();
  return await storeBearer(deps, shopId, { sessionId: session.sessionId, isOperator: false }, async (tx) => {
    // It may have ended while this waited for the shop's turn.
    if (!(await hasSession(tx, shopId, session.sessionId))) throw signedOut();
    return seenStatements(shopId, session, nowMs);
  });
}

/** Gives the operator's session a bearer for this shop. @throws Fault INVALID_INPUT when there is no such shop. */
export async function bearerOfOperator(
  deps: SignInDependencies,
  operatorSession: string,
  shopId: string,
): Promise<{ readonly bearer: NewBearer; readonly caller: PersonCaller }> {
  const { engine, coordination, clock } = deps;
  const shop = (await engine.exists(shopId)) ? await engine.read(shopId, (tx) => loadShop(tx, shopId)) : null;
  if (shop === null) throw invalidField("/shopId", "is not a shop of this service", "Name one of data.shops.");
  await coordination.seeOperatorSession(operatorSession, clock.now());
  const bearer = await storeBearer(deps, shopId, { sessionId: operatorSession, isOperator: true }, async () => []);
  return { bearer, caller: { shop, key: null, person: operatorHere } };
}

async function storeBearer(
  { engine, clock }: SignInDependencies,
  shopId: string,
  of: { readonly sessionId: string; readonly isOperator: boolean },
  also: (tx: Tx) => Promise<readonly Statement[]>,
): Promise<NewBearer> {
  const createdAtMs = clock.now();
  const expiresAtMs = createdAtMs + bearerMs;
  const { text, hash } = newSecret("ops", shopId);
  const last = await engine.write(
    shopId,
    async (tx) => {
      const statements = await also(tx);
      await tx.batch([
        ...statements,
        ...bearerStatements(shopId, hash, { ...of, createdAtMs, expiresAtMs }, bearersOfSessionMax),
      ]);
      return await lastSequence(tx, shopId);
    },
    { durable: false },
  );
  return { token: text, expiresAtMs, lastSequence: last };
}

/**
 * Ends the cookie's session with its bearers, if it is one; with `everywhere` all sessions of the person, or of the
 * operator.
 */
export async function signOut(deps: SignInDependencies, secret: string | null, everywhere: boolean): Promise<void> {
  const { engine, coordination } = deps;
  const open = await sessionIfOpen(deps, secret);
  if (open === null) return;
  if ("operatorSession" in open)
    return await (everywhere
      ? coordination.endOperatorSessions()
      : coordination.endOperatorSession(open.operatorSession));
  const { shopId } = open.caller.shop;
  const { sessionId, personId } = open.session;
  await engine.write(shopId, async (tx) => {
    if (everywhere) await tx.batch(endSessionsStatements(shopId, personId));
    else await endSession(tx, shopId, sessionId);
  });
}
