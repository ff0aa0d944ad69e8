-- What a run's row says of its history: how far it goes, and a sum over its chunks. Compared when it is loaded.
ALTER TABLE runs ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN sum INTEGER;

-- How many transactions were written, and which store this is. A file beside the store says the same of those that were
-- acknowledged: see acknowledged.rs.
CREATE TABLE commit_number (
    one    INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    store  BLOB    NOT NULL
) STRICT;

INSERT INTO commit_number (one, number, store) VALUES (1, 0, randomblob(16));

-- Runs and schedules that nothing is decided about until somebody lets them go.
CREATE TABLE held (
    id        BLOB    NOT NULL PRIMARY KEY,
    workspace INTEGER,
    held_at   INTEGER NOT NULL,
    held_by   TEXT    NOT NULL,
    reason    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs and schedules that took long to decide, and how often the process ended in their middle.
CREATE TABLE suspects (
    id     BLOB    NOT NULL PRIMARY KEY,
    node   BLOB,
    deaths INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
