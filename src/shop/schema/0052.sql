-- What lists know of orders (shop/order-list).

-- Orders that differ from their segment, or are in none. `facts` null: deleted. `articles` null: those of its segment. `sealed`: what the totals and the
-- segments have of it; null: nothing.
create table order_recent (
  shop_id text not null,
  purchase_order_id text not null,
  facts text,
  articles text,
  sealed text,
  primary key (shop_id, purchase_order_id)
);

-- Columns of segments: orders of neighbouring age, from (created_from, id_from) up to the next. And under other names what there is of all segments.
create table order_segment (
  shop_id text not null,
  name text not null,
  created_from bigint not null,
  id_from text not null,
  body text not null,
  primary key (shop_id, name, created_from, id_from)
);

-- Products as lines of sealed orders name them. Codes are lowered.
create table order_article (
  shop_id text not null,
  article_id bigint not null,
  variant_id text not null,
  sku text,
  barcode text,
  supplier_sku text,
  supplier_barcode text,
  article_key text not null,
  primary key (shop_id, article_id)
);
create index order_article_by_variant on order_article (shop_id, variant_id);
create index order_article_by_sku on order_article (shop_id, sku);
create index order_article_by_barcode on order_article (shop_id, barcode);
create index order_article_by_supplier_sku on order_article (shop_id, supplier_sku);
create index order_article_by_supplier_barcode on order_article (shop_id, supplier_barcode);

-- Sealed orders by one value of one filter.
create table order_count (
  shop_id text not null,
  kind text not null,
  value text not null,
  orders bigint not null,
  primary key (shop_id, kind, value)
);

-- Shops whose orders are not all in segments yet, and the last one that is.
create table order_fill (
  shop_id text not null,
  created_at bigint not null,
  purchase_order_id text not null,
  primary key (shop_id)
);
insert into order_fill (shop_id, created_at, purchase_order_id)
select distinct shop_id, -9007199254740991, '' from purchase_order;

-- What they take the place of.
drop table purchase_order_block;
drop table purchase_order_block_content;
drop table purchase_order_digest;
drop table purchase_order_count;
drop index purchase_order_by_supplier;
drop index purchase_order_by_paid_status;
drop index purchase_order_by_location;
drop index purchase_order_by_next_expected_date;
drop index purchase_order_by_age;
alter table purchase_order drop column search_folded;
create index purchase_order_by_age on purchase_order (shop_id, created_at, purchase_order_id) where deleted_at is null;
