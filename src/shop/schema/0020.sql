-- The oldest effect of a shop that is not settled, for the metrics (shop/storefront/effects.ts).
create index effect_oldest on effect (shop_id, created_at) where state = 'pending';
