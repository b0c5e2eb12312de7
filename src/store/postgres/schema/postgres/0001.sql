-- What the PostgreSQL engine keeps for itself in a schema of shops. `{schema}` stands for the schema's name.

-- The shops there are. A shop's row is locked for as long as a turn on it takes. `turn` numbers those that left a mark.
create table {schema}.engine_shop (
  shop_id text collate "C" not null primary key,
  turn bigint not null default 0
) with (fillfactor = 50);

-- Which of a shop's latest turns were kept, in a ring of 4,096: a turn that was lost while it committed is looked for here. A transaction's
-- id would not do: a database that crashes forgets those that it had not written down, and gives them to others.
create table {schema}.engine_turn_kept (
  shop_id text collate "C" not null,
  slot bigint not null,
  turn bigint not null,
  mark text collate "C" not null,
  primary key (shop_id, slot)
) with (fillfactor = 50);
alter table {schema}.engine_turn_kept enable row level security;
alter table {schema}.engine_turn_kept force row level security;
create policy one_shop on {schema}.engine_turn_kept using (shop_id = current_setting('openpo.shop_id', true));

-- Begins a turn on the shop: waits for the row's lock and lets the transaction see the shop's rows. With `marked` it leaves a mark that is
-- there when, and only when, the transaction has committed, and answers the turn's number and its mark; else null.
create function {schema}.engine_turn(shop text, marked boolean) returns text language plpgsql as $$
declare
  number bigint;
  own_mark text := gen_random_uuid()::text;
begin
  if marked then
    update {schema}.engine_shop set turn = turn + 1 where shop_id = shop returning turn into number;
  else
    perform 1 from {schema}.engine_shop where shop_id = shop for no key update;
  end if;
  if not found then
    raise exception 'there is no such shop' using errcode = 'OP404';
  end if;
  perform set_config('openpo.shop_id', shop, true);
  if not marked then
    return null;
  end if;
  insert into {schema}.engine_turn_kept (shop_id, slot, turn, mark) values (shop, number % 4096, number, own_mark)
    on conflict (shop_id, slot) do update set turn = excluded.turn, mark = excluded.mark;
  return number || ' ' || own_mark;
end $$;

-- What became of a turn that has this number and mark; waits until no turn of the shop is under way. Answers kept, lost, or unknown when
-- the ring has gone round since.
create function {schema}.engine_outcome(shop text, number bigint, own_mark text) returns text language plpgsql as $$
declare
  found_turn bigint;
  found_mark text;
begin
  perform 1 from {schema}.engine_shop where shop_id = shop for update;
  if not found then
    raise exception 'there is no such shop' using errcode = 'OP404';
  end if;
  perform set_config('openpo.shop_id', shop, true);
  select turn, mark into found_turn, found_mark from {schema}.engine_turn_kept where shop_id = shop and slot = number % 4096;
  return case when found_mark = own_mark then 'kept' when found_turn > number then 'unknown' else 'lost' end;
end $$;

-- Begins an addition to the shop beside its turns: nothing is waited for but the shop's removal.
create function {schema}.engine_append(shop text) returns void language plpgsql as $$
begin
  perform 1 from {schema}.engine_shop where shop_id = shop for key share;
  if not found then
    raise exception 'there is no such shop' using errcode = 'OP404';
  end if;
  perform set_config('openpo.shop_id', shop, true);
end $$;

-- Begins a look at the shop.
create function {schema}.engine_look(shop text) returns void language plpgsql as $$
begin
  perform 1 from {schema}.engine_shop where shop_id = shop;
  if not found then
    raise exception 'there is no such shop' using errcode = 'OP404';
  end if;
  perform set_config('openpo.shop_id', shop, true);
end $$;
