-- Keys of limits that somebody has room under or waits for.
CREATE TABLE limits (
    id        uuid   NOT NULL PRIMARY KEY,
    workspace bigint NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    key       text   COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    due_at    bigint,
    document  text   NOT NULL
);

CREATE INDEX limits_by_name ON limits (workspace, name, key, id);
CREATE INDEX limits_by_due ON limits (due_at, id) WHERE due_at IS NOT NULL;

-- Waits for room, by the limit and the place in its line (`filter`).
CREATE INDEX waitpoints_by_line ON waitpoints (filter COLLATE "C", run, number)
    WHERE status = 0 AND kind = 10;
