-- Ids are 16 bytes, big end first, so that they sort as they are shown. Instants are nanoseconds since 1970.
-- The numbers of statuses, kinds and scopes are in column.rs.

CREATE TABLE workspaces (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

INSERT INTO workspaces (number, name, created_at) VALUES (0, 'default', unixepoch() * 1000000000);

CREATE TABLE definitions (
    number     INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    workspace  INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (workspace, name, version)
) STRICT;

-- Both end in the number, so that what came last is found last.
CREATE INDEX definitions_by_workspace ON definitions (workspace);
CREATE INDEX definitions_by_name ON definitions (workspace, name);

-- Holds only what is right at all times, so that a run that works on need not touch its row: version and time of
-- the last change are those of the last chunk.
CREATE TABLE runs (
    id          BLOB    NOT NULL PRIMARY KEY,
    workspace   INTEGER NOT NULL,
    definition  TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    deadline_at INTEGER,
    tags        TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_definition ON runs (workspace, definition, version, status, id);
CREATE INDEX runs_by_deadline ON runs (deadline_at, id) WHERE deadline_at IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE run_tags (
    workspace INTEGER NOT NULL,
    tag       TEXT    NOT NULL,
    run       BLOB    NOT NULL,
    PRIMARY KEY (workspace, tag, run)
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
    workspace  INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    resume_at  INTEGER,
    listens    TEXT,
    filter     TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- Timers, of all workspaces.
CREATE INDEX waitpoints_by_due ON waitpoints (resume_at, run, number)
    WHERE status = 0 AND resume_at IS NOT NULL;
CREATE INDEX waitpoints_by_kind ON waitpoints (workspace, kind, status, resume_at, run, number);
CREATE INDEX waitpoints_by_name ON waitpoints (workspace, listens, kind, status, resume_at, run, number)
    WHERE listens IS NOT NULL;
-- Waiters for an event, the longest waiting first.
CREATE INDEX waitpoints_by_event ON waitpoints (workspace, listens, created_at, run, number)
    WHERE status = 0 AND kind = 3;

-- A waitpoint whose links were never revoked has no row.
CREATE TABLE link_generations (
    run        BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    number      INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL,
    workspace   INTEGER NOT NULL,
    event_id    TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    data        TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_event_id ON events (workspace, event_id, received_at, id);
CREATE INDEX events_by_time ON events (workspace, received_at, id);

CREATE TABLE idempotency_records (
    key        TEXT    NOT NULL PRIMARY KEY,
    digest     INTEGER NOT NULL,
    reply      TEXT    NOT NULL,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_records_by_time ON idempotency_records (written_at);

CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    workspace    INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    prefix       TEXT    NOT NULL,
    scopes       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    expires_at   INTEGER
) STRICT;

CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);

CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
