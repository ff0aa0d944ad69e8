-- Waits for other code, by the handler and the build that did not fit (`listens`): a worker of another build finds them.
CREATE INDEX waitpoints_by_code ON waitpoints (workspace, listens, run, number)
    WHERE status = 0 AND kind = 9;
