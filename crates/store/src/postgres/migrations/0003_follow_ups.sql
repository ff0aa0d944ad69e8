-- What decisions ask of other runs and what is not done yet. Empty, but for times when there is more than a round takes.
CREATE TABLE follow_ups (
    workspace bigint NOT NULL,
    id        uuid   NOT NULL,
    owner     uuid   NOT NULL,
    version   bigint NOT NULL,
    document  text   NOT NULL,
    PRIMARY KEY (workspace, id)
);

-- How many runs began with a run that is nobody's child.
CREATE TABLE descendants (
    root  uuid   NOT NULL PRIMARY KEY,
    count bigint NOT NULL
);
