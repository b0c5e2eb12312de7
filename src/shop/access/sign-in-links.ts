/**
 * Links by which people sign in again (table `sign_in_link`; C49).
 *
 * Owns: their SQL. Does not own: bounds and texts (core/access/sign-in-link.ts), who gets one (people/link-mails.ts),
 * how secrets are made (base/secret.ts).
 *
 * A link has a row for itself, whose own secret nobody has, and one for each secret. It gets one with each attempt to
 * mail it, since nobody knows which attempt has arrived.
 */
import { type Change, below, insert, not, remove, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

/** A link, as its secret finds it. */
export interface SignInLink {
  readonly personId: string;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

interface LinkRow {
  readonly link_id: string;
  readonly person_id: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly used_at: number | null;
}

const columns = "link_id, person_id, created_at, expires_at, used_at";

/** Stands for no secret: it is no hash. */
const ownHash = (linkId: string): string => `link ${linkId}`;

const insertStatement = (shopId: string, row: LinkRow, secretHash: string): Change =>
  insert(tables.sign_in_link, shopId, { ...row, secret_hash: secretHash });

/** A link as it is made. */
interface NewLink {
  readonly linkId: string;
  readonly personId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Adds a link without a secret, and deletes those that were made before `keptSinceMs`. */
export const linkStatements = (
  shopId: string,
  { linkId, personId, createdAtMs, expiresAtMs }: NewLink,
  keptSinceMs: number,
): readonly Change[] => [
  remove(tables.sign_in_link, shopId, { created_at: below(keptSinceMs) }),
  insertStatement(
    shopId,
    { link_id: linkId, person_id: personId, created_at: createdAtMs, expires_at: expiresAtMs, used_at: null },
    ownHash(linkId),
  ),
];

/** Adds a secret to the link; null when it is gone, was used or has expired. */
export async function mailedSignInStatement(
  tx: Tx,
  shopId: string,
  linkId: string,
  secretHash: string,
  nowMs: number,
): Promise<Change | null> {
  const [row] = await tx.all<LinkRow>(
    `select ${columns} from sign_in_link where shop_id = ? and secret_hash = ? and used_at is null and expires_at > ?`,
    [shopId, ownHash(linkId), nowMs],
  );
  return row === undefined ? null : insertStatement(shopId, row, secretHash);
}

/** The link with this secret, a used or expired one too; null when there is none. */
export async function findSignInLink(tx: Tx, shopId: string, secretHash: string): Promise<SignInLink | null> {
  const [row] = await tx.all<LinkRow>(`select ${columns} from sign_in_link where shop_id = ? and secret_hash = ?`, [
    shopId,
    secretHash,
  ]);
  return row === undefined ? null : { personId: row.person_id, expiresAtMs: row.expires_at, usedAtMs: row.used_at };
}

/** Marks all links of the person as used: whoever is in needs no other. */
export const useLinksStatement = (shopId: string, personId: string, nowMs: number): Change =>
  update(tables.sign_in_link, shopId, { person_id: personId, used_at: null }, { used_at: nowMs });

/** Whom the links since an instant were for, a row for each link. */
export async function linkedSince(tx: Tx, shopId: string, sinceMs: number): Promise<readonly string[]> {
  const rows = await tx.all<{ person_id: string }>(
    "select person_id from sign_in_link where shop_id = ? and created_at > ? and secret_hash = 'link ' || link_id",
    [shopId, sinceMs],
  );
  return rows.map((row) => row.person_id);
}

/** Ends all links of the person, with the mails that wait. */
export const endLinksStatements = (shopId: string, personId: string): readonly Change[] => [
  remove(tables.sign_in_link, shopId, { person_id: personId }),
  remove(tables.mail, shopId, { person_id: personId, sign_in_link_id: not(null), lease_owner: null }),
];
