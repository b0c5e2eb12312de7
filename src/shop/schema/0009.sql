-- Totals of the shop's orders (shop/order-list/purchase-order-counts.ts), kept in the transaction that changes an order: how many there are by each value
-- of each thing that a list can be filtered by. Deleted orders are not counted. A day is 1000000000 plus the days since the earliest
-- instant of a date, so that all have ten digits.
create table purchase_order_count (
  shop_id text not null,
  kind text not null,
  value text not null,
  orders bigint not null,
  primary key (shop_id, kind, value)
);

-- When the line's order was created, so that the orders with a variant or an SKU are found newest first. Null: the order is deleted.
alter table purchase_order_line add column order_created_at bigint;
update purchase_order_line set order_created_at = (select o.created_at from purchase_order o
  where o.shop_id = purchase_order_line.shop_id and o.purchase_order_id = purchase_order_line.purchase_order_id and o.deleted_at is null);
drop index purchase_order_line_by_variant;
drop index purchase_order_line_by_sku;
create index purchase_order_line_by_variant on purchase_order_line (shop_id, variant_id, order_created_at, purchase_order_id);
create index purchase_order_line_by_sku on purchase_order_line (shop_id, sku, order_created_at, purchase_order_id) where sku is not null;

-- Orders from before.
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'all', '', count(*) from purchase_order where deleted_at is null group by shop_id;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'status', status, count(*) from purchase_order where deleted_at is null group by shop_id, status;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'paid-status', paid_status, count(*) from purchase_order where deleted_at is null group by shop_id, paid_status;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'sync-state', storefront_sync_state, count(*) from purchase_order where deleted_at is null
group by shop_id, storefront_sync_state;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'supplier', supplier_id, count(*) from purchase_order where deleted_at is null and supplier_id is not null
group by shop_id, supplier_id;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'location', location_id, count(*) from purchase_order where deleted_at is null and location_id is not null
group by shop_id, location_id;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'day', cast((created_at + 8640000000000000) / 86400000 + 1000000000 as text), count(*) from purchase_order
where deleted_at is null group by shop_id, (created_at + 8640000000000000) / 86400000;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'variant', variant_id, count(distinct purchase_order_id) from purchase_order_line where order_created_at is not null
group by shop_id, variant_id;
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'sku', sku, count(distinct purchase_order_id) from purchase_order_line where order_created_at is not null and sku is not null
group by shop_id, sku;
