-- The pull of what a shop's storefront holds (shop/storefront/storefront-pulls.ts): the latest one, under way or over. `step`, `cursor_text` and `round`: where it
-- stands. `counts`, `notes`: JSON. `due_at`: when it goes on, or a hinted one begins; while a process has it (`lease_owner`), when another may take it
-- over; null when nothing is to be done. `pulled_until`: what has changed before then is here; null before the first pull was done.
create table storefront_pull (
  shop_id text not null,
  pull_id text not null,
  state text not null,
  is_full bigint not null,
  step text not null,
  cursor_text text,
  round bigint not null,
  skipped bigint not null,
  counts text not null,
  total bigint,
  notes text not null,
  error text,
  changed_since bigint,
  sold_since bigint not null,
  started_at bigint not null,
  step_started_at bigint not null,
  ended_at bigint,
  attempts bigint not null,
  due_at bigint,
  lease_owner text,
  hinted_at bigint,
  pulled_until bigint,
  primary key (shop_id)
);
create index storefront_pull_due on storefront_pull (shop_id, due_at) where due_at is not null;

-- Which pull of everything has last seen a variant at the storefront.
create table storefront_variant (
  shop_id text not null,
  variant_id text not null,
  pull_id text not null,
  primary key (shop_id, variant_id)
);

-- What counts as sold of the storefront's customer orders, from which the days of `sale` are summed. `location_id` is '' when it is not known where.
create table storefront_sale (
  shop_id text not null,
  sale_id text not null,
  variant_id text not null,
  location_id text not null,
  date text not null,
  quantity bigint not null,
  primary key (shop_id, sale_id, variant_id, location_id)
);
create index storefront_sale_by_day on storefront_sale (shop_id, date, variant_id, location_id);

create index variant_by_product on variant (shop_id, product_id, variant_id);
