-- Effects of one lane and open pushes of one order are found without a look at what is settled, or at other lanes (shop/storefront/effects.ts,
-- shop/storefront/stock-pushes.ts).
drop index effect_by_lane;
create index effect_by_lane on effect (shop_id, lane, effect_id) where state = 'pending';
create index stock_push_open on stock_push (shop_id, purchase_order_id, created_at, reference) where settled_at is null;
