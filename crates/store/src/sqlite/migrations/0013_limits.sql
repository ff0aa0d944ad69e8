-- Keys of limits that somebody has room under or waits for.
CREATE TABLE limits (
    id        BLOB    NOT NULL PRIMARY KEY,
    workspace INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    due_at    INTEGER,
    document  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX limits_by_name ON limits (workspace, name, key, id);
CREATE INDEX limits_by_due ON limits (due_at, id) WHERE due_at IS NOT NULL;

-- Waits for room, by the limit and the place in its line (`filter`).
CREATE INDEX waitpoints_by_line ON waitpoints (filter, run, number)
    WHERE status = 0 AND kind = 10;
