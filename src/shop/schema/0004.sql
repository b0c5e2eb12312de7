-- Which runner brings an import in, and until when it has it for itself (exchange/import.ts). Null: nobody has it.
alter table import_run add column lease_owner text;
alter table import_run add column leased_until bigint;

-- Whether somebody has a lane of the outbox (shop/storefront/effects.ts).
create index effect_claimed on effect (shop_id, lane) where lease_owner is not null;
