-- Distributes the shops of a PostgreSQL database by shop id: over many machines with Citus, or over PostgreSQL's own hash partitions on one
-- server, which keep indexes and vacuums small.
--
--   PGOPTIONS="-c openpo.partitions=16" psql --set ON_ERROR_STOP=1 --dbname openpo --file distribution.sql     # partitions
--   psql --set ON_ERROR_STOP=1 --dbname openpo --file distribution.sql                                         # Citus, on the coordinator
--
-- Run it with every node stopped, as the service's own role for partitions and as a superuser for Citus. Run it once after the first start has
-- created the schemas, and again after each upgrade, for new tables. Tables that are already distributed are left unchanged.
--
-- PARTITIONS ARE TRIED: the project's tests run this file on a database with shops, compare what is answered before and after, go on
-- changing it, and let a node start on it (test/store/postgres/distribution.slow.test.ts). Every table is copied, so keep as much disk free as the largest one takes.
-- A statement locks every partition of its tables before PostgreSQL 18, so use few (4 to 16) and raise max_locks_per_transaction to 256.
-- The service never names a partition. They have row-level security without a policy, so nobody but a superuser reads them directly.
--
-- CITUS IS NOT TRIED, since it was not available: that part was run only against stand-ins for its functions. Try it on a copy,
-- with the service's own tests, before anything depends on it. The known problems are listed below.
--
-- Why it can work: every table of both schemas has shop_id first in its key, every statement of a request names one shop, and no
-- statement joins tables of different shops. So all statements of a request go to one worker, and a shop moves as a whole.
--
-- What Citus costs, and what to check first:
--
-- 1. Row-level security no longer isolates the shops. The service names the shop by set_config(), which Citus does not pass on to its
--    workers. Citus passes on SET LOCAL only, with citus.propagate_set_commands = 'local'.
-- 2. If the answer to a commit is lost, the outcome is looked up by the mark of the turn (engine_turn_kept). That table is
--    distributed with the shop, so the mark is there if the rest of the turn is.
-- 3. Each node queries all shards every three seconds for due work.
-- 4. engine_turn, engine_look and engine_outcome run on the coordinator. Do not distribute them.
--
-- The tables migration (the versions of a schema), first_start, node, operator_session and shared_secret belong to the whole database. They stay as they are.

begin;
set local client_min_messages = warning;

do $$
declare
  partitions int := nullif(current_setting('openpo.partitions', true), '')::int;
  name text;
  schema_of text;
  table_of text;
  before_name text;
  owner_of text;
  options_of text;
  later text[];
  statement text;
begin
  for name, schema_of, table_of in
    select format('%I.%I', schema_name, table_name), schema_name, table_name
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
        ('openpo', 'sign_in_link'),
        ('openpo', 'passkey'),
        ('openpo', 'passkey_challenge'),
        ('openpo', 'api_key'),
        ('openpo', 'person'),
        ('openpo', 'invitation'),
        ('openpo', 'console_session'),
        ('openpo', 'connection_code'),
        ('openpo', 'connection_request'),
        ('openpo', 'connection_token'),
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
        ('openpo', 'supplier_merge'),
        ('openpo', 'purchase_order'),
        ('openpo', 'purchase_order_line'),
        ('openpo', 'purchase_order_attachment'),
        ('openpo', 'order_recent'),
        ('openpo', 'order_segment'),
        ('openpo', 'order_article'),
        ('openpo', 'order_count'),
        ('openpo', 'order_fill'),
        ('openpo', 'purchase_order_log'),
        ('openpo', 'receipt'),
        ('openpo', 'record_log'),
        ('openpo', 'cost_sync'),
        ('openpo', 'incoming'),
        ('openpo', 'effect'),
        ('openpo', 'stock_push'),
        ('openpo', 'supplier_link'),
        ('openpo', 'supplier_proposal'),
        ('openpo', 'purchase_order_parties'),
        ('openpo', 'order_spend'),
        ('openpo', 'approval_request'),
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
        ('openpo', 'storefront_call'),
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
        ('openpo', 'forecast_block'),
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
    if partitions is not null then
      continue when (select relkind from pg_class where oid = name::regclass) = 'p';
      select pg_get_userbyid(relowner), coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '')
      into owner_of, options_of
      from pg_class where oid = name::regclass;
      -- What a copy does not have, or has under other names, is made when the table has its old name again.
      select coalesce(array_agg(made order by place, made), '{}') into later from (
        select 1 as place, format('alter table %s add constraint %I %s', name, conname, pg_get_constraintdef(oid)) as made
        from pg_constraint where conrelid = name::regclass and contype in ('p', 'u')
        union all
        select 2, pg_get_indexdef(indexrelid) from pg_index
        where indrelid = name::regclass and not exists (select from pg_constraint where conindid = indexrelid)
        union all
        select 3, format(
          'create policy %I on %s for %s using (%s)', polname, name, case polcmd when 'r' then 'select' else 'all' end,
          pg_get_expr(polqual, polrelid))
        from pg_policy where polrelid = name::regclass
        union all
        select 4, format('alter table %s enable row level security', name) from pg_class where oid = name::regclass and relrowsecurity
        union all
        select 5, format('alter table %s force row level security', name) from pg_class where oid = name::regclass and relforcerowsecurity
      ) as found;
      before_name := format('%I.%I', schema_of, table_of || '_before');
      execute format('alter table %s no force row level security', name);
      execute format('alter table %s rename to %I', name, table_of || '_before');
      execute format('create table %s (like %s including all excluding indexes) partition by hash (shop_id)', name, before_name);
      execute format('alter table %s owner to %I', name, owner_of);
      for part in 0 .. partitions - 1 loop
        execute format(
          'create table %I.%I partition of %s for values with (modulus %s, remainder %s)%s',
          schema_of, table_of || '_' || part, name, partitions, part, options_of);
        execute format('alter table %I.%I owner to %I', schema_of, table_of || '_' || part, owner_of);
        execute format('alter table %I.%I enable row level security', schema_of, table_of || '_' || part);
        execute format('alter table %I.%I force row level security', schema_of, table_of || '_' || part);
      end loop;
      execute format('insert into %s select * from %s', name, before_name);
      execute format('drop table %s', before_name);
      foreach statement in array later loop
        execute statement;
      end loop;
      continue;
    end if;
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

-- YugabyteDB uses PostgreSQL's protocol and spreads a table by the first column of its primary key, which is shop_id everywhere. NOT
-- TRIED, and not expected to run without changes: the first start locks a table (`lock table … in share row exclusive mode`), and a turn
-- needs READ COMMITTED and a `for update` that waits instead of failing.
