-- What an order keeps of the shop's settings and records of its day (core/order/purchase-order-fields.ts, headerKeptFields).
alter table purchase_order add column fx_rates text not null default '{}';
alter table purchase_order add column supplier_lead_time_days bigint;
alter table purchase_order add column sent_date text;

-- Orders from before have no rates of their own: they keep the shop's of now. SQL that both engines share takes no member out of a JSON text, so it
-- is the text of all settings, and whoever reads it takes the member `fxRates` (shop/columns.ts).
update purchase_order set
  fx_rates = coalesce((select s.settings from shop s where s.shop_id = purchase_order.shop_id), '{}'),
  supplier_lead_time_days = (select u.lead_time_days from supplier u
    where u.shop_id = purchase_order.shop_id and u.supplier_id = purchase_order.supplier_id);

-- What orders from before are worth and owe, by the rules of now (core/order/totals.ts). SQL has no integers for converted amounts: an order
-- with lines in another currency keeps its totals until its next change.

-- Exact amounts in 10^-7 of a currency unit, which are rounded half-up to the currency's minor unit afterwards.
update purchase_order set
  total_value = coalesce((select cast(sum(
      case when l.quantity_ordered > l.quantity_cancelled then l.quantity_ordered - l.quantity_cancelled else 0 end * l.unit_cost) as bigint)
    from purchase_order_line l where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0),
  grand_total = coalesce((select cast(sum((l.quantity_received + case
      when purchase_order.status in ('Completed', 'Cancelled') then 0
      when case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end > l.quantity_received + l.quantity_rejected + l.quantity_cancelled
        then case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end - l.quantity_received - l.quantity_rejected - l.quantity_cancelled
      else 0 end) * l.unit_cost) as bigint)
    from purchase_order_line l where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0)
    + (coalesce(shipping_cost, 0) + coalesce(tax_amount, 0) - coalesce(discount_amount, 0)) * 1000
where not exists (select 1 from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id
      and l.unit_cost_currency_code <> purchase_order.currency_code)
  and coalesce((select sum(cast(l.quantity_ordered + l.quantity_received as double precision) * l.unit_cost) from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0) < 4000000000000000000;
update purchase_order set grand_total = 0 where grand_total < 0;
update purchase_order set
  total_value = case
    when currency_code in ('ADP', 'AFN', 'ALL', 'BIF', 'BYR', 'CLP', 'COP', 'DJF', 'ESP', 'GNF', 'HUF', 'IDR', 'IQD', 'IRR', 'ISK',
      'ITL', 'JPY', 'KMF', 'KPW', 'KRW', 'LAK', 'LBP', 'LUF', 'MGA', 'MGF', 'MMK', 'MRO', 'PKR', 'PYG', 'RWF', 'SLL', 'SOS', 'STD',
      'SYP', 'TMM', 'TRL', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF', 'YER', 'ZMK', 'ZWD')
      then (total_value + 5000000) / 10000000 * 10000
    when currency_code in ('BHD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then (total_value + 5000) / 10000 * 10
    when currency_code in ('CLF', 'UYW') then (total_value + 500) / 1000
    else (total_value + 50000) / 100000 * 100
  end,
  grand_total = case
    when currency_code in ('ADP', 'AFN', 'ALL', 'BIF', 'BYR', 'CLP', 'COP', 'DJF', 'ESP', 'GNF', 'HUF', 'IDR', 'IQD', 'IRR', 'ISK',
      'ITL', 'JPY', 'KMF', 'KPW', 'KRW', 'LAK', 'LBP', 'LUF', 'MGA', 'MGF', 'MMK', 'MRO', 'PKR', 'PYG', 'RWF', 'SLL', 'SOS', 'STD',
      'SYP', 'TMM', 'TRL', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF', 'YER', 'ZMK', 'ZWD')
      then (grand_total + 5000000) / 10000000 * 10000
    when currency_code in ('BHD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then (grand_total + 5000) / 10000 * 10
    when currency_code in ('CLF', 'UYW') then (grand_total + 500) / 1000
    else (grand_total + 50000) / 100000 * 100
  end
where not exists (select 1 from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id
      and l.unit_cost_currency_code <> purchase_order.currency_code)
  and coalesce((select sum(cast(l.quantity_ordered + l.quantity_received as double precision) * l.unit_cost) from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0) < 4000000000000000000;
update purchase_order set paid_status =
  case
    when settled_amount <= 0 and grand_total = 0 and status in ('Received', 'Completed') then 'Paid'
    when settled_amount <= 0 then 'Unpaid'
    when settled_amount = grand_total then 'Paid'
    when settled_amount < grand_total then 'Partially Paid'
    else 'Overpaid'
  end;
update purchase_order_count set orders = (select count(*) from purchase_order o
    where o.shop_id = purchase_order_count.shop_id and o.paid_status = purchase_order_count.value and o.deleted_at is null)
where kind = 'paid-status';
insert into purchase_order_count (shop_id, kind, value, orders)
select o.shop_id, 'paid-status', o.paid_status, count(*) from purchase_order o
where o.deleted_at is null and not exists (select 1 from purchase_order_count c
  where c.shop_id = o.shop_id and c.kind = 'paid-status' and c.value = o.paid_status)
group by o.shop_id, o.paid_status;

-- When something is next to come: a pending line without a day has the order's. Days of shipments and lead times follow with the next change.
update purchase_order set next_expected_date = (select min(coalesce(l.expected_delivery_date, purchase_order.expected_delivery_date))
  from purchase_order_line l where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id
    and case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end > l.quantity_received + l.quantity_rejected + l.quantity_cancelled)
where item_count > 0 and status not in ('Completed', 'Cancelled');
-- What is late by that already was so before it was known: nobody is told of it (D295).
update purchase_order_reminder set due_at = 0, quiet = 1, basis = (select o.next_expected_date from purchase_order o
    where o.shop_id = purchase_order_reminder.shop_id and o.purchase_order_id = purchase_order_reminder.purchase_order_id)
where cause = 'overdue' and exists (select 1 from purchase_order o
    where o.shop_id = purchase_order_reminder.shop_id and o.purchase_order_id = purchase_order_reminder.purchase_order_id
      and o.next_expected_date <> purchase_order_reminder.basis);

-- Lists read the orders anew.
update purchase_order_block set changed = null where changed is not null;
