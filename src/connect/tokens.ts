/**
 * Tokens of connections (C75): a code becomes a connection with its first tokens, a refresh token the next ones, and
 * either may be given up.
 *
 * Owns: what is checked of each, and what a mistake ends. Does not own: how long they are good (core/access/grant.ts),
 * the rows (shop/access/connections.ts), the requests' form (app.ts).
 *
 * Invariants:
 * - Z1. A secret is in the answer that gives it and nowhere else: stored is its hash.
 * - Z2. A code gives tokens once. Whoever sends it again ends the connection that came of it.
 * - Z3. A connection has one newest refresh token. Whoever sends an older one ends the connection, but for a moment
 *       after the rotation, when the same successor is told again. It is made of the older token and a salt, so that it
 *       need not be stored.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock, Ids } from "../base/time/clock.ts";
import {
  accessTokenMs,
  refreshIdleMs,
  decideRefresh,
  effectiveScope,
  type KeyScope,
  provesChallenge,
} from "../core/access/grant.ts";
import { makeSecret, noShopId, parseSecret, type ParsedSecret, type SecretKind } from "../base/secret.ts";
import type { Actor } from "../core/access/actor.ts";
import { auditRowOf } from "../requests/audit/audit.ts";
import type { AuditTrail } from "../requests/audit/audit-trail.ts";
import { actorOf } from "../requests/caller.ts";
import { type ApiKey, revokeApiKey } from "../shop/access/accounts.ts";
import {
  connectionName,
  connectionStatement,
  dropTokenStatement,
  findCode,
  findToken,
  type Grant,
  rotatedStatement,
  tokenStatements,
  useCodeStatement,
} from "../shop/access/connections.ts";
import { findPerson } from "../shop/access/people.ts";
import { presentLimits } from "../shop/catalogue/supplier-merges.ts";
import { eventStatements } from "../shop/events/events.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Engine, Statement, Tx } from "../store/store.ts";
import type { RequestContext } from "../http/surface.ts";
import { OAuthError } from "./oauth-error.ts";

export interface TokenDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly auditTrail: Pick<AuditTrail, "statements">;
}

/** A successful answer of the token endpoint. */
interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: KeyScope;
}

/** A secret that leads nowhere: somebody may be guessing. */
export class UnknownSecret extends OAuthError {}

const unknownCode = (): OAuthError =>
  new UnknownSecret("invalid_grant", "The code is wrong, was used, or has expired.");
const unknownRefresh = (): OAuthError =>
  new UnknownSecret("invalid_grant", "The refresh token is wrong, was used, or has expired.");

/** Reads a secret. @throws OAuthError `invalid_grant` when it is none of this kind. */
function parsed(kind: SecretKind, text: string, unknown: () => OAuthError): ParsedSecret {
  const secret = parseSecret(kind, text);
  if (secret === null || secret.shopId === noShopId) throw unknown();
  return secret;
}

/** Runs `work` in the shop's turn if it may have the secret. A guess costs no turn. */
async function withSecret<T>(
  { engine }: TokenDependencies,
  { shopId, secretHash }: ParsedSecret,
  isThere: (tx: Tx) => Promise<boolean>,
  unknown: () => OAuthError,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    if (!(await engine.peek(shopId, isThere, secretHash))) throw unknown();
    return await engine.write(shopId, work);
  } catch (error) {
    throw isNotFound(error) ? unknown() : error;
  }
}

/** Random bytes of a successor: nobody makes them without both the older token and the salt. */
const successorBytes = (kind: SecretKind, token: string, salt: string): Uint8Array =>
  createHmac("sha256", salt).update(`${kind} ${token}`).digest();

const saltBytes = 32;

/** The tokens that are given in place of a code or a refresh token, and what stores them. */
function tokensFor(
  shopId: string,
  given: { readonly keyId: string; readonly scope: KeyScope; readonly from: string; readonly salt: string },
  nowMs: number,
): { readonly answer: TokenAnswer; readonly statements: readonly Statement[] } {
  const access = makeSecret("opt", shopId, successorBytes("opt", given.from, given.salt));
  const refresh = makeSecret("opr", shopId, successorBytes("opr", given.from, given.salt));
  return {
    answer: {
      access_token: access.text,
      token_type: "Bearer",
      expires_in: accessTokenMs / 1_000,
      refresh_token: refresh.text,
      scope: given.scope,
    },
    statements: tokenStatements(
      shopId,
      given.keyId,
      [
        { secretHash: access.hash, kind: "access", expiresAtMs: nowMs + accessTokenMs },
        { secretHash: refresh.hash, kind: "refresh", expiresAtMs: nowMs + refreshIdleMs },
      ],
      nowMs,
    ),
  };
}

/** Event and audit row of a connection that begins or ends. */
async function lifecycleStatements(
  deps: TokenDependencies,
  tx: Tx,
  context: RequestContext,
  {
    shopId,
    type,
    key,
    actor,
    personId,
    errorCode,
  }: {
    readonly shopId: string;
    readonly type: "api_key.created" | "api_key.revoked";
    readonly key: Pick<ApiKey, "keyId" | "name" | "scope">;
    readonly actor: Actor;
    readonly personId: string | null;
    readonly errorCode: "INVALID_INPUT" | null;
  },
): Promise<readonly Statement[]> {
  const { clock, ids, auditTrail } = deps;
  const nowMs = clock.now();
  const { keyId, name, scope } = key;
  const row = auditRowOf(
    context,
    {
      auditId: ids.next("aud"),
      startedAtMs: nowMs,
      operation: type === "api_key.created" ? "connection_begin" : "connection_end",
      person: { personId, keyId },
    },
    { status: errorCode === null ? 200 : 400, errorCode, nowMs },
  );
  return [
    ...eventStatements(
      shopId,
      { type, data: { keyId, name, scope } },
      { actor, requestId: context.requestId, nowMs, ids },
    ),
    ...(await auditTrail.statements(tx, shopId, [row])),
  ];
}

/** A code with the proofs that a client sends. */
interface SentCode {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/** Makes the connection that a code stands for. @throws OAuthError `invalid_grant` */
export async function exchangeCode(
  deps: TokenDependencies,
  context: RequestContext,
  { code, clientId, redirectUri, verifier }: SentCode,
): Promise<TokenAnswer> {
  const { clock, ids } = deps;
  const secret = parsed("opg", code, unknownCode);
  const { shopId, secretHash } = secret;
  context.shopId = shopId;
  const find = (tx: Tx) => findCode(tx, shopId, secretHash);
  const outcome = await withSecret(
    deps,
    secret,
    async (tx) => (await find(tx)) !== null,
    unknownCode,
    async (tx): Promise<TokenAnswer | null> => {
      const stored = await find(tx);
      const nowMs = clock.now();
      if (stored === null) return null;
      const { grant } = stored;
      if (stored.keyId !== null) {
        const { clientName, personName, personId, scope } = grant;
        const key = { keyId: stored.keyId, name: connectionName(clientName, personName), scope };
        await end(deps, tx, context, { shopId, key, personId, ...becauseOfCopy });
        return null;
      }
      const isRight =
        nowMs < stored.expiresAtMs &&
        grant.clientId === clientId &&
        grant.redirectUri === redirectUri &&
        provesChallenge(verifier, grant.challenge);
      const person = grant.personId === null ? null : await findPerson(tx, shopId, grant.personId);
      if (!isRight || (grant.personId !== null && person === null)) return null;
      const scope = person === null ? grant.scope : effectiveScope(grant.scope, person.role);
      const key: ApiKey = {
        keyId: ids.next("key"),
        name: connectionName(grant.clientName, grant.personName),
        scope,
        lastFour: "",
        createdAtMs: nowMs,
        revokedAtMs: null,
        pausedAtMs: null,
        signIn: false,
        limits: await presentLimits(tx, shopId, grant.limits ?? null),
      };
      const salt = randomBytes(saltBytes).toString("hex");
      const { answer, statements } = tokensFor(shopId, { keyId: key.keyId, scope, from: code, salt }, nowMs);
      const { personId } = grant;
      await tx.batch([
        connectionStatement(shopId, key, grant, nowMs + refreshIdleMs),
        useCodeStatement(shopId, secretHash, key.keyId, nowMs),
        ...statements,
        ...(await lifecycleStatements(deps, tx, context, {
          shopId,
          type: "api_key.created",
          key,
          actor: granterOf(grant),
          personId,
          errorCode: null,
        })),
      ]);
      return answer;
    },
  );
  if (outcome === null) throw unknownCode();
  return outcome;
}

const granterOf = ({ personId, personName }: Grant): Actor =>
  personId === null ? actorOf(null) : { type: "user", id: personId, name: personName };

/** Of a code or a refresh token that has come twice. */
const becauseOfCopy = { actor: { type: "system", id: null, name: null }, errorCode: "INVALID_INPUT" } as const;

/** Ends a connection, and tells of it unless it has ended before. */
async function end(
  deps: TokenDependencies,
  tx: Tx,
  context: RequestContext,
  what: Omit<Parameters<typeof lifecycleStatements>[3], "type">,
): Promise<void> {
  const revoked = await revokeApiKey(tx, what.shopId, what.key.keyId, deps.clock.now());
  if (revoked === "now")
    await tx.batch(await lifecycleStatements(deps, tx, context, { type: "api_key.revoked", ...what }));
}

/** Exchanges a refresh token for the next tokens. @throws OAuthError `invalid_grant` */
export async function refresh(
  deps: TokenDependencies,
  context: RequestContext,
  { refreshToken, clientId }: { readonly refreshToken: string; readonly clientId: string },
): Promise<TokenAnswer> {
  const secret = parsed("opr", refreshToken, unknownRefresh);
  const { shopId, secretHash } = secret;
  context.shopId = shopId;
  const find = (tx: Tx) => findToken(tx, shopId, secretHash, "refresh");
  const outcome = await withSecret(
    deps,
    secret,
    async (tx) => (await find(tx)) !== null,
    unknownRefresh,
    async (tx): Promise<TokenAnswer | OAuthError> => {
      const stored = await find(tx);
      if (stored === null) return unknownRefresh();
      const { connection } = stored;
      const { key, role } = connection;
      if (connection.clientId !== clientId || key.revokedAtMs !== null) return unknownRefresh();
      // The client keeps its token: the connection goes on when somebody resumes it.
      if (key.pausedAtMs !== null) return new OAuthError("invalid_request", "The connection is paused.");
      const nowMs = deps.clock.now();
      const decision = decideRefresh(stored, nowMs);
      switch (decision) {
        case "expired":
          return unknownRefresh();
        case "reused":
          await end(deps, tx, context, { shopId, key, personId: connection.personId, ...becauseOfCopy });
          return unknownRefresh();
        case "rotate":
        case "repeat": {
          const salt = stored.successorSalt ?? randomBytes(saltBytes).toString("hex");
          const given = { keyId: key.keyId, scope: effectiveScope(key.scope, role), from: refreshToken, salt };
          const { answer, statements } = tokensFor(shopId, given, nowMs);
          if (decision === "rotate") await tx.batch([rotatedStatement(shopId, secretHash, salt, nowMs), ...statements]);
          return answer;
        }
      }
    },
  );
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
}

/**
 * Gives a token up: with a refresh token the connection ends, an access token ends alone (RFC 7009). A token that is
 * none is given up already.
 *
 * @returns whether it was one.
 * @throws OAuthError `invalid_client` when it is another client's.
 */
export async function revoke(
  deps: TokenDependencies,
  context: RequestContext,
  { token, clientId }: { readonly token: string; readonly clientId: string },
): Promise<boolean> {
  const kind = token.startsWith("opr_") ? "refresh" : "access";
  const secret = parseSecret(kind === "refresh" ? "opr" : "opt", token);
  if (secret === null || secret.shopId === noShopId) return false;
  const { shopId, secretHash } = secret;
  context.shopId = shopId;
  const find = (tx: Tx) => findToken(tx, shopId, secretHash, kind);
  const unknown = (): OAuthError => new UnknownSecret("invalid_request", "There is no such token.");
  try {
    await withSecret(
      deps,
      secret,
      async (tx) => (await find(tx)) !== null,
      unknown,
      async (tx) => {
        const stored = await find(tx);
        if (stored === null) throw unknown();
        const { key, personId } = stored.connection;
        if (stored.connection.clientId !== clientId)
          throw new OAuthError("invalid_client", "The token is that of another client.", { status: 401 });
        if (kind === "access") return await tx.batch([dropTokenStatement(shopId, secretHash)]);
        const actor: Actor = { type: "agent", id: key.keyId, name: key.name };
        await end(deps, tx, context, { shopId, key, actor, personId, errorCode: null });
      },
    );
    return true;
  } catch (error) {
    if (error instanceof UnknownSecret) return false;
    throw error;
  }
}
