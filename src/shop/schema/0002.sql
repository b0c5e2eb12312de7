-- The read-only resources and what forecasts are computed from. Conventions: 0001.sql. `doc` holds a record or a part of one as the
-- program has it; `search_folded` is what a search looks at.

create table stock_take_reason (
  shop_id text not null,
  reason_id text not null,
  doc text not null,
  primary key (shop_id, reason_id)
);

create table stock_take (
  shop_id text not null,
  stock_take_id text not null,
  created_at bigint not null,
  search_folded text not null,
  status text not null,
  location_id text,
  doc text not null,
  primary key (shop_id, stock_take_id)
);
-- As with orders, the text that a search reads rides along in the index by age, so that it never touches the table.
create index stock_take_by_age on stock_take (shop_id, created_at, stock_take_id, search_folded);
create index stock_take_by_status on stock_take (shop_id, status, created_at, stock_take_id);
create index stock_take_by_location on stock_take (shop_id, location_id, created_at, stock_take_id);

create table stock_adjustment (
  shop_id text not null,
  stock_adjustment_id text not null,
  created_at bigint not null,
  search_folded text not null,
  status text not null,
  location_id text,
  reason_id text,
  reason_folded text,
  created_by text,
  revert_of text,
  reverted_by text,
  doc text not null,
  primary key (shop_id, stock_adjustment_id)
);
create index stock_adjustment_by_age on stock_adjustment (shop_id, created_at, stock_adjustment_id, search_folded);
create index stock_adjustment_by_status on stock_adjustment (shop_id, status, created_at, stock_adjustment_id);
create index stock_adjustment_by_location on stock_adjustment (shop_id, location_id, created_at, stock_adjustment_id);
create index stock_adjustment_by_reason on stock_adjustment (shop_id, reason_id, created_at, stock_adjustment_id);
create index stock_adjustment_by_reason_name on stock_adjustment (shop_id, reason_folded, created_at, stock_adjustment_id);
create index stock_adjustment_by_creator on stock_adjustment (shop_id, created_by, created_at, stock_adjustment_id);
create index stock_adjustment_by_revert_of on stock_adjustment (shop_id, revert_of, stock_adjustment_id) where revert_of is not null;
create index stock_adjustment_by_reverted_by on stock_adjustment (shop_id, reverted_by, stock_adjustment_id) where reverted_by is not null;

create table transfer_order (
  shop_id text not null,
  transfer_order_id text not null,
  created_at bigint not null,
  search_folded text not null,
  transfer_number text,
  status text not null,
  from_location_id text,
  to_location_id text,
  doc text not null,
  primary key (shop_id, transfer_order_id)
);
create index transfer_order_by_age on transfer_order (shop_id, created_at, transfer_order_id, search_folded);
create index transfer_order_by_status on transfer_order (shop_id, status, created_at, transfer_order_id);
create index transfer_order_by_from_location on transfer_order (shop_id, from_location_id, created_at, transfer_order_id);
create index transfer_order_by_to_location on transfer_order (shop_id, to_location_id, created_at, transfer_order_id);

-- Days are kept as their first moment, UTC.
create table manufacturing_order (
  shop_id text not null,
  manufacturing_order_id text not null,
  created_at bigint not null,
  search_folded text not null,
  status text not null,
  execution_mode text not null,
  production_location_id text,
  planned_start bigint,
  due bigint,
  completed_at bigint,
  doc text not null,
  primary key (shop_id, manufacturing_order_id)
);
create index manufacturing_order_by_age on manufacturing_order (shop_id, created_at, manufacturing_order_id, search_folded);
create index manufacturing_order_by_status on manufacturing_order (shop_id, status, created_at, manufacturing_order_id);
create index manufacturing_order_by_mode on manufacturing_order (shop_id, execution_mode, created_at, manufacturing_order_id);
create index manufacturing_order_by_location on manufacturing_order (shop_id, production_location_id, created_at, manufacturing_order_id);
create index manufacturing_order_by_planned_start on manufacturing_order (shop_id, planned_start, created_at, manufacturing_order_id);
create index manufacturing_order_by_due on manufacturing_order (shop_id, due, created_at, manufacturing_order_id);
create index manufacturing_order_by_completed_at on manufacturing_order (shop_id, completed_at, created_at, manufacturing_order_id);

-- What the records of the four tables above are made of: lines, log entries, shipments, … `resource` is the table, `kind` which of its
-- collections, `position` the part's place in it. Variant and SKU are set where records are searched by them.
create table read_only_part (
  shop_id text not null,
  resource text not null,
  record_id text not null,
  kind text not null,
  position bigint not null,
  part_id text not null,
  variant_id text,
  sku text,
  doc text not null,
  primary key (shop_id, resource, record_id, kind, position)
);
create index transfer_line_by_variant on read_only_part (shop_id, variant_id, record_id) where resource = 'transfer_order' and kind = 'line';
create index transfer_line_by_sku on read_only_part (shop_id, sku, record_id) where resource = 'transfer_order' and kind = 'line';

-- Forecast views. `columns` is a JSON array of column ids. The ids that a view is filtered by are rows, so that a statement can
-- join them however many they are; kind is supplier, location or variant.
create table forecast_view (
  shop_id text not null,
  view_id text not null,
  view_name text not null,
  is_starred bigint not null,
  is_autogenerated bigint not null,
  mode text not null,
  columns text not null,
  only_reorder bigint not null,
  horizon_periods bigint not null,
  period_unit text not null,
  primary key (shop_id, view_id)
);
create index forecast_view_by_name on forecast_view (shop_id, view_name, view_id);

create table forecast_view_filter (
  shop_id text not null,
  view_id text not null,
  kind text not null,
  value text not null,
  position bigint not null,
  primary key (shop_id, view_id, kind, value)
);

-- What a variant's sales at one location have taught (core/forecast/demand.ts), so that no forecast scans sales. The latest week with a
-- sale is kept apart until it is over; it is there as its number and as its Monday. `stale_from` is the earliest day of which a sale came in
-- since the series was last settled; null: settled.
create table demand_series (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  stale_from text,
  latest_week bigint,
  latest_monday text,
  latest_week_quantity bigint not null,
  weeks bigint not null,
  level_sum double precision not null,
  slow_sum double precision not null,
  slow_square_sum double precision not null,
  sale_week_sum double precision not null,
  sale_weeks bigint not null,
  size double precision not null,
  primary key (shop_id, variant_id, location_id)
);
create index demand_series_stale on demand_series (shop_id, variant_id, location_id) where stale_from is not null;

-- The last days with sales of a series, one JSON array of [day, quantity], so that a page need not look for them among the sales.
create table demand_recent (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  days text not null,
  primary key (shop_id, variant_id, location_id)
);

-- A page of a forecast is a range of this index; a view of reorders only walks it and needs the status.
create index variant_by_name on variant (shop_id, product_name, variant_id, status);
create index supplier_variant_by_variant on supplier_variant (shop_id, variant_id, supplier_id);
