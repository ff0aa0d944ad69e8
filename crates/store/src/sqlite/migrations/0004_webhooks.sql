-- Those outside who are told what happens, and what they are told.

CREATE TABLE webhooks (
    id            BLOB    NOT NULL PRIMARY KEY,
    workspace     INTEGER NOT NULL,
    url           TEXT    NOT NULL,
    description   TEXT,
    topics        INTEGER NOT NULL,
    secrets       TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    failing_since INTEGER,
    disabled_at   INTEGER,
    disabled_why  TEXT
) STRICT;

CREATE INDEX webhooks_by_workspace ON webhooks (workspace, created_at, id);

-- Each is appended, and written again after each attempt.
CREATE TABLE deliveries (
    number          INTEGER PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE,
    webhook         BLOB    NOT NULL,
    topic           INTEGER NOT NULL,
    run             BLOB    NOT NULL,
    body            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    status          INTEGER NOT NULL,
    next_attempt_at INTEGER,
    attempts        INTEGER NOT NULL,
    log             TEXT    NOT NULL
) STRICT;

CREATE INDEX deliveries_by_webhook ON deliveries (webhook, id);
CREATE INDEX deliveries_by_status ON deliveries (webhook, status, id);
CREATE INDEX deliveries_by_due ON deliveries (webhook, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
-- What may be forgotten.
CREATE INDEX deliveries_by_time ON deliveries (created_at) WHERE status <> 0;
