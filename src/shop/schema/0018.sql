-- Changes of all orders, newest first (shop/order/changes.ts): by time with what they are filtered by, by who made them, by request.
create index purchase_order_log_by_time on purchase_order_log (shop_id, occurred_at, log_id, actor_type, operation);
create index purchase_order_log_by_actor on purchase_order_log (shop_id, actor_id, occurred_at, log_id) where actor_id is not null;
create index purchase_order_log_by_request on purchase_order_log (shop_id, request_id, occurred_at, log_id) where request_id is not null;

-- What a scan at the dock finds (shop/order/open-lines.ts).
create index purchase_order_line_by_barcode on purchase_order_line (shop_id, barcode, purchase_order_id) where barcode is not null;
create index purchase_order_line_by_supplier_barcode on purchase_order_line (shop_id, supplier_barcode, purchase_order_id)
  where supplier_barcode is not null;
create index purchase_order_line_by_supplier_sku on purchase_order_line (shop_id, supplier_sku, purchase_order_id)
  where supplier_sku is not null;

-- Saved queries of the console (shop/access/console-views.ts). `person_id`: whose it is; null: nobody's.
create table console_view (
  shop_id text not null,
  view_id text not null,
  view_name text not null,
  query text not null,
  is_shared bigint not null,
  person_id text,
  primary key (shop_id, view_id)
);
