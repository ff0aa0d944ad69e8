-- What a long run had come to at a version of it, to load it from. Format says which code wrote it, and sum is that of the
-- history up to there. A snapshot follows from the history, and may be lost.
CREATE TABLE snapshots (
    run    uuid   NOT NULL PRIMARY KEY,
    seq    bigint NOT NULL,
    sum    bigint,
    format text   COLLATE "C" NOT NULL,
    data   bytea  NOT NULL
);
