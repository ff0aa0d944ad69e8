-- Ids are uuids, which sort by their bytes. Instants are nanoseconds since 1970: a timestamptz has no room for the last
-- three digits. Names sort by their bytes too, and are written as column.rs says. The numbers of statuses, kinds and
-- scopes are in code.rs.

CREATE TABLE workspaces (
    number     bigint NOT NULL PRIMARY KEY,
    name       text   COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL
);

INSERT INTO workspaces (number, name, created_at)
    VALUES (0, 'default', extract(epoch FROM date_trunc('second', now()))::bigint * 1000000000);

CREATE TABLE definitions (
    number     bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    id         uuid   NOT NULL UNIQUE,
    workspace  bigint NOT NULL,
    name       text   COLLATE "C" NOT NULL,
    version    text   COLLATE "C" NOT NULL,
    document   text   NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (workspace, number),
    UNIQUE (workspace, name, version)
);

CREATE INDEX definitions_by_name ON definitions (workspace, name, number);

-- Seq is the version of a run, and written_at the instant of its last change: those of the last chunk of its history.
-- Whoever appends to the history of a run moves its seq on, from the version that was decided on and from no other.
-- That is what makes a commit a compare-and-set, however many write at the same time. Neither is in an index, and a page
-- has room, so that a run that works on changes its row where it is.
CREATE TABLE runs (
    id          uuid     NOT NULL PRIMARY KEY,
    workspace   bigint   NOT NULL,
    seq         bigint   NOT NULL,
    created_at  bigint   NOT NULL,
    written_at  bigint   NOT NULL,
    ended_at    bigint,
    deadline_at bigint,
    status      smallint NOT NULL,
    definition  text     COLLATE "C" NOT NULL,
    version     text     COLLATE "C" NOT NULL,
    tags        text
) WITH (fillfactor = 80);

CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_definition ON runs (workspace, definition, version, status, id);
CREATE INDEX runs_by_deadline ON runs (deadline_at, id) WHERE deadline_at IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE run_tags (
    workspace bigint NOT NULL,
    run       uuid   NOT NULL,
    tag       text   COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, tag, run)
);

-- A row is a chunk: the records after based_on, up to and including seq.
CREATE TABLE history (
    run        uuid   NOT NULL,
    based_on   bigint NOT NULL,
    seq        bigint NOT NULL,
    written_at bigint NOT NULL,
    chunk      bytea  NOT NULL,
    PRIMARY KEY (run, based_on)
);

-- Began_in is the transaction in which a wait for an event began; see looks.rs.
CREATE TABLE waitpoints (
    run        uuid     NOT NULL,
    number     bigint   NOT NULL,
    workspace  bigint   NOT NULL,
    created_at bigint   NOT NULL,
    resume_at  bigint,
    began_in   xid8,
    kind       smallint NOT NULL,
    status     smallint NOT NULL,
    listens    text     COLLATE "C",
    filter     text,
    PRIMARY KEY (run, number)
);

-- Timers, of all workspaces.
CREATE INDEX waitpoints_by_due ON waitpoints (resume_at, run, number)
    WHERE status = 0 AND resume_at IS NOT NULL;
CREATE INDEX waitpoints_by_kind ON waitpoints (workspace, kind, status, resume_at, run, number);
CREATE INDEX waitpoints_by_name ON waitpoints (workspace, listens, kind, status, resume_at, run, number)
    WHERE listens IS NOT NULL;
-- Waiters for an event, the longest waiting first.
CREATE INDEX waitpoints_by_event ON waitpoints (workspace, listens, created_at, run, number)
    WHERE status = 0 AND kind = 3;
CREATE INDEX waitpoints_by_transaction ON waitpoints (workspace, listens, began_in)
    WHERE status = 0 AND kind = 3;

-- A waitpoint whose links were never revoked has no row.
CREATE TABLE link_generations (
    run        uuid   NOT NULL,
    number     bigint NOT NULL,
    generation bigint NOT NULL,
    PRIMARY KEY (run, number)
);

-- Stored_in is the transaction that wrote it; see looks.rs.
CREATE TABLE events (
    id          uuid   NOT NULL,
    workspace   bigint NOT NULL,
    received_at bigint NOT NULL,
    stored_in   xid8   NOT NULL,
    event_id    text   COLLATE "C" NOT NULL,
    data        text   NOT NULL
);

CREATE UNIQUE INDEX events_by_event_id ON events (workspace, event_id, received_at, id);
CREATE INDEX events_by_time ON events (workspace, received_at, id);
CREATE INDEX events_by_transaction ON events (workspace, event_id, stored_in);

CREATE TABLE idempotency_records (
    key        text   COLLATE "C" NOT NULL PRIMARY KEY,
    digest     bigint NOT NULL,
    written_at bigint NOT NULL,
    reply      text   NOT NULL
);

CREATE INDEX idempotency_records_by_time ON idempotency_records (written_at, key);

CREATE TABLE api_keys (
    id           uuid   NOT NULL PRIMARY KEY,
    workspace    bigint NOT NULL,
    scopes       bigint NOT NULL,
    created_at   bigint NOT NULL,
    last_used_at bigint,
    revoked_at   bigint,
    expires_at   bigint,
    hash         bytea  NOT NULL UNIQUE,
    prefix       text   NOT NULL,
    name         text   NOT NULL
);

CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);

CREATE TABLE settings (
    name  text  COLLATE "C" NOT NULL PRIMARY KEY,
    value bytea NOT NULL
);

-- What calls to models used up, by day of UTC (a number since 1970), workflow and model. Written with the calls.
CREATE TABLE costs (
    workspace           bigint  NOT NULL,
    day                 integer NOT NULL,
    definition          text    COLLATE "C" NOT NULL,
    model               text    COLLATE "C" NOT NULL,
    calls               bigint  NOT NULL,
    input_tokens        bigint  NOT NULL,
    cached_input_tokens bigint  NOT NULL,
    output_tokens       bigint  NOT NULL,
    cost_micros         bigint  NOT NULL,
    unpriced_calls      bigint  NOT NULL,
    PRIMARY KEY (workspace, day, definition, model)
);

-- What is started by the clock. Its waits are rows among all others, under the schedule's id.
CREATE TABLE schedules (
    id        uuid   NOT NULL PRIMARY KEY,
    workspace bigint NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,
    document  text   NOT NULL,
    UNIQUE (workspace, name)
);

-- Those outside who are told what happens, and what they are told.
CREATE TABLE webhooks (
    id            uuid   NOT NULL PRIMARY KEY,
    workspace     bigint NOT NULL,
    url           text   NOT NULL,
    description   text,
    topics        bigint NOT NULL,
    secrets       text   NOT NULL,
    created_at    bigint NOT NULL,
    failing_since bigint,
    disabled_at   bigint,
    disabled_why  text
);

CREATE INDEX webhooks_by_workspace ON webhooks (workspace, created_at, id);

-- Each is written again after each attempt.
CREATE TABLE deliveries (
    id              uuid   NOT NULL PRIMARY KEY,
    webhook         uuid   NOT NULL,
    topic           bigint NOT NULL,
    run             uuid   NOT NULL,
    body            text   NOT NULL,
    created_at      bigint NOT NULL,
    status          bigint NOT NULL,
    next_attempt_at bigint,
    attempts        bigint NOT NULL,
    log             text   NOT NULL
);

CREATE INDEX deliveries_by_webhook ON deliveries (webhook, id);
CREATE INDEX deliveries_by_status ON deliveries (webhook, status, id);
CREATE INDEX deliveries_by_due ON deliveries (webhook, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
-- What may be forgotten.
CREATE INDEX deliveries_by_time ON deliveries (created_at, id) WHERE status <> 0;

-- Tasks that are out: free, or in somebody's hands until free_at. See share.rs. Rows come and go quickly.
CREATE TABLE tasks (
    run         uuid    NOT NULL,
    place       bigint  NOT NULL,
    lease_epoch    bigint  NOT NULL,
    workspace   bigint  NOT NULL,
    queue       text    COLLATE "C" NOT NULL,
    definition  text    COLLATE "C" NOT NULL,
    is_taken    boolean NOT NULL,
    has_begun   boolean NOT NULL,
    free_at     bigint  NOT NULL,
    lease       bigint  NOT NULL,
    deadline_at bigint,
    PRIMARY KEY (run, place)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

CREATE INDEX tasks_free ON tasks (queue, workspace, definition, free_at) WHERE NOT is_taken;
CREATE INDEX tasks_by_time ON tasks (free_at) WHERE is_taken;

-- The last commit of each writer, written with it. Whoever lost the connection in the middle of one looks here how it ended.
CREATE TABLE commits (
    writer     uuid        NOT NULL PRIMARY KEY,
    number     bigint      NOT NULL,
    written_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Processes at work, and when each was seen last, in microseconds.
CREATE TABLE nodes (
    id      uuid   NOT NULL PRIMARY KEY,
    seen_at bigint NOT NULL
);
