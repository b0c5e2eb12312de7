-- One shop's database. Types are TEXT, BIGINT and DOUBLE PRECISION only; instants are integer milliseconds, flags 0/1,
-- quantities thousandths, money ten-thousandths, JSON opaque TEXT. The shop id leads every key, in the per-shop file too.

create table shop (
  shop_id text not null,
  name text not null,
  currency_code text not null,
  plan_rest_api bigint not null,
  settings text not null,
  storefront text not null,
  next_po_number bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (shop_id)
);

create table api_key (
  shop_id text not null,
  key_id text not null,
  name text not null,
  scope text not null,
  secret_hash text not null,
  last_four text not null,
  created_at bigint not null,
  revoked_at bigint,
  primary key (shop_id, key_id)
);
create unique index api_key_by_secret on api_key (shop_id, secret_hash);

create table idempotency_record (
  shop_id text not null,
  key_id text not null,
  idempotency_key text not null,
  fingerprint text not null,
  status bigint not null,
  headers text not null,
  body text not null,
  stored_at bigint not null,
  primary key (shop_id, key_id, idempotency_key)
);
create index idempotency_record_by_age on idempotency_record (shop_id, stored_at);

create table audit_log (
  shop_id text not null,
  audit_id text not null,
  at bigint not null,
  request_id text not null,
  tag text not null,
  key_id text,
  method text not null,
  path text not null,
  status bigint not null,
  error_code text,
  duration_ms bigint not null,
  replayed bigint not null,
  primary key (shop_id, audit_id)
);
create index audit_log_by_key on audit_log (shop_id, key_id, audit_id);

-- Reference data: what comes from outside this API. `doc` holds the import record as it came, less what has a column.

create table location (
  shop_id text not null,
  location_id text not null,
  name text not null,
  address text,
  primary key (shop_id, location_id)
);

create table supplier (
  shop_id text not null,
  supplier_id text not null,
  name text not null,
  name_folded text not null,
  email text,
  currency_code text,
  lead_time_days bigint,
  address text,
  primary key (shop_id, supplier_id)
);

create table variant (
  shop_id text not null,
  variant_id text not null,
  product_id text not null,
  product_name text not null,
  variant_name text,
  sku text,
  barcode text,
  unit_cost bigint,
  price bigint,
  status text not null,
  primary key (shop_id, variant_id)
);

create table supplier_variant (
  shop_id text not null,
  supplier_id text not null,
  variant_id text not null,
  unit_cost bigint,
  unit_cost_currency_code text,
  supplier_sku text,
  supplier_barcode text,
  supplier_product_name text,
  supplier_product_url text,
  supplier_variant_details text,
  moq bigint,
  pack_size bigint,
  lead_time_days bigint,
  primary key (shop_id, supplier_id, variant_id)
);

create table inventory_level (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  on_hand bigint not null,
  primary key (shop_id, variant_id, location_id)
);

create table sale (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  date text not null,
  quantity bigint not null,
  primary key (shop_id, variant_id, location_id, date)
);

create table supplier_credit (
  shop_id text not null,
  credit_id text not null,
  supplier_id text not null,
  doc text not null,
  primary key (shop_id, credit_id)
);
create index supplier_credit_by_supplier on supplier_credit (shop_id, supplier_id);

-- Purchase orders.

create table purchase_order (
  shop_id text not null,
  purchase_order_id text not null,
  po_number text not null,
  po_name text,
  status text not null,
  previous_status text not null,
  supplier_id text,
  location_id text,
  currency_code text not null,
  fx_rate_override bigint,
  order_date text,
  expected_delivery_date text,
  supplier_reference text,
  payment_terms text,
  incoterm text,
  shipping_cost bigint,
  discount_amount bigint,
  tax_amount bigint,
  tags text not null,
  note text,
  note_to_supplier text,
  billing_address text,
  shipping_address text,
  item_count bigint not null,
  total_value bigint not null,
  unpriced_line_item_ids text not null,
  settled_amount bigint not null,
  paid_status text not null,
  storefront_sync_state text not null,
  search_folded text not null,
  created_by text,
  created_at bigint not null,
  updated_at bigint not null,
  sent_at bigint,
  confirmed_at bigint,
  received_at bigint,
  completed_at bigint,
  cancelled_at bigint,
  deleted_at bigint,
  version bigint not null,
  primary key (shop_id, purchase_order_id)
);
create unique index purchase_order_by_number on purchase_order (shop_id, po_number);
-- The columns that a text search reads ride along, so that it never touches the table.
create index purchase_order_by_age on purchase_order (shop_id, created_at, purchase_order_id, supplier_id, search_folded) where deleted_at is null;
create index purchase_order_by_status on purchase_order (shop_id, status, created_at, purchase_order_id) where deleted_at is null;
create index purchase_order_by_supplier on purchase_order (shop_id, supplier_id, created_at, purchase_order_id) where deleted_at is null;
create index purchase_order_by_paid_status on purchase_order (shop_id, paid_status, created_at, purchase_order_id) where deleted_at is null;
create index purchase_order_by_location on purchase_order (shop_id, location_id, created_at, purchase_order_id) where deleted_at is null;

create table purchase_order_line (
  shop_id text not null,
  purchase_order_id text not null,
  po_line_item_id text not null,
  position bigint not null,
  variant_id text not null,
  quantity_ordered bigint not null,
  quantity_confirmed bigint not null,
  quantity_received bigint not null,
  quantity_rejected bigint not null,
  quantity_cancelled bigint not null,
  quantity_synced bigint not null,
  unit_cost bigint not null,
  unit_cost_currency_code text not null,
  product_name text,
  variant_name text,
  sku text,
  barcode text,
  supplier_sku text,
  supplier_barcode text,
  supplier_product_name text,
  supplier_product_url text,
  moq bigint,
  pack_size bigint,
  lead_time_days bigint,
  expected_delivery_date text,
  note text,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (shop_id, purchase_order_id, po_line_item_id)
);
create index purchase_order_line_by_variant on purchase_order_line (shop_id, variant_id, purchase_order_id);
create index purchase_order_line_by_sku on purchase_order_line (shop_id, sku, purchase_order_id);

-- What hangs on an order and only comes in by import: kind is payment, document, shipment or credit.
create table purchase_order_attachment (
  shop_id text not null,
  purchase_order_id text not null,
  kind text not null,
  attachment_id text not null,
  position bigint not null,
  doc text not null,
  primary key (shop_id, purchase_order_id, kind, attachment_id)
);

create table purchase_order_log (
  shop_id text not null,
  purchase_order_id text not null,
  log_id text not null,
  occurred_at bigint not null,
  action text not null,
  message text not null,
  actor_type text not null,
  actor_id text,
  actor_name text,
  operation text,
  request_id text,
  changes text not null,
  primary key (shop_id, purchase_order_id, log_id)
);

create table receipt (
  shop_id text not null,
  purchase_order_id text not null,
  receipt_id text not null,
  received_at bigint not null,
  recorded_by text,
  source text not null,
  reason text,
  request_id text,
  lines text not null,
  primary key (shop_id, purchase_order_id, receipt_id)
);

create table cost_sync (
  shop_id text not null,
  purchase_order_id text not null,
  cost_sync_id text not null,
  variant_id text not null,
  po_line_item_id text not null,
  previous_unit_cost bigint,
  proposed_unit_cost bigint not null,
  currency_code text not null,
  source_unit_cost bigint not null,
  source_currency_code text not null,
  fx_rate bigint not null,
  fx_source text not null,
  outcome text not null,
  reason text,
  attempt bigint not null,
  completion bigint not null,
  proposed_at bigint not null,
  resolved_at bigint,
  primary key (shop_id, purchase_order_id, cost_sync_id)
);

-- Σ pending of open orders per variant and location (C41), kept in the transaction of the change.
create table incoming (
  shop_id text not null,
  variant_id text not null,
  location_id text not null,
  quantity bigint not null,
  primary key (shop_id, variant_id, location_id)
);

-- The outbox (S3). One row an effect; state is pending, applied, skipped or failed. Effects of a lane run one at a time. While a
-- runner has one, `lease_owner` names it and `due_at` is when its lease ends.
create table effect (
  shop_id text not null,
  effect_id text not null,
  kind text not null,
  lane text not null,
  purchase_order_id text,
  payload text not null,
  state text not null,
  attempts bigint not null,
  due_at bigint not null,
  detail text,
  item_count bigint not null,
  lease_owner text,
  created_at bigint not null,
  settled_at bigint,
  primary key (shop_id, effect_id)
);
create index effect_due on effect (shop_id, due_at) where state = 'pending';
create index effect_by_lane on effect (shop_id, lane) where state = 'pending';
create index effect_settled on effect (shop_id, settled_at) where settled_at is not null;

-- Attempts to push stock: the exact items under one reference, persisted before the storefront is called (C40). State is
-- in-flight (no known outcome yet), unknown (given up without an outcome; sent again under the same reference), or settled.
-- `items` holds each item with its outcome once that is known; `not_landed` counts the attempts known to have done nothing.
create table stock_push (
  shop_id text not null,
  reference text not null,
  purchase_order_id text not null,
  items text not null,
  state text not null,
  attempts bigint not null,
  not_landed bigint not null,
  created_at bigint not null,
  settled_at bigint,
  primary key (shop_id, reference)
);
create index stock_push_by_order on stock_push (shop_id, purchase_order_id, created_at, reference);
create index stock_push_settled on stock_push (shop_id, settled_at) where settled_at is not null;

-- Imports on the way (exchange/import.ts). state is staging (to be thrown away after a crash) or committed (to be finished after one).
create table import_run (
  shop_id text not null,
  import_id text not null,
  state text not null,
  started_at bigint not null,
  primary key (shop_id, import_id)
);

create table import_record (
  shop_id text not null,
  import_id text not null,
  position bigint not null,
  line_number bigint not null,
  type text not null,
  record_id text not null,
  po_number text,
  weight bigint not null,
  record text not null,
  primary key (shop_id, import_id, position)
);
create index import_record_by_id on import_record (shop_id, import_id, type, record_id);
create index import_record_by_number on import_record (shop_id, import_id, po_number, record_id) where po_number is not null;
