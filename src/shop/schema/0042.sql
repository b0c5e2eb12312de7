-- When a storefront of the shop was called last, to the minute, and the latest error of a call (shop/storefront/storefront-calls.ts).
create table storefront_call (
  shop_id text not null,
  account text not null,
  called_at bigint,
  failed_at bigint,
  error text,
  primary key (shop_id, account)
);
