/**
 * Passkeys of people, and the challenges that were answered with them (tables `passkey`, `passkey_challenge`; C49).
 *
 * Owns: their SQL. Does not own: challenges and bounds (core/access/passkey.ts), what a passkey is checked for
 * (people/passkeys.ts).
 */
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import { type Change, type Row, below, insert, remove, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { type Columns, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

const passkeyFields = {
  /** Of the credential's id. */
  secretHash: { kind: "text" },
  passkeyId: { kind: "text" },
  personId: { kind: "text" },
  name: { kind: "text" },
  credentialId: { kind: "text" },
  /** In base64url. */
  publicKey: { kind: "text" },
  /** Uses, as the authenticator counts them; 0: it does not. */
  counter: { kind: "integer" },
  /** `multiDevice`: it can be on other devices of the person, too. */
  deviceType: { kind: "text" },
  isBackedUp: { kind: "boolean" },
  createdAtMs: { kind: "instant" },
  lastUsedAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** A passkey of a person. */
export interface Passkey extends ValuesOf<typeof passkeyFields> {
  readonly deviceType: "singleDevice" | "multiDevice";
  /** Ways to reach the authenticator, as the browser has said. */
  readonly transports: readonly string[];
}

/** A passkey as it is added. */
export type NewPasskey = Omit<Passkey, "lastUsedAtMs">;

const passkeyColumns: Columns<Passkey> = {
  ...columnsOf(passkeyFields),
  transports: ({ transports }) => transports.join(" "),
};

const passkeyFieldsFrom = recordReader<Omit<Passkey, "transports">>(passkeyFields);

type PasskeyRow = Row & { readonly transports: string };

const passkeyFrom = (row: PasskeyRow): Passkey => ({
  ...passkeyFieldsFrom(row),
  transports: row.transports === "" ? [] : row.transports.split(" "),
});

const selectPasskeys = `select ${Object.keys(passkeyColumns).join(", ")} from passkey where shop_id = ?`;

const insertPasskey = insertInto(tables.passkey, [], passkeyColumns);

/** The passkey with this credential; null when there is none. */
export async function findPasskey(tx: Tx, shopId: string, secretHash: string): Promise<Passkey | null> {
  const [row] = await tx.all<PasskeyRow>(`${selectPasskeys} and secret_hash = ?`, [shopId, secretHash]);
  return row === undefined ? null : passkeyFrom(row);
}

/** The person's passkeys, newest first. */
export async function passkeysOfPerson(tx: Tx, shopId: string, personId: string): Promise<readonly Passkey[]> {
  const rows = await tx.all<PasskeyRow>(`${selectPasskeys} and person_id = ? order by passkey_id desc`, [
    shopId,
    personId,
  ]);
  return rows.map(passkeyFrom);
}

/** Adds a passkey. */
export const addPasskeyStatement = (shopId: string, passkey: NewPasskey): Change =>
  insertPasskey([shopId], { ...passkey, lastUsedAtMs: null });

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
