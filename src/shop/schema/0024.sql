-- Requests by who made them, by operation and by status, newest first (shop/audit/audit.ts). What else they may be filtered by is in the same index.
drop index audit_log_by_key;
create index audit_log_by_key on audit_log (shop_id, key_id, audit_id, tag, status) where key_id is not null;
drop index audit_log_by_person;
create index audit_log_by_person on audit_log (shop_id, person_id, audit_id, tag, status) where person_id is not null;
create index audit_log_by_operation on audit_log (shop_id, tag, audit_id, status);
create index audit_log_by_status on audit_log (shop_id, status, audit_id);

-- Changes by who made them, with the operation, which they may be filtered by too (shop/order/changes.ts).
drop index purchase_order_log_by_actor;
create index purchase_order_log_by_actor on purchase_order_log (shop_id, actor_id, occurred_at, log_id, operation) where actor_id is not null;
