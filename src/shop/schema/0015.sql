-- A digest of the shop's orders, in blocks of neighbouring age (shop/order-list/block-tables.ts). A block goes from its key, an instant and an order id, to the
-- key of the next. `changed` counts the sealings of the shop; null: the block is open, and its orders are read from their rows. Nothing is filled
-- in here: a shop's orders are digested when a list first needs it.
create table purchase_order_digest (
  shop_id text not null,
  epoch text not null,
  changes bigint not null,
  primary key (shop_id)
);

create table purchase_order_block (
  shop_id text not null,
  created_from bigint not null,
  id_from text not null,
  changed bigint,
  primary key (shop_id, created_from, id_from)
);
create index purchase_order_block_changed on purchase_order_block (shop_id, changed) where changed is not null;
create index purchase_order_block_open on purchase_order_block (shop_id, created_from, id_from) where changed is null;

-- `facts` is what lists filter and search by, `ids` the orders' ids, both JSON and in order of age.
create table purchase_order_block_content (
  shop_id text not null,
  created_from bigint not null,
  id_from text not null,
  facts text not null,
  ids text not null,
  primary key (shop_id, created_from, id_from)
);
