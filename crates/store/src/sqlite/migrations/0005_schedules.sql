-- What is started by the clock. Its waits are rows among all others, under the schedule's id.

CREATE TABLE schedules (
    id        BLOB    NOT NULL PRIMARY KEY,
    workspace INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    document  TEXT    NOT NULL,
    UNIQUE (workspace, name)
) STRICT;
