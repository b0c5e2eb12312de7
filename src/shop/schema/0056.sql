-- Suppliers that were merged into another one, which their ids lead to (shop/catalogue/supplier-merges.ts).
create table supplier_merge (
  shop_id text not null,
  supplier_id text not null,
  into_id text not null,
  primary key (shop_id, supplier_id)
);

-- No list has these orders, but each names its supplier.
create index purchase_order_deleted on purchase_order (shop_id, supplier_id, purchase_order_id) where deleted_at is not null;
