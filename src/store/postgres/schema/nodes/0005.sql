-- With which nodes sign what is stored nowhere and lives for minutes (C49). No caller gets to know it.
create table {schema}.shared_secret (
  one bigint not null primary key,
  secret text collate "C" not null
);
insert into {schema}.shared_secret (one, secret) values (1, gen_random_uuid()::text || gen_random_uuid()::text);
