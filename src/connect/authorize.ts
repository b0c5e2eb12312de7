/**
 * Requests of clients to a person (RFC 6749, 7636, 8707, 9207), as they stand in the address that the person opens.
 * They are checked again when the person decides. Nothing is stored before that.
 *
 * Owns: what is wrong with a request. A person is shown it, and is sent nowhere before they have decided. Anybody can
 * register an address, and would have a redirector here (RFC 9700, 4.11.2).
 */
import { createHash } from "node:crypto";
import { isChallenge, scopesSupported } from "../core/access/grant.ts";
import { isRedirectOf, withParameters } from "../core/access/redirects.ts";
import type { Client, Clients } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";

/** The parameters of a request, as they are passed on to the page that asks the person. */
export const requestParameters = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
] as const;

/** A request that a person may be asked about. */
export interface ConnectRequest {
  readonly client: Client;
  readonly redirectUri: string;
  /** Null: the client has sent none. */
  readonly state: string | null;
  readonly challenge: string;
  /** Scopes that the client asks for, of those that there are. */
  readonly scopes: readonly (typeof scopesSupported)[number][];
}

/** The service as clients find it. */
export interface ConnectAddresses {
  /** `https://openpo.example.com`; it is the issuer too. */
  readonly origin: string;
  /** Where the agent surface is: what tokens are for. */
  readonly resource: string;
}

const stateLengthMax = 2_000;

/** Where the client is told the outcome: a code, or an error. */
export const answerTo = (
  { redirectUri, state }: Pick<ConnectRequest, "redirectUri" | "state">,
  { origin }: ConnectAddresses,
  outcome: { readonly code: string } | { readonly error: "access_denied" },
): string => withParameters(redirectUri, { ...outcome, state, iss: origin });

/** Names a request: one that is sent again is the same. */
export const requestHash = ({ client, redirectUri, state, challenge }: ConnectRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([client.clientId, redirectUri, state, challenge]))
    .digest("hex");

/** True if a text names the agent surface, as RFC 8707 says. */
export const namesResource = (sent: string | null, { resource }: ConnectAddresses): boolean =>
  sent !== null && (sent === resource || sent === `${resource}/`);

/**
 * Reads a request.
 *
 * @param admit  asked before a client's document is fetched. It may refuse.
 * @throws OAuthError when a person cannot be asked.
 */
export async function readRequest(
  parameters: readonly (readonly [name: string, value: string])[],
  {
    clients,
    addresses,
    admit,
  }: { readonly clients: Clients; readonly addresses: ConnectAddresses; readonly admit?: () => void },
): Promise<ConnectRequest> {
  const all = (name: string): readonly string[] =>
    parameters.flatMap(([each, value]) => (each === name && value !== "" ? [value] : []));
  const one = (name: string): string | null => {
    const [value = null, ...more] = all(name);
    return more.length === 0 ? value : null;
  };
  const clientId = one("client_id");
  if (clientId === null) throw new OAuthError("invalid_request", "client_id must be sent once.");
  const client = await clients.find(clientId, admit);
  const redirectUri = one("redirect_uri");
  if (redirectUri === null || !isRedirectOf(client.redirectUris, redirectUri))
    throw new OAuthError("invalid_request", "redirect_uri must be sent once, and be one of the client's.");
  const state = one("state");
  const doubled = requestParameters.find((name) => all(name).length > 1);
  if (doubled !== undefined) throw new OAuthError("invalid_request", `${doubled} must be sent once.`);
  if (state !== null && state.length > stateLengthMax)
    throw new OAuthError("invalid_request", `state has more than ${stateLengthMax} characters.`);
  if (one("response_type") !== "code") throw new OAuthError("unsupported_response_type", "response_type must be code.");
  const challenge = one("code_challenge");
  if (challenge === null || one("code_challenge_method") !== "S256" || !isChallenge(challenge))
    throw new OAuthError("invalid_request", "code_challenge must be sent, with code_challenge_method=S256.");
  if (!namesResource(one("resource"), addresses))
    throw new OAuthError("invalid_target", `resource must be ${addresses.resource}.`);
  const scopesSent = (one("scope") ?? "").split(" ");
  return {
    client,
    redirectUri,
    state,
    challenge,
    scopes: scopesSupported.filter((scope) => scopesSent.includes(scope)),
  };
}
