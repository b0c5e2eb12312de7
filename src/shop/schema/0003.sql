-- What was given up and may be told again by a later storefront-sync (shop/storefront/effects.ts).
create index effect_failed on effect (shop_id, lane) where state = 'failed';
