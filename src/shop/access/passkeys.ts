/**
 * Passkeys of people, and the challenges that were answered with them (tables `passkey`, `passkey_challenge`; C49).
 *
 * Owns: their SQL. Does not own: challenges and bounds (core/access/passkey.ts), what a passkey is checked for
 * (people/passkeys.ts).
 */
import { type Change, below, insert, remove, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

/** A passkey as it is added. */
export interface NewPasskey {
  /** Of the credential's id. */
  readonly secretHash: string;
  readonly passkeyId: string;
  readonly personId: string;
  readonly name: string;
  readonly credentialId: string;
  /** In base64url. */
  readonly publicKey: string;
  /** Ways to reach the authenticator, as the browser has said. */
  readonly transports: readonly string[];
  /** Uses, as the authenticator counts them; 0: it does not. */
  readonly counter: number;
  /** `multiDevice`: it can be on other devices of the person, too. */
  readonly deviceType: "singleDevice" | "multiDevice";
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
}

/** A passkey of a person. */
export interface Passkey extends NewPasskey {
  readonly lastUsedAtMs: number | null;
}

interface PasskeyRow {
  readonly secret_hash: string;
  readonly passkey_id: string;
  readonly person_id: string;
  readonly name: string;
  readonly credential_id: string;
  readonly public_key: string;
  readonly transports: string;
  readonly counter: number;
  readonly device_type: Passkey["deviceType"];
  readonly is_backed_up: number;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

const columns =
  "secret_hash, passkey_id, person_id, name, credential_id, public_key, transports, counter, device_type, is_backed_up, created_at, last_used_at";

const passkeyFrom = (row: PasskeyRow): Passkey => ({
  secretHash: row.secret_hash,
  passkeyId: row.passkey_id,
  personId: row.person_id,
  name: row.name,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  transports: row.transports === "" ? [] : row.transports.split(" "),
  counter: row.counter,
  deviceType: row.device_type,
  isBackedUp: row.is_backed_up === 1,
  createdAtMs: row.created_at,
  lastUsedAtMs: row.last_used_at,
});

/** The passkey with this credential; null when there is none. */
export async function findPasskey(tx: Tx, shopId: string, secretHash: string): Promise<Passkey | null> {
  const [row] = await tx.all<PasskeyRow>(`select ${columns} from passkey where shop_id = ? and secret_hash = ?`, [
    shopId,
    secretHash,
  ]);
  return row === undefined ? null : passkeyFrom(row);
}

/** The person's passkeys, newest first. */
export async function passkeysOfPerson(tx: Tx, shopId: string, personId: string): Promise<readonly Passkey[]> {
  const rows = await tx.all<PasskeyRow>(
    `select ${columns} from passkey where shop_id = ? and person_id = ? order by passkey_id desc`,
    [shopId, personId],
  );
  return rows.map(passkeyFrom);
}

/** Adds a passkey. */
export const addPasskeyStatement = (shopId: string, passkey: NewPasskey): Change =>
  insert(tables.passkey, shopId, {
    secret_hash: passkey.secretHash,
    passkey_id: passkey.passkeyId,
    person_id: passkey.personId,
    name: passkey.name,
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    transports: passkey.transports.join(" "),
    counter: passkey.counter,
    device_type: passkey.deviceType,
    is_backed_up: passkey.isBackedUp ? 1 : 0,
    created_at: passkey.createdAtMs,
    last_used_at: null,
  });

/** Notes that somebody has signed in with the passkey. */
export const usePasskeyStatement = (
  shopId: string,
  secretHash: string,
  { counter, isBackedUp }: Pick<Passkey, "counter" | "isBackedUp">,
  nowMs: number,
): Change =>
  update(
    tables.passkey,
    shopId,
    { secret_hash: secretHash },
    { counter, is_backed_up: isBackedUp ? 1 : 0, last_used_at: nowMs },
  );

/** Gives the passkey another name. */
export const renamePasskeyStatement = (shopId: string, secretHash: string, name: string): Change =>
  update(tables.passkey, shopId, { secret_hash: secretHash }, { name });

/** Removes the passkey. */
export const removePasskeyStatement = (shopId: string, secretHash: string): Change =>
  remove(tables.passkey, shopId, { secret_hash: secretHash });

/** Removes all passkeys of the person. */
export const removePasskeysStatement = (shopId: string, personId: string): Change =>
  remove(tables.passkey, shopId, { person_id: personId });

/** True if the challenge was answered. */
export async function wasAnswered(tx: Tx, shopId: string, challengeHash: string): Promise<boolean> {
  const rows = await tx.all<{ expires_at: number }>(
    "select expires_at from passkey_challenge where shop_id = ? and challenge_hash = ?",
    [shopId, challengeHash],
  );
  return rows.length > 0;
}

/** Notes that the challenge was answered, and forgets those that expired before `keptSinceMs`. */
export const answeredStatements = (
  shopId: string,
  challengeHash: string,
  expiresAtMs: number,
  keptSinceMs: number,
): readonly Change[] => [
  remove(tables.passkey_challenge, shopId, { expires_at: below(keptSinceMs) }),
  insert(tables.passkey_challenge, shopId, { challenge_hash: challengeHash, expires_at: expiresAtMs }),
];
