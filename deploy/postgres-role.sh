#!/bin/sh
# Creates the service's role and its database (docs/operating.md). Run it once as a superuser; the postgres image runs it on an empty
# volume. The role is not a superuser and does not bypass row-level security. The service creates its schemas itself.
set -eu
: "${DATABASE_PASSWORD:?set it to the password for the role openpo}"
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv password DATABASE_PASSWORD
create role openpo login nosuperuser nobypassrls nocreatedb nocreaterole password :'password';
create database openpo owner openpo encoding 'UTF8' template template0;
revoke all on database openpo from public;
SQL
