-- How many runs there are of each status, so that nobody counts them. Written with the runs.
CREATE TABLE run_counts (
    workspace INTEGER NOT NULL,
    status    INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (workspace, status)
) STRICT, WITHOUT ROWID;

INSERT INTO run_counts (workspace, status, count)
SELECT workspace, status, count(*) FROM runs GROUP BY workspace, status;
