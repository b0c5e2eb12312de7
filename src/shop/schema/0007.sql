-- When an unpaid payment of an order is due (shop/order/purchase-order-attachments.ts); null for everything else, and for what an earlier
-- version wrote. A payment that is overdue without a date has the earliest date there is.
alter table purchase_order_attachment add column due_date text;
create index purchase_order_payment_due on purchase_order_attachment (shop_id, due_date, purchase_order_id) where due_date is not null;
