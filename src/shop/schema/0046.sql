-- Searches look for words without regard to accents (base/fold.ts), in more fields than before. `fold` and `fold_with_list` are the program's
-- (store/migrations.ts). A node of the version before, beside a new one, folds as it did; the record's next change folds anew.
alter table supplier add column search_folded text;
alter table supplier_variant add column supplier_sku_folded text;
alter table supplier_variant add column supplier_barcode_folded text;

update supplier set name_folded = fold(name);
update supplier set search_folded = fold(name || '
' || coalesce(contact_name, '') || '
' || coalesce(email, ''));
update supplier_variant set supplier_sku_folded = fold(supplier_sku);
update supplier_variant set supplier_barcode_folded = fold(supplier_barcode);
update location set name_folded = fold(name);
update variant set search_folded = fold(product_name || '
' || coalesce(variant_name, '') || '
' || coalesce(sku, '') || '
' || coalesce(barcode, ''));
update purchase_order set search_folded = fold_with_list(search_folded || '
' || coalesce(tags, '[]'));
update stock_take set search_folded = fold(search_folded);
update stock_adjustment set search_folded = fold(search_folded);
update transfer_order set search_folded = fold(search_folded);
update manufacturing_order set search_folded = fold(search_folded);

-- The blocks of lists have the texts. They are made anew.
delete from purchase_order_block_content;
delete from purchase_order_block;
delete from purchase_order_digest;
