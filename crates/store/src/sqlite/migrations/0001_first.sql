-- Ids are 16 bytes, big end first, so that they sort as they are shown. Instants are nanoseconds since 1970.
-- The numbers of statuses and kinds are in column.rs.

CREATE TABLE definitions (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (name, version)
) STRICT;

-- Holds only what is right at all times, so that a run that works on need not touch its row: version and time of
-- the last change are those of the last chunk.
CREATE TABLE runs (
    id          BLOB    NOT NULL PRIMARY KEY,
    definition  TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    deadline_at INTEGER,
    tags        TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_status ON runs (status, id);
CREATE INDEX runs_by_definition ON runs (definition, status, id);
CREATE INDEX runs_by_deadline ON runs (deadline_at, id) WHERE deadline_at IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE run_tags (
    tag TEXT NOT NULL,
    run BLOB NOT NULL,
    PRIMARY KEY (tag, run)
) STRICT, WITHOUT ROWID;

-- A row is a chunk: the records after those of the row before it, up to and including seq.
CREATE TABLE history (
    number     INTEGER PRIMARY KEY,
    run        BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    chunk      BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX history_by_run ON history (run, seq);

CREATE TABLE waitpoints (
    run        BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    resume_at  INTEGER,
    listens    TEXT,
    filter     TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX waitpoints_by_due ON waitpoints (resume_at, run, number) WHERE status = 0;
-- Those that wait for more than the clock; sleepers would only make it large.
CREATE INDEX waitpoints_by_kind ON waitpoints (kind, resume_at, run, number)
    WHERE status = 0 AND kind IN (1, 2, 3, 4, 5);
CREATE INDEX waitpoints_by_listener ON waitpoints (listens, kind, created_at, run, number)
    WHERE status = 0 AND listens IS NOT NULL;

CREATE TABLE occurrences (
    number      INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL,
    event_id    TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    data        TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX occurrences_by_event ON occurrences (event_id, received_at, id);
CREATE INDEX occurrences_by_time ON occurrences (received_at);

CREATE TABLE remembered (
    key    TEXT    NOT NULL PRIMARY KEY,
    digest INTEGER NOT NULL,
    reply  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
