#!/bin/sh
# Run once by the database's image: makes the role that serves users; 'findling team role' says what it may read.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 \
  --set password="$(cat /run/secrets/serving)" <<'SQL'
CREATE ROLE findling_serving LOGIN PASSWORD :'password';
SQL
