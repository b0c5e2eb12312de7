-- Orders are found by status, sync state, variant and code in their segments (shop/order-list).
drop index purchase_order_by_status;
drop index purchase_order_by_sync_state;
drop index purchase_order_line_by_variant;
drop index purchase_order_line_by_sku;
drop index purchase_order_line_by_barcode;
drop index purchase_order_line_by_supplier_barcode;
drop index purchase_order_line_by_supplier_sku;
