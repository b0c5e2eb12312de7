-- Settings by which a buyer steers reorders (C83): JSON, with quantities in thousandths. Few variants have any, and forecasts look for these alone.
alter table variant add column reorder text;
create index variant_steered on variant (shop_id, variant_id) where reorder is not null;
create index variant_archived on variant (shop_id, variant_id) where is_archived = 1;
create index supplier_variant_preferred on supplier_variant (shop_id, variant_id, supplier_id) where is_preferred = 1;
