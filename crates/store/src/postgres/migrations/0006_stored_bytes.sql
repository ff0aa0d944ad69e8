-- What the histories and events of each workspace take, in parts that are added up now and then: a single row would be
-- what all commits wait for.
CREATE TABLE stored_bytes (
    workspace bigint NOT NULL,
    bytes     bigint NOT NULL
);

INSERT INTO stored_bytes (workspace, bytes)
SELECT workspace, sum(bytes) FROM (
    SELECT runs.workspace, octet_length(history.chunk)::bigint AS bytes
    FROM history JOIN runs ON runs.id = history.run
    UNION ALL
    SELECT workspace, octet_length(data) FROM events
) AS stored GROUP BY workspace;
