-- Where the store of a shop was asked to tell changes (shop/storefront/storefront-subscriptions.ts). `former`: addresses at which it may tell them still, as JSON. `state`:
-- `asked` until it is known what has become of it, `made` or `failed`.
create table storefront_subscription (
  shop_id text not null,
  address text not null,
  former text not null,
  state text not null,
  message text,
  asked_at bigint not null,
  primary key (shop_id)
);
