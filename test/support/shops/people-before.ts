/** People whom API keys had made before a key made one person (C49): what an upgrade finds, and what it leaves. */

const keyRow = (keyId: string, revokedAt: number | null): string =>
  `insert into api_key (shop_id, key_id, name, scope, secret_hash, last_four, created_at, revoked_at)
   values ('a', '${keyId}', '${keyId}', 'read', 'hash of ${keyId}', 'xxxx', 1, ${revokedAt ?? "null"})`;

const personRow = (personId: string, keyId: string | null, lastSeenAt: number | null): string =>
  `insert into person (shop_id, person_id, name, role, key_id, created_at, last_seen_at)
   values ('a', '${personId}', '${personId}', 'viewer', ${keyId === null ? "null" : `'${keyId}'`}, 1, ${lastSeenAt ?? "null"})`;

const sessionRows = (personId: string): readonly string[] => [
  `insert into console_session (shop_id, session_id, secret_hash, person_id, created_at, last_seen_at)
   values ('a', 'ses ${personId}', 'hash of ${personId}', '${personId}', 1, 1)`,
  `insert into console_bearer (shop_id, secret_hash, session_id, operator, created_at, expires_at)
   values ('a', 'bearer of ${personId}', 'ses ${personId}', 0, 1, 2)`,
];

const people = ["per_1", "per_2", "per_3", "per_4", "per_5", "per_6"];

/** Fills a shop `a` of before. */
export const peopleBefore: readonly string[] = [
  keyRow("key_open", null),
  keyRow("key_quiet", null),
  keyRow("key_revoked", 5),
  personRow("per_1", "key_open", 10),
  personRow("per_2", "key_open", 30),
  personRow("per_3", "key_open", 20),
  personRow("per_4", "key_quiet", null),
  personRow("per_5", "key_revoked", 40),
  personRow("per_6", null, 5),
  ...people.flatMap(sessionRows),
  `insert into console_bearer (shop_id, secret_hash, session_id, operator, created_at, expires_at)
   values ('a', 'bearer of the operator', 'a session elsewhere', 1, 1, 2)`,
  ...people.map(
    (personId) => `insert into console_view (shop_id, view_id, view_name, query, is_shared, person_id)
                   values ('a', 'view of ${personId}', 'v', '', 0, '${personId}')`,
  ),
];

/** What is left, in a statement's order. */
export const peopleAfter: Readonly<Record<string, readonly (readonly (string | null)[])[]>> = {
  "select person_id, key_id from person order by 1": [
    ["per_2", "key_open"],
    ["per_4", "key_quiet"],
    ["per_6", null],
  ],
  "select session_id, person_id from console_session order by 1": ["per_2", "per_4", "per_6"].map((id) => [
    `ses ${id}`,
    id,
  ]),
  "select secret_hash, session_id from console_bearer order by 1": [
    ["bearer of per_2", "ses per_2"],
    ["bearer of per_4", "ses per_4"],
    ["bearer of per_6", "ses per_6"],
    ["bearer of the operator", "a session elsewhere"],
  ],
  "select view_id, person_id from console_view order by 1": [
    ["view of per_1", "per_2"],
    ["view of per_2", "per_2"],
    ["view of per_3", "per_2"],
    ["view of per_4", "per_4"],
    ["view of per_6", "per_6"],
  ],
};
