-- Workflows of which some version names an event in a `startOn`; and the last start that was refused, as JSON.
CREATE TABLE event_starts (
    workspace INTEGER NOT NULL,
    event_id  TEXT    NOT NULL,
    workflow  TEXT    NOT NULL,
    refused   TEXT,
    PRIMARY KEY (workspace, event_id, workflow)
) STRICT, WITHOUT ROWID;
