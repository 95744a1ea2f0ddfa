-- Users of the system.
CREATE TABLE IF NOT EXISTS app.users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE UNIQUE INDEX idx_users_name ON app.users (name);

CREATE VIEW active_users AS
SELECT * FROM users WHERE active;

CREATE OR REPLACE FUNCTION add(a integer, b integer) RETURNS integer AS $$
BEGIN
    RETURN a + b;
END;
$$ LANGUAGE plpgsql;

CREATE TYPE mood AS ENUM ('sad', 'ok');

CREATE TRIGGER touch BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION add();

CREATE SCHEMA app;

CREATE SEQUENCE user_ids;

SELECT name FROM users;
