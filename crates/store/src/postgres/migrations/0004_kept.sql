-- What an open run may still come to is kept. Awaits says which events the runs of a definition may wait for, as JSON;
-- where it is null, they may wait for any. The run of an event is the one that it was sent to, the run of a key the one
-- that it started or was asked of.

ALTER TABLE definitions ADD COLUMN awaits text;
ALTER TABLE occurrences ADD COLUMN run uuid;
ALTER TABLE remembered ADD COLUMN run uuid;

CREATE INDEX occurrences_by_run ON occurrences (run) WHERE run IS NOT NULL;
CREATE INDEX remembered_by_run ON remembered (run) WHERE run IS NOT NULL;
