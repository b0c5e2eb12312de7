-- The trace of the request, from its `traceparent` (base/trace-context.ts); null in rows from before. Of effects and deliveries it is passed on when
-- they are attempted.
alter table audit_log add column trace_id text;
alter table audit_log add column span_id text;
alter table effect add column traceparent text;
alter table delivery add column traceparent text;
