-- Segments have their orders by more values: those of every shop are made anew.
delete from order_fill;
insert into order_fill (shop_id, created_at, purchase_order_id)
select distinct shop_id, -9007199254740991, '' from purchase_order;
