/**
 * A person's answer to a client (C74): allowed, the client gets a code; denied, it is told so. Each request is answered
 * once.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../base/time/clock.ts";
import { Fault } from "../base/fault.ts";
import { connectCodeMs, effectiveScope, type KeyScope, scopeOfRole } from "../core/access/grant.ts";
import { makeSecret, secretRandomBytes } from "../base/secret.ts";
import { placeOf, type RedirectPlace } from "../core/access/redirects.ts";
import type { SignedIn } from "../requests/caller.ts";
import { operatorHere } from "../requests/sessions.ts";
import {
  codeStatements,
  countConnections,
  decidedStatements,
  hasConnectionOf,
  wasDecided,
  type Grant,
} from "../shop/access/connections.ts";
import type { Engine, Tx } from "../store/store.ts";
import { answerTo, type ConnectAddresses, type ConnectRequest, readRequest, requestHash } from "./authorize.ts";
import type { Clients } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";

/** Connections of a shop that have not ended. */
export const connectionsOfShopMax = 200;

/** Latest answered requests of a shop that are remembered: a request has no instant, so no time bounds it. */
export const answeredRequestsMax = 10_000;

/** A registered client that no connection has come of begins none after this time. */
export const registrationMs = 2_592_000_000;

/** Everything that connections are made with. */
export interface Connecting {
  readonly clients: Clients;
  /** Null: assistants cannot connect, since the service has no address that is safe for it. */
  readonly addresses: () => ConnectAddresses | null;
}

interface Consent {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Absent: there is no service that a client could ask. */
  readonly connecting: Connecting | undefined;
  readonly shopId: string;
  /** Null: the operator with the admin token. */
  readonly person: SignedIn | null;
  /** The parameters of the client's request. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A request as a person is shown it. */
interface Question {
  readonly clientName: string;
  readonly clientHost: string;
  /** The client has a document at its host; else it has registered, and says of itself what it likes. */
  readonly hasDocument: boolean;
  readonly redirect: RedirectPlace;
  readonly scopesAsked: readonly string[];
  /** The most that the person may give. */
  readonly scopeMax: KeyScope;
}

/** Whoever has signed in with a key goes with it, and gives nothing on. @throws Fault FORBIDDEN_SCOPE */
function deciderOf(person: SignedIn | null): SignedIn {
  if (person !== null && person.keyId !== null)
    throw new Fault("FORBIDDEN_SCOPE", "Whoever has signed in with an API key makes no connections.", {
      action: "Sign in as a person of the shop, by an invitation.",
    });
  return person ?? operatorHere;
}

/** @throws Fault NOT_FOUND without the shop, INVALID_INPUT when nobody can answer the request. */
async function requestOf({ engine, shopId, connecting, parameters }: Consent): Promise<{
  readonly request: ConnectRequest;
  readonly addresses: ConnectAddresses;
}> {
  await engine.peek(shopId, () => Promise.resolve());
  const addresses = connecting?.addresses() ?? null;
  if (connecting === undefined || addresses === null)
    throw new Fault("INVALID_INPUT", "Assistants cannot connect to this service by its address.", {
      action: "The operator sets OPENPO_PUBLIC_URL to its https address.",
    });
  try {
    return { request: await readRequest(parameters, { clients: connecting.clients, addresses }), addresses };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new Fault("INVALID_INPUT", `This request for a connection is not valid. ${error.message}`, {
      action: "Begin anew in the assistant.",
    });
  }
}

const answered = (): Fault =>
  new Fault("INVALID_INPUT", "This request for a connection was answered already.", {
    action: "You can close this page. If the assistant still waits, begin anew there.",
  });

/** Host of the client: that of its document, else that of the redirect which is answered (C73). */
const hostOf = ({ client, redirectUri }: ConnectRequest): string => client.host ?? placeOf(redirectUri).host;

/** @throws Fault INVALID_INPUT when the request was answered, or its registration has ended. */
async function requireOpen(tx: Tx, shopId: string, request: ConnectRequest, nowMs: number): Promise<void> {
  if (await wasDecided(tx, shopId, requestHash(request))) throw answered();
  const { registeredAtMs, clientId } = request.client;
  if (registeredAtMs === null || nowMs - registeredAtMs < registrationMs) return;
  if (!(await hasConnectionOf(tx, shopId, clientId, nowMs)))
    throw new Fault("INVALID_INPUT", "The assistant's registration has ended, since it was not used.", {
      action: "Remove OpenPO in the assistant and add it again.",
    });
}

/** Who asks for what. @throws Fault FORBIDDEN_SCOPE and INVALID_INPUT when this person cannot answer it. */
export async function questionOf(consent: Consent): Promise<Question> {
  const { role } = deciderOf(consent.person);
  const { request } = await requestOf(consent);
  const { client, redirectUri, scopes } = request;
  await consent.engine.read(consent.shopId, (tx) => requireOpen(tx, consent.shopId, request, consent.clock.now()));
  return {
    clientName: client.name,
    clientHost: hostOf(request),
    hasDocument: client.registeredAtMs === null,
    redirect: placeOf(redirectUri),
    scopesAsked: scopes,
    scopeMax: scopeOfRole(role),
  };
}

/**
 * Answers the client.
 *
 * @param shownTo  who was asked; null: the operator.
 * @param given    what is given; null: the request is denied.
 * @returns where the person's browser goes.
 * @throws Fault FORBIDDEN_SCOPE  the person may not give this, or is another one than was asked.
 * @throws Fault INVALID_INPUT    the request cannot be answered, was answered, or the shop has too many connections.
 */
export async function decide(
  consent: Consent,
  shownTo: string | null,
  given: Pick<Grant, "scope" | "limits"> | null,
): Promise<string> {
  const { engine, clock, shopId } = consent;
  const { personId, name, role } = deciderOf(consent.person);
  if (personId !== shownTo)
    throw new Fault("FORBIDDEN_SCOPE", "Somebody else has signed in since this was asked.", {
      action: "Load the page again, and decide in your own name.",
    });
  if (given !== null && given.scope !== effectiveScope(given.scope, role))
    throw new Fault("FORBIDDEN_SCOPE", `A ${role} may give an assistant the scope read only.`, {
      action: "Allow it to read, or ask an owner of the shop for the role purchaser.",
    });
  const { request, addresses } = await requestOf(consent);
  const { client, redirectUri, challenge } = request;
  const { text: code, hash } = makeSecret("opg", shopId, randomBytes(secretRandomBytes));
  await engine.write(shopId, async (tx) => {
    const nowMs = clock.now();
    await requireOpen(tx, shopId, request, nowMs);
    const decided = await decidedStatements(tx, shopId, requestHash(request), nowMs, answeredRequestsMax);
    if (given === null) return await tx.batch(decided);
    if ((await countConnections(tx, shopId, nowMs)) >= connectionsOfShopMax)
      throw new Fault("INVALID_INPUT", `The shop has ${connectionsOfShopMax} connections, as many as it may have.`, {
        action: "Revoke those that are not used any more.",
      });
    const grant = {
      clientId: client.clientId,
      clientName: client.name,
      clientHost: hostOf(request),
      personId,
      personName: name,
      ...given,
      redirectUri,
      challenge,
    };
    await tx.batch([...decided, ...codeStatements(shopId, hash, { grant, expiresAtMs: nowMs + connectCodeMs }, nowMs)]);
  });
  return answerTo(request, addresses, given === null ? { error: "access_denied" } : { code });
}
