-- By which a command recognises the nodes of this database (store/postgres/first-start.ts). It is no secret.
alter table {schema}.first_start add column database_id text collate "C" not null default gen_random_uuid()::text;
