-- Who is told of the shop's events (shop/webhooks.ts). `secret` and `previous_secret` sign; the previous one until `previous_until`.
-- `failures` and `failing_since` count since something was delivered last.
create table webhook_endpoint (
  shop_id text not null,
  endpoint_id text not null,
  url text not null,
  event_types text not null,
  description text,
  signature text not null,
  secret text not null,
  previous_secret text,
  previous_until bigint,
  status text not null,
  disabled_reason text,
  created_at bigint not null,
  last_delivered_at bigint,
  failures bigint not null,
  failing_since bigint,
  primary key (shop_id, endpoint_id)
);

-- By type, group or all, the endpoints that are enabled: what an event is handed to in its own commit. No event matches two rows of an
-- endpoint.
create table webhook_subscription (
  shop_id text not null,
  pattern text not null,
  endpoint_id text not null,
  primary key (shop_id, pattern, endpoint_id)
);

-- An event for an endpoint. `due_at`: when it is sent next; while a process has it (`lease_owner`), when another may take it over; null when
-- nothing is to be sent, or its endpoint is disabled.
create table delivery (
  shop_id text not null,
  delivery_id text not null,
  endpoint_id text not null,
  sequence bigint not null,
  event_id text not null,
  type text not null,
  state text not null,
  attempts bigint not null,
  due_at bigint,
  lease_owner text,
  last_status bigint,
  last_ms bigint,
  last_error text,
  created_at bigint not null,
  primary key (shop_id, delivery_id)
);
create index delivery_due on delivery (shop_id, endpoint_id, due_at) where due_at is not null;
create index delivery_leased on delivery (shop_id, endpoint_id, due_at) where lease_owner is not null;
create index delivery_of_endpoint on delivery (shop_id, endpoint_id, delivery_id);
create index delivery_by_sequence on delivery (shop_id, sequence);
