--
-- PostgreSQL database dump
--

\restrict cGROKXx1U6mASSGaYp7BPiicLuLqCOaK7iMvqBhEBJzmjfkeV4vyaYLNjiIDVRH

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

INSERT INTO abide.api_keys VALUES ('01a1ee3d-7cac-702e-89ac-35720148d842', 0, 16, 1794998369452000000, NULL, NULL, NULL, '\xe8be0eb51b216c6b5c203d1a291868791b33b695c933d586d5ae107fa2f4d141', 'abk_ce92bcb3', 'all');
INSERT INTO abide.api_keys VALUES ('01a1ee3d-7cfb-7020-b0e6-f2c83d1b603d', 1, 16, 1794998369531000000, NULL, NULL, NULL, '\xf0059405e7489e91431235f99d21b6353829e8ca51eadf563102411b18a7056a', 'abk_84e5e561', 'there');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.audit VALUES (1, 0, '{"at":"2026-11-18T10:39:28.433Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_eb1c8721130028e0","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"nap","version":"1"}}', '\xa541087bbc4b8b2609efb6d802a273cbea6eae32580e836ab4fa576163c69fd5');
INSERT INTO abide.audit VALUES (2, 0, '{"at":"2026-11-18T10:39:28.458Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_a76371c84cffd0ad","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"dream","version":"1"}}', '\x29e8f18302ab1c76cc6e3c5b130328e8bcef01890459f5ad7cc920a4d53fe955');
INSERT INTO abide.audit VALUES (3, 0, '{"at":"2026-11-18T10:39:28.48Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_1bb021a4115f00c2","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"listen","version":"1"}}', '\x0dc79b15dd4171e4cd6b4e97a47538e17823fd8df5f711397e71bc8163bd32fc');
INSERT INTO abide.audit VALUES (4, 0, '{"at":"2026-11-18T10:39:28.491Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_a36af5c91bbd27d6","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"ask","version":"1"}}', '\xcecf8f1713741d3646a3cd09bd1d39c39970102074d811c55cd2ac69431268b4');
INSERT INTO abide.audit VALUES (5, 0, '{"at":"2026-11-18T10:39:28.497Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_f62cd24b5526f5e3","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"early","version":"1"}}', '\xb278f1e299e5a8d6872611683714b52e81508bd79b240f895a92ad5fb893801b');
INSERT INTO abide.audit VALUES (6, 0, '{"at":"2026-11-18T10:39:28.504Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_a7ec834f295ca34b","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"review","version":"1"}}', '\xd5a51f9627ae9d85999a61b7f31df8a8961c7440fd5bb405b671f40b3d34d3b3');
INSERT INTO abide.audit VALUES (7, 0, '{"at":"2026-11-18T10:39:28.523Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_004c457c9d2a77eb","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"call","version":"1"}}', '\xfcca32c6cf2c53d4b453dc9f6577feb709f60c55fd3b8b95f91e212967c584c6');
INSERT INTO abide.audit VALUES (8, 0, '{"at":"2026-11-18T10:39:28.535Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_5865557b01af78ac","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"closed","version":"1"}}', '\x8fb9c0f32f18068b6a3b4c9e3c97aa98c8d706722c4c5cc2df7804c91b1aac53');
INSERT INTO abide.audit VALUES (9, 0, '{"at":"2026-11-18T10:39:28.575Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_51dede2c5c60be78","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"child","version":"1"}}', '\x8b0119551397126ba12db7f5139e5f24af97a55f69a81458fa37ed5136456f33');
INSERT INTO abide.audit VALUES (10, 0, '{"at":"2026-11-18T10:39:28.583Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_8b0c3110cabd749b","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"parent","version":"1"}}', '\xc6ef99b73721bef1600c0a43a23327124e4efbd2139cb2317962df3e19e1b2ff');
INSERT INTO abide.audit VALUES (11, 0, '{"at":"2026-11-18T10:39:28.599Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_991038b60f397639","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"map","version":"1"}}', '\xe981631d64c07c1cb80d216abd29bbb57db00bc0c8da46a008bc8791d678a0d5');
INSERT INTO abide.audit VALUES (12, 0, '{"at":"2026-11-18T10:39:28.605Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_074efd13dde00098","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"greet","version":"1"}}', '\x69ebf53a45b3c52c893e381a8dcb6aa02e329d8c596ee149f476ed7df7a6ed51');
INSERT INTO abide.audit VALUES (13, 0, '{"at":"2026-11-18T10:39:28.609Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_989eed36e09d457c","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"code","version":"1"}}', '\x1617d57ece9d09edf6d2e63375f9056012d836a807cbcf42ef5ec9eacf9b186d');
INSERT INTO abide.audit VALUES (14, 0, '{"at":"2026-11-18T10:39:28.618Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_71c5fe8310251d6a","action":"definition.stored","target":"/v1/workflow-definitions","detail":{"created":true,"name":"work","version":"1"}}', '\xd228ec3baf1c40d680606c29a8f8f7c290e03471ae7a4f968307113310197f8d');
INSERT INTO abide.audit VALUES (15, 0, '{"at":"2026-11-18T10:39:28.782Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_75581c774879989b","action":"run.paused","target":"/v1/workflow-runs/run_01m7q3tyemek4aca9x69fkb7q6/pause"}', '\x72de67b55d72884fdd208a5747d7f8f94ce7d136b71bccc08aff9d3e03e9550e');
INSERT INTO abide.audit VALUES (16, 0, '{"at":"2026-11-18T10:39:28.959Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_1e3edb8e1c0b47b1","action":"run.cancelled","target":"/v1/workflow-runs/run_01m7q3tyevec6vnhqsr6rwf20s/cancel"}', '\x7f18711dd6a85703f45a194b94c45e17b921e41be22baec6d5b1a95f65c43c5f');
INSERT INTO abide.audit VALUES (17, 0, '{"at":"2026-11-18T10:39:29.203Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_e66c2914b5d39f60","action":"links.revoked","target":"/v1/waitpoints/wp_01m7q3tydef5z9d78zbr0hjbj8_1/link"}', '\xdee2cd22b6e0d2554dfa23ca8e6506ab68108553991a95559445794aa7681c70');
INSERT INTO abide.audit VALUES (18, 0, '{"at":"2026-11-18T10:39:29.255Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_0130d59f0e1f8cd0","action":"schedule.made","target":"/v1/schedules"}', '\x0b4f70656c0a99156286c01c644cd8fca3bf1b01c20c304ba69865259c7a03aa');
INSERT INTO abide.audit VALUES (19, 0, '{"at":"2026-11-18T10:39:29.283Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_18ef7b5c0ac889cc","action":"schedule.paused","target":"/v1/schedules/sch_01m7q3tyy0gpta3t53hbgz3yew/pause"}', '\xa7fae90e2ed2ff40c014abc445b68fc07a207f9fcdf0d164b7d59362c4b6a450');
INSERT INTO abide.audit VALUES (20, 0, '{"at":"2026-11-18T10:39:29.423Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_9e4ffd195067d52c","action":"webhook.made","target":"/v1/webhooks","detail":{"id":"whk_01m7q3tz39fgabptn03b60dahc","url":"http://127.0.0.1:9/hook"}}', '\x3595c6512bd6be05eb29e6f381196dd1d5e88e847a6a3a26f6b6c8d017d40d0a');
INSERT INTO abide.audit VALUES (21, 0, '{"at":"2026-11-18T10:39:29.466Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_1228c8c4522212d8","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7q3tz5ce0q8kb1ne80mhp22","name":"all","scopes":["admin"],"workspace":"ws_0"}}', '\x6e25252b21b4158b29dffee99ee4d2f25ca36fcff1e055e0405e9a839148b4c2');
INSERT INTO abide.audit VALUES (22, 0, '{"at":"2026-11-18T10:39:29.499Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_dc8475256f68b3e1","action":"workspace.made","target":"/v1/workspaces","detail":{"id":"ws_1","name":"other"}}', '\x8cdd5b9b9db46a01683a0e83f5ec8f46e596d8bf312e95fa8ad575e84fe74902');
INSERT INTO abide.audit VALUES (23, 0, '{"at":"2026-11-18T10:39:29.567Z","workspace":"ws_0","by":"local","address":"127.0.0.1","requestId":"req_48ada00205a4050d","action":"key.made","target":"/v1/keys","detail":{"id":"key_01m7q3tz7ve0gb1sqjs0yhpr1x","name":"there","scopes":["admin"],"workspace":"ws_1"}}', '\xccc1570707a7484b24446fe58e8c642ff3889e8fc35555cf439230705e8d47c0');


--
-- Data for Name: commits; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.commits VALUES ('5d3a3c82-85d3-48e0-97b0-9dde853a3000', 27, '2026-11-18 10:39:28.99569+00');
INSERT INTO abide.commits VALUES ('da6c2207-a0f1-4e44-b121-278cdecdc63d', 61, '2026-11-18 10:39:29.352587+00');


--
-- Data for Name: costs; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: definitions; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (1, '01a1ee3d-78a2-796c-92d9-bf548b42bae1', 0, 'nap', '1', '{"name":"nap","steps":[{"name":"rest","type":"wait","duration":"10s"}]}', 1794998368418000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (2, '01a1ee3d-78ba-70b9-bf20-a522e6843a1d', 0, 'dream', '1', '{"name":"dream","steps":[{"name":"rest","type":"wait","duration":"365d"}]}', 1794998368442000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (3, '01a1ee3d-78d3-7fec-8a14-89964dcc1b68', 0, 'listen', '1', '{"name":"listen","steps":[{"name":"hear","type":"wait_for_event","eventId":"paid","match":"event.order == 7"}]}', 1794998368467000000, '[{"eventId":"paid"}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (4, '01a1ee3d-78e9-7fb8-99b6-5ff117593411', 0, 'ask', '1', '{"name":"ask","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1794998368489000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (5, '01a1ee3d-78ec-7915-8fe9-d9be46622f16', 0, 'early', '1', '{"name":"early","steps":[{"name":"first","saveAs":"first","type":"external_event","signalType":"first"},{"name":"second","saveAs":"second","type":"external_event","signalType":"second"}]}', 1794998368492000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (6, '01a1ee3d-78f7-7353-b4e3-cb5046e2d7de', 0, 'review', '1', '{"name":"review","steps":[{"name":"doc","saveAs":"doc","type":"external_event","signalType":"doc"},{"name":"decide","type":"approval","contentKey":"doc","prompt":"Is it good?"}]}', 1794998368503000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (7, '01a1ee3d-7907-7a15-b9fd-82b4d4da07e4', 0, 'call', '1', '{"name":"call","steps":[{"name":"sign","type":"webhook"}]}', 1794998368519000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (8, '01a1ee3d-7914-72b6-8968-6ced7d57b8b0', 0, 'closed', '1', '{"name":"closed","steps":[{"name":"sign","type":"webhook"}]}', 1794998368532000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (9, '01a1ee3d-792a-769d-992f-b57b10948426', 0, 'child', '1', '{"name":"child","steps":[{"name":"answer","saveAs":"answer","type":"external_event","signalType":"answer"}]}', 1794998368554000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (10, '01a1ee3d-7943-7d24-91ba-28f2dcc837e4', 0, 'parent', '1', '{"name":"parent","steps":[{"name":"child","type":"workflow","definition":"child","input":{}}]}', 1794998368579000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (11, '01a1ee3d-794c-7071-889e-dbeba9b91323', 0, 'map', '1', '{"name":"map","steps":[{"name":"all","type":"map","items":"{{ input.all }}","step":{"type":"wait_for_event","eventId":"item-{{ item }}"}}]}', 1794998368588000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (12, '01a1ee3d-795c-762d-bcc9-e656b8ef9763', 0, 'greet', '1', '{"name":"greet","steps":[{"name":"say","type":"respond","body":"hello"}]}', 1794998368604000000, '[]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (13, '01a1ee3d-795e-7427-b8e2-a91557af27e0', 0, 'code', '1', '{"name":"code","steps":[{"name":"do","type":"task","handler":"code"}]}', 1794998368606000000, '[{}]');
INSERT INTO abide.definitions OVERRIDING SYSTEM VALUE VALUES (14, '01a1ee3d-7964-7eaf-9755-8fc1688ce7f9', 0, 'work', '1', '{"name":"work","steps":[{"name":"first","type":"task","handler":"work"},{"name":"second","type":"task","handler":"work"}]}', 1794998368612000000, '[{}]');


--
-- Data for Name: deliveries; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: descendants; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.descendants VALUES ('01a1ee3d-79b1-7fcc-9aab-6ecad2a5ec68', 1);


--
-- Data for Name: events; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.events VALUES ('01a1ee3d-7c06-778e-bee2-020a73a2c587', 0, 1794998369323000000, '810', 'shipped', '{"parcel":1}', NULL);


--
-- Data for Name: follow_ups; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: held; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: history; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.history VALUES ('01a1ee3d-7970-73b6-9063-ac6bc0461db9', 0, 5, 1794998368624000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3632345a222c226c6f63616c222c7b123a7b043a226e6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226e6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032362d31312d31385431303a33393a33382e3632345a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5ddde99d04');
INSERT INTO abide.history VALUES ('01a1ee3d-7986-7e66-b282-1c397d14507c', 0, 5, 1794998368646000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3634365a222c226c6f63616c222c7b123a7b043a22647265616d222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22647265616d225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a102c063a0e2c083a1c2c093a22323032372d31312d31385431303a33393a32382e3634365a227d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a102c093a1d7d5d5d82beffb5');
INSERT INTO abide.history VALUES ('01a1ee3d-798f-7241-8fd1-1c28a457ea92', 0, 5, 1794998368655000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3635355a222c226c6f63616c222c7b123a7b043a226c697374656e222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226c697374656e225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a2270616964222c2273696e6365223a1c2c226d61746368223a226576656e742e6f72646572203d3d2037227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5d56d6423e');
INSERT INTO abide.history VALUES ('01a1ee3d-799a-7778-b489-5602f1f5d895', 0, 5, 1794998368666000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3636365a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2261736b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d2974f52c');
INSERT INTO abide.history VALUES ('01a1ee3d-799e-718a-8525-d2a1e0d0d3f1', 0, 5, 1794998368670000000, '\x5b5b22323032362d31312d31385431303a33393a32382e36375a222c226c6f63616c222c7b123a7b043a226561726c79222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226561726c79225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a226669727374227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5dff7d82a5');
INSERT INTO abide.history VALUES ('01a1ee3d-79a4-77a8-97f5-2950778862c3', 0, 5, 1794998368676000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3637365a222c226c6f63616c222c7b123a7b043a22726576696577222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22726576696577225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22646f63227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5dcfbdedd2');
INSERT INTO abide.history VALUES ('01a1ee3d-79a8-7046-9dca-189911b7f775', 0, 5, 1794998368680000000, '\x5b5b22323032362d31312d31385431303a33393a32382e36385a222c226c6f63616c222c7b123a7b043a2263616c6c222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b2263616c6c225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5d5aea7a45');
INSERT INTO abide.history VALUES ('01a1ee3d-79ae-797e-969d-1f5e01192e48', 0, 5, 1794998368686000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3638365a222c226c6f63616c222c7b123a7b043a22636c6f736564222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636c6f736564225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a22574542484f4f4b222c063a0e2c083a1c2c226c697374656e73466f72223a7b2263616c6c223a7b22616c6c6f77476574223a66616c73657d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a22574542484f4f4b227d5d5d5d42afbd');
INSERT INTO abide.history VALUES ('01a1ee3d-79b1-7d84-b501-3a7968900a9a', 0, 5, 1794998368689000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3638395a222c22706172656e74222c7b123a7b043a226368696c64222c133a2231227d2c143a7b7d2c22706172656e74223a7b163a2277705f30316d37713374796468667a36396e61766573623961627633385f31222c2272756e4964223a2272756e5f30316d37713374796468667a36396e6176657362396162763338222c226465707468223a312c22726f6f74223a1e7d2c22737461727465645f6279223a226c6f63616c227d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5db35e5a7f');
INSERT INTO abide.history VALUES ('01a1ee3d-79b1-7fcc-9aab-6ecad2a5ec68', 0, 5, 1794998368689000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3638395a222c226c6f63616c222c7b123a7b043a22706172656e74222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22706172656e74225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a224348494c44222c063a0e2c083a1c2c226c697374656e73466f72223a7b226368696c64223a7b2272756e4964223a2272756e5f30316d37713374796468667032626130397466356d3930326d74227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a224348494c44227d5d5d921bd357');
INSERT INTO abide.history VALUES ('01a1ee3d-79b4-716f-bb23-16da1386b31f', 0, 11, 1794998368692000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3639325a222c226c6f63616c222c7b123a7b043a226d6170222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226d6170225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a224d41505f53544152544544222c023a7b033a307d2c226974656d73223a5b302c312c325d7d2c7b013a172c023a7b033a302cfe3a307d7d2c7b013a182c023a7b033a302cfe3a307d2c0a3a5b7b073a312c023a7b033a302cfe3a307d2c043a112c053a224556454e54222c063a0e2c083a1c2c226c697374656e73466f72223a7b226576656e74223a7b226576656e744964223a226974656d2d30222c2273696e6365223a1c7d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a317d7d2c7b013a182c023a7b033a302cfe3a317d2c0a3a5b7b073a322c023a7b033a302cfe3a317d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d31222c2273696e6365223a1c7d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a172c023a7b033a302cfe3a327d7d2c7b013a182c023a7b033a302cfe3a327d2c0a3a5b7b073a332c023a7b033a302cfe3a327d2c043a112c053a224556454e54222c063a0e2c083a1c2c1e3a7b226576656e74223a7b226576656e744964223a226974656d2d32222c2273696e6365223a1c7d7d7d5d2c0b3a5b335d2c0c3a0d7d2c7b013a1b2cfa3a224556454e54227d5d5d13bc41cb');
INSERT INTO abide.history VALUES ('01a1ee3d-79bf-75ff-8367-e152f63587d8', 0, 5, 1794998368703000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3730335a222c226c6f63616c222c7b123a7b043a226772656574222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b226772656574225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a192c023a7b033a307d2c153a7b22626f6479223a2268656c6c6f222c2268656164657273223a7b7d2c063a3230307d7d2c7b013af52c153a6e756c6c7d5d5d250a435f');
INSERT INTO abide.history VALUES ('01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 0, 3, 1794998368709000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3730395a222c226c6f63616c222c7b123a7b043a22636f6465222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22636f6465225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5de8840d98');
INSERT INTO abide.history VALUES ('01a1ee3d-79ca-7cd3-bea2-6be8a2b9c1c2', 0, 3, 1794998368714000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3731345a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d6f430680');
INSERT INTO abide.history VALUES ('01a1ee3d-79ce-756b-a6a7-016b92b70249', 0, 3, 1794998368718000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3731385a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d336a30c7');
INSERT INTO abide.history VALUES ('01a1ee3d-79d4-74c8-a629-3d325f359ee6', 0, 3, 1794998368724000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3732345a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5daca23768');
INSERT INTO abide.history VALUES ('01a1ee3d-79d6-7d07-8280-26fc003066a3', 0, 3, 1794998368726000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3732365a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5db1670af5');
INSERT INTO abide.history VALUES ('01a1ee3d-79db-730d-bac6-f9c1b1c78819', 0, 3, 1794998368731000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3733315a222c226c6f63616c222c7b123a7b043a22776f726b222c133a2231227d2c143a7b0d3a5b302c312c325d2c226e223a302e317d2c2274616773223a5b22776f726b225d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d5d5d99cb9615');
INSERT INTO abide.history VALUES ('01a1ee3d-79a4-77a8-97f5-2950778862c3', 5, 13, 1794998368734000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3733345a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a22646f63222cfd3a2274657874227d2c7b013a1a2c073a312c063a0f2c227369676e616c223a317d2c7b013a192c023a7b033a307d2c163a312cfc3a7b226f75747075745f6173223a22646f63227d7d2c7b013ac17d2c7b013a172c023a7b033a317d7d2c7b013a182c023a7b033a317d2c0a3a5b7b073a322c023a7b033a317d2c043a112c053a22415050524f56414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b22617070726f76616c223a7b2270726f6d7074223a22497320697420676f6f643f222c22636f6e74656e74223a2274657874222c2271756f72756d223a317d7d7d5d2c0b3a5b325d2c0c3a0d7d2c7b013a22415050524f56414c5f524551554553544544222c073a327d2c7b013a1b2cfa3a22415050524f56414c227d5d5d658d557b');
INSERT INTO abide.history VALUES ('01a1ee3d-799e-718a-8525-d2a1e0d0d3f1', 5, 6, 1794998368748000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3734385a222c226c6f63616c222c7b013a225349474e414c5f5245434549564544222c226964223a312c227369676e616c54797065223a227365636f6e64222cfd3a327d5d5d6d7770f4');
INSERT INTO abide.history VALUES ('01a1ee3d-79fe-7e94-8dd8-64f94265f560', 0, 5, 1794998368766000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3736365a222c226c6f63616c222c7b123a7b043a2261736b222c133a2231227d2c143a7b7d7d2c7b013ac07d2c7b013a172c023a7b033a307d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a112c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22616e73776572227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5da6f5f383');
INSERT INTO abide.history VALUES ('01a1ee3d-79ca-7cd3-bea2-6be8a2b9c1c2', 3, 4, 1794998368773000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737335a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d7dd180ce');
INSERT INTO abide.history VALUES ('01a1ee3d-79ce-756b-a6a7-016b92b70249', 3, 4, 1794998368773000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737335a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5deaed26dd');
INSERT INTO abide.history VALUES ('01a1ee3d-79d4-74c8-a629-3d325f359ee6', 3, 4, 1794998368773000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737335a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d12fd0b90');
INSERT INTO abide.history VALUES ('01a1ee3d-79d6-7d07-8280-26fc003066a3', 3, 4, 1794998368773000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737335a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d9b9265fc');
INSERT INTO abide.history VALUES ('01a1ee3d-79db-730d-bac6-f9c1b1c78819', 3, 4, 1794998368773000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737335a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d1a2a5765');
INSERT INTO abide.history VALUES ('01a1ee3d-79d4-74c8-a629-3d325f359ee6', 4, 5, 1794998368779000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3737395a222c226c6f63616c222c7b013a22574f524b464c4f575f50415553455f524551554553544544227d5d5d52576164');
INSERT INTO abide.history VALUES ('01a1ee3d-79d4-74c8-a629-3d325f359ee6', 5, 8, 1794998368787000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3738375a222c226c6f63616c222c7b013a192c023a7b033a307d2c153a317d2c7b013a22535445505f48454c445f4241434b222c023a7b033a317d7d2c7b013a22574f524b464c4f575f5041555345445f42595f4f50455241544f52227d5d5d7a399aff');
INSERT INTO abide.history VALUES ('01a1ee3d-79d6-7d07-8280-26fc003066a3', 4, 6, 1794998368791000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3739315a222c226c6f63616c222c7b013a22535445505f4641494c4544222c023a7b033a307d2cff3a7b22636f6465223a225441534b5f4641494c4544222c226d657373616765223a226e6f227d7d2c7b013a22574f524b464c4f575f4641494c4544222cff3a7b22636f6465223a1e2c226d657373616765223a226e6f222c033a226669727374227d7d5d5dcbf07f67');
INSERT INTO abide.history VALUES ('01a1ee3d-79ce-756b-a6a7-016b92b70249', 4, 5, 1794998368892000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3839325a222c226c6f63616c222c7b013a225441534b5f524544454c495645524544222c023a7b033a307d2c22636f756e746564223a66616c73657d5d5dfb9e78ae');
INSERT INTO abide.history VALUES ('01a1ee3d-79db-730d-bac6-f9c1b1c78819', 4, 6, 1794998368944000000, '\x5b5b22323032362d31312d31385431303a33393a32382e3934345a222c226c6f63616c222c7b013a22535445505f43414e43454c4c4544222c023a7b033a307d7d2c7b013a22574f524b464c4f575f43414e43454c4c4544222cfa3a22656e6f756768227d5d5d08c4867c');
INSERT INTO abide.history VALUES ('01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 3, 4, 1794998368960000000, '\x5b5b22323032362d31312d31385431303a33393a32382e39365a222cf82c7b013af62c023a7b033a307d2cf73a312cf83a22776f726b65722d31227d5d5d228442c0');
INSERT INTO abide.history VALUES ('01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 4, 7, 1794998368990000000, '\x5b5b22323032362d31312d31385431303a33393a32382e39395a222c226c6f63616c222c7b013a224a4f55524e414c5f5245434f52444544222c023a7b033a307d2c22656e7472696573223a5b7b043a22636861726765222c22726573756c74223a7b2272656365697074223a377d7d5d7d2c7b013a182c023a7b033a307d2c0a3a5b7b073a312c023a7b033a307d2c043a22676f222c053a225349474e414c222c063a0e2c083a1c2c226c697374656e73466f72223a7b227369676e616c223a7b227369676e616c54797065223a22676f227d7d7d5d2c0b3a5b315d2c0c3a0d7d2c7b013a1b2cfa3a225349474e414c227d5d5d14a4f3f5');


--
-- Data for Name: idempotency_records; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.idempotency_records VALUES ('ws_0/start/order-7', 4016846795254755208, 1794998368766000000, '{"started":"run_01m7q3tyfyfta8vp34z516bxb0"}', '01a1ee3d-79fe-7e94-8dd8-64f94265f560');


--
-- Data for Name: link_generations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.link_generations VALUES ('01a1ee3d-79ae-797e-969d-1f5e01192e48', 1, 1);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.migrations VALUES (1, '2026-11-18 10:39:25.304747+00', 1);
INSERT INTO abide.migrations VALUES (2, '2026-11-18 10:39:25.304747+00', 1);
INSERT INTO abide.migrations VALUES (3, '2026-11-18 10:39:25.304747+00', 3);
INSERT INTO abide.migrations VALUES (4, '2026-11-18 10:39:25.304747+00', 4);
INSERT INTO abide.migrations VALUES (5, '2026-11-18 10:39:25.304747+00', 5);
INSERT INTO abide.migrations VALUES (6, '2026-11-18 10:39:25.304747+00', 6);
INSERT INTO abide.migrations VALUES (7, '2026-11-18 10:39:25.304747+00', 7);
INSERT INTO abide.migrations VALUES (8, '2026-11-18 10:39:25.304747+00', 7);
INSERT INTO abide.migrations VALUES (9, '2026-11-18 10:39:25.304747+00', 9);


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.nodes VALUES ('535f7caf-d999-3e67-3374-aac2cae2549a', 1794998369250539);


--
-- Data for Name: run_tags; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-7970-73b6-9063-ac6bc0461db9', 'nap');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-7986-7e66-b282-1c397d14507c', 'dream');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-798f-7241-8fd1-1c28a457ea92', 'listen');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-799a-7778-b489-5602f1f5d895', 'ask');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-799e-718a-8525-d2a1e0d0d3f1', 'early');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79a4-77a8-97f5-2950778862c3', 'review');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79a8-7046-9dca-189911b7f775', 'call');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79ae-797e-969d-1f5e01192e48', 'closed');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79b1-7fcc-9aab-6ecad2a5ec68', 'parent');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79b4-716f-bb23-16da1386b31f', 'map');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79bf-75ff-8367-e152f63587d8', 'greet');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 'code');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79ca-7cd3-bea2-6be8a2b9c1c2', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79ce-756b-a6a7-016b92b70249', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79d4-74c8-a629-3d325f359ee6', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79d6-7d07-8280-26fc003066a3', 'work');
INSERT INTO abide.run_tags VALUES (0, '01a1ee3d-79db-730d-bac6-f9c1b1c78819', 'work');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.runs VALUES ('01a1ee3d-7970-73b6-9063-ac6bc0461db9', 0, 5, 1794998368624000000, 1794998368624000000, NULL, NULL, 2, 'nap', '1', '["nap"]', 3723074821);
INSERT INTO abide.runs VALUES ('01a1ee3d-7986-7e66-b282-1c397d14507c', 0, 5, 1794998368646000000, 1794998368646000000, NULL, NULL, 2, 'dream', '1', '["dream"]', 2193555382);
INSERT INTO abide.runs VALUES ('01a1ee3d-798f-7241-8fd1-1c28a457ea92', 0, 5, 1794998368655000000, 1794998368655000000, NULL, NULL, 2, 'listen', '1', '["listen"]', 1456882239);
INSERT INTO abide.runs VALUES ('01a1ee3d-799a-7778-b489-5602f1f5d895', 0, 5, 1794998368666000000, 1794998368666000000, NULL, NULL, 2, 'ask', '1', '["ask"]', 695530797);
INSERT INTO abide.runs VALUES ('01a1ee3d-79a8-7046-9dca-189911b7f775', 0, 5, 1794998368680000000, 1794998368680000000, NULL, NULL, 2, 'call', '1', '["call"]', 1525316166);
INSERT INTO abide.runs VALUES ('01a1ee3d-79ae-797e-969d-1f5e01192e48', 0, 5, 1794998368686000000, 1794998368686000000, NULL, NULL, 2, 'closed', '1', '["closed"]', 1564651454);
INSERT INTO abide.runs VALUES ('01a1ee3d-79b1-7d84-b501-3a7968900a9a', 0, 5, 1794998368689000000, 1794998368689000000, NULL, NULL, 2, 'child', '1', NULL, 3009305216);
INSERT INTO abide.runs VALUES ('01a1ee3d-79b1-7fcc-9aab-6ecad2a5ec68', 0, 5, 1794998368689000000, 1794998368689000000, NULL, NULL, 2, 'parent', '1', '["parent"]', 2451297112);
INSERT INTO abide.runs VALUES ('01a1ee3d-79b4-716f-bb23-16da1386b31f', 0, 11, 1794998368692000000, 1794998368692000000, NULL, NULL, 2, 'map', '1', '["map"]', 331104716);
INSERT INTO abide.runs VALUES ('01a1ee3d-79bf-75ff-8367-e152f63587d8', 0, 5, 1794998368703000000, 1794998368703000000, 1794998368703000000, NULL, 4, 'greet', '1', '["greet"]', 621429600);
INSERT INTO abide.runs VALUES ('01a1ee3d-79a4-77a8-97f5-2950778862c3', 0, 13, 1794998368676000000, 1794998368734000000, NULL, NULL, 2, 'review', '1', '["review"]', 1150907566);
INSERT INTO abide.runs VALUES ('01a1ee3d-799e-718a-8525-d2a1e0d0d3f1', 0, 6, 1794998368670000000, 1794998368748000000, NULL, NULL, 2, 'early', '1', '["early"]', 1258919856);
INSERT INTO abide.runs VALUES ('01a1ee3d-79fe-7e94-8dd8-64f94265f560', 0, 5, 1794998368766000000, 1794998368766000000, NULL, NULL, 2, 'ask', '1', NULL, 2801136516);
INSERT INTO abide.runs VALUES ('01a1ee3d-79ca-7cd3-bea2-6be8a2b9c1c2', 0, 4, 1794998368714000000, 1794998368773000000, NULL, NULL, 1, 'work', '1', '["work"]', 662769776);
INSERT INTO abide.runs VALUES ('01a1ee3d-79d4-74c8-a629-3d325f359ee6', 0, 8, 1794998368724000000, 1794998368787000000, NULL, NULL, 3, 'work', '1', '["work"]', 4042620077);
INSERT INTO abide.runs VALUES ('01a1ee3d-79d6-7d07-8280-26fc003066a3', 0, 6, 1794998368726000000, 1794998368791000000, 1794998368791000000, NULL, 5, 'work', '1', '["work"]', 1266004059);
INSERT INTO abide.runs VALUES ('01a1ee3d-79ce-756b-a6a7-016b92b70249', 0, 5, 1794998368718000000, 1794998368892000000, NULL, NULL, 1, 'work', '1', '["work"]', 2453131676);
INSERT INTO abide.runs VALUES ('01a1ee3d-79db-730d-bac6-f9c1b1c78819', 0, 6, 1794998368731000000, 1794998368944000000, 1794998368944000000, NULL, 6, 'work', '1', '["work"]', 2377733883);
INSERT INTO abide.runs VALUES ('01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 0, 7, 1794998368709000000, 1794998368990000000, NULL, NULL, 2, 'code', '1', '["code"]', 3670729263);


--
-- Data for Name: schedules; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.schedules VALUES ('01a1ee3d-7bc0-85b4-a1e8-a38ae1f1f9dc', 0, 'nightly', 2, '{"id":"sch_01m7q3tyy0gpta3t53hbgz3yew","workspace":"ws_0","plan":{"name":"nightly","workflow":"greet","input":null,"when":{"cron":"0 3 * * *","timezone":"Europe/Berlin"},"overlap":"skip","catchUp":"last"},"seq":2,"createdBy":"local","createdAt":"2026-11-18T10:39:29.216Z","updatedAt":"2026-11-18T10:39:29.259Z","paused":true,"anchor":"2026-11-18T10:39:29.216Z","waits":[{"number":1,"name":"$occurrence","kind":"SCHEDULE","status":"CANCELLED","createdAt":"2026-11-18T10:39:29.216Z","resumeAt":"2026-11-19T02:00:00Z","resumePayload":{"reason":"paused"},"resolvedBy":"local","resolvedAt":"2026-11-18T10:39:29.259Z"}]}');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.settings VALUES ('store-id', '\x6564616264303464316532336638326538616332666637333036623964653137');
INSERT INTO abide.settings VALUES ('link-secrets', '\x5b7b226964223a312c22736563726574223a2272594c6b73626849686573555455504753494445536263757a5a6b596f5a743842504f5f4e5a7737744934222c22637265617465644174223a22323032362d31312d31385431303a33393a32382e3332335a227d5d');


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: stored_bytes; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.stored_bytes VALUES (0, 220);
INSERT INTO abide.stored_bytes VALUES (0, 224);
INSERT INTO abide.stored_bytes VALUES (0, 284);
INSERT INTO abide.stored_bytes VALUES (0, 249);
INSERT INTO abide.stored_bytes VALUES (0, 251);
INSERT INTO abide.stored_bytes VALUES (0, 252);
INSERT INTO abide.stored_bytes VALUES (0, 245);
INSERT INTO abide.stored_bytes VALUES (0, 250);
INSERT INTO abide.stored_bytes VALUES (0, 619);
INSERT INTO abide.stored_bytes VALUES (0, 587);
INSERT INTO abide.stored_bytes VALUES (0, 188);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 121);
INSERT INTO abide.stored_bytes VALUES (0, 378);
INSERT INTO abide.stored_bytes VALUES (0, 97);
INSERT INTO abide.stored_bytes VALUES (0, 217);
INSERT INTO abide.stored_bytes VALUES (0, 335);
INSERT INTO abide.stored_bytes VALUES (0, 73);
INSERT INTO abide.stored_bytes VALUES (0, 123);
INSERT INTO abide.stored_bytes VALUES (0, 168);
INSERT INTO abide.stored_bytes VALUES (0, 89);
INSERT INTO abide.stored_bytes VALUES (0, 107);
INSERT INTO abide.stored_bytes VALUES (0, 66);
INSERT INTO abide.stored_bytes VALUES (0, 249);
INSERT INTO abide.stored_bytes VALUES (0, 12);


--
-- Data for Name: suspects; Type: TABLE DATA; Schema: abide; Owner: -
--



--
-- Data for Name: tasks; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.tasks VALUES ('01a1ee3d-79ca-7cd3-bea2-6be8a2b9c1c2', 0, 1, 0, 'work', 'work', true, true, 1794998428773000000, 60000000000, NULL);
INSERT INTO abide.tasks VALUES ('01a1ee3d-79ce-756b-a6a7-016b92b70249', 0, 2, 0, 'work', 'work', false, false, 1794998368892000000, 10000000000, NULL);


--
-- Data for Name: waitpoints; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.waitpoints VALUES ('01a1ee3d-7970-73b6-9063-ac6bc0461db9', 1, 0, 1794998368624000000, 1794998378624000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-7986-7e66-b282-1c397d14507c', 1, 0, 1794998368646000000, 1826534368646000000, NULL, 0, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-798f-7241-8fd1-1c28a457ea92', 1, 0, 1794998368655000000, NULL, '772', 3, 0, 'paid', '{"eventId":"paid","since":"2026-11-18T10:39:28.655Z","match":"event.order == 7"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-799a-7778-b489-5602f1f5d895', 1, 0, 1794998368666000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-799e-718a-8525-d2a1e0d0d3f1', 1, 0, 1794998368670000000, NULL, NULL, 2, 0, 'first', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79a8-7046-9dca-189911b7f775', 1, 0, 1794998368680000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79ae-797e-969d-1f5e01192e48', 1, 0, 1794998368686000000, NULL, NULL, 1, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79b1-7d84-b501-3a7968900a9a', 1, 0, 1794998368689000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79b1-7fcc-9aab-6ecad2a5ec68', 1, 0, 1794998368689000000, NULL, NULL, 5, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79b4-716f-bb23-16da1386b31f', 1, 0, 1794998368692000000, NULL, '779', 3, 0, 'item-0', '{"eventId":"item-0","since":"2026-11-18T10:39:28.692Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79b4-716f-bb23-16da1386b31f', 2, 0, 1794998368692000000, NULL, '779', 3, 0, 'item-1', '{"eventId":"item-1","since":"2026-11-18T10:39:28.692Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79b4-716f-bb23-16da1386b31f', 3, 0, 1794998368692000000, NULL, '779', 3, 0, 'item-2', '{"eventId":"item-2","since":"2026-11-18T10:39:28.692Z"}');
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79a4-77a8-97f5-2950778862c3', 1, 0, 1794998368676000000, NULL, NULL, 2, 1, 'doc', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79a4-77a8-97f5-2950778862c3', 2, 0, 1794998368734000000, NULL, NULL, 4, 0, NULL, NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79fe-7e94-8dd8-64f94265f560', 1, 0, 1794998368766000000, NULL, NULL, 2, 0, 'answer', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-79c5-7157-809f-c59d6ed9a64d', 1, 0, 1794998368990000000, NULL, NULL, 2, 0, 'go', NULL);
INSERT INTO abide.waitpoints VALUES ('01a1ee3d-7bc0-85b4-a1e8-a38ae1f1f9dc', 1, 0, 1794998369216000000, 1795053600000000000, NULL, 8, 3, NULL, NULL);


--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.webhooks VALUES ('01a1ee3d-7c69-7c14-bb6a-a01acc06aa2c', 0, 'http://127.0.0.1:9/hook', NULL, 2, '[{"key":"whsec_KM6AwVMBvo7d2oMMOHVqvG/047CTAWvp66A405qrq10="}]', 1794998369385000000, NULL, NULL, NULL);


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: abide; Owner: -
--

INSERT INTO abide.workspaces VALUES (0, 'default', 1794998365000000000);
INSERT INTO abide.workspaces VALUES (1, 'other', 1794998369473000000);


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

\unrestrict cGROKXx1U6mASSGaYp7BPiicLuLqCOaK7iMvqBhEBJzmjfkeV4vyaYLNjiIDVRH

