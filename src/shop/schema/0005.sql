-- Looking up the catalogue (shop/catalogue/look-ups.ts). What a search looks at rides along in an index in the order of the pages. Null: the row
-- was written by an earlier version; until it comes in again a search finds it by its name alone.
alter table variant add column search_folded text;
alter table location add column name_folded text;
create index variant_by_search on variant (shop_id, product_name, variant_id, search_folded);
create index variant_by_sku on variant (shop_id, sku, variant_id) where sku is not null;
create index variant_by_barcode on variant (shop_id, barcode, variant_id) where barcode is not null;
