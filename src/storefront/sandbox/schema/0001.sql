-- The sandbox storefront of one shop: state of its own, as a platform would have it. Types and keys as in the shops' schema.

create table sandbox_variant (
  shop_id text not null,
  variant_id text not null,
  product_id text not null,
  status text not null,
  unit_cost bigint,
  primary key (shop_id, variant_id)
);

create table sandbox_tag (
  shop_id text not null,
  product_id text not null,
  tag text not null,
  primary key (shop_id, product_id, tag)
);

-- `on_hand` holds every accepted change; what is readable leaves out changes that are not visible yet.
create table sandbox_level (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  on_hand bigint not null,
  incoming bigint not null,
  primary key (shop_id, variant_id, location_id)
);

-- On-hand changes by reference, with the result that was answered: the same reference gets it again.
create table sandbox_change (
  shop_id text not null,
  reference text not null,
  position bigint not null,
  variant_id text not null,
  location_id text not null,
  delta bigint not null,
  outcome text not null,
  reason text,
  message text,
  visible_at bigint not null,
  primary key (shop_id, reference, position)
);
create index sandbox_change_unseen on sandbox_change (shop_id, visible_at);

create table sandbox_call (
  shop_id text not null,
  call text not null,
  count bigint not null,
  primary key (shop_id, call)
);

create table sandbox_delay (
  shop_id text not null,
  latency_ms bigint not null,
  apply_delay_ms bigint not null,
  primary key (shop_id)
);

-- Faults in the order in which they are tried. `times_left` null: until they are replaced.
create table sandbox_fault (
  shop_id text not null,
  position bigint not null,
  call text not null,
  outcome text not null,
  variant_ids text,
  times_left bigint,
  primary key (shop_id, position)
);
