-- The renewed token of a shop's storefront (shop/storefront/storefront-tokens.ts), sealed. `made_for`: the stored secret of the connection that it was renewed under.
-- `renewing_until`: a process is renewing it until then.
create table storefront_token (
  shop_id text not null,
  made_for text not null,
  token text,
  expires_at bigint,
  renewing_until bigint not null,
  primary key (shop_id)
);
