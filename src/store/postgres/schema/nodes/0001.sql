-- What the nodes that serve the same shops agree on (store/postgres/coordination.ts). `{schema}` stands for the schema's name.
-- Nothing here is worth a sync: what a crash of the database takes back is at most a token or a claim of a moment ago.

-- A shop's token bucket (core/access/rate-limit.ts). `refused`: the latest call found no token.
create table {schema}.token_bucket (
  shop_id text collate "C" not null primary key,
  level bigint not null,
  at_ms bigint not null,
  refused boolean not null
) with (fillfactor = 50);

-- Idempotency keys in flight. A claim ends when its holder gives it back, or when its lease does: by the database's clock.
create table {schema}.key_in_flight (
  shop_id text collate "C" not null,
  scope text collate "C" not null,
  fingerprint text not null,
  owner text not null,
  leased_until timestamptz not null,
  primary key (shop_id, scope)
);

-- The first start on this database: its row is locked for as long as one is under way, and settled when one has ended well.
create table {schema}.first_start (
  one bigint not null primary key,
  settled boolean not null
);
insert into {schema}.first_start (one, settled) values (1, false);
