-- Limits of a key (C78): JSON, with amounts in ten-thousandths of the shop's currency. Null: it has none.
alter table api_key add column limits text;

-- What keys with limits have spent on an order, by the day of the shop, in ten-thousandths of its currency.
create table order_spend (
  shop_id text not null,
  purchase_order_id text not null,
  key_id text not null,
  day bigint not null,
  amount bigint not null,
  primary key (shop_id, purchase_order_id, key_id, day)
);
create index order_spend_by_key on order_spend (shop_id, key_id, day, amount);
