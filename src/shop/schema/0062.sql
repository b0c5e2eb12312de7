-- Passkeys by which people sign in (C49; shop/access/passkeys.ts). `secret_hash`: of the credential's id, by which it is found like a secret.
create table passkey (
  shop_id text not null,
  secret_hash text not null,
  passkey_id text not null,
  person_id text not null,
  name text not null,
  credential_id text not null,
  public_key text not null,
  transports text not null,
  counter bigint not null,
  device_type text not null,
  is_backed_up bigint not null,
  created_at bigint not null,
  last_used_at bigint,
  primary key (shop_id, secret_hash)
);
create index passkey_by_person on passkey (shop_id, person_id);

-- Challenges that a passkey has answered: each is answered once.
create table passkey_challenge (
  shop_id text not null,
  challenge_hash text not null,
  expires_at bigint not null,
  primary key (shop_id, challenge_hash)
);
create index passkey_challenge_by_time on passkey_challenge (shop_id, expires_at);
