-- Who did what to the server. Rows are only ever appended; each has the hash of itself and of the one before.

CREATE TABLE audit (
    number    bigint NOT NULL PRIMARY KEY,
    workspace bigint NOT NULL,
    note      text   NOT NULL,
    hash      bytea  NOT NULL
);

CREATE INDEX audit_by_workspace ON audit (workspace, number);
