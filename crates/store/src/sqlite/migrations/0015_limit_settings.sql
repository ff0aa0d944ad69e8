-- What operators have set for limits at run time: it stands above what definitions say.
CREATE TABLE limit_settings (
    id        BLOB    NOT NULL PRIMARY KEY,
    workspace INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    document  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX limit_settings_by_name ON limit_settings (workspace, name, id);

-- How many have room and wait, and since when somebody waits.
ALTER TABLE limits ADD COLUMN used          INTEGER NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN waiting       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN waiting_since INTEGER;

UPDATE limits SET used = json_extract(document, '$.used'), waiting = json_extract(document, '$.waiting');

CREATE INDEX limits_by_waiting ON limits (workspace, waiting DESC, id) WHERE waiting > 0;
