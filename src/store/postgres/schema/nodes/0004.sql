-- Nodes that serve the shops, by the names under which they claim work (store/postgres/presence.ts). `since`: from then
-- on a node has shown itself without a gap.
create table {schema}.node (
  process_name text collate "C" not null primary key,
  seen_at timestamptz not null,
  since timestamptz not null
) with (fillfactor = 50);
