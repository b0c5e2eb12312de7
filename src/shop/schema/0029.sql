-- Requests by what became of them and by surface, newest first (shop/audit/audit.ts). PostgreSQL counts in the index alone when the columns of its
-- expressions are in it, too. Expressions are of comparisons: under row-level security it does not look for what a function like substr makes.
drop index audit_log_by_status;
create index audit_log_by_outcome on audit_log (shop_id,
  (case when status < 400 then 'done' when status < 500 then 'refused' else 'failed' end),
  (case when tag < 'mcp:' then 'console' when tag < 'rest:' then 'mcp' else 'rest' end),
  audit_id, tag, status
);
