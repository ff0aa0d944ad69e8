-- What a long run had come to at a version of it, to load it from. Format says which code wrote it, and sum is that of the
-- history up to there. A snapshot follows from the history, and may be lost.
CREATE TABLE snapshots (
    run    BLOB    NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL,
    sum    INTEGER,
    format TEXT    NOT NULL,
    data   BLOB    NOT NULL
) STRICT;
