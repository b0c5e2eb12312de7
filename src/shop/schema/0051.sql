-- What people keep of suppliers, products, prices and places (C82–C85), and the history of those records (shop/catalogue/record-log.ts).

alter table supplier add column note text;
alter table supplier add column language text;
alter table supplier add column status text not null default 'active';
alter table location add column status text not null default 'active';
alter table variant add column is_archived bigint not null default 0;
alter table supplier_variant add column is_preferred bigint not null default 0;

-- `kind` and `record_id`: the supplier, variant or location. `doc`: who changed what.
create table record_log (
  shop_id text not null,
  kind text not null,
  record_id text not null,
  log_id text not null,
  doc text not null,
  primary key (shop_id, kind, record_id, log_id)
);
