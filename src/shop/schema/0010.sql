-- How many requests a row of the audit log stands for: more than one where refusals beyond a rate are counted.
alter table audit_log add column request_count bigint not null default 1;
