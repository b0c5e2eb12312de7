-- What the PostgreSQL engine keeps for itself in a schema of shops. `{schema}` stands for the schema's name.

-- The shops there are. A shop's row is locked for as long as a turn on it takes.
create table {schema}.engine_shop (
  shop_id text collate "C" not null primary key
);

-- Begins a turn on the shop: waits for the row's lock, lets the transaction see the shop's rows, and names the transaction, so that
-- one can find out later whether it has committed.
create function {schema}.engine_turn(shop text) returns text language plpgsql as $$
begin
  perform 1 from {schema}.engine_shop where shop_id = shop for update;
  if not found then
    raise exception 'there is no such shop' using errcode = 'OP404';
  end if;
  perform set_config('openpo.shop_id', shop, true);
  return pg_current_xact_id()::text;
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
