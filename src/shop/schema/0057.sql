-- Writes that wait for somebody's decision, and those that were decided (shop/access/approval-requests.ts; C77 to C80).
-- `content` and `detail` are JSON; lists read the first alone. The last columns: the order as it was approved, amounts in ten-thousandths of the shop's currency.
create table approval_request (
  shop_id text not null,
  approval_request_id text not null,
  purchase_order_id text,
  holder_id text not null,
  status text not null,
  requested_at bigint not null,
  expires_at bigint not null,
  content text not null,
  detail text not null,
  cleared_value bigint,
  cleared_supplier_id text,
  cleared_location_id text,
  primary key (shop_id, approval_request_id)
);
create index approval_request_by_status on approval_request (shop_id, status, approval_request_id);
create index approval_request_by_order on approval_request (shop_id, purchase_order_id, approval_request_id);

-- The person who has made a key; null: the operator, or it is older than this column.
alter table api_key add column made_by text;

-- Who has approved a change (C80), as JSON; null: it needed no approval.
alter table purchase_order_log add column approved_by text;
