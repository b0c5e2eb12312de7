-- Audit rows that are still to be moved to the logs of their shops (audit-journal.ts). `entry` is the row as JSON.
create table pending_row (
  seq bigint primary key,
  shop_id text not null,
  entry text not null
);

-- Written when everything before it is to be synced.
create table sync_mark (
  mark text primary key,
  at bigint not null
);
