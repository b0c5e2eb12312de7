-- Demand counts by days with stock (core/forecast/demand.ts, shop/forecast/stock-days.ts). Null: an earlier version wrote the row, in weeks. `out_from`, `out_until`: the
-- last time without stock that reaches into the latest week or later; no `out_until`: it goes on. All series are learned anew when an import or a
-- pull ends next.
alter table demand_series add column counted_days bigint;
alter table demand_series add column sale_days bigint;
alter table demand_series add column latest_from bigint;
alter table demand_series add column latest_day bigint;
alter table demand_series add column out_from bigint;
alter table demand_series add column out_until bigint;
update demand_series set stale_from = '';

-- What stock takes and adjustments say of a variant.
create index stock_line_by_variant on read_only_part (shop_id, variant_id, resource, record_id)
  where kind = 'line' and variant_id is not null;
