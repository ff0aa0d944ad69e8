-- What the histories and events of each workspace take, so that nobody adds it up. Written with them.
CREATE TABLE stored_bytes (
    workspace INTEGER NOT NULL PRIMARY KEY,
    bytes     INTEGER NOT NULL
) STRICT;

INSERT INTO stored_bytes (workspace, bytes)
SELECT workspace, sum(bytes) FROM (
    SELECT runs.workspace, length(history.chunk) AS bytes FROM history JOIN runs ON runs.id = history.run
    UNION ALL
    SELECT workspace, length(CAST(data AS BLOB)) FROM events
) GROUP BY workspace;
