/**
 * Connections of assistants: what is given to whom, and the codes and tokens that come of it (tables `api_key`,
 * `connection_request`, `connection_code`, `connection_token`; C74, C75).
 *
 * All that is stored:
 * - a request that was answered: a hash of it, and when
 * - a code: the hash of its secret, `Grant` as JSON, when it ends, when it was used, and the connection that came of it
 * - a connection: a row among the shop's keys, with its client and its person. Its `secret_hash` is the hash of no
 *   secret
 * - a token: the hash of its secret, its connection, when it ends, when it was exchanged, and a salt of its successors
 *
 * Owns: their SQL. Does not own: when a token is good (core/access/grant.ts), how secrets are made (base/secret.ts),
 * who may ask.
 */
import { usedCodeMs, type KeyScope } from "../../core/access/grant.ts";
import type { KeyLimits } from "../../core/access/limits.ts";
import type { Role } from "../../core/access/role.ts";
import type { Tx } from "../../store/store.ts";
import { type ApiKey, apiKeyColumns, apiKeyFrom, type ApiKeyRow, keyRow } from "./accounts.ts";
import { type Change, insert, update, remove, below, upTo } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Who gets a connection. */
interface ConnectedClient {
  readonly clientId: string;
  readonly clientName: string;
  /** Of the client's id; of a registered client that of the redirect that is answered. */
  readonly clientHost: string;
}

/** A grant: a person has allowed it. */
export interface Grant extends ConnectedClient {
  /** Null: the operator has. */
  readonly personId: string | null;
  readonly personName: string;
  readonly scope: KeyScope;
  /** Null: none (C78). Absent in a code from before there were any. */
  readonly limits?: KeyLimits | null;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** A code as stored. */
interface StoredCode {
  readonly grant: Grant;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
  /** The connection that came of it; null before. */
  readonly keyId: string | null;
}

/** True if the request was answered before. */
export async function wasDecided(tx: Tx, shopId: string, requestHash: string): Promise<boolean> {
  const rows = await tx.all<{ decided_at: number }>(
    "select decided_at from connection_request where shop_id = ? and request_hash = ?",
    [shopId, requestHash],
  );
  return rows.length > 0;
}

/** Notes that the request was answered. Forgets the oldest of those that were, beyond `keptMax`. */
export async function decidedStatements(
  tx: Tx,
  shopId: string,
  requestHash: string,
  nowMs: number,
  keptMax: number,
): Promise<readonly Change[]> {
  const [oldestKept] = await tx.all<{ decided_at: number }>(
    "select decided_at from connection_request where shop_id = ? order by decided_at desc limit 1 offset ?",
    [shopId, keptMax - 2],
  );
  return [
    ...(oldestKept === undefined
      ? []
      : [remove(tables.connection_request, shopId, { decided_at: below(oldestKept.decided_at) })]),
    insert(tables.connection_request, shopId, { request_hash: requestHash, decided_at: nowMs }),
  ];
}

/** Adds a code, and deletes those that nobody can use and whose second use tells nothing any more. */
export const codeStatements = (
  shopId: string,
  secretHash: string,
  { grant, expiresAtMs }: Pick<StoredCode, "grant" | "expiresAtMs">,
  nowMs: number,
): readonly Change[] => [
  remove(tables.connection_code, shopId, { expires_at: below(nowMs - usedCodeMs) }),
  insert(tables.connection_code, shopId, {
    secret_hash: secretHash,
    content: JSON.stringify(grant),
    expires_at: expiresAtMs,
  }),
];

/** The code with this secret, a used or expired one too; null when there is none. */
export async function findCode(tx: Tx, shopId: string, secretHash: string): Promise<StoredCode | null> {
  const [row] = await tx.all<{
    readonly content: string;
    readonly expires_at: number;
    readonly used_at: number | null;
    readonly key_id: string | null;
  }>("select content, expires_at, used_at, key_id from connection_code where shop_id = ? and secret_hash = ?", [
    shopId,
    secretHash,
  ]);
  if (row === undefined) return null;
  // Only `codeStatements` writes it.
  const grant: Grant = JSON.parse(row.content);
  return { grant, expiresAtMs: row.expires_at, usedAtMs: row.used_at, keyId: row.key_id };
}

/** Marks the code as used for this connection. */
export const useCodeStatement = (shopId: string, secretHash: string, keyId: string, nowMs: number): Change =>
  update(tables.connection_code, shopId, { secret_hash: secretHash }, { used_at: nowMs, key_id: keyId });

/** Adds a connection. Its `secret_hash` is no hash: nobody comes in by it as by a key. */
export const connectionStatement = (
  shopId: string,
  key: ApiKey,
  { clientId, clientName, clientHost, personId }: Grant,
  expiresAtMs: number,
): Change =>
  insert(tables.api_key, shopId, {
    ...keyRow(key, `connection ${key.keyId}`),
    sign_in: 0,
    client_id: clientId,
    client_name: clientName,
    client_host: clientHost,
    person_id: personId,
    expires_at: expiresAtMs,
  });

/** Counts the shop's connections that have not ended. */
export async function countConnections(tx: Tx, shopId: string, nowMs: number): Promise<number> {
  const [row] = await tx.all<{ n: number }>(
    "select count(*) as n from api_key where shop_id = ? and client_id is not null and revoked_at is null and expires_at > ?",
    [shopId, nowMs],
  );
  return row?.n ?? 0;
}

/** True if the shop has a connection of this client that has not ended. */
export async function hasConnectionOf(tx: Tx, shopId: string, clientId: string, nowMs: number): Promise<boolean> {
  const rows = await tx.all<{ key_id: string }>(
    "select key_id from api_key where shop_id = ? and client_id = ? and revoked_at is null and expires_at > ? limit 1",
    [shopId, clientId, nowMs],
  );
  return rows.length > 0;
}

/** Keys in whose name a person's assistants work, that are not revoked. */
export async function connectionsOfPerson(tx: Tx, shopId: string, personId: string): Promise<readonly ApiKey[]> {
  const rows = await tx.all<ApiKeyRow>(
    `select ${apiKeyColumns} from api_key where shop_id = ? and person_id = ? and revoked_at is null order by key_id`,
    [shopId, personId],
  );
  return rows.map(apiKeyFrom);
}

// Tokens.

/** A connection, a revoked one too. */
interface Connection {
  /** Its name says the client's and the person's, as the person is named now. */
  readonly key: ApiKey;
  readonly clientId: string;
  readonly personId: string | null;
  /** Role of the person now: the operator is an owner. */
  readonly role: Role;
}

/** A token as stored, with its connection. */
interface StoredToken {
  readonly connection: Connection;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
  readonly successorSalt: string | null;
}

interface TokenRow extends ApiKeyRow {
  readonly client_id: string;
  readonly client_name: string;
  readonly person_id: string | null;
  readonly person_name: string | null;
  readonly role: Role | null;
  readonly token_expires_at: number;
  readonly used_at: number | null;
  readonly successor_salt: string | null;
}

const keyColumns = apiKeyColumns
  .split(", ")
  .map((column) => `k.${column}`)
  .join(", ");

const selectToken = `
select ${keyColumns}, k.client_id, k.client_name, k.person_id, p.name as person_name, p.role,
  t.expires_at as token_expires_at, t.used_at, t.successor_salt
from connection_token t
join api_key k on k.shop_id = t.shop_id and k.key_id = t.key_id
left join person p on p.shop_id = k.shop_id and p.person_id = k.person_id
where t.shop_id = ? and t.secret_hash = ? and t.kind = ?`;

/** `access`: what a client calls with. `refresh`: what it gets the next ones by. */
type TokenKind = "access" | "refresh";

/** Name of a connection in the log: the client's and the person's. */
export const connectionName = (clientName: string, personName: string): string => `${clientName} for ${personName}`;

/**
 * The token with this secret, an expired or used one too; null when there is none. A connection whose person is gone is
 * revoked.
 */
export async function findToken(
  tx: Tx,
  shopId: string,
  secretHash: string,
  kind: TokenKind,
): Promise<StoredToken | null> {
  const [row] = await tx.all<TokenRow>(selectToken, [shopId, secretHash, kind]);
  if (row === undefined) return null;
  const stored = apiKeyFrom(row);
  const isLeft = row.person_id !== null && row.person_name === null;
  const key = isLeft ? { ...stored, revokedAtMs: stored.revokedAtMs ?? row.created_at } : stored;
  return {
    connection: {
      key: row.person_name === null ? key : { ...key, name: connectionName(row.client_name, row.person_name) },
      clientId: row.client_id,
      personId: row.person_id,
      role: row.role ?? "owner",
    },
    expiresAtMs: row.token_expires_at,
    usedAtMs: row.used_at,
    successorSalt: row.successor_salt,
  };
}

/** A token as it is added. */
interface NewToken {
  readonly secretHash: string;
  readonly kind: TokenKind;
  readonly expiresAtMs: number;
}

/** Adds tokens of a connection, which ends with its refresh token, and deletes the shop's expired ones. */
export const tokenStatements = (
  shopId: string,
  keyId: string,
  tokens: readonly NewToken[],
  nowMs: number,
): readonly Change[] => [
  remove(tables.connection_token, shopId, { expires_at: upTo(nowMs) }),
  ...tokens.map(({ secretHash, kind, expiresAtMs }) =>
    insert(tables.connection_token, shopId, {
      secret_hash: secretHash,
      key_id: keyId,
      kind,
      expires_at: expiresAtMs,
    }),
  ),
  ...tokens
    .filter(({ kind }) => kind === "refresh")
    .map(({ expiresAtMs }) => update(tables.api_key, shopId, { key_id: keyId }, { expires_at: expiresAtMs })),
];

/** Marks a refresh token as exchanged, and keeps what its successors are made of. */
export const rotatedStatement = (shopId: string, secretHash: string, salt: string, nowMs: number): Change =>
  update(tables.connection_token, shopId, { secret_hash: secretHash }, { used_at: nowMs, successor_salt: salt });

/** Deletes a token. */
export const dropTokenStatement = (shopId: string, secretHash: string): Change =>
  remove(tables.connection_token, shopId, { secret_hash: secretHash });
