-- What follows from an order's lines and amounts, as columns for lists and their filters (core/order/lines.ts, `orderTotals`).
alter table purchase_order add column grand_total bigint not null default 0;
alter table purchase_order add column quantity_ordered bigint not null default 0;
alter table purchase_order add column quantity_confirmed bigint not null default 0;
alter table purchase_order add column quantity_received bigint not null default 0;
alter table purchase_order add column quantity_pending bigint not null default 0;
alter table purchase_order add column next_expected_date text;

-- Orders from before, worked out by the same rules (D79). All figures are integers, so both engines get what the program gets.

-- The exact amount, not below 0, rounded half-up to the currency's minor unit.
update purchase_order set grand_total =
  case when total_value + coalesce(shipping_cost, 0) + coalesce(tax_amount, 0) - coalesce(discount_amount, 0) < 0 then 0
  else total_value + coalesce(shipping_cost, 0) + coalesce(tax_amount, 0) - coalesce(discount_amount, 0) end;
update purchase_order set grand_total =
  case
    when currency_code in ('ADP', 'AFN', 'ALL', 'BIF', 'BYR', 'CLP', 'COP', 'DJF', 'ESP', 'GNF', 'HUF', 'IDR', 'IQD', 'IRR', 'ISK',
      'ITL', 'JPY', 'KMF', 'KPW', 'KRW', 'LAK', 'LBP', 'LUF', 'MGA', 'MGF', 'MMK', 'MRO', 'PKR', 'PYG', 'RWF', 'SLL', 'SOS', 'STD',
      'SYP', 'TMM', 'TRL', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF', 'YER', 'ZMK', 'ZWD')
      then (grand_total + 5000) / 10000 * 10000
    when currency_code in ('BHD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then (grand_total + 5) / 10 * 10
    when currency_code in ('CLF', 'UYW') then grand_total
    else (grand_total + 50) / 100 * 100
  end;
update purchase_order set paid_status =
  case
    when settled_amount <= 0 then 'Unpaid'
    when settled_amount = grand_total then 'Paid'
    when settled_amount < grand_total then 'Partially Paid'
    else 'Overpaid'
  end;

update purchase_order set
  quantity_ordered = coalesce((select sum(l.quantity_ordered) from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0),
  quantity_confirmed = coalesce((select sum(l.quantity_confirmed) from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0),
  quantity_received = coalesce((select sum(l.quantity_received) from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id), 0),
  quantity_pending = coalesce((select sum(
      case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end
        - l.quantity_received - l.quantity_rejected - l.quantity_cancelled)
    from purchase_order_line l
    where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id
      and case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end
        > l.quantity_received + l.quantity_rejected + l.quantity_cancelled), 0);

update purchase_order set next_expected_date =
  case
    when status in ('Completed', 'Cancelled') then null
    when item_count > 0 and quantity_pending = 0 then null
    else coalesce((select min(l.expected_delivery_date) from purchase_order_line l
      where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id
        and case when l.quantity_confirmed > 0 then l.quantity_confirmed else l.quantity_ordered end
          > l.quantity_received + l.quantity_rejected + l.quantity_cancelled), expected_delivery_date)
  end;

create index purchase_order_by_next_expected_date on purchase_order (shop_id, next_expected_date, created_at, purchase_order_id)
  where deleted_at is null and next_expected_date is not null;
create index purchase_order_by_sync_state on purchase_order (shop_id, storefront_sync_state, created_at, purchase_order_id)
  where deleted_at is null;
