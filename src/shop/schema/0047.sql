-- What a row of the audit log tells beside its request: old and new values, or what was pruned (C51). Null: nothing.
alter table audit_log add column detail text;

-- The last link that was pruned before prunings had rows of their own in the chain. Null: there was none.
alter table audit_chain add column unrecorded_anchor bigint;
update audit_chain set unrecorded_anchor = anchor_position where anchor_position > 0;
