-- Codes are stored without the blanks around them, and found whatever their case (shop/code-forms.ts). The blanks are a space, a tab, line ends and a
-- no-break space.
update variant set sku = nullif(trim(sku, ' 	
 '), '') where sku <> trim(sku, ' 	
 ');
update variant set barcode = nullif(trim(barcode, ' 	
 '), '') where barcode <> trim(barcode, ' 	
 ');
update supplier_variant set supplier_sku = nullif(trim(supplier_sku, ' 	
 '), '') where supplier_sku <> trim(supplier_sku, ' 	
 ');
update supplier_variant set supplier_barcode = nullif(trim(supplier_barcode, ' 	
 '), '') where supplier_barcode <> trim(supplier_barcode, ' 	
 ');
update purchase_order_line set sku = nullif(trim(sku, ' 	
 '), '') where sku <> trim(sku, ' 	
 ');
update purchase_order_line set barcode = nullif(trim(barcode, ' 	
 '), '') where barcode <> trim(barcode, ' 	
 ');
update purchase_order_line set supplier_sku = nullif(trim(supplier_sku, ' 	
 '), '') where supplier_sku <> trim(supplier_sku, ' 	
 ');
update purchase_order_line set supplier_barcode = nullif(trim(supplier_barcode, ' 	
 '), '') where supplier_barcode <> trim(supplier_barcode, ' 	
 ');
update read_only_part set sku = nullif(trim(sku, ' 	
 '), '') where sku <> trim(sku, ' 	
 ');

drop index variant_by_sku;
create index variant_by_sku on variant (shop_id, lower(sku), variant_id);
drop index variant_by_barcode;
create index variant_by_barcode on variant (shop_id, lower(barcode), variant_id);
drop index purchase_order_line_by_sku;
create index purchase_order_line_by_sku on purchase_order_line (shop_id, lower(sku), order_created_at, purchase_order_id);
drop index purchase_order_line_by_barcode;
create index purchase_order_line_by_barcode on purchase_order_line (shop_id, lower(barcode), purchase_order_id);
drop index purchase_order_line_by_supplier_barcode;
create index purchase_order_line_by_supplier_barcode on purchase_order_line (shop_id, lower(supplier_barcode), purchase_order_id);
drop index purchase_order_line_by_supplier_sku;
create index purchase_order_line_by_supplier_sku on purchase_order_line (shop_id, lower(supplier_sku), purchase_order_id);
drop index transfer_line_by_sku;
create index transfer_line_by_sku on read_only_part (shop_id, lower(sku), record_id) where resource = 'transfer_order' and kind = 'line';

-- Orders are counted by SKU whatever its case.
delete from purchase_order_count where kind = 'sku';
insert into purchase_order_count (shop_id, kind, value, orders)
select shop_id, 'sku', lower(sku), count(distinct purchase_order_id) from purchase_order_line where order_created_at is not null and sku is not null
group by shop_id, lower(sku);
