-- Who did what to the server. Rows are only ever appended; each has the hash of itself and of the one before.

CREATE TABLE audit (
    number    INTEGER NOT NULL PRIMARY KEY,
    workspace INTEGER NOT NULL,
    note      TEXT    NOT NULL,
    hash      BLOB    NOT NULL
) STRICT;

CREATE INDEX audit_by_workspace ON audit (workspace, number);
