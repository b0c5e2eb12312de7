-- When it was known that the storefront had taken the cost; null: that is not known. And what was written of a variant since (D346).
alter table cost_sync add column accepted_at bigint;
create index cost_sync_by_variant on cost_sync (shop_id, variant_id, proposed_at);
