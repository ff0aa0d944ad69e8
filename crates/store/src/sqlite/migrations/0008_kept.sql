-- What an open run may still come to is kept. Awaits says which events the runs of a definition may wait for, as JSON;
-- where it is null, they may wait for any. The run of an event is the one that it was sent to, the run of a key the one
-- that it started or was asked of.

ALTER TABLE definitions ADD COLUMN awaits TEXT;
ALTER TABLE events ADD COLUMN run BLOB;
ALTER TABLE idempotency_records ADD COLUMN run BLOB;

CREATE INDEX events_by_run ON events (run) WHERE run IS NOT NULL;
CREATE INDEX idempotency_records_by_run ON idempotency_records (run) WHERE run IS NOT NULL;
