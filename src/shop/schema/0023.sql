-- An API key can be paused: its requests are refused until somebody resumes it.

alter table api_key add column paused_at bigint;
