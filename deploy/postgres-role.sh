#!/bin/sh
# Makes the service's role and its database: run once, as a superuser, by the postgres image on an empty volume or by hand
# (docs/operating.md). The role is no superuser and does not bypass row-level security; it makes its schemas itself.
set -eu
: "${DATABASE_PASSWORD:?the password that the role openpo gets}"
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv password DATABASE_PASSWORD
create role openpo login nosuperuser nobypassrls nocreatedb nocreaterole password :'password';
create database openpo owner openpo encoding 'UTF8' template template0;
revoke all on database openpo from public;
SQL
