-- The people of a shop, how they come in, and their sessions (shop/access/people.ts). Of every secret only a hash is stored.

-- `key_id`: the API key with which somebody of this name has signed in; null for who came by an invitation.
create table person (
  shop_id text not null,
  person_id text not null,
  name text not null,
  email text,
  role text not null,
  key_id text,
  created_at bigint not null,
  last_seen_at bigint,
  primary key (shop_id, person_id)
);
create unique index person_by_key on person (shop_id, key_id, name) where key_id is not null;

create table invitation (
  shop_id text not null,
  invitation_id text not null,
  secret_hash text not null,
  name text not null,
  email text,
  role text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  revoked_at bigint,
  person_id text,
  primary key (shop_id, invitation_id)
);
create unique index invitation_by_secret on invitation (shop_id, secret_hash);

create table console_session (
  shop_id text not null,
  session_id text not null,
  secret_hash text not null,
  person_id text not null,
  key_id text,
  user_agent text,
  created_at bigint not null,
  last_seen_at bigint not null,
  primary key (shop_id, session_id)
);
create unique index console_session_by_secret on console_session (shop_id, secret_hash);
create index console_session_by_person on console_session (shop_id, person_id);

-- `operator`: 1 where `session_id` is a session of the operator, which is no row here (store/store.ts, `Coordination`).
create table console_bearer (
  shop_id text not null,
  secret_hash text not null,
  session_id text not null,
  operator bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (shop_id, secret_hash)
);
create index console_bearer_by_session on console_bearer (shop_id, session_id, created_at);

-- Requests of people have no key.
alter table audit_log add column person_id text;
create index audit_log_by_person on audit_log (shop_id, person_id, audit_id) where person_id is not null;
