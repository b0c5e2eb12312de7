-- What happened in the shop, for others to follow (shop/events/events.ts). The sequence has no gaps: it is one above the newest, which stays
-- however old it is. `content` is what the event says beside its head (core/events/events.ts).
create table event (
  shop_id text not null,
  sequence bigint not null,
  event_id text not null,
  type text not null,
  occurred_at bigint not null,
  content text not null,
  primary key (shop_id, sequence)
);
create index event_by_type on event (shop_id, type, sequence);

-- What an import brought in, and in which request, for its event (exchange/import-run.ts). Null while its records are staged.
alter table import_run add column summary text;
