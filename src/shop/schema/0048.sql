-- Where an entry of an order's log comes from (§8). 'import': from a file that a person of the shop has imported. Null: it was written when it happened.
alter table purchase_order_log add column origin text;
