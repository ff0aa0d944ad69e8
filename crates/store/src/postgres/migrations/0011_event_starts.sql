-- Workflows of which some version names an event in a `startOn`; and the last start that was refused, as JSON.
CREATE TABLE event_starts (
    workspace bigint NOT NULL,
    event_id  text   COLLATE "C" NOT NULL,
    workflow  text   COLLATE "C" NOT NULL,
    refused   text,
    PRIMARY KEY (workspace, event_id, workflow)
);
