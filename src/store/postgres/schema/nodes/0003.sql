-- Sessions of the operator at the console (C49), who belongs to no shop. `session` is a hash of the secret in the cookie.
create table {schema}.operator_session (
  session text collate "C" not null primary key,
  seen_at_ms bigint not null
);
