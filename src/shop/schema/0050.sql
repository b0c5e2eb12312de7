-- Connections of assistants (C74, C75; shop/access/connections.ts).

-- A key with a client is a connection: it has tokens that change in place of one secret. `person_id` null: the operator's.
alter table api_key add column client_id text;
alter table api_key add column client_name text;
alter table api_key add column client_host text;
alter table api_key add column person_id text;
alter table api_key add column expires_at bigint;
create index api_key_by_person on api_key (shop_id, person_id, key_id) where person_id is not null;

-- Requests that somebody has allowed or denied: each is answered once.
create table connection_request (
  shop_id text not null,
  request_hash text not null,
  decided_at bigint not null,
  primary key (shop_id, request_hash)
);
create index connection_request_by_time on connection_request (shop_id, decided_at);

-- Codes, by which a client gets its first tokens. `key_id`, `used_at`: the connection that came of it, and when. `content`: what was given, to whom.
create table connection_code (
  shop_id text not null,
  secret_hash text not null,
  key_id text,
  content text not null,
  expires_at bigint not null,
  used_at bigint,
  primary key (shop_id, secret_hash)
);
create index connection_code_by_time on connection_code (shop_id, expires_at);

-- Tokens of connections. `used_at`: when a refresh token was exchanged. `successor_salt`: what its successors are made of, together with it.
create table connection_token (
  shop_id text not null,
  secret_hash text not null,
  key_id text not null,
  kind text not null,
  expires_at bigint not null,
  used_at bigint,
  successor_salt text,
  primary key (shop_id, secret_hash)
);
create index connection_token_by_key on connection_token (shop_id, key_id);
create index connection_token_by_time on connection_token (shop_id, expires_at);
