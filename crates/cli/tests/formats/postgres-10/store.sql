--
-- PostgreSQL database dump
--

\restrict F2PQOcVLmuSftOWK0Ys3u3U1OfsaC4PGX8h9K23CnDyBJW4fafJ9ygeUgf2HVHN

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: abide; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA abide;


--
-- Name: refuse_commit(text); Type: FUNCTION; Schema: abide; Owner: -
--

CREATE FUNCTION abide.refuse_commit(state text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = state,
        MESSAGE = CASE state
            WHEN 'AB001' THEN 'abide: conflict: another node has changed a run since this commit was decided'
            WHEN 'AB002' THEN 'abide: fenced: the writer of this commit has given it up'
            ELSE 'abide: a commit was refused'
        END,
        HINT = 'Nothing was written, and there is nothing to do: abide decides again on what is there.';
END
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: api_keys; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.api_keys (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    scopes bigint NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    revoked_at bigint,
    expires_at bigint,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    name text NOT NULL
);


--
-- Name: audit; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.audit (
    number bigint NOT NULL,
    workspace bigint NOT NULL,
    note text NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: commits; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.commits (
    writer uuid NOT NULL,
    number bigint NOT NULL,
    written_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');


--
-- Name: costs; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.costs (
    workspace bigint NOT NULL,
    day integer NOT NULL,
    definition text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_micros bigint NOT NULL,
    unpriced_calls bigint NOT NULL
);


--
-- Name: definitions; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.definitions (
    number bigint NOT NULL,
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL,
    created_at bigint NOT NULL,
    awaits text
);


--
-- Name: definitions_number_seq; Type: SEQUENCE; Schema: abide; Owner: -
--

ALTER TABLE abide.definitions ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME abide.definitions_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: deliveries; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.deliveries (
    id uuid NOT NULL,
    webhook uuid NOT NULL,
    topic bigint NOT NULL,
    run uuid NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL,
    status bigint NOT NULL,
    next_attempt_at bigint,
    attempts bigint NOT NULL,
    log text NOT NULL
);


--
-- Name: descendants; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.descendants (
    root uuid NOT NULL,
    count bigint NOT NULL
);


--
-- Name: events; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.events (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    received_at bigint NOT NULL,
    stored_in xid8 NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL,
    run uuid
);


--
-- Name: follow_ups; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.follow_ups (
    workspace bigint NOT NULL,
    id uuid NOT NULL,
    owner uuid NOT NULL,
    version bigint NOT NULL,
    document text NOT NULL
);


--
-- Name: held; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.held (
    id uuid NOT NULL,
    workspace bigint,
    held_at bigint NOT NULL,
    held_by text NOT NULL,
    reason text NOT NULL
);


--
-- Name: history; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.history (
    run uuid NOT NULL,
    based_on bigint NOT NULL,
    seq bigint NOT NULL,
    written_at bigint NOT NULL,
    chunk bytea NOT NULL
);


--
-- Name: idempotency_records; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.idempotency_records (
    key text NOT NULL COLLATE pg_catalog."C",
    digest bigint NOT NULL,
    written_at bigint NOT NULL,
    reply text NOT NULL,
    run uuid
);


--
-- Name: limits; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.limits (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    due_at bigint,
    document text NOT NULL
);


--
-- Name: link_generations; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.link_generations (
    run uuid NOT NULL,
    number bigint NOT NULL,
    generation bigint NOT NULL
);


--
-- Name: migrations; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.migrations (
    version bigint NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    oldest bigint NOT NULL
);


--
-- Name: nodes; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.nodes (
    id uuid NOT NULL,
    seen_at bigint NOT NULL
);


--
-- Name: run_tags; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.run_tags (
    workspace bigint NOT NULL,
    run uuid NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: runs; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.runs (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    seq bigint NOT NULL,
    created_at bigint NOT NULL,
    written_at bigint NOT NULL,
    ended_at bigint,
    deadline_at bigint,
    status smallint NOT NULL,
    definition text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    tags text,
    sum bigint
)
WITH (fillfactor='80');


--
-- Name: schedules; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.schedules (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    document text NOT NULL
);


--
-- Name: settings; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);


--
-- Name: snapshots; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.snapshots (
    run uuid NOT NULL,
    seq bigint NOT NULL,
    sum bigint,
    format text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
);


--
-- Name: stored_bytes; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.stored_bytes (
    workspace bigint NOT NULL,
    bytes bigint NOT NULL
);


--
-- Name: suspects; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.suspects (
    id uuid NOT NULL,
    node uuid,
    deaths bigint NOT NULL
);


--
-- Name: tasks; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.tasks (
    run uuid NOT NULL,
    place bigint NOT NULL,
    lease_epoch bigint NOT NULL,
    workspace bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    definition text NOT NULL COLLATE pg_catalog."C",
    is_taken boolean NOT NULL,
    has_begun boolean NOT NULL,
    free_at bigint NOT NULL,
    lease bigint NOT NULL,
    deadline_at bigint
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');


--
-- Name: waitpoints; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.waitpoints (
    run uuid NOT NULL,
    number bigint NOT NULL,
    workspace bigint NOT NULL,
    created_at bigint NOT NULL,
    resume_at bigint,
    began_in xid8,
    kind smallint NOT NULL,
    status smallint NOT NULL,
    listens text COLLATE pg_catalog."C",
    filter text
);


--
-- Name: webhooks; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.webhooks (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    url text NOT NULL,
    description text,
    topics bigint NOT NULL,
    secrets text NOT NULL,
    created_at bigint NOT NULL,
    failing_since bigint,
    disabled_at bigint,
    disabled_why text
);


--
-- Name: workspaces; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.workspaces (
    number bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.api_keys VALUES ('01a1ee97-2205-7de4-bc87-1373b335acae', 0, 16, 1795004244485000000, NULL, NULL, NULL, '\x9ac14221b5d4656058d612f3aeaab741de24f962545d99fe323511a16ab813b4', 'abk_ac242980', 'all');
INSERT INTO abide.api_keys VALUES ('01a1ee97-220b-7e2f-b801-2c65f54c413a', 1, 16, 1795004244491000000, NULL, NULL, NULL, '\x3b65a50a5df63b4bba5dac9ca0d4cac2257eee66048d35a3595f1f20e212c60b', 'abk_f3c4fb49', 'there');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.audit VALUES (1, 0, '{"at":"2026-11-18T12:17:24.345Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_53b9209d5e29a713","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"nap","version":"1"}}', '\x6e70bf3362ee9d2f47d7f8cdae2731fa6830835713c5314d6142887b2617026f');
INSERT INTO abide.audit VALUES (2, 0, '{"at":"2026-11-18T12:17:24.348Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_637041fbcff90497","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"dream","version":"1"}}', '\xc972b9125f5dbb69a90ed733ffbc311a0bb4e11e817685e81fc829e69b74a64f');
INSERT INTO abide.audit VALUES (3, 0, '{"at":"2026-11-18T12:17:24.351Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_22c87c00bb7033d0","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"listen","version":"1"}}', '\x8c7b5781ca1b95104df59fbddc06aa8537088dde9ec4d284a0d7fce803e74474');
INSERT INTO abide.audit VALUES (4, 0, '{"at":"2026-11-18T12:17:24.353Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_618f0390a1b1e838","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"ask","version":"1"}}', '\x1a5678beabfab06f774e887d4f58e966d127c05cdc852befe9736e891dab911d');
INSERT INTO abide.audit VALUES (5, 0, '{"at":"2026-11-18T12:17:24.356Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_b16af7406b604a89","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"early","version":"1"}}', '\x7c9b8ea5250308e7ded74ccab56f8da657d1b051e1ceade021bbca075c1852cc');
INSERT INTO abide.audit VALUES (6, 0, '{"at":"2026-11-18T12:17:24.358Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_ce19cb9150b0ddb5","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"review","version":"1"}}', '\xe6d95f4d067d955c80c40eef548cef9d3b582da2b45c52089812d10398c09cdf');
INSERT INTO abide.audit VALUES (7, 0, '{"at":"2026-11-18T12:17:24.36Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_7f84d37d9c5d3efd","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"call","version":"1"}}', '\x1812c3e8c25e878f3db88547febc06395f7201f5a99f2c1456c447f4753cd05f');
INSERT INTO abide.audit VALUES (8, 0, '{"at":"2026-11-18T12:17:24.362Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_428b3c44e68106cc","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"closed","version":"1"}}', '\x9136c830a242f2ca11776407833469a249fc034d7228c40f86cd318aa841b6bc');
INSERT INTO abide.audit VALUES (9, 0, '{"at":"2026-11-18T12:17:24.365Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_a1d2438a76051776","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"child","version":"1"}}', '\x2fbe5bcc645e7e97b3e066d4506f3d0d5af4edbfed24f9a49e63d4eedba34d04');
INSERT INTO abide.audit VALUES (10, 0, '{"at":"2026-11-18T12:17:24.368Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_fe8fb228f9c9061d","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"parent","version":"1"}}', '\xba8158a39e68bd7267dd93f207418f06acccf0190918a7c70f59fb8a813c0abc');
INSERT INTO abide.audit VALUES (11, 0, '{"at":"2026-11-18T12:17:24.37Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_e662756388825708","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"map","version":"1"}}', '\x5ac2c14e6a7e2f907f9af5a54156dc22e3266bf345fb9f77fef9620c07247f8f');
INSERT INTO abide.audit VALUES (12, 0, '{"at":"2026-11-18T12:17:24.372Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_ebf0ad67c0a3f47b","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"greet","version":"1"}}', '\x7f77de4b73864385ed1730803cd062aaec733b355833650e593a12e9b4765b93');
INSERT INTO abide.audit VALUES (13, 0, '{"at":"2026-11-18T12:17:24.374Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_3675c21be7b8566d","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"code","version":"1"}}', '\xee6acd7d9e5793912b7f42706178e1de1a2548a908402ad613c26fbd748886a2');
INSERT INTO abide.audit VALUES (14, 0, '{"at":"2026-11-18T12:17:24.377Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_c0dbe2f1bc583cba","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"work","version":"1"}}', '\xc4834568aed1f892b3078a803f328c104a0e6d0ef870cd9453a61e2b10caf8a5');
INSERT INTO abide.audit VALUES (15, 0, '{"at":"2026-11-18T12:17:24.431Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_0ae2c0dc40f10361","action":"run.paused","target":"/v1/workflow-runs/run_01m7q9e8dwesf8yk8prshmbwp9/pause"}', '\x527e6e6f7f25284779dc73ebb864b6439c936ed14dcce9f1642fc018ee0cba09');
INSERT INTO abide.audit VALUES (16, 0, '{"at":"2026-11-18T12:17:24.447Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_ca41ed3794392e64","action":"run.cancelled","target":"/v1/workflow-runs/run_01m7q9e8dzfqytqdfsf20gpddd/cancel"}', '\x6e98bea724725ca745606737c86b2ff05deb107630a19c12cc9e484c8b6e39d1');
INSERT INTO abide.audit VALUES (17, 0, '{"at":"2026-11-18T12:17:24.471Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_1e136fd11b55864f","action":"links.revoked","target":"/v1/waitpoints/wp_01m7q9e8dcezqvy3r5ye5cbw5f_1/link"}', '\x02671197ccb61892ca26b2adb11904c6650087fcb7ac42bed675ee170ea7aa20');
INSERT INTO abide.audit VALUES (18, 0, '{"at":"2026-11-18T12:17:24.475Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_299aadf31cb34d3d","action":"schedule.made","target":"/v1/schedules"}', '\x8e590c1535b64c2699091ab16ce7782f01becfe8a88937512cea340606b39841');
INSERT INTO abide.audit VALUES (19, 0, '{"at":"2026-11-18T12:17:24.478Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_ba1cd781d5703450","action":"schedule.paused","target":"/v1/schedules/sch_01m7q9e8fshtw91w8pt59vhn1b/pause"}', '\x60f84a9f9c3b756b8752a8d842bf82e5528b5c40f4ac98c68271284fc93807ef');
INSERT INTO abide.audit VALUES (20, 0, '{"at":"2026-11-18T12:17:24.483Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_952e5fa8f3a52dca","action":"webhook.made","target":"/v1/webhooks","detail":{"id":"whk_01m7q9e8g2fm9sdjc8avkadjpt","url":"http://127.0.0.1:9/hook"}}', '\xb3ee1368266fb5b30918ef868c41352eef8d451bc64f141cd612b490475f88f2');
INSERT INTO abide.audit VALUES (21, 0, '{"at":"2026-11-18T12:17:24.486Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_3a29ac25fd70eb35","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7q9e8g5fqjbs1rkeeskbb5e","name":"all","scopes":["admin"],"workspace":"ws_0"}}', '\x8b3ca06148fb75ca12f93fd03ab656e7a3c7421b9ea2cc44ca6a904b769f3a71');
INSERT INTO abide.audit VALUES (22, 0, '{"at":"2026-11-18T12:17:24.489Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_156e6851abc9b201","action":"workspace.made","target":"/v1/workspaces","detail":{"id":"ws_1","name":"other"}}', '\x803bca06fdc781e691470bdb509c815540e967bd06e2e2517f0e58ec13319e34');
INSERT INTO abide.audit VALUES (23, 0, '{"at":"2026-11-18T12:17:24.492Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_fe157c64ed865a85","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7q9e8gbfrqvg09ccqtmrg9t","name":"there","scopes":["admin"],"workspace":"ws_1"}}', '\x47a91e2cd3b9776cca597795347579ef6cd42199d2e2427260a1a124cb2b5141');


--
-- Data for Name: commits; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.commits VALUES ('5a26a9e8-9787-42f3-82c2-5f7a55c9f876', 27, '2026-11-18 12:17:24.456657+00');
INSERT INTO abide.commits VALUES ('9d3c08b2-c6ce-4d9b-b401-09153ea432eb', 61, '2026-11-18 12:17:24.480964+00');


--
-- Data for Name: costs; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: definitions; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (1, '01a1ee97-2176-73dd-8e51-ee60ff839515', 0, 'nap', '1', '{"name":"nap","steps":[{"name":"rest","type":"wait","duration":"10s"}]}', 1795004244342000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (2, '01a1ee97-217b-7338-b3d5-6ce3d6bd3d31', 0, 'dream', '1', '{"name":"dream","steps":[{"name":"rest","type":"wait","duration":"365d"}]}', 1795004244347000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (3, '01a1ee97-217e-73af-bc32-529ceae3959e', 0, 'listen', '1', '{"name":"listen","steps":[{"name":"hear","type":"wait_for_event","eventId":"paid","match":"event.order == 7"}]}', 1795004244350000000, '[{"eventId":"paid"}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (4, '01a1ee97-2180-784f-9c74-912c8294387c', 0, 'ask', '1', '{"name":"ask","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1795004244352000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (5, '01a1ee97-2183-7253-a2c2-803de1fecfac', 0, 'early', '1', '{"name":"early","steps":[{"name":"first","saveAs":"first","type":"external_event","signalType":"first"},{"name":"second","saveAs":"second","type":"external_event","signalType":"second"}]}', 1795004244355000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (6, '01a1ee97-2185-7d42-ac54-6c3be786ad84', 0, 'review', '1', '{"name":"review","steps":[{"name":"doc","saveAs":"doc","type":"external_event","signalType":"doc"},{"name":"decide","type":"approval","contentKey":"doc","prompt":"Is it good?"}]}', 1795004244357000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (7, '01a1ee97-2187-7ff0-8eae-4bf2f4dc63ba', 0, 'call', '1', '{"name":"call","steps":[{"name":"sign","type":"webhook"}]}', 1795004244359000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (8, '01a1ee97-218a-76a0-9940-f26f911c8e46', 0, 'closed', '1', '{"name":"closed","steps":[{"name":"sign","type":"webhook"}]}', 1795004244362000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (9, '01a1ee97-218c-7092-9a82-e6909c9b226e', 0, 'child', '1', '{"name":"child","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1795004244364000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (10, '01a1ee97-218f-7ded-8c0c-fc07c753a89a', 0, 'parent', '1', '{"name":"parent","steps":[{"name":"child","type":"workflow","definition":"child","input":{}}]}', 1795004244367000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (11, '01a1ee97-2191-7b0e-ac89-ab03f84201ba', 0, 'map', '1', '{"name":"map","steps":[{"name":"all","type":"map","items":"{{ input.all }}","step":{"type":"wait_for_event","eventId":"item-{{ item }}"}}]}', 1795004244369000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (12, '01a1ee97-2193-7b88-9678-e37469fb7e3e', 0, 'greet', '1', '{"name":"greet","steps":[{"name":"say","type":"respond","body":"hello"}]}', 1795004244371000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (13, '01a1ee97-2195-73e6-8975-b9bff8747ac5', 0, 'code', '1', '{"name":"code","steps":[{"name":"do","type":"task","handler":"code"}]}', 1795004244373000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (14, '01a1ee97-2198-7453-bf70-2a897e57eaaf', 0, 'work', '1', '{"name":"work","steps":[{"name":"first","type":"task","handler":"work"},{"name":"second","type":"task","handler":"work"}]}', 1795004244376000000, '[{}]');


--
-- Data for Name: deliveries; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: descendants; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.descendants VALUES ('01a1ee97-21ae-7779-8530-62c36849fd2b', 1);


--
-- Data for Name: events; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.events VALUES ('01a1ee97-21ff-774d-a830-85a04d56d72e', 0, 1795004244482000000, '803', 'shipped', '{"parcel":1}', NULL);


--
-- Data for Name: follow_ups; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: held; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: history; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.history VALUES ('01a1ee97-219a-73f2-9365-dad7b8f4c21f', 0, 5, 1795004244378000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3337385a222c226c6f63616c222c7b123a7b043a226e6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226e6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032362d31312d31385431323a31373a33342e3337385a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5d2a277d33');
INSERT INTO abide.history VALUES ('01a1ee97-219e-7fe6-869b-52f852907b24', 0, 5, 1795004244382000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3338325a222c226c6f63616c222c7b123a7b043a22647265616d222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22647265616d225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032372d31312d31385431323a31373a32342e3338325a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5d26aa078d');
INSERT INTO abide.history VALUES ('01a1ee97-21a2-7246-8ed9-88ad3bd91fad', 0, 5, 1795004244386000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3338365a222c226c6f63616c222c7b123a7b043a226c697374656e222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226c697374656e225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a2270616964222c2273696e6365223a1c2c226d61746368223a226576656e742e6f72646572203d3d2037227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5d6a439109');
INSERT INTO abide.history VALUES ('01a1ee97-21a6-7d81-a41c-c5b331af7269', 0, 5, 1795004244390000000, '\x5b5b22323032362d31312d31385431323a31373a32342e33395a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2261736b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d27e8ba26');
INSERT INTO abide.history VALUES ('01a1ee97-21a8-7496-964c-c79f34dfc0d5', 0, 5, 1795004244392000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339325a222c226c6f63616c222c7b123a7b043a226561726c79222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226561726c79225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a226669727374227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5db9fa5332');
INSERT INTO abide.history VALUES ('01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 0, 5, 1795004244393000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339335a222c226c6f63616c222c7b123a7b043a22726576696577222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22726576696577225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22646f63227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d529fa5d2');
INSERT INTO abide.history VALUES ('01a1ee97-21ab-7243-a492-eea072aef991', 0, 5, 1795004244395000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339355a222c226c6f63616c222c7b123a7b043a2263616c6c222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2263616c6c225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5db1426a49');
INSERT INTO abide.history VALUES ('01a1ee97-21ac-77ef-bf0f-05f38ac5f0af', 0, 5, 1795004244396000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339365a222c226c6f63616c222c7b123a7b043a22636c6f736564222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636c6f736564225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5dcdae080c');
INSERT INTO abide.history VALUES ('01a1ee97-21ae-7779-8530-62c36849fd2b', 0, 5, 1795004244398000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339385a222c226c6f63616c222c7b123a7b043a22706172656e74222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22706172656e74225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224348494c44222c063a0e2c083a1c2c226c697374656e73466f72223a7b226368696c64223a7b2272756e4964223a2272756e5f30316d37713965386465667961743538797a706a686665683133227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224348494c44227d5d5d612f7c00');
INSERT INTO abide.history VALUES ('01a1ee97-21ae-7f95-a2a3-dfb4a2f74423', 0, 5, 1795004244398000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3339385a222c22706172656e74222c7b123a7b043a226368696c64222c133a2231227d2c143a7b7d2c22706172656e74223a7b163a2277705f30316d37713965386465657877726163333272646d346b7a39625f31222c2272756e4964223a2272756e5f30316d37713965386465657877726163333272646d346b7a3962222c226465707468223a312c22726f6f74223a1e7d2c22737461727465645f6279223a226c6f63616c227d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d139c6534');
INSERT INTO abide.history VALUES ('01a1ee97-21b1-7b36-94f8-80a610d39233', 0, 11, 1795004244401000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3430315a222c226c6f63616c222c7b123a7b043a226d6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226d6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a224d41505f53544152544544222c023a7b033a307d2c226974656d73223a5b302c312c325d7d2c7b013a172c023a7b033a302cfe3a307d7d2c7b013a182c023a7b033a302cfe3a307d2c0a3a5b7b073a312c023a7b033a302cfe3a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a226974656d2d30222c2273696e6365223a1c7d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a317d7d2c7b013a182c023a7b033a302cfe3a317d2c0a3a5b7b073a322c023a7b033a302cfe3a317d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d31222c2273696e6365223a1c7d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a327d7d2c7b013a182c023a7b033a302cfe3a327d2c0a3a5b7b073a332c023a7b033a302cfe3a327d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d32222c2273696e6365223a1c7d7d7d5d2c0b3a5b335d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5df2e53fdc');
INSERT INTO abide.history VALUES ('01a1ee97-21b4-77fa-87f9-dd112013ba74', 0, 5, 1795004244404000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3430345a222c226c6f63616c222c7b123a7b043a226772656574222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226772656574225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a192c023a7b033a307d2c153a7b22626f6479223a2268656c6c6f222c2268656164657273223a7b7d2c063a3230307d7d2c7b013af52c153a6e756c6c7d5d5d320090f1');
INSERT INTO abide.history VALUES ('01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 0, 3, 1795004244406000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3430365a222c226c6f63616c222c7b123a7b043a22636f6465222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636f6465225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5de9d7f0a1');
INSERT INTO abide.history VALUES ('01a1ee97-21b8-7c8d-a9f9-4ab5288d7571', 0, 3, 1795004244408000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3430385a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d22f9a80c');
INSERT INTO abide.history VALUES ('01a1ee97-21ba-763d-a621-a81ea927b31d', 0, 3, 1795004244410000000, '\x5b5b22323032362d31312d31385431323a31373a32342e34315a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5dfbe0075f');
INSERT INTO abide.history VALUES ('01a1ee97-21bc-765e-8f4d-16c66345f2c9', 0, 3, 1795004244412000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3431325a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5daf052a34');
INSERT INTO abide.history VALUES ('01a1ee97-21bd-7e13-b89a-331709e6291e', 0, 3, 1795004244413000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3431335a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5df3ab98d9');
INSERT INTO abide.history VALUES ('01a1ee97-21bf-7dfd-abb5-f978810b35ad', 0, 3, 1795004244415000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3431355a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5dbcdce2a2');
INSERT INTO abide.history VALUES ('01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 5, 13, 1795004244416000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3431365a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a22646f63222cfd3a2274657874227d2c7b013a1a2c073a312c063a0f2c227369676e616c223a317d2c7b013a192c023a7b033a307d2c163a312cfc3a7b226f75747075745f6173223a22646f63227d7d2c7b013ac17d2c7b013a172c023a7b033a317d7d2c7b013a182c023a7b033a317d2c0a3a5b7b073a322c023a7b033a317d2c043a112c053a22415050524f56414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b22617070726f76616c223a7b2270726f6d7074223a22497320697420676f6f643f222c22636f6e74656e74223a2274657874222c2271756f72756d223a317d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a22415050524f56414c5f524551554553544544222c073a327d2c7b013a1b2cfa3a22415050524f56414c227d5d5d72ea8df3');
INSERT INTO abide.history VALUES ('01a1ee97-21a8-7496-964c-c79f34dfc0d5', 5, 6, 1795004244419000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3431395a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a227365636f6e64222cfd3a327d5d5d670bb2a5');
INSERT INTO abide.history VALUES ('01a1ee97-21c5-7f34-b4b0-c6fac1cc163b', 0, 5, 1795004244421000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432315a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b7d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5da2893694');
INSERT INTO abide.history VALUES ('01a1ee97-21b8-7c8d-a9f9-4ab5288d7571', 3, 4, 1795004244426000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d89b47c97');
INSERT INTO abide.history VALUES ('01a1ee97-21ba-763d-a621-a81ea927b31d', 3, 4, 1795004244426000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d5186d82b');
INSERT INTO abide.history VALUES ('01a1ee97-21bc-765e-8f4d-16c66345f2c9', 3, 4, 1795004244426000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d6e81ba5e');
INSERT INTO abide.history VALUES ('01a1ee97-21bd-7e13-b89a-331709e6291e', 3, 4, 1795004244426000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d52b2e629');
INSERT INTO abide.history VALUES ('01a1ee97-21bf-7dfd-abb5-f978810b35ad', 3, 4, 1795004244426000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3432365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d5e9d2d51');
INSERT INTO abide.history VALUES ('01a1ee97-21bc-765e-8f4d-16c66345f2c9', 4, 5, 1795004244430000000, '\x5b5b22323032362d31312d31385431323a31373a32342e34335a222c226c6f63616c222c7b013a22574f524b464c4f575f50415553455f524551554553544544227d5d5d22a4a297');
INSERT INTO abide.history VALUES ('01a1ee97-21bc-765e-8f4d-16c66345f2c9', 5, 8, 1795004244433000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3433335a222c226c6f63616c222c7b013a192c023a7b033a307d2c153a317d2c7b013a22535445505f48454c445f4241434b222c023a7b033a317d7d2c7b013a22574f524b464c4f575f5041555345445f42595f4f50455241544f52227d5d5d42b72b8f');
INSERT INTO abide.history VALUES ('01a1ee97-21bd-7e13-b89a-331709e6291e', 4, 6, 1795004244435000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3433355a222c226c6f63616c222c7b013a22535445505f4641494c4544222c023a7b033a307d2cff3a7b22636f6465223a225441534b5f4641494c4544222c226d657373616765223a226e6f227d7d2c7b013a22574f524b464c4f575f4641494c4544222cff3a7b22636f6465223a1e2c226d657373616765223a226e6f222c033a226669727374227d7d5d5d56e0ea17');
INSERT INTO abide.history VALUES ('01a1ee97-21ba-763d-a621-a81ea927b31d', 4, 5, 1795004244444000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3434345a222c226c6f63616c222c7b013a225441534b5f524544454c495645524544222c023a7b033a307d2c22636f756e746564223a66616c73657d5d5d24e75b4a');
INSERT INTO abide.history VALUES ('01a1ee97-21bf-7dfd-abb5-f978810b35ad', 4, 6, 1795004244446000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3434365a222c226c6f63616c222c7b013a22535445505f43414e43454c4c4544222c023a7b033a307d7d2c7b013a22574f524b464c4f575f43414e43454c4c4544222cfa3a22656e6f756768227d5d5d0842da9e');
INSERT INTO abide.history VALUES ('01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 3, 4, 1795004244448000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3434385a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d7aa7b265');
INSERT INTO abide.history VALUES ('01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 4, 7, 1795004244455000000, '\x5b5b22323032362d31312d31385431323a31373a32342e3435355a222c226c6f63616c222c7b013a224a4f55524e414c5f5245434f52444544222c023a7b033a307d2c22656e7472696573223a5b7b043a22636861726765222c22726573756c74223a7b2272656365697074223a377d7d5d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a22676f222c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22676f227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5da0178cfc');


--
-- Data for Name: idempotency_records; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.idempotency_records VALUES ('ws_0/start/order-7', 4016846795254755208, 1795004244421000000, '{"started":"run_01m7q9e8e5fwtb9c66zb0wr5hv"}', '01a1ee97-21c5-7f34-b4b0-c6fac1cc163b');


--
-- Data for Name: limits; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: link_generations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.link_generations VALUES ('01a1ee97-21ac-77ef-bf0f-05f38ac5f0af', 1, 1);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.migrations VALUES (1, '2026-11-18 12:17:24.231399+00', 1);
INSERT INTO abide.migrations VALUES (2, '2026-11-18 12:17:24.231399+00', 1);
INSERT INTO abide.migrations VALUES (3, '2026-11-18 12:17:24.231399+00', 3);
INSERT INTO abide.migrations VALUES (4, '2026-11-18 12:17:24.231399+00', 4);
INSERT INTO abide.migrations VALUES (5, '2026-11-18 12:17:24.231399+00', 5);
INSERT INTO abide.migrations VALUES (6, '2026-11-18 12:17:24.231399+00', 6);
INSERT INTO abide.migrations VALUES (7, '2026-11-18 12:17:24.231399+00', 7);
INSERT INTO abide.migrations VALUES (8, '2026-11-18 12:17:24.231399+00', 7);
INSERT INTO abide.migrations VALUES (9, '2026-11-18 12:17:24.231399+00', 9);
INSERT INTO abide.migrations VALUES (10, '2026-11-18 12:17:24.231399+00', 10);


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.nodes VALUES ('78a06d9a-e030-5401-8906-71b816d4d6b2', 1795004244326752);


--
-- Data for Name: run_tags; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.run_tags VALUES (0, '01a1ee97-219a-73f2-9365-dad7b8f4c21f', 'nap');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-219e-7fe6-869b-52f852907b24', 'dream');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21a2-7246-8ed9-88ad3bd91fad', 'listen');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21a6-7d81-a41c-c5b331af7269', 'ask');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21a8-7496-964c-c79f34dfc0d5', 'early');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 'review');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21ab-7243-a492-eea072aef991', 'call');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21ac-77ef-bf0f-05f38ac5f0af', 'closed');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21ae-7779-8530-62c36849fd2b', 'parent');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21b1-7b36-94f8-80a610d39233', 'map');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21b4-77fa-87f9-dd112013ba74', 'greet');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 'code');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21b8-7c8d-a9f9-4ab5288d7571', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21ba-763d-a621-a81ea927b31d', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21bc-765e-8f4d-16c66345f2c9', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21bd-7e13-b89a-331709e6291e', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee97-21bf-7dfd-abb5-f978810b35ad', 'work');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.runs VALUES ('01a1ee97-219a-73f2-9365-dad7b8f4c21f', 0, 5, 1795004244378000000, 1795004244378000000, NULL, NULL, 2, 'nap', '1', '["nap"]', 707231028);
INSERT INTO abide.runs VALUES ('01a1ee97-219e-7fe6-869b-52f852907b24', 0, 5, 1795004244382000000, 1795004244382000000, NULL, NULL, 2, 'dream', '1', '["dream"]', 648677262);
INSERT INTO abide.runs VALUES ('01a1ee97-21a2-7246-8ed9-88ad3bd91fad', 0, 5, 1795004244386000000, 1795004244386000000, NULL, NULL, 2, 'listen', '1', '["listen"]', 1782812938);
INSERT INTO abide.runs VALUES ('01a1ee97-21a6-7d81-a41c-c5b331af7269', 0, 5, 1795004244390000000, 1795004244390000000, NULL, NULL, 2, 'ask', '1', '["ask"]', 669563431);
INSERT INTO abide.runs VALUES ('01a1ee97-21ab-7243-a492-eea072aef991', 0, 5, 1795004244395000000, 1795004244395000000, NULL, NULL, 2, 'call', '1', '["call"]', 2973919818);
INSERT INTO abide.runs VALUES ('01a1ee97-21ac-77ef-bf0f-05f38ac5f0af', 0, 5, 1795004244396000000, 1795004244396000000, NULL, NULL, 2, 'closed', '1', '["closed"]', 3450734605);
INSERT INTO abide.runs VALUES ('01a1ee97-21ae-7779-8530-62c36849fd2b', 0, 5, 1795004244398000000, 1795004244398000000, NULL, NULL, 2, 'parent', '1', '["parent"]', 1630501889);
INSERT INTO abide.runs VALUES ('01a1ee97-21ae-7f95-a2a3-dfb4a2f74423', 0, 5, 1795004244398000000, 1795004244398000000, NULL, NULL, 2, 'child', '1', NULL, 329016629);
INSERT INTO abide.runs VALUES ('01a1ee97-21b1-7b36-94f8-80a610d39233', 0, 11, 1795004244401000000, 1795004244401000000, NULL, NULL, 2, 'map', '1', '["map"]', 4075110365);
INSERT INTO abide.runs VALUES ('01a1ee97-21b4-77fa-87f9-dd112013ba74', 0, 5, 1795004244404000000, 1795004244404000000, 1795004244404000000, NULL, 4, 'greet', '1', '["greet"]', 838897906);
INSERT INTO abide.runs VALUES ('01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 0, 13, 1795004244393000000, 1795004244416000000, NULL, NULL, 2, 'review', '1', '["review"]', 1490663909);
INSERT INTO abide.runs VALUES ('01a1ee97-21a8-7496-964c-c79f34dfc0d5', 0, 6, 1795004244392000000, 1795004244419000000, NULL, NULL, 2, 'early', '1', '["early"]', 1656657223);
INSERT INTO abide.runs VALUES ('01a1ee97-21c5-7f34-b4b0-c6fac1cc163b', 0, 5, 1795004244421000000, 1795004244421000000, NULL, NULL, 2, 'ask', '1', NULL, 2726901397);
INSERT INTO abide.runs VALUES ('01a1ee97-21b8-7c8d-a9f9-4ab5288d7571', 0, 4, 1795004244408000000, 1795004244426000000, NULL, NULL, 1, 'work', '1', '["work"]', 2791762538);
INSERT INTO abide.runs VALUES ('01a1ee97-21bc-765e-8f4d-16c66345f2c9', 0, 8, 1795004244412000000, 1795004244433000000, NULL, NULL, 3, 'work', '1', '["work"]', 2698540535);
INSERT INTO abide.runs VALUES ('01a1ee97-21bd-7e13-b89a-331709e6291e', 0, 6, 1795004244413000000, 1795004244435000000, 1795004244435000000, NULL, 5, 'work', '1', '["work"]', 4032379954);
INSERT INTO abide.runs VALUES ('01a1ee97-21ba-763d-a621-a81ea927b31d', 0, 5, 1795004244410000000, 1795004244444000000, NULL, NULL, 1, 'work', '1', '["work"]', 2902561247);
INSERT INTO abide.runs VALUES ('01a1ee97-21bf-7dfd-abb5-f978810b35ad', 0, 6, 1795004244415000000, 1795004244446000000, 1795004244446000000, NULL, 6, 'work', '1', '["work"]', 164804628);
INSERT INTO abide.runs VALUES ('01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 0, 7, 1795004244406000000, 1795004244455000000, NULL, NULL, 2, 'code', '1', '["code"]', 4068416057);


--
-- Data for Name: schedules; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.schedules VALUES ('01a1ee97-21f9-8eb8-90f1-16d153b8d42b', 0, 'nightly', 2, '{"id":"sch_01m7q9e8fshtw91w8pt59vhn1b","workspace":"ws_0","plan":{"name":"nightly","workflow":"greet","input":null,"when":{"cron":"0 3 * * *","timezone":"Europe/Berlin"},"overlap":"skip","catchUp":"last"},"seq":2,"createdBy":"local","createdAt":"2026-11-18T12:17:24.473Z","updatedAt":"2026-11-18T12:17:24.476Z","paused":true,"anchor":"2026-11-18T12:17:24.473Z","waits":[{"number":1,"name":"$occurrence","kind":"SCHEDULE","status":"CANCELLED","createdAt":"2026-11-18T12:17:24.473Z","resumeAt":"2026-11-19T02:00:00Z","resumePayload":{"reason":"paused"},"resolvedBy":"local","resolvedAt":"2026-11-18T12:17:24.476Z"}]}');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.settings VALUES ('store-id', '\x6633313738623365356365336235623436646562376339323333323137346532');
INSERT INTO abide.settings VALUES ('link-secrets', '\x5b7b226964223a312c22736563726574223a224157504a7336676e463456396470416a4868534a70326c705f7035695252716256374d65574a4179753145222c22637265617465644174223a22323032362d31312d31385431323a31373a32342e3333345a227d5d');


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: stored_bytes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.stored_bytes VALUES (0, 220);
INSERT INTO abide.stored_bytes VALUES (0, 224);
INSERT INTO abide.stored_bytes VALUES (0, 284);
INSERT INTO abide.stored_bytes VALUES (0, 248);
INSERT INTO abide.stored_bytes VALUES (0, 252);
INSERT INTO abide.stored_bytes VALUES (0, 252);
INSERT INTO abide.stored_bytes VALUES (0, 246);
INSERT INTO abide.stored_bytes VALUES (0, 250);
INSERT INTO abide.stored_bytes VALUES (0, 619);
INSERT INTO abide.stored_bytes VALUES (0, 587);
INSERT INTO abide.stored_bytes VALUES (0, 188);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 120);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 378);
INSERT INTO abide.stored_bytes VALUES (0, 97);
INSERT INTO abide.stored_bytes VALUES (0, 217);
INSERT INTO abide.stored_bytes VALUES (0, 335);
INSERT INTO abide.stored_bytes VALUES (0, 72);
INSERT INTO abide.stored_bytes VALUES (0, 123);
INSERT INTO abide.stored_bytes VALUES (0, 168);
INSERT INTO abide.stored_bytes VALUES (0, 89);
INSERT INTO abide.stored_bytes VALUES (0, 107);
INSERT INTO abide.stored_bytes VALUES (0, 67);
INSERT INTO abide.stored_bytes VALUES (0, 250);
INSERT INTO abide.stored_bytes VALUES (0, 12);


--
-- Data for Name: suspects; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: tasks; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.tasks VALUES ('01a1ee97-21b8-7c8d-a9f9-4ab5288d7571', 0, 1, 0, 'work', 'work', true, true, 1795004304426000000, 60000000000, NULL);
INSERT INTO abide.tasks VALUES ('01a1ee97-21ba-763d-a621-a81ea927b31d', 0, 2, 0, 'work', 'work', false, false, 1795004244444000000, 10000000000, NULL);


--
-- Data for Name: waitpoints; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.waitpoints VALUES ('01a1ee97-219a-73f2-9365-dad7b8f4c21f', 1, 0, 1795004244378000000, 1795004254378000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-219e-7fe6-869b-52f852907b24', 1, 0, 1795004244382000000, 1826540244382000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21a2-7246-8ed9-88ad3bd91fad', 1, 0, 1795004244386000000, NULL, '767', 3, 0, 'paid', '{"eventId":"paid","since":"2026-11-18T12:17:24.386Z","match":"event.order == 7"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21a6-7d81-a41c-c5b331af7269', 1, 0, 1795004244390000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21a8-7496-964c-c79f34dfc0d5', 1, 0, 1795004244392000000, NULL, NULL, 2, 0, 'first', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21ab-7243-a492-eea072aef991', 1, 0, 1795004244395000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21ac-77ef-bf0f-05f38ac5f0af', 1, 0, 1795004244396000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21ae-7779-8530-62c36849fd2b', 1, 0, 1795004244398000000, NULL, NULL, 5, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21ae-7f95-a2a3-dfb4a2f74423', 1, 0, 1795004244398000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21b1-7b36-94f8-80a610d39233', 1, 0, 1795004244401000000, NULL, '774', 3, 0, 'item-0', '{"eventId":"item-0","since":"2026-11-18T12:17:24.401Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21b1-7b36-94f8-80a610d39233', 2, 0, 1795004244401000000, NULL, '774', 3, 0, 'item-1', '{"eventId":"item-1","since":"2026-11-18T12:17:24.401Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21b1-7b36-94f8-80a610d39233', 3, 0, 1795004244401000000, NULL, '774', 3, 0, 'item-2', '{"eventId":"item-2","since":"2026-11-18T12:17:24.401Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 1, 0, 1795004244393000000, NULL, NULL, 2, 1, 'doc', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21a9-7e48-b52a-c5d417f1d39f', 2, 0, 1795004244416000000, NULL, NULL, 4, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21c5-7f34-b4b0-c6fac1cc163b', 1, 0, 1795004244421000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21b6-7bb6-b5e3-ae76fdf0eefc', 1, 0, 1795004244455000000, NULL, NULL, 2, 0, 'go', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee97-21f9-8eb8-90f1-16d153b8d42b', 1, 0, 1795004244473000000, 1795053600000000000, NULL, 8, 3, NULL, NULL);


--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.webhooks VALUES ('01a1ee97-2202-7d13-96c9-8856e6a6cada', 0, 'http://127.0.0.1:9/hook', NULL, 2, '[{"key":"whsec_65AqaGaghCiHLhwmP5RQslU5H3tup/Xa44jfk8SotaU="}]', 1795004244482000000, NULL, NULL, NULL);


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.workspaces VALUES (0, 'default', 1795004244000000000);
INSERT INTO abide.workspaces VALUES (1, 'other', 1795004244487000000);


--
-- Name: definitions_number_seq; Type: SEQUENCE SET; Schema: abide; Owner: -
--

SELECT pg_catalog.setval('abide.definitions_number_seq', 14, true);


--
-- Name: api_keys api_keys_hash_key; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (number);


--
-- Name: commits commits_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.commits
    ADD CONSTRAINT commits_pkey PRIMARY KEY (writer);


--
-- Name: costs costs_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.costs
    ADD CONSTRAINT costs_pkey PRIMARY KEY (workspace, day, definition, model);


--
-- Name: definitions definitions_id_key; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.definitions
    ADD CONSTRAINT definitions_id_key UNIQUE (id);


--
-- Name: definitions definitions_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.definitions
    ADD CONSTRAINT definitions_pkey PRIMARY KEY (workspace, number);


--
-- Name: definitions definitions_workspace_name_version_key; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.definitions
    ADD CONSTRAINT definitions_workspace_name_version_key UNIQUE (workspace, name, version);


--
-- Name: deliveries deliveries_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);


--
-- Name: descendants descendants_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.descendants
    ADD CONSTRAINT descendants_pkey PRIMARY KEY (root);


--
-- Name: follow_ups follow_ups_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.follow_ups
    ADD CONSTRAINT follow_ups_pkey PRIMARY KEY (workspace, id);


--
-- Name: held held_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.held
    ADD CONSTRAINT held_pkey PRIMARY KEY (id);


--
-- Name: history history_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (run, based_on);


--
-- Name: idempotency_records idempotency_records_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.idempotency_records
    ADD CONSTRAINT idempotency_records_pkey PRIMARY KEY (key);


--
-- Name: limits limits_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (id);


--
-- Name: link_generations link_generations_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.link_generations
    ADD CONSTRAINT link_generations_pkey PRIMARY KEY (run, number);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);


--
-- Name: nodes nodes_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);


--
-- Name: run_tags run_tags_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.run_tags
    ADD CONSTRAINT run_tags_pkey PRIMARY KEY (workspace, tag, run);


--
-- Name: runs runs_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);


--
-- Name: schedules schedules_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);


--
-- Name: schedules schedules_workspace_name_key; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.schedules
    ADD CONSTRAINT schedules_workspace_name_key UNIQUE (workspace, name);


--
-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);


--
-- Name: snapshots snapshots_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (run);


--
-- Name: suspects suspects_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.suspects
    ADD CONSTRAINT suspects_pkey PRIMARY KEY (id);


--
-- Name: tasks tasks_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (run, place);


--
-- Name: waitpoints waitpoints_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.waitpoints
    ADD CONSTRAINT waitpoints_pkey PRIMARY KEY (run, number);


--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);


--
-- Name: workspaces workspaces_name_key; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.workspaces
    ADD CONSTRAINT workspaces_name_key UNIQUE (name);


--
-- Name: workspaces workspaces_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.workspaces
    ADD CONSTRAINT workspaces_pkey PRIMARY KEY (number);


--
-- Name: api_keys_by_workspace; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX api_keys_by_workspace ON abide.api_keys USING btree (workspace, created_at, id);


--
-- Name: audit_by_workspace; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX audit_by_workspace ON abide.audit USING btree (workspace, number);


--
-- Name: definitions_by_name; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX definitions_by_name ON abide.definitions USING btree (workspace, name, number);


--
-- Name: deliveries_by_due; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX deliveries_by_due ON abide.deliveries USING btree (webhook, next_attempt_at, id) WHERE (next_attempt_at IS NOT NULL);


--
-- Name: deliveries_by_status; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX deliveries_by_status ON abide.deliveries USING btree (webhook, status, id);


--
-- Name: deliveries_by_time; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX deliveries_by_time ON abide.deliveries USING btree (created_at, id) WHERE (status <> 0);


--
-- Name: deliveries_by_webhook; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX deliveries_by_webhook ON abide.deliveries USING btree (webhook, id);


--
-- Name: events_by_event_id; Type: INDEX; Schema: abide; Owner: -
--

CREATE UNIQUE INDEX events_by_event_id ON abide.events USING btree (workspace, event_id, received_at, id);


--
-- Name: events_by_run; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX events_by_run ON abide.events USING btree (run) WHERE (run IS NOT NULL);


--
-- Name: events_by_time; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX events_by_time ON abide.events USING btree (workspace, received_at, id);


--
-- Name: events_by_transaction; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX events_by_transaction ON abide.events USING btree (workspace, event_id, stored_in);


--
-- Name: idempotency_records_by_run; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX idempotency_records_by_run ON abide.idempotency_records USING btree (run) WHERE (run IS NOT NULL);


--
-- Name: idempotency_records_by_time; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX idempotency_records_by_time ON abide.idempotency_records USING btree (written_at, key);


--
-- Name: limits_by_due; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limits_by_due ON abide.limits USING btree (due_at, id) WHERE (due_at IS NOT NULL);


--
-- Name: limits_by_name; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limits_by_name ON abide.limits USING btree (workspace, name, key, id);


--
-- Name: runs_by_deadline; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX runs_by_deadline ON abide.runs USING btree (deadline_at, id) WHERE (deadline_at IS NOT NULL);


--
-- Name: runs_by_definition; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX runs_by_definition ON abide.runs USING btree (workspace, definition, version, status, id);


--
-- Name: runs_by_end; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX runs_by_end ON abide.runs USING btree (ended_at, id) WHERE (ended_at IS NOT NULL);


--
-- Name: runs_by_status; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX runs_by_status ON abide.runs USING btree (workspace, status, id);


--
-- Name: tasks_by_time; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX tasks_by_time ON abide.tasks USING btree (free_at) WHERE is_taken;


--
-- Name: tasks_free; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX tasks_free ON abide.tasks USING btree (queue, workspace, definition, free_at) WHERE (NOT is_taken);


--
-- Name: waitpoints_by_code; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_code ON abide.waitpoints USING btree (workspace, listens, run, number) WHERE ((status = 0) AND (kind = 9));


--
-- Name: waitpoints_by_due; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_due ON abide.waitpoints USING btree (resume_at, run, number) WHERE ((status = 0) AND (resume_at IS NOT NULL));


--
-- Name: waitpoints_by_event; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_event ON abide.waitpoints USING btree (workspace, listens, created_at, run, number) WHERE ((status = 0) AND (kind = 3));


--
-- Name: waitpoints_by_kind; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_kind ON abide.waitpoints USING btree (workspace, kind, status, resume_at, run, number);


--
-- Name: waitpoints_by_line; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_line ON abide.waitpoints USING btree (filter COLLATE "C", run, number) WHERE ((status = 0) AND (kind = 10));


--
-- Name: waitpoints_by_name; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_name ON abide.waitpoints USING btree (workspace, listens, kind, status, resume_at, run, number) WHERE (listens IS NOT NULL);


--
-- Name: waitpoints_by_transaction; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX waitpoints_by_transaction ON abide.waitpoints USING btree (workspace, listens, began_in) WHERE ((status = 0) AND (kind = 3));


--
-- Name: webhooks_by_workspace; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX webhooks_by_workspace ON abide.webhooks USING btree (workspace, created_at, id);


--
-- PostgreSQL database dump complete
--

\unrestrict F2PQOcVLmuSftOWK0Ys3u3U1OfsaC4PGX8h9K23CnDyBJW4fafJ9ygeUgf2HVHN

