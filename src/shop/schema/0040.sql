-- What the request was whose answer is stored: its operation, and the one order that it made or changed. Null: nobody has noted it (C69).
alter table idempotency_record add column operation text;
alter table idempotency_record add column purchase_order_id text;
