-- Reminders of orders that their supplier is late with (shop/supplier/reminders.ts), one row an order and cause. `basis`: what it is about, an expected date
-- or the instant at which the order was sent; null: there is no cause. `told`: what was told last. `due_at`: when somebody looks at it next; null:
-- nothing is to be told. `quiet` 1: what is due at the first look counts as told.
create table purchase_order_reminder (
  shop_id text not null,
  purchase_order_id text not null,
  cause text not null,
  basis text,
  told text,
  due_at bigint,
  quiet bigint not null,
  primary key (shop_id, purchase_order_id, cause)
);
create index purchase_order_reminder_due on purchase_order_reminder (shop_id, due_at) where due_at is not null;

-- Orders from before (D295).
insert into purchase_order_reminder (shop_id, purchase_order_id, cause, basis, told, due_at, quiet)
select shop_id, purchase_order_id, 'overdue', next_expected_date, null, 0, 1 from purchase_order
where deleted_at is null and next_expected_date is not null and quantity_pending > 0
  and status in ('Sent', 'Partially Confirmed', 'Confirmed', 'In Progress', 'Partially Received');
insert into purchase_order_reminder (shop_id, purchase_order_id, cause, basis, told, due_at, quiet)
select shop_id, purchase_order_id, 'unconfirmed', cast(coalesce(sent_at, created_at) as text), null, 0, 1 from purchase_order
where deleted_at is null and status = 'Sent';
