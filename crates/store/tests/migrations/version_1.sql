-- A file as a program of version 1 left it.
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1633839460;
PRAGMA user_version = 1;
BEGIN;
CREATE TABLE workspaces (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE definitions (
    number     INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    workspace  INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (workspace, name, version)
) STRICT;
CREATE INDEX definitions_by_workspace ON definitions (workspace);
CREATE INDEX definitions_by_name ON definitions (workspace, name);
CREATE TABLE runs (
    id          BLOB    NOT NULL PRIMARY KEY,
    workspace   INTEGER NOT NULL,
    definition  TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    deadline_at INTEGER,
    tags        TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_definition ON runs (workspace, definition, version, status, id);
CREATE INDEX runs_by_deadline ON runs (deadline_at, id) WHERE deadline_at IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE TABLE run_tags (
    workspace INTEGER NOT NULL,
    tag       TEXT    NOT NULL,
    run       BLOB    NOT NULL,
    PRIMARY KEY (workspace, tag, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE history (
    number     INTEGER PRIMARY KEY,
    run        BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    chunk      BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX history_by_run ON history (run, seq);
CREATE TABLE waitpoints (
    run        BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    workspace  INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    resume_at  INTEGER,
    listens    TEXT,
    filter     TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX waitpoints_by_due ON waitpoints (resume_at, run, number)
    WHERE status = 0 AND resume_at IS NOT NULL;
CREATE INDEX waitpoints_by_kind ON waitpoints (workspace, kind, status, resume_at, run, number);
CREATE INDEX waitpoints_by_name ON waitpoints (workspace, listens, kind, status, resume_at, run, number)
    WHERE listens IS NOT NULL;
CREATE INDEX waitpoints_by_event ON waitpoints (workspace, listens, created_at, run, number)
    WHERE status = 0 AND kind = 3;
CREATE TABLE link_generations (
    run        BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE occurrences (
    number      INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL,
    workspace   INTEGER NOT NULL,
    event_id    TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    data        TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX occurrences_by_event ON occurrences (workspace, event_id, received_at, id);
CREATE INDEX occurrences_by_time ON occurrences (workspace, received_at, id);
CREATE TABLE remembered (
    key        TEXT    NOT NULL PRIMARY KEY,
    digest     INTEGER NOT NULL,
    reply      TEXT    NOT NULL,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX remembered_by_time ON remembered (written_at);
CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    workspace    INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    prefix       TEXT    NOT NULL,
    scopes       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    expires_at   INTEGER
) STRICT;
CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);
CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
INSERT INTO workspaces (number, name, created_at) VALUES (0, 'default', 1772355600000000000);
INSERT INTO workspaces (number, name, created_at) VALUES (1, 'other', 1772355600123456789);
INSERT INTO definitions (number, id, workspace, name, version, document, created_at) VALUES (1, X'00000000000000000000000000000005', 0, 'nap', '1', '{"name":"nap","steps":[{"name":"rest","type":"wait","duration":"{{ input.sleep }}"}]}', 1772355600123456789);
INSERT INTO runs (id, workspace, definition, version, status, created_at, ended_at, deadline_at, tags) VALUES (X'00000000000000000000000000000001', 0, 'nap', '1', 2, 1772355600123456789, NULL, NULL, '["red"]');
INSERT INTO runs (id, workspace, definition, version, status, created_at, ended_at, deadline_at, tags) VALUES (X'00000000000000000000000000000002', 0, 'listener', '2', 2, 1772355600123456789, NULL, NULL, NULL);
INSERT INTO runs (id, workspace, definition, version, status, created_at, ended_at, deadline_at, tags) VALUES (X'00000000000000000000000000000003', 0, 'nap', '1', 4, 1772355600123456789, 1772359200200000000, NULL, NULL);
INSERT INTO run_tags (workspace, tag, run) VALUES (0, 'red', X'00000000000000000000000000000001');
INSERT INTO history (number, run, seq, written_at, chunk) VALUES (1, X'00000000000000000000000000000001', 5, 1772355600123456789, X'5B5B22323032362D30332D30315430393A30303A30302E3132333435363738395A222C22617069222C7B123A7B043A226E6170222C133A2231227D2C143A7B22736C656570223A22333064227D2C2274616773223A5B22726564225D7D2C7B013AC07D2C7B013A172C023A7B033A307D7D2C7B013A182C023A7B033A307D2C0A3A5B7B073A312C023A7B033A307D2C043A112C053A102C063A0E2C083A1C2C093A22323032362D30332D33315430393A30303A30302E3132333435363738395A227D5D2C0B3A5B315D2C0C3A0D7D2C7B013A1B2CFA3A102C093A1D7D5D5D');
INSERT INTO history (number, run, seq, written_at, chunk) VALUES (2, X'00000000000000000000000000000002', 5, 1772355600123456789, X'5B5B22323032362D30332D30315430393A30303A30302E3132333435363738395A222C22617069222C7B123A7B043A226C697374656E6572222C133A2232227D2C143A7B22637573746F6D6572223A372C226576656E74223A2270616964227D7D2C7B013AC07D2C7B013A172C023A7B033A307D7D2C7B013A182C023A7B033A307D2C0A3A5B7B073A312C023A7B033A307D2C043A112C053A224556454E54222C063A0E2C083A1C2C093A22323032362D30332D30315431313A30303A30302E3132333435363738395A222C226C697374656E73466F72223A7B226576656E74223A7B226576656E744964223A2270616964222C2273696E6365223A1C2C226D61746368223A226576656E742E637573746F6D6572203D3D20696E7075742E637573746F6D6572222C2277697468223A7B22696E7075742E637573746F6D6572223A377D7D7D7D5D2C0B3A5B315D2C0C3A0D7D2C7B013A1B2CFA3A224556454E54222C093A1D7D5D5D');
INSERT INTO history (number, run, seq, written_at, chunk) VALUES (3, X'00000000000000000000000000000003', 5, 1772355600123456789, X'5B5B22323032362D30332D30315430393A30303A30302E3132333435363738395A222C22617069222C7B123A7B043A226E6170222C133A2231227D2C143A7B22736C656570223A223168227D7D2C7B013AC07D2C7B013A172C023A7B033A307D7D2C7B013A182C023A7B033A307D2C0A3A5B7B073A312C023A7B033A307D2C043A112C053A102C063A0E2C083A1C2C093A22323032362D30332D30315431303A30303A30302E3132333435363738395A227D5D2C0B3A5B315D2C0C3A0D7D2C7B013A1B2CFA3A102C093A1D7D5D5D');
INSERT INTO history (number, run, seq, written_at, chunk) VALUES (4, X'00000000000000000000000000000003', 9, 1772359200200000000, X'5B5B22323032362D30332D30315431303A30303A30302E325A222C22636C6F636B222C7B013A1A2C073A312C063A0F7D2C7B013A192C023A7B033A307D2C163A317D2C7B013AC17D2C7B013AF52C153A6E756C6C7D5D5D');
INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at, listens, filter) VALUES (X'00000000000000000000000000000001', 1, 0, 0, 0, 1772355600123456789, 1774947600123456789, NULL, NULL);
INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at, listens, filter) VALUES (X'00000000000000000000000000000002', 1, 0, 3, 0, 1772355600123456789, 1772362800123456789, 'paid', '{"eventId":"paid","since":"2026-03-01T09:00:00.123456789Z","match":"event.customer == input.customer","with":{"input.customer":7}}');
INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at, listens, filter) VALUES (X'00000000000000000000000000000003', 1, 0, 0, 1, 1772355600123456789, 1772359200123456789, NULL, NULL);
INSERT INTO occurrences (number, id, workspace, event_id, received_at, data) VALUES (1, X'00000000000000000000000000000004', 0, 'paid', 1772355600123456789, '{"customer":8}');
INSERT INTO remembered (key, digest, reply, written_at) VALUES ('key', -1, '"done"', 1772355600123456789);
INSERT INTO link_generations (run, number, generation) VALUES (X'00000000000000000000000000000002', 1, 3);
INSERT INTO api_keys (id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at, expires_at) VALUES (X'00000000000000000000000000000006', 1, 'worker', X'0707070707070707070707070707070707070707070707070707070707070707', 'ab_1', 5, 1772355600123456789, NULL, 1772359200200000000, NULL);
INSERT INTO settings (name, value) VALUES ('secret', X'00FF');
COMMIT;
