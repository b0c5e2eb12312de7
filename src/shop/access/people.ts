/**
 * The people of a shop, their invitations, and their sessions with the bearers that these buy (tables `person`,
 * `invitation`, `console_session`, `console_bearer`; C48, C49).
 *
 * Owns: their SQL. Does not own: how secrets are made (base/secret.ts), when they expire and who may ask (people/,
 * operations/).
 */
import type { Language } from "../../base/text/language.ts";
import type { KeyScope } from "../../core/access/grant.ts";
import type { Role } from "../../core/access/role.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { SoughtRows, Tx } from "../../store/store.ts";
import {
  type Change,
  type Row,
  changeOf,
  insert,
  update,
  remove,
  orElse,
  below,
  upTo,
  textForm,
} from "../../store/change.ts";
import { columnList, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";
import { takeBackOfPerson } from "./approval-mails.ts";
import { removePasskeysStatement } from "./passkeys.ts";
import { endLinksStatements } from "./sign-in-links.ts";

const personFields = {
  personId: { kind: "text" },
  name: { kind: "text" },
  email: { kind: "text", empty: null },
  role: { kind: "text" },
  /** The API key that has made the person, who goes with it (C49); null for who came by an invitation. */
  keyId: { kind: "text", empty: null },
  /** Language that the person has chosen; null: none. */
  language: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  lastSeenAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** A person of the shop. */
export interface Person extends ValuesOf<typeof personFields> {
  readonly role: Role;
  readonly language: Language | null;
}

const selectPeople = `select ${columnList(personFields)} from person where shop_id = ?`;

const personFrom = recordReader<Person>(personFields);

const storePerson = insertInto(tables.person, [], columnsOf(personFields), ["name", "email", "role"]);

/** E-mails of people, by which their shops are found. */
export const soughtPeople: SoughtRows = { table: "person", text: "lower(email)" };

/** People with this e-mail in lower case who came by an invitation; those who were there last first. */
export async function peopleAt(tx: Tx, shopId: string, address: string): Promise<readonly Person[]> {
  const rows = await tx.all<Row>(
    `${selectPeople} and lower(email) = ? and key_id is null
     order by coalesce(last_seen_at, 0) desc, person_id`,
    [shopId, address],
  );
  return rows.map(personFrom);
}

/** All people of the shop, by name. */
export async function listPeople(tx: Tx, shopId: string): Promise<readonly Person[]> {
  const rows = await tx.all<Row>(`${selectPeople} order by name, person_id`, [shopId]);
  return rows.map(personFrom);
}

/** The person; null when there is none. */
export async function findPerson(tx: Tx, shopId: string, personId: string): Promise<Person | null> {
  const [row] = await tx.all<Row>(`${selectPeople} and person_id = ?`, [shopId, personId]);
  return row === undefined ? null : personFrom(row);
}

/** Who signs in with this API key; null when nobody has. */
export async function findPersonOfKey(tx: Tx, shopId: string, keyId: string): Promise<Person | null> {
  const [row] = await tx.all<Row>(`${selectPeople} and key_id = ? order by last_seen_at desc, person_id desc limit 1`, [
    shopId,
    keyId,
  ]);
  return row === undefined ? null : personFrom(row);
}

/** Returns the number of people of the shop, without those whom API keys have made. */
export async function countPeople(tx: Tx, shopId: string): Promise<number> {
  const [row] = await tx.all<{ n: number }>("select count(*) as n from person where shop_id = ? and key_id is null", [
    shopId,
  ]);
  return row?.n ?? 0;
}

/** Names of the people of the shop, but for whom this API key has made, and of those who are invited. */
export async function namesTaken(tx: Tx, shopId: string, keyId: string, nowMs: number): Promise<readonly string[]> {
  const rows = await tx.all<{ name: string }>(
    `select name from person where shop_id = ? and (key_id is null or key_id <> ?)
     union all
     select name from invitation where shop_id = ? and used_at is null and revoked_at is null and expires_at > ?`,
    [shopId, keyId, shopId, nowMs],
  );
  return rows.map(({ name }) => name);
}

/** Adds the person, or changes name, email and role of the one with this id. */
export const personStatement = (shopId: string, person: Person): Change => storePerson([shopId], person);

/** Sets the language in which the console speaks to the person. */
export const languageStatement = (shopId: string, personId: string, language: Language): Change =>
  update(tables.person, shopId, { person_id: personId }, { language });

/** Ends all sessions of a person with their bearers. */
export const endSessionsStatements = (shopId: string, personId: string): readonly Change[] => [
  changeOf(endBearersOfPerson, [shopId, shopId, personId]),
  remove(tables.console_session, shopId, { person_id: personId }),
];

const endBearersOfPerson = textForm(
  tables.console_bearer,
  `delete from console_bearer where shop_id = ? and operator = 0 and session_id in
     (select session_id from console_session where shop_id = ? and person_id = ?)`,
  ["shop_id", null, null],
);

/**
 * Deletes the person with their sessions, bearers, links and passkeys, what would be mailed to them, and views of
 * theirs alone.
 */
export const deletePersonStatements = (shopId: string, personId: string): readonly Change[] => [
  takeBackOfPerson(shopId, personId),
  ...endLinksStatements(shopId, personId),
  removePasskeysStatement(shopId, personId),
  ...endSessionsStatements(shopId, personId),
  remove(tables.console_view, shopId, { person_id: personId, is_shared: 0 }),
  remove(tables.person, shopId, { person_id: personId }),
];

// Invitations.

const invitationFields = {
  invitationId: { kind: "text" },
  name: { kind: "text" },
  email: { kind: "text", empty: null },
  role: { kind: "text" },
  createdAtMs: { kind: "instant" },
  expiresAtMs: { kind: "instant" },
  usedAtMs: { kind: "instant", empty: null },
  revokedAtMs: { kind: "instant", empty: null },
  /** Who came in by it. */
  personId: { kind: "text", empty: null },
} as const satisfies Fields;

/** An invitation to the shop's console. */
export interface Invitation extends ValuesOf<typeof invitationFields> {
  readonly role: Role;
}

const selectInvitations = `select ${columnList(invitationFields)} from invitation where shop_id = ?`;

const invitationFrom = recordReader<Invitation>(invitationFields);

const insertInvitation = insertInto(tables.invitation, ["secret_hash"], columnsOf(invitationFields));

/** All invitations that are kept, newest first. */
export async function listInvitations(tx: Tx, shopId: string): Promise<readonly Invitation[]> {
  const rows = await tx.all<Row>(`${selectInvitations} order by invitation_id desc`, [shopId]);
  return rows.map(invitationFrom);
}

/** The invitation with this secret; null when there is none. */
export async function findInvitation(tx: Tx, shopId: string, secretHash: string): Promise<Invitation | null> {
  const [row] = await tx.all<Row>(`${selectInvitations} and secret_hash = ?`, [shopId, secretHash]);
  return row === undefined ? null : invitationFrom(row);
}

/** Adds an invitation, and deletes those that expired before `keptSinceMs`. */
export const inviteStatements = (
  shopId: string,
  invitation: Invitation,
  secretHash: string,
  keptSinceMs: number,
): readonly Change[] => [
  remove(tables.invitation, shopId, { expires_at: below(keptSinceMs) }),
  insertInvitation([shopId, secretHash], invitation),
];

/** Marks the invitation as used by this person. */
export const useInvitationStatement = (shopId: string, invitationId: string, personId: string, nowMs: number): Change =>
  update(tables.invitation, shopId, { invitation_id: invitationId }, { used_at: nowMs, person_id: personId });

/** Revokes the invitation; revoking again keeps the first time. @returns false when there is none. */
export async function revokeInvitation(tx: Tx, shopId: string, invitationId: string, nowMs: number): Promise<boolean> {
  const key = { invitation_id: invitationId };
  const rows = await tx.all("select 1 as found from invitation where shop_id = ? and invitation_id = ?", [
    shopId,
    invitationId,
  ]);
  await tx.batch([update(tables.invitation, shopId, key, { revoked_at: orElse(nowMs) })]);
  return rows.length === 1;
}

// Sessions.

const sessionFields = {
  sessionId: { kind: "text" },
  personId: { kind: "text" },
  /** The API key with which the person signed in; null without one. */
  keyId: { kind: "text", empty: null },
  /** Beginning of the session; null: by an invitation or the API key. */
  signedInWith: { kind: "text", empty: null },
  userAgent: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  lastSeenAtMs: { kind: "instant" },
} as const satisfies Fields;

/** A session of a person. */
export interface Session extends ValuesOf<typeof sessionFields> {
  readonly signedInWith: "link" | "passkey" | null;
}

const sessionColumns = columnList(sessionFields, "s.");

const sessionFrom = recordReader<Session>(sessionFields);

const insertSession = insertInto(tables.console_session, ["secret_hash"], columnsOf(sessionFields));

/** Sessions that were seen after `sinceMs`, newest first, each with its person's name. */
export async function listSessions(
  tx: Tx,
  shopId: string,
  sinceMs: number,
): Promise<readonly (Session & { readonly name: string })[]> {
  const rows = await tx.all<Row & { readonly name: string }>(
    `select ${sessionColumns}, p.name
     from console_session s join person p on p.shop_id = s.shop_id and p.person_id = s.person_id
     where s.shop_id = ? and s.last_seen_at > ? order by s.session_id desc`,
    [shopId, sinceMs],
  );
  return rows.map((row) => ({ ...sessionFrom(row), name: row.name }));
}

/**
 * Adds a session and deletes those that were not seen since `idleSinceMs`, and the oldest of the person beyond
 * `sessionsMax`.
 */
export const sessionStatements = (
  shopId: string,
  session: Session,
  secretHash: string,
  { idleSinceMs, sessionsMax }: { readonly idleSinceMs: number; readonly sessionsMax: number },
): readonly Change[] => [
  insertSession([shopId, secretHash], session),
  remove(tables.console_session, shopId, { last_seen_at: upTo(idleSinceMs) }),
  changeOf(endOldSessions, [shopId, session.personId, shopId, session.personId, sessionsMax]),
];

const endOldSessions = textForm(
  tables.console_session,
  `delete from console_session where shop_id = ? and person_id = ? and session_id not in
     (select session_id from console_session where shop_id = ? and person_id = ?
      order by session_id desc limit ?)`,
  ["shop_id", "person_id", null, null, null],
);

/** Ends a session with its bearers. @returns false when there is none. */
export async function endSession(tx: Tx, shopId: string, sessionId: string): Promise<boolean> {
  const exists = await hasSession(tx, shopId, sessionId);
  const key = { session_id: sessionId };
  await tx.batch([remove(tables.console_session, shopId, key), remove(tables.console_bearer, shopId, key)]);
  return exists;
}

/** A session with whom it belongs to, and the API key that it came from. */
export interface SignedInSession extends Session {
  readonly name: string;
  readonly role: Role;
  readonly keyScope: KeyScope | null;
  /** True if the API key is revoked or paused. */
  readonly isKeyShut: boolean;
  /** Language that the person has chosen; null: none. */
  readonly language: Language | null;
}

type SignedInRow = Row & {
  readonly name: string;
  readonly role: Role;
  readonly scope: KeyScope | null;
  readonly revoked_at: number | null;
  readonly paused_at: number | null;
  readonly language: Language | null;
};

const signedInColumns = `${sessionColumns}, p.name, p.role, p.language, k.scope, k.revoked_at, k.paused_at`;

const joinPersonAndKey = `
join person p on p.shop_id = s.shop_id and p.person_id = s.person_id
left join api_key k on k.shop_id = s.shop_id and k.key_id = s.key_id`;

const signedInFrom = (row: SignedInRow): SignedInSession => ({
  ...sessionFrom(row),
  name: row.name,
  role: row.role,
  keyScope: row.scope,
  isKeyShut: row.revoked_at !== null || row.paused_at !== null,
  language: row.language,
});

/** The session with this secret; null when there is none. */
export async function findSession(tx: Tx, shopId: string, secretHash: string): Promise<SignedInSession | null> {
  const [row] = await tx.all<SignedInRow>(
    `select ${signedInColumns} from console_session s ${joinPersonAndKey} where s.shop_id = ? and s.secret_hash = ?`,
    [shopId, secretHash],
  );
  return row === undefined ? null : signedInFrom(row);
}

/** True if there is such a session. */
export async function hasSession(tx: Tx, shopId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.all<{ session_id: string }>(
    "select session_id from console_session where shop_id = ? and session_id = ?",
    [shopId, sessionId],
  );
  return rows.length > 0;
}

/** Session behind a bearer: one of a person, or one of the operator. */
type Bearer = { readonly expiresAtMs: number } & (
  | { readonly session: SignedInSession; readonly operatorSession: null }
  | { readonly session: null; readonly operatorSession: string }
);

/** The bearer with this secret, an expired one too; null when there is none, or its session has ended. */
export async function findBearer(tx: Tx, shopId: string, secretHash: string): Promise<Bearer | null> {
  const [[operators], [row]] = await Promise.all([
    tx.all<{ readonly session_id: string; readonly expires_at: number }>(
      "select session_id, expires_at from console_bearer where shop_id = ? and secret_hash = ? and operator = 1",
      [shopId, secretHash],
    ),
    tx.all<SignedInRow & { readonly expires_at: number }>(
      `select ${signedInColumns}, b.expires_at from console_bearer b
       join console_session s on s.shop_id = b.shop_id and s.session_id = b.session_id ${joinPersonAndKey}
       where b.shop_id = ? and b.secret_hash = ? and b.operator = 0`,
      [shopId, secretHash],
    ),
  ]);
  if (operators !== undefined)
    return { expiresAtMs: operators.expires_at, session: null, operatorSession: operators.session_id };
  return row === undefined ? null : { expiresAtMs: row.expires_at, session: signedInFrom(row), operatorSession: null };
}

/** A bearer as it is made. */
interface NewBearer {
  readonly sessionId: string;
  readonly isOperator: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Adds a bearer, and deletes expired ones and the oldest of the session beyond `bearersMax`. */
export const bearerStatements = (
  shopId: string,
  secretHash: string,
  { sessionId, isOperator, createdAtMs, expiresAtMs }: NewBearer,
  bearersMax: number,
): readonly Change[] => [
  remove(tables.console_bearer, shopId, { expires_at: upTo(createdAtMs) }),
  changeOf(endOldBearers, [shopId, sessionId, shopId, sessionId, bearersMax - 1]),
  insert(tables.console_bearer, shopId, {
    secret_hash: secretHash,
    session_id: sessionId,
    operator: isOperator ? 1 : 0,
    created_at: createdAtMs,
    expires_at: expiresAtMs,
  }),
];

const endOldBearers = textForm(
  tables.console_bearer,
  `delete from console_bearer where shop_id = ? and session_id = ? and secret_hash not in
     (select secret_hash from console_bearer where shop_id = ? and session_id = ?
      order by created_at desc, secret_hash limit ?)`,
  ["shop_id", "session_id", null, null, null],
);

/** Notes that the session, and with it the person, was seen. */
export const seenStatements = (shopId: string, { sessionId, personId }: Session, nowMs: number): readonly Change[] => [
  update(tables.console_session, shopId, { session_id: sessionId }, { last_seen_at: nowMs }),
  update(tables.person, shopId, { person_id: personId }, { last_seen_at: nowMs }),
];
