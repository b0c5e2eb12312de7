-- What decides which variants need an order, in blocks of variants by product name (shop/forecast/reorder-block-tables.ts). A block goes from its key, a product name
-- and a variant id, to the key of the next. It is as of a forecast version: of `epoch` and `changes`. Nothing is filled in here: blocks are made when a
-- view of reorders only is first read, or an import ends.
create table forecast_block (
  shop_id text not null,
  name_from text not null,
  variant_from text not null,
  epoch text not null,
  changes bigint not null,
  names text not null,
  numbers text not null,
  primary key (shop_id, name_from, variant_from)
);
