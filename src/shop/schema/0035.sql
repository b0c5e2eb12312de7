-- The chain of hashes over the audit log (shop/audit/audit-chain.ts).

-- A link stands for rows that were written together. Its place is null until it has one: nodes write rows outside the shop's turn, and say in
-- which order each of them has written.
-- row_digests has a line for each row: the first row's digest, then id and digest of each further one.
create table audit_link (
  shop_id text not null,
  link_id text not null,
  position bigint,
  hash text,
  written_order bigint,
  row_digests text not null,
  primary key (shop_id, link_id)
);
create index audit_link_by_position on audit_link (shop_id, position) where position is not null;
create index audit_link_waiting on audit_link (shop_id, written_order) where position is null;

-- Where a shop's chain begins and ends. unchained_until is the newest row from before there was a chain. The anchor is the last link that was
-- pruned: 0 and no hash, if none was.
create table audit_chain (
  shop_id text not null,
  unchained_until text,
  anchor_position bigint not null,
  anchor_hash text not null,
  anchor_at bigint,
  head_position bigint not null,
  head_hash text not null,
  head_at bigint not null,
  primary key (shop_id)
);

-- The link that the row is in; null: the one that is named after it.
alter table audit_log add column link_id text;
