-- What was sent to a storefront that knows a repeated write by a key (shop/storefront/storefront-writes.ts): the exact input of every call under its key, stored
-- before the call, so that a retry sends the very same.
--
-- Changes of on-hand: one row a push. `items` is what was asked, `results` what became of each item (null: not known yet), `batches` the calls.
-- `cleared_at`: since then a call without an outcome, which is too old for its key, may be sent anew.
create table storefront_write (
  shop_id text not null,
  reference text not null,
  items text not null,
  results text not null,
  batches text not null,
  created_at bigint not null,
  cleared_at bigint,
  primary key (shop_id, reference)
);

-- What of a variant's incoming quantity at the storefront is ours.
create table storefront_incoming (
  shop_id text not null,
  location_id text not null,
  variant_id text not null,
  quantity bigint not null,
  primary key (shop_id, location_id, variant_id)
);

-- Calls that change incoming quantities and have no known outcome.
create table storefront_incoming_batch (
  shop_id text not null,
  location_id text not null,
  batch_key text not null,
  input text not null,
  items text not null,
  created_at bigint not null,
  primary key (shop_id, location_id, batch_key)
);
