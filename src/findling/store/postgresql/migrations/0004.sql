-- How many jobs are in each state, and how long the oldest has waited: for the metrics of a server, which sees no names.
CREATE FUNCTION queue() RETURNS TABLE (state text, jobs bigint, oldest_s double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = findling, pg_temp AS $$
  SELECT CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN lease_until >= now() THEN 'running'
    WHEN due_at <= now() THEN 'queued' WHEN due_at IS NOT NULL THEN 'waiting' ELSE 'done' END AS state, count(*),
    coalesce(extract(epoch FROM max(now() - due_at)), 0)::float8
  FROM sources GROUP BY 1
$$;
