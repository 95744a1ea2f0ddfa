#!/bin/sh
# Run once by the database's image: makes the role that owns the index, which workers connect as, and the one that serves
# users; 'findling team role' says what that may read.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 --set database="$POSTGRES_DB" \
  --set owner="$(cat /run/secrets/owner)" --set serving="$(cat /run/secrets/serving)" <<'SQL'
CREATE ROLE findling LOGIN PASSWORD :'owner';
ALTER DATABASE :"database" OWNER TO findling;
CREATE ROLE findling_serving LOGIN PASSWORD :'serving';
SQL
