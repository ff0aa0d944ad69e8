-- What decisions ask of other runs and what is not done yet. Empty, but for times when there is more than a round takes.
CREATE TABLE follow_ups (
    workspace INTEGER NOT NULL,
    id        BLOB    NOT NULL,
    owner     BLOB    NOT NULL,
    version   INTEGER NOT NULL,
    document  TEXT    NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- How many runs began with a run that is nobody's child.
CREATE TABLE descendants (
    root  BLOB    NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
