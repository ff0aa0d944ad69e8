-- What operators have set for limits at run time: it stands above what definitions say.
CREATE TABLE limit_settings (
    id        uuid   NOT NULL PRIMARY KEY,
    workspace bigint NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    document  text   NOT NULL
);

CREATE INDEX limit_settings_by_name ON limit_settings (workspace, name, id);

-- How many have room and wait, and since when somebody waits.
ALTER TABLE limits ADD COLUMN used          bigint NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN waiting       bigint NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN waiting_since bigint;

UPDATE limits SET used = (document::json ->> 'used')::bigint, waiting = (document::json ->> 'waiting')::bigint;

CREATE INDEX limits_by_waiting ON limits (workspace, waiting DESC, id) WHERE waiting > 0;
