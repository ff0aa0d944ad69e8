--
-- PostgreSQL database dump
--

\restrict 3vYdPDkScGVK14scsLyxS5edrPiAFPGs6iB9nffHB9coQRGVjlwbbZ12bTQDcxe

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
-- Name: event_starts; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.event_starts (
    workspace bigint NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    refused text
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
-- Name: limit_settings; Type: TABLE; Schema: abide; Owner: -
--

CREATE TABLE abide.limit_settings (
    id uuid NOT NULL,
    workspace bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    document text NOT NULL
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
    document text NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    waiting bigint DEFAULT 0 NOT NULL,
    waiting_since bigint
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

INSERT INTO abide.api_keys VALUES ('01a1ef2b-bc01-70bb-8f13-276ddefd8b5a', 0, 16, 1795013983233000000, NULL, NULL, NULL, '\xc4a96b781363cdcc300e31a6eb6da3d262165c348ba362645b92892f4fada27e', 'abk_ceb35312', 'all');
INSERT INTO abide.api_keys VALUES ('01a1ef2b-bc07-7220-9d47-949fac32c0f4', 1, 16, 1795013983239000000, NULL, NULL, NULL, '\xbbfbc57c649e28831f041f7a5b78e071792cbcf18623afbb2d811a2d0dda8d73', 'abk_b64da67e', 'there');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.audit VALUES (1, 0, '{"at":"2026-11-18T14:59:43.094Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_6e143d1285f8c4d2","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"nap","version":"1"}}', '\xf279e373d75b7870394bfc1cdacaef759d9213213e716b2040060ef25120dd56');
INSERT INTO abide.audit VALUES (2, 0, '{"at":"2026-11-18T14:59:43.097Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_7e208ff6b3a56f65","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"dream","version":"1"}}', '\x298c20fb1f516fcc911cb7f4be32de16e9e48f4903dd4bcc5c56f183337f9f77');
INSERT INTO abide.audit VALUES (3, 0, '{"at":"2026-11-18T14:59:43.099Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_8a09cf76f9052092","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"listen","version":"1"}}', '\x67c9dfd6adb8c2e12c42a34b87c0624935bfd65cb71ed1e578e99344e2c8b20a');
INSERT INTO abide.audit VALUES (4, 0, '{"at":"2026-11-18T14:59:43.101Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_0ddfe74f723e1074","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"ask","version":"1"}}', '\x7dad7edf67b88ebc3e13696b5b3f982fcbbd6366faf91895211d583180495a4a');
INSERT INTO abide.audit VALUES (5, 0, '{"at":"2026-11-18T14:59:43.102Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_98a1cc2c73e2c217","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"early","version":"1"}}', '\xb64b85f6166b5b205c2855e9b1468fe1b0931ee8850530d9c465927ddcb365fa');
INSERT INTO abide.audit VALUES (6, 0, '{"at":"2026-11-18T14:59:43.104Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_4f171d8c8731aaa7","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"review","version":"1"}}', '\xa6ad202d950ac6e829b5ad0c68d317497232e3e2b28b2231c1444f2423904420');
INSERT INTO abide.audit VALUES (7, 0, '{"at":"2026-11-18T14:59:43.106Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_66b62aa0cff36be7","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"call","version":"1"}}', '\x57c9beecd5a224e743e1f7d87411dbc46dc430be74917357aadfb67f7cb4bcc0');
INSERT INTO abide.audit VALUES (8, 0, '{"at":"2026-11-18T14:59:43.107Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_e0c19e9567efadc4","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"closed","version":"1"}}', '\x7619657e818fc80f00fcf3ea20c8d13cf71cf75206f0953014acb24fce904c99');
INSERT INTO abide.audit VALUES (9, 0, '{"at":"2026-11-18T14:59:43.109Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_be92e0a27b56fb27","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"child","version":"1"}}', '\xdd199a728b2bd2ef3adbb9393c5e90f89fa3ff24ff7a5dddb54358627b98794b');
INSERT INTO abide.audit VALUES (10, 0, '{"at":"2026-11-18T14:59:43.111Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_7d5db9a43a3b7467","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"parent","version":"1"}}', '\xb5075b12d4b8f90f6331c49b86898802cc2999acaf79a7601ebc16a58bae48b6');
INSERT INTO abide.audit VALUES (11, 0, '{"at":"2026-11-18T14:59:43.113Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_d868473201940ed8","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"map","version":"1"}}', '\x3c4ef3188adbca4f53a04187f7ad8b726b6f7fa48bc3470ac504a3a6fb34ba05');
INSERT INTO abide.audit VALUES (12, 0, '{"at":"2026-11-18T14:59:43.114Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_8c3c5ef3e8f9e17c","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"greet","version":"1"}}', '\x99dbf6e068ad7721c5cc3f92d862046780239bad76da65db602d62dc35c81290');
INSERT INTO abide.audit VALUES (13, 0, '{"at":"2026-11-18T14:59:43.116Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_640cd584d8bea692","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"code","version":"1"}}', '\xf42f5e9e2bf811d1a04e44c5e76930df735d18e58360952123082980b89d72d9');
INSERT INTO abide.audit VALUES (14, 0, '{"at":"2026-11-18T14:59:43.117Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_579c3cbf6700a1ab","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"work","version":"1"}}', '\x637be4d6a08dfe80f2c0604d93639034b23bebf879a85d5cc34e470e44fa285f');
INSERT INTO abide.audit VALUES (15, 0, '{"at":"2026-11-18T14:59:43.17Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_0c44372e2dc49b1d","action":"run.paused","target":"/v1/workflow-runs/run_01m7qjqexheg69f7d1vngb6mv3/pause"}', '\xd988e025bec7c40f6f096cacdd2621785db491f6b13f49de295306ac39eb29f8');
INSERT INTO abide.audit VALUES (16, 0, '{"at":"2026-11-18T14:59:43.198Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_6b9b4b133676ea8e","action":"run.cancelled","target":"/v1/workflow-runs/run_01m7qjqexmfbpv371cg6vd92cg/cancel"}', '\x62875a7f710a5726cfee5090b81a070379c44684b430949f47cf28d1330ad1db');
INSERT INTO abide.audit VALUES (17, 0, '{"at":"2026-11-18T14:59:43.216Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_e55e61dec98a37d5","action":"links.revoked","target":"/v1/waitpoints/wp_01m7qjqex3ecst1abgsqws0mj8_1/link"}', '\xa22276dbb7af4da2bff577ac6c02146e754748c9cb82cb9ba83f69dd1aade019');
INSERT INTO abide.audit VALUES (18, 0, '{"at":"2026-11-18T14:59:43.219Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_70f0d316122f8cf3","action":"schedule.made","target":"/v1/schedules"}', '\xbb7d46093c0805fbf8729de5127eb1612e4fce4ad05d6c61b49174ba65de0961');
INSERT INTO abide.audit VALUES (19, 0, '{"at":"2026-11-18T14:59:43.222Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_003af0865bb47292","action":"schedule.paused","target":"/v1/schedules/sch_01m7qjqezhht5vnkvnyxgm21xe/pause"}', '\x786cc3b43eaf0c6805c7fde7ac22434b5a71a1373db4c5a5a94c699a807c4643');
INSERT INTO abide.audit VALUES (20, 0, '{"at":"2026-11-18T14:59:43.227Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_4d7de90aa434aded","action":"webhook.made","target":"/v1/webhooks","detail":{"id":"whk_01m7qjqeztezkbsbqx3hwe84xw","url":"http://127.0.0.1:9/hook"}}', '\xe5d7525a79cd2ec0185ce1a8e5d830b860ac9c4c4a710a61310afcd1aadc6696');
INSERT INTO abide.audit VALUES (21, 0, '{"at":"2026-11-18T14:59:43.234Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_f9c63f1f4e112c29","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7qjqf01e2xry4s7dqffv2tt","name":"all","scopes":["admin"],"workspace":"ws_0"}}', '\x05fef5438f3b1bb87a92ec9505097d044a87b90a8d78542a79174f5b1fd1badc');
INSERT INTO abide.audit VALUES (22, 0, '{"at":"2026-11-18T14:59:43.237Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_044881f299f5b44e","action":"workspace.made","target":"/v1/workspaces","detail":{"id":"ws_1","name":"other"}}', '\xd0d5023d34266ec560434c5f1451ae32497978b6fa45fcceb001c8ed08a114c1');
INSERT INTO abide.audit VALUES (23, 0, '{"at":"2026-11-18T14:59:43.24Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_c8dc7b349cff5ac1","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7qjqf07e8g9thwmkyp35g7m","name":"there","scopes":["admin"],"workspace":"ws_1"}}', '\x668c36731258e485ca060bc58893f82dceb3ff49c8c011cd2a423fece5397f37');


--
-- Data for Name: commits; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.commits VALUES ('5f78dfee-6431-42c1-b646-462233e10b59', 27, '2026-11-18 14:59:43.20645+00');
INSERT INTO abide.commits VALUES ('68f13496-3789-4261-a624-ecd287f5de3c', 61, '2026-11-18 14:59:43.225063+00');


--
-- Data for Name: costs; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: definitions; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (1, '01a1ef2b-bb75-71ba-b8fd-e74c10ed59a1', 0, 'nap', '1', '{"name":"nap","steps":[{"name":"rest","type":"wait","duration":"10s"}]}', 1795013983093000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (2, '01a1ef2b-bb78-73b7-97e9-29aa6eb0a02e', 0, 'dream', '1', '{"name":"dream","steps":[{"name":"rest","type":"wait","duration":"365d"}]}', 1795013983096000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (3, '01a1ef2b-bb7a-7c2e-85ab-a2cdc1298828', 0, 'listen', '1', '{"name":"listen","steps":[{"name":"hear","type":"wait_for_event","eventId":"paid","match":"event.order == 7"}]}', 1795013983098000000, '[{"eventId":"paid"}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (4, '01a1ef2b-bb7c-7f7a-bf7e-6ed6b71d8044', 0, 'ask', '1', '{"name":"ask","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1795013983100000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (5, '01a1ef2b-bb7e-7610-9ca4-f5bf1084f12d', 0, 'early', '1', '{"name":"early","steps":[{"name":"first","saveAs":"first","type":"external_event","signalType":"first"},{"name":"second","saveAs":"second","type":"external_event","signalType":"second"}]}', 1795013983102000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (6, '01a1ef2b-bb7f-7cdb-a8b3-eb5f9bc6e45e', 0, 'review', '1', '{"name":"review","steps":[{"name":"doc","saveAs":"doc","type":"external_event","signalType":"doc"},{"name":"decide","type":"approval","contentKey":"doc","prompt":"Is it good?"}]}', 1795013983103000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (7, '01a1ef2b-bb81-7bb0-a26b-a39432e97e90', 0, 'call', '1', '{"name":"call","steps":[{"name":"sign","type":"webhook"}]}', 1795013983105000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (8, '01a1ef2b-bb83-74ca-9fc5-5f89c0658686', 0, 'closed', '1', '{"name":"closed","steps":[{"name":"sign","type":"webhook"}]}', 1795013983107000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (9, '01a1ef2b-bb84-7b2d-aa54-92f5067ffd46', 0, 'child', '1', '{"name":"child","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1795013983108000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (10, '01a1ef2b-bb86-7f90-87e4-3a3506a12269', 0, 'parent', '1', '{"name":"parent","steps":[{"name":"child","type":"workflow","definition":"child","input":{}}]}', 1795013983110000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (11, '01a1ef2b-bb88-759b-b006-d2263d6f4787', 0, 'map', '1', '{"name":"map","steps":[{"name":"all","type":"map","items":"{{ input.all }}","step":{"type":"wait_for_event","eventId":"item-{{ item }}"}}]}', 1795013983112000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (12, '01a1ef2b-bb8a-73ff-9b5b-fda17e2d0ce0', 0, 'greet', '1', '{"name":"greet","steps":[{"name":"say","type":"respond","body":"hello"}]}', 1795013983114000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (13, '01a1ef2b-bb8b-7366-8a2e-de54480f81e9', 0, 'code', '1', '{"name":"code","steps":[{"name":"do","type":"task","handler":"code"}]}', 1795013983115000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (14, '01a1ef2b-bb8d-755a-a67d-147822e22920', 0, 'work', '1', '{"name":"work","steps":[{"name":"first","type":"task","handler":"work"},{"name":"second","type":"task","handler":"work"}]}', 1795013983117000000, '[{}]');


--
-- Data for Name: deliveries; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: descendants; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.descendants VALUES ('01a1ef2b-bba5-79cd-aee4-1686f4b44727', 1);


--
-- Data for Name: event_starts; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: events; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.events VALUES ('01a1ef2b-bbf7-7d4c-9b30-e6fdffce3e02', 0, 1795013983225000000, '803', 'shipped', '{"parcel":1}', NULL);


--
-- Data for Name: follow_ups; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: held; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: history; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.history VALUES ('01a1ef2b-bb8f-7242-97c8-dc6cc50fec72', 0, 5, 1795013983119000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3131395a222c226c6f63616c222c7b123a7b043a226e6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226e6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032362d31312d31385431343a35393a35332e3131395a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5d2a075c54');
INSERT INTO abide.history VALUES ('01a1ef2b-bb92-76f7-91b5-f4c87a1d46c9', 0, 5, 1795013983122000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3132325a222c226c6f63616c222c7b123a7b043a22647265616d222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22647265616d225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032372d31312d31385431343a35393a34332e3132325a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5d3b0cd6af');
INSERT INTO abide.history VALUES ('01a1ef2b-bb9a-76d4-b81e-65422f532b81', 0, 5, 1795013983130000000, '\x5b5b22323032362d31312d31385431343a35393a34332e31335a222c226c6f63616c222c7b123a7b043a226c697374656e222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226c697374656e225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a2270616964222c2273696e6365223a1c2c226d61746368223a226576656e742e6f72646572203d3d2037227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5d3ba22c35');
INSERT INTO abide.history VALUES ('01a1ef2b-bb9e-7a92-b24f-2264933d59ad', 0, 5, 1795013983134000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3133345a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2261736b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d65390f5e');
INSERT INTO abide.history VALUES ('01a1ef2b-bb9f-7ca1-9ede-7d89b16357b3', 0, 5, 1795013983135000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3133355a222c226c6f63616c222c7b123a7b043a226561726c79222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226561726c79225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a226669727374227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5dcf78ac8d');
INSERT INTO abide.history VALUES ('01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 0, 5, 1795013983137000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3133375a222c226c6f63616c222c7b123a7b043a22726576696577222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22726576696577225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22646f63227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d46e53bd3');
INSERT INTO abide.history VALUES ('01a1ef2b-bba2-7549-8b11-93332128ea7d', 0, 5, 1795013983138000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3133385a222c226c6f63616c222c7b123a7b043a2263616c6c222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2263616c6c225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5de37ba9cb');
INSERT INTO abide.history VALUES ('01a1ef2b-bba3-7333-a0a9-70cdf9905248', 0, 5, 1795013983139000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3133395a222c226c6f63616c222c7b123a7b043a22636c6f736564222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636c6f736564225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5d3c0b81c0');
INSERT INTO abide.history VALUES ('01a1ef2b-bba5-73cb-bd01-bd1b9e9bdecd', 0, 5, 1795013983141000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3134315a222c22706172656e74222c7b123a7b043a226368696c64222c133a2231227d2c143a7b7d2c22706172656e74223a7b163a2277705f30316d37716a71657835663736747873307067767462386873375f31222c2272756e4964223a2272756e5f30316d37716a7165783566373674787330706776746238687337222c226465707468223a312c22726f6f74223a1e7d2c22737461727465645f6279223a226c6f63616c227d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5dc1657994');
INSERT INTO abide.history VALUES ('01a1ef2b-bba5-79cd-aee4-1686f4b44727', 0, 5, 1795013983141000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3134315a222c226c6f63616c222c7b123a7b043a22706172656e74222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22706172656e74225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224348494c44222c063a0e2c083a1c2c226c697374656e73466f72223a7b226368696c64223a7b2272756e4964223a2272756e5f30316d37716a7165783565663576743064783365663971717064227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224348494c44227d5d5dc5242774');
INSERT INTO abide.history VALUES ('01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 0, 11, 1795013983143000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3134335a222c226c6f63616c222c7b123a7b043a226d6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226d6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a224d41505f53544152544544222c023a7b033a307d2c226974656d73223a5b302c312c325d7d2c7b013a172c023a7b033a302cfe3a307d7d2c7b013a182c023a7b033a302cfe3a307d2c0a3a5b7b073a312c023a7b033a302cfe3a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a226974656d2d30222c2273696e6365223a1c7d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a317d7d2c7b013a182c023a7b033a302cfe3a317d2c0a3a5b7b073a322c023a7b033a302cfe3a317d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d31222c2273696e6365223a1c7d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a327d7d2c7b013a182c023a7b033a302cfe3a327d2c0a3a5b7b073a332c023a7b033a302cfe3a327d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d32222c2273696e6365223a1c7d7d7d5d2c0b3a5b335d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5d64a35a54');
INSERT INTO abide.history VALUES ('01a1ef2b-bbaa-7564-b8a8-07a17088acc6', 0, 5, 1795013983146000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3134365a222c226c6f63616c222c7b123a7b043a226772656574222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226772656574225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a192c023a7b033a307d2c153a7b22626f6479223a2268656c6c6f222c2268656164657273223a7b7d2c063a3230307d7d2c7b013af52c153a6e756c6c7d5d5d5d85538e');
INSERT INTO abide.history VALUES ('01a1ef2b-bbac-7856-8dae-64be0606217e', 0, 3, 1795013983148000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3134385a222c226c6f63616c222c7b123a7b043a22636f6465222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636f6465225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d53efc23d');
INSERT INTO abide.history VALUES ('01a1ef2b-bbae-7b17-b8f0-55c87e82e1ea', 0, 3, 1795013983150000000, '\x5b5b22323032362d31312d31385431343a35393a34332e31355a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5dfe0e385a');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb0-76a5-8060-0fc05d791033', 0, 3, 1795013983152000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3135325a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d008a1d97');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb1-740c-979d-a1dd60b35363', 0, 3, 1795013983153000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3135335a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5dfc881c8f');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb2-7919-af61-af9aeb091a1d', 0, 3, 1795013983154000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3135345a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d540b6094');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb4-7aed-b19c-2c81b6d48990', 0, 3, 1795013983156000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3135365a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d62c8fb1b');
INSERT INTO abide.history VALUES ('01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 5, 13, 1795013983157000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3135375a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a22646f63222cfd3a2274657874227d2c7b013a1a2c073a312c063a0f2c227369676e616c223a317d2c7b013a192c023a7b033a307d2c163a312cfc3a7b226f75747075745f6173223a22646f63227d7d2c7b013ac17d2c7b013a172c023a7b033a317d7d2c7b013a182c023a7b033a317d2c0a3a5b7b073a322c023a7b033a317d2c043a112c053a22415050524f56414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b22617070726f76616c223a7b2270726f6d7074223a22497320697420676f6f643f222c22636f6e74656e74223a2274657874222c2271756f72756d223a317d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a22415050524f56414c5f524551554553544544222c073a327d2c7b013a1b2cfa3a22415050524f56414c227d5d5ded94fea3');
INSERT INTO abide.history VALUES ('01a1ef2b-bb9f-7ca1-9ede-7d89b16357b3', 5, 6, 1795013983160000000, '\x5b5b22323032362d31312d31385431343a35393a34332e31365a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a227365636f6e64222cfd3a327d5d5d9296972c');
INSERT INTO abide.history VALUES ('01a1ef2b-bbba-7354-bc35-aed44037d9ad', 0, 5, 1795013983162000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136325a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b7d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d9c071fe7');
INSERT INTO abide.history VALUES ('01a1ef2b-bbae-7b17-b8f0-55c87e82e1ea', 3, 4, 1795013983166000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5da43c5a3a');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb0-76a5-8060-0fc05d791033', 3, 4, 1795013983166000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d1e5a6a9f');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb1-740c-979d-a1dd60b35363', 3, 4, 1795013983166000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5de78afaf1');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb2-7919-af61-af9aeb091a1d', 3, 4, 1795013983166000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d1dd3385c');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb4-7aed-b19c-2c81b6d48990', 3, 4, 1795013983166000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d7d03d6a9');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb1-740c-979d-a1dd60b35363', 4, 5, 1795013983169000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3136395a222c226c6f63616c222c7b013a22574f524b464c4f575f50415553455f524551554553544544227d5d5d23c43482');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb1-740c-979d-a1dd60b35363', 5, 8, 1795013983171000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3137315a222c226c6f63616c222c7b013a192c023a7b033a307d2c153a317d2c7b013a22535445505f48454c445f4241434b222c023a7b033a317d7d2c7b013a22574f524b464c4f575f5041555345445f42595f4f50455241544f52227d5d5d26723186');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb2-7919-af61-af9aeb091a1d', 4, 6, 1795013983173000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3137335a222c226c6f63616c222c7b013a22535445505f4641494c4544222c023a7b033a307d2cff3a7b22636f6465223a225441534b5f4641494c4544222c226d657373616765223a226e6f227d7d2c7b013a22574f524b464c4f575f4641494c4544222cff3a7b22636f6465223a1e2c226d657373616765223a226e6f222c033a226669727374227d7d5d5d5f733727');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb0-76a5-8060-0fc05d791033', 4, 5, 1795013983194000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3139345a222c226c6f63616c222c7b013a225441534b5f524544454c495645524544222c023a7b033a307d2c22636f756e746564223a66616c73657d5d5d5ab3deba');
INSERT INTO abide.history VALUES ('01a1ef2b-bbb4-7aed-b19c-2c81b6d48990', 4, 6, 1795013983196000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3139365a222c226c6f63616c222c7b013a22535445505f43414e43454c4c4544222c023a7b033a307d7d2c7b013a22574f524b464c4f575f43414e43454c4c4544222cfa3a22656e6f756768227d5d5dde15e4d5');
INSERT INTO abide.history VALUES ('01a1ef2b-bbac-7856-8dae-64be0606217e', 3, 4, 1795013983199000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3139395a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5da911d607');
INSERT INTO abide.history VALUES ('01a1ef2b-bbac-7856-8dae-64be0606217e', 4, 7, 1795013983205000000, '\x5b5b22323032362d31312d31385431343a35393a34332e3230355a222c226c6f63616c222c7b013a224a4f55524e414c5f5245434f52444544222c023a7b033a307d2c22656e7472696573223a5b7b043a22636861726765222c22726573756c74223a7b2272656365697074223a377d7d5d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a22676f222c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22676f227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5df5bd338b');


--
-- Data for Name: idempotency_records; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.idempotency_records VALUES ('ws_0/start/order-7', 4016846795254755208, 1795013983162000000, '{"started":"run_01m7qjqextedabrddeth03fpdd"}', '01a1ef2b-bbba-7354-bc35-aed44037d9ad');


--
-- Data for Name: limit_settings; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: limits; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: link_generations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.link_generations VALUES ('01a1ef2b-bba3-7333-a0a9-70cdf9905248', 1, 1);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.migrations VALUES (1, '2026-11-18 14:59:43.008108+00', 1);
INSERT INTO abide.migrations VALUES (2, '2026-11-18 14:59:43.008108+00', 1);
INSERT INTO abide.migrations VALUES (3, '2026-11-18 14:59:43.008108+00', 3);
INSERT INTO abide.migrations VALUES (4, '2026-11-18 14:59:43.008108+00', 4);
INSERT INTO abide.migrations VALUES (5, '2026-11-18 14:59:43.008108+00', 5);
INSERT INTO abide.migrations VALUES (6, '2026-11-18 14:59:43.008108+00', 6);
INSERT INTO abide.migrations VALUES (7, '2026-11-18 14:59:43.008108+00', 7);
INSERT INTO abide.migrations VALUES (8, '2026-11-18 14:59:43.008108+00', 7);
INSERT INTO abide.migrations VALUES (9, '2026-11-18 14:59:43.008108+00', 9);
INSERT INTO abide.migrations VALUES (10, '2026-11-18 14:59:43.008108+00', 10);
INSERT INTO abide.migrations VALUES (11, '2026-11-18 14:59:43.008108+00', 11);
INSERT INTO abide.migrations VALUES (12, '2026-11-18 14:59:43.008108+00', 12);


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.nodes VALUES ('1e270c3e-9532-5bfc-e0e9-60f5bbd0a66b', 1795013983073538);


--
-- Data for Name: run_tags; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bb8f-7242-97c8-dc6cc50fec72', 'nap');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bb92-76f7-91b5-f4c87a1d46c9', 'dream');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bb9a-76d4-b81e-65422f532b81', 'listen');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bb9e-7a92-b24f-2264933d59ad', 'ask');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bb9f-7ca1-9ede-7d89b16357b3', 'early');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 'review');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bba2-7549-8b11-93332128ea7d', 'call');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bba3-7333-a0a9-70cdf9905248', 'closed');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bba5-79cd-aee4-1686f4b44727', 'parent');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 'map');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbaa-7564-b8a8-07a17088acc6', 'greet');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbac-7856-8dae-64be0606217e', 'code');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbae-7b17-b8f0-55c87e82e1ea', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbb0-76a5-8060-0fc05d791033', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbb1-740c-979d-a1dd60b35363', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbb2-7919-af61-af9aeb091a1d', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ef2b-bbb4-7aed-b19c-2c81b6d48990', 'work');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.runs VALUES ('01a1ef2b-bb8f-7242-97c8-dc6cc50fec72', 0, 5, 1795013983119000000, 1795013983119000000, NULL, NULL, 2, 'nap', '1', '["nap"]', 705125461);
INSERT INTO abide.runs VALUES ('01a1ef2b-bb92-76f7-91b5-f4c87a1d46c9', 0, 5, 1795013983122000000, 1795013983122000000, NULL, NULL, 2, 'dream', '1', '["dream"]', 990697136);
INSERT INTO abide.runs VALUES ('01a1ef2b-bb9a-76d4-b81e-65422f532b81', 0, 5, 1795013983130000000, 1795013983130000000, NULL, NULL, 2, 'listen', '1', '["listen"]', 1000483894);
INSERT INTO abide.runs VALUES ('01a1ef2b-bb9e-7a92-b24f-2264933d59ad', 0, 5, 1795013983134000000, 1795013983134000000, NULL, NULL, 2, 'ask', '1', '["ask"]', 1698238303);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba2-7549-8b11-93332128ea7d', 0, 5, 1795013983138000000, 1795013983138000000, NULL, NULL, 2, 'call', '1', '["call"]', 3816532428);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba3-7333-a0a9-70cdf9905248', 0, 5, 1795013983139000000, 1795013983139000000, NULL, NULL, 2, 'closed', '1', '["closed"]', 1007387073);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba5-73cb-bd01-bd1b9e9bdecd', 0, 5, 1795013983141000000, 1795013983141000000, NULL, NULL, 2, 'child', '1', NULL, 3244652949);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba5-79cd-aee4-1686f4b44727', 0, 5, 1795013983141000000, 1795013983141000000, NULL, NULL, 2, 'parent', '1', '["parent"]', 3307480949);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 0, 11, 1795013983143000000, 1795013983143000000, NULL, NULL, 2, 'map', '1', '["map"]', 1688427093);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbaa-7564-b8a8-07a17088acc6', 0, 5, 1795013983146000000, 1795013983146000000, 1795013983146000000, NULL, 4, 'greet', '1', '["greet"]', 1569018767);
INSERT INTO abide.runs VALUES ('01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 0, 13, 1795013983137000000, 1795013983157000000, NULL, NULL, 2, 'review', '1', '["review"]', 1574218172);
INSERT INTO abide.runs VALUES ('01a1ef2b-bb9f-7ca1-9ede-7d89b16357b3', 0, 6, 1795013983135000000, 1795013983160000000, NULL, NULL, 2, 'early', '1', '["early"]', 3214646390);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbba-7354-bc35-aed44037d9ad', 0, 5, 1795013983162000000, 1795013983162000000, NULL, NULL, 2, 'ask', '1', NULL, 2617712616);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbae-7b17-b8f0-55c87e82e1ea', 0, 4, 1795013983150000000, 1795013983166000000, NULL, NULL, 1, 'work', '1', '["work"]', 4103430244);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbb1-740c-979d-a1dd60b35363', 0, 8, 1795013983153000000, 1795013983171000000, NULL, NULL, 3, 'work', '1', '["work"]', 1667350784);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbb2-7919-af61-af9aeb091a1d', 0, 6, 1795013983154000000, 1795013983173000000, 1795013983173000000, NULL, 5, 'work', '1', '["work"]', 2187727537);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbb0-76a5-8060-0fc05d791033', 0, 5, 1795013983152000000, 1795013983194000000, NULL, NULL, 1, 'work', '1', '["work"]', 906519299);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbb4-7aed-b19c-2c81b6d48990', 0, 6, 1795013983156000000, 1795013983196000000, 1795013983196000000, NULL, 6, 'work', '1', '["work"]', 3163983555);
INSERT INTO abide.runs VALUES ('01a1ef2b-bbac-7856-8dae-64be0606217e', 0, 7, 1795013983148000000, 1795013983205000000, NULL, NULL, 2, 'code', '1', '["code"]', 2233290320);


--
-- Data for Name: schedules; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.schedules VALUES ('01a1ef2b-bbf1-8e8b-bacf-75f7614107ae', 0, 'nightly', 2, '{"id":"sch_01m7qjqezhht5vnkvnyxgm21xe","workspace":"ws_0","plan":{"name":"nightly","workflow":"greet","input":null,"when":{"cron":"0 3 * * *","timezone":"Europe/Berlin"},"overlap":"skip","catchUp":"last"},"seq":2,"createdBy":"local","createdAt":"2026-11-18T14:59:43.217Z","updatedAt":"2026-11-18T14:59:43.22Z","paused":true,"anchor":"2026-11-18T14:59:43.217Z","waits":[{"number":1,"name":"$occurrence","kind":"SCHEDULE","status":"CANCELLED","createdAt":"2026-11-18T14:59:43.217Z","resumeAt":"2026-11-19T02:00:00Z","resumePayload":{"reason":"paused"},"resolvedBy":"local","resolvedAt":"2026-11-18T14:59:43.22Z"}]}');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.settings VALUES ('store-id', '\x3661663061376433366463323736353331373231376439373032613363373663');
INSERT INTO abide.settings VALUES ('link-secrets', '\x5b7b226964223a312c22736563726574223a2257434f634d47326a4c3248304443743237584a6c376d37344b6d58735a35347547734d746f3851686c3755222c22637265617465644174223a22323032362d31312d31385431343a35393a34332e3038355a227d5d');


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: stored_bytes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.stored_bytes VALUES (0, 220);
INSERT INTO abide.stored_bytes VALUES (0, 224);
INSERT INTO abide.stored_bytes VALUES (0, 283);
INSERT INTO abide.stored_bytes VALUES (0, 249);
INSERT INTO abide.stored_bytes VALUES (0, 252);
INSERT INTO abide.stored_bytes VALUES (0, 252);
INSERT INTO abide.stored_bytes VALUES (0, 246);
INSERT INTO abide.stored_bytes VALUES (0, 250);
INSERT INTO abide.stored_bytes VALUES (0, 619);
INSERT INTO abide.stored_bytes VALUES (0, 587);
INSERT INTO abide.stored_bytes VALUES (0, 188);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 120);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 378);
INSERT INTO abide.stored_bytes VALUES (0, 96);
INSERT INTO abide.stored_bytes VALUES (0, 217);
INSERT INTO abide.stored_bytes VALUES (0, 335);
INSERT INTO abide.stored_bytes VALUES (0, 73);
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

INSERT INTO abide.tasks VALUES ('01a1ef2b-bbae-7b17-b8f0-55c87e82e1ea', 0, 1, 0, 'work', 'work', true, true, 1795014043166000000, 60000000000, NULL);
INSERT INTO abide.tasks VALUES ('01a1ef2b-bbb0-76a5-8060-0fc05d791033', 0, 2, 0, 'work', 'work', false, false, 1795013983194000000, 10000000000, NULL);


--
-- Data for Name: waitpoints; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bb8f-7242-97c8-dc6cc50fec72', 1, 0, 1795013983119000000, 1795013993119000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bb92-76f7-91b5-f4c87a1d46c9', 1, 0, 1795013983122000000, 1826549983122000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bb9a-76d4-b81e-65422f532b81', 1, 0, 1795013983130000000, NULL, '767', 3, 0, 'paid', '{"eventId":"paid","since":"2026-11-18T14:59:43.13Z","match":"event.order == 7"}');
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bb9e-7a92-b24f-2264933d59ad', 1, 0, 1795013983134000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bb9f-7ca1-9ede-7d89b16357b3', 1, 0, 1795013983135000000, NULL, NULL, 2, 0, 'first', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba2-7549-8b11-93332128ea7d', 1, 0, 1795013983138000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba3-7333-a0a9-70cdf9905248', 1, 0, 1795013983139000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba5-73cb-bd01-bd1b9e9bdecd', 1, 0, 1795013983141000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba5-79cd-aee4-1686f4b44727', 1, 0, 1795013983141000000, NULL, NULL, 5, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 1, 0, 1795013983143000000, NULL, '774', 3, 0, 'item-0', '{"eventId":"item-0","since":"2026-11-18T14:59:43.143Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 2, 0, 1795013983143000000, NULL, '774', 3, 0, 'item-1', '{"eventId":"item-1","since":"2026-11-18T14:59:43.143Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba7-7b49-870f-20ebd1fff0d6', 3, 0, 1795013983143000000, NULL, '774', 3, 0, 'item-2', '{"eventId":"item-2","since":"2026-11-18T14:59:43.143Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 1, 0, 1795013983137000000, NULL, NULL, 2, 1, 'doc', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bba1-7c2d-8f54-a85c7fed5618', 2, 0, 1795013983157000000, NULL, NULL, 4, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bbba-7354-bc35-aed44037d9ad', 1, 0, 1795013983162000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bbac-7856-8dae-64be0606217e', 1, 0, 1795013983205000000, NULL, NULL, 2, 0, 'go', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ef2b-bbf1-8e8b-bacf-75f7614107ae', 1, 0, 1795013983217000000, 1795053600000000000, NULL, 8, 3, NULL, NULL);


--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.webhooks VALUES ('01a1ef2b-bbfa-77e6-bcae-fd1c78e413bc', 0, 'http://127.0.0.1:9/hook', NULL, 2, '[{"key":"whsec_SS4cDHZ98PMO6VhjAG3mnzn/TC62nV+2L0uBIiRz0t0="}]', 1795013983226000000, NULL, NULL, NULL);


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.workspaces VALUES (0, 'default', 1795013983000000000);
INSERT INTO abide.workspaces VALUES (1, 'other', 1795013983235000000);


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
-- Name: event_starts event_starts_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.event_starts
    ADD CONSTRAINT event_starts_pkey PRIMARY KEY (workspace, event_id, workflow);


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
-- Name: limit_settings limit_settings_pkey; Type: CONSTRAINT; Schema: abide; Owner: -
--

ALTER TABLE ONLY abide.limit_settings
    ADD CONSTRAINT limit_settings_pkey PRIMARY KEY (id);


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
-- Name: limit_settings_by_name; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limit_settings_by_name ON abide.limit_settings USING btree (workspace, name, id);


--
-- Name: limits_by_due; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limits_by_due ON abide.limits USING btree (due_at, id) WHERE (due_at IS NOT NULL);


--
-- Name: limits_by_name; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limits_by_name ON abide.limits USING btree (workspace, name, key, id);


--
-- Name: limits_by_waiting; Type: INDEX; Schema: abide; Owner: -
--

CREATE INDEX limits_by_waiting ON abide.limits USING btree (workspace, waiting DESC, id) WHERE (waiting > 0);


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

\unrestrict 3vYdPDkScGVK14scsLyxS5edrPiAFPGs6iB9nffHB9coQRGVjlwbbZ12bTQDcxe

