-- Whose turn it is to set stock at the shop's storefront (shop/storefront/storefront-turns.ts). `until_at`: when another may take it. `reference`: the write that
-- was sent in it and of which nobody knows yet whether it landed.
create table storefront_turn (
  shop_id text not null,
  owner text not null,
  until_at bigint not null,
  reference text,
  primary key (shop_id)
);
