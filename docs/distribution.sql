-- Distributes the shops of a PostgreSQL database over many machines with Citus, by shop id.
--
-- NOT TRIED WITH CITUS, which was not available: the script was run only against stand-ins for Citus's functions. Try it on a copy,
-- with the service's own tests, before anything depends on it. The known problems are listed below.
--
--   psql --set ON_ERROR_STOP=1 --dbname openpo --file distribution.sql
--
-- Run it on the coordinator, as a superuser, with every node stopped. Run it once after the first start has created the schemas, and
-- again after each upgrade, for new tables. Tables that are already distributed are left unchanged.
--
-- Why it can work: every table of both schemas has shop_id first in its key, every statement of a request names one shop, and no
-- statement joins tables of different shops. So all statements of a request go to one worker, and a shop moves as a whole.
--
-- What it costs, and what to check first:
--
-- 1. Row-level security no longer isolates the shops. The service names the shop by set_config(), which Citus does not pass on to its
--    workers. Citus passes on SET LOCAL only, with citus.propagate_set_commands = 'local'.
-- 2. If the answer to a commit is lost, the outcome is looked up by the mark of the turn (engine_turn_kept). That table is
--    distributed with the shop, so the mark is there if the rest of the turn is.
-- 3. Each node queries all shards every three seconds for due work.
-- 4. engine_turn, engine_look and engine_outcome run on the coordinator. Do not distribute them.
--
-- The tables migration (the versions of a schema), first_start and operator_session belong to the whole database. They stay on the coordinator.

begin;
set local client_min_messages = warning;

do $$
declare
  name text;
begin
  for name in
    select format('%I.%I', schema_name, table_name)
    from (
      values
        -- The lock on a shop's row is the shop's turn. All other tables are colocated with this one.
        ('openpo', 'engine_shop'),
        ('openpo', 'engine_turn_kept'),
        -- Coordination of the nodes.
        ('openpo', 'token_bucket'),
        ('openpo', 'key_in_flight'),
        -- The shops.
        ('openpo', 'shop'),
        ('openpo', 'api_key'),
        ('openpo', 'person'),
        ('openpo', 'invitation'),
        ('openpo', 'console_session'),
        ('openpo', 'console_bearer'),
        ('openpo', 'console_view'),
        ('openpo', 'document_settings'),
        ('openpo', 'idempotency_record'),
        ('openpo', 'idempotency_total'),
        ('openpo', 'audit_log'),
        ('openpo', 'audit_link'),
        ('openpo', 'audit_chain'),
        ('openpo', 'location'),
        ('openpo', 'supplier'),
        ('openpo', 'variant'),
        ('openpo', 'supplier_variant'),
        ('openpo', 'inventory_level'),
        ('openpo', 'sale'),
        ('openpo', 'supplier_credit'),
        ('openpo', 'purchase_order'),
        ('openpo', 'purchase_order_line'),
        ('openpo', 'purchase_order_attachment'),
        ('openpo', 'purchase_order_count'),
        ('openpo', 'purchase_order_digest'),
        ('openpo', 'purchase_order_block'),
        ('openpo', 'purchase_order_block_content'),
        ('openpo', 'purchase_order_log'),
        ('openpo', 'receipt'),
        ('openpo', 'cost_sync'),
        ('openpo', 'incoming'),
        ('openpo', 'effect'),
        ('openpo', 'stock_push'),
        ('openpo', 'supplier_link'),
        ('openpo', 'supplier_proposal'),
        ('openpo', 'purchase_order_reminder'),
        ('openpo', 'event'),
        ('openpo', 'webhook_endpoint'),
        ('openpo', 'webhook_subscription'),
        ('openpo', 'delivery'),
        ('openpo', 'mail'),
        ('openpo', 'mail_document'),
        ('openpo', 'import_run'),
        ('openpo', 'import_record'),
        ('openpo', 'stock_take_reason'),
        ('openpo', 'storefront_incoming'),
        ('openpo', 'storefront_incoming_batch'),
        ('openpo', 'storefront_turn'),
        ('openpo', 'storefront_write'),
        ('openpo', 'storefront_pull'),
        ('openpo', 'storefront_token'),
        ('openpo', 'storefront_subscription'),
        ('openpo', 'storefront_variant'),
        ('openpo', 'storefront_sale'),
        ('openpo', 'stock_take'),
        ('openpo', 'stock_adjustment'),
        ('openpo', 'transfer_order'),
        ('openpo', 'manufacturing_order'),
        ('openpo', 'read_only_part'),
        ('openpo', 'forecast_version'),
        ('openpo', 'forecast_change'),
        ('openpo', 'forecast_view'),
        ('openpo', 'forecast_view_filter'),
        ('openpo', 'demand_series'),
        ('openpo', 'demand_recent'),
        -- Their sandbox storefronts.
        ('openpo_sandbox', 'engine_shop'),
        ('openpo_sandbox', 'engine_turn_kept'),
        ('openpo_sandbox', 'sandbox_variant'),
        ('openpo_sandbox', 'sandbox_tag'),
        ('openpo_sandbox', 'sandbox_level'),
        ('openpo_sandbox', 'sandbox_change'),
        ('openpo_sandbox', 'sandbox_call'),
        ('openpo_sandbox', 'sandbox_delay'),
        ('openpo_sandbox', 'sandbox_fault')
    ) as the_table (schema_name, table_name)
  loop
    if exists (select from pg_dist_partition where logicalrelid = name::regclass and partmethod = 'h') then
      continue;
    end if;
    execute format('drop policy if exists one_shop on %s', name);
    execute format('drop policy if exists work_due on %s', name);
    execute format('alter table %s no force row level security', name);
    execute format('alter table %s disable row level security', name);
    perform create_distributed_table(
      name,
      'shop_id',
      colocate_with => case when name = 'openpo.engine_shop' then 'none' else 'openpo.engine_shop' end
    );
  end loop;
end $$;

commit;

-- Many shops on one server: PostgreSQL's own partitioning by hash of the shop id keeps indexes and vacuums small. It does not spread
-- anything over machines. Run it with every node stopped, table by table, as a superuser. It was tried on openpo.purchase_order with four
-- partitions. `like … including all` copies columns, keys and indexes, but not row-level security and not the owner:
--
--   alter table openpo.purchase_order rename to purchase_order_before;
--   create table openpo.purchase_order (like openpo.purchase_order_before including all) partition by hash (shop_id);
--   create table openpo.purchase_order_0 partition of openpo.purchase_order for values with (modulus 4, remainder 0);
--   … and so on up to remainder 3
--   insert into openpo.purchase_order select * from openpo.purchase_order_before;
--   alter table openpo.purchase_order owner to openpo;
--   alter table openpo.purchase_order enable row level security;
--   alter table openpo.purchase_order force row level security;
--   create policy one_shop on openpo.purchase_order using (shop_id = current_setting('openpo.shop_id', true));
--   drop table openpo.purchase_order_before;
--
-- effect, import_run, delivery, mail and storefront_pull have a second policy, work_due. The service never queries the partitions directly. Grant and revoke nothing on
-- them: they belong to the superuser who created them.
--
-- YugabyteDB uses PostgreSQL's protocol and spreads a table by the first column of its primary key, which is shop_id everywhere. NOT
-- TRIED, and not expected to run without changes: the first start locks a table (`lock table … in share row exclusive mode`), and a turn
-- needs READ COMMITTED and a `for update` that waits instead of failing.
