// A guest's run is a run: it is listed, steered, kept, backed up and counted like any other, and the SDK sees what was done to it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@upstash/workflow";
import * as application from "./app.mjs";
import { Abide } from "./server.mjs";
import { until } from "./until.mjs";

const { effects, failures } = application;
let abide, app, client;

before(async () => {
  abide = await Abide.start();
  abide.useCredentials();
  app = await application.start();
  client = clientOf(abide);
});
after(async () => {
  app.close();
  await abide.stop();
});

const clientOf = (server) => new Client({ baseUrl: server.otherUrl, token: process.env.QSTASH_TOKEN });
const trigger = async (name, body = {}, options = {}) =>
  (await client.trigger({ url: `${app.base}/wf/${name}`, body, retries: 0, ...options })).workflowRunId;
const told = async (id, by = client) => (await by.logs({ workflowRunId: id })).runs[0];
const ended = (id, by) => until(async () => {
  const found = await told(id, by);
  return found && found.workflowState !== "RUN_STARTED" && found;
});
const result = async (id, by) => {
  const found = await ended(id, by);
  assert.equal(found.workflowState, "RUN_SUCCESS", JSON.stringify(found));
  return JSON.parse(found.workflowRunResponse);
};
const runs = async (tag, server = abide) => (await server.api(`/workflow-runs?tag=${encodeURIComponent(tag)}`)).data;
const runOf = async (id, server) => (await runs(`upstash:${id}`, server))[0];
/** The wait that a guest is in, once it is. */
const waiting = (id, kind, server = abide) => until(async () => {
  const run = await runOf(id, server);
  const { data } = await server.api(`/waitpoints?runId=${run.id}&status=PENDING`);
  return data.find((wait) => wait.kind === kind && run.status === "WAITING");
});
const steer = (wait, how, body, server = abide) =>
  server.api(`/waitpoints/${wait.id}${how === "move" ? "" : `/${how}`}`, {
    method: how === "move" ? "PATCH" : "POST",
    headers: { "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });

test("a sleep that is moved, woken or cancelled on the Waits page is over for the SDK", async () => {
  for (const [how, body] of [["move", { resumeAt: new Date(Date.now() + 1_000).toISOString() }], ["complete", {}], ["cancel"]]) {
    const id = await trigger("sleeper");
    const wait = await waiting(id, "DELAY");
    assert.match(wait.call ?? wait.name, /long/);
    await steer(wait, how, body);
    assert.equal(await result(id), "awake", how);
  }
});

test("a wait for an event that is timed out, cancelled or completed on the Waits page ends for the SDK", async () => {
  const outcomes = [["timeout", undefined, { eventData: null, timedOut: true }], ["cancel", undefined, { eventData: null, timedOut: true }],
    ["complete", { payload: { by: "hand" } }, { eventData: { by: "hand" }, timedOut: false }]];
  for (const [how, body, outcome] of outcomes) {
    const id = await trigger("waiter", { event: `steered-${how}`, timeout: "1h" });
    await steer(await waiting(id, "EVENT"), how, body);
    assert.deepEqual(await result(id), outcome, how);
  }
});

test("a deadline that is moved is the SDK's deadline", async () => {
  const id = await trigger("waiter", { event: "moved", timeout: "1h" });
  await steer(await waiting(id, "EVENT"), "move", { resumeAt: new Date(Date.now() + 1_000).toISOString() });
  assert.deepEqual(await result(id), { eventData: null, timedOut: true });
});

test("a retry is made at once when its wait is woken, and never when it is cancelled", async () => {
  const woken = await trigger("recovers", {}, { retries: 3, retryDelay: "3600000" });
  const wait = await waiting(woken, "RETRY");
  assert.match(JSON.stringify(wait.listensFor), /not yet/);
  failures.set(`healed ${woken}`, true);
  await steer(wait, "complete", {});
  assert.equal(await result(woken), "healed");
  const cancelled = await trigger("failing", {}, { retries: 3, retryDelay: "3600000" });
  await steer(await waiting(cancelled, "RETRY"), "cancel");
  assert.equal((await ended(cancelled)).workflowState, "RUN_FAILED");
  assert.equal(effects.get(`${cancelled} boom`), 1);
});

test("a run is listed by its tags, cancelled and retried by an operator, and the SDK sees it", async () => {
  const id = await trigger("sleeper", {}, { label: "listed" });
  await waiting(id, "DELAY");
  for (const tag of ["label:listed", `url:${app.base}/wf/sleeper`]) {
    assert.ok((await runs(tag)).some((run) => run.tags.includes(`upstash:${id}`)), tag);
  }
  const run = await runOf(id);
  await abide.api(`/workflow-runs/${run.id}/cancel`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  assert.equal((await ended(id)).workflowState, "RUN_CANCELED");
  const failed = await trigger("recovers");
  await ended(failed);
  failures.set(`healed ${failed}`, true);
  await abide.api(`/workflow-runs/${(await runOf(failed)).id}/retry`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  assert.equal(await until(async () => (await told(failed)).workflowState === "RUN_SUCCESS" && result(failed)), "healed");
});

test("the history of a run tells its steps by their names, and metrics count it", async () => {
  const id = await trigger("basic", { text: "h" });
  await result(id);
  const { data } = await abide.api(`/workflow-runs/${(await runOf(id)).id}/events`);
  const names = data.filter((record) => record.type === "JOURNAL_RECORDED").flatMap((record) => record.entries.map((entry) => entry.name));
  assert.deepEqual(names, ["1 step1", "2 step2", "3 undef"]);
  const metrics = await fetch(`${abide.otherUrl}/metrics`).then((answer) => answer.text());
  assert.match(metrics, /abide_runs\{workspace="default",status="COMPLETED"\} [1-9]/);
});

test("an app whose address is not allowed is refused with the setting that would allow it", async () => {
  const strict = await Abide.start({ own: ["--upstash"], store: `sqlite:${join(abide.folder, "strict.db")}` });
  const shown = execFileSync(process.env.ABIDE_BIN, ["upstash", "keys", "--store", strict.store], { encoding: "utf8" });
  const stranger = new Client({ baseUrl: strict.url, token: /QSTASH_TOKEN=(.*)/.exec(shown)[1] });
  await assert.rejects(stranger.trigger({ url: `${app.base}/wf/basic`, body: {} }), /allow.address/i);
  await strict.stop();
});

test("ended guests are forgotten when retention says so, and those that wait are kept", async () => {
  const keeping = await Abide.start({ own: ["--upstash", "--allow-address", "127.0.0.1", "--keep-runs", "1s"], store: `sqlite:${join(abide.folder, "keeping.db")}` });
  const { QSTASH_URL, QSTASH_TOKEN, QSTASH_CURRENT_SIGNING_KEY, QSTASH_NEXT_SIGNING_KEY } = process.env;
  keeping.useCredentials();
  const other = await application.start();
  const by = clientOf(keeping);
  const { workflowRunId: over } = await by.trigger({ url: `${other.base}/wf/basic`, body: { text: "k" }, retries: 0 });
  const { workflowRunId: asleep } = await by.trigger({ url: `${other.base}/wf/sleeper`, body: {}, retries: 0 });
  await waiting(asleep, "DELAY", keeping);
  await until(async () => (await told(over, by)) === undefined, 60_000);
  assert.equal((await told(asleep, by)).workflowState, "RUN_STARTED");
  await keeping.stop();
  other.close();
  Object.assign(process.env, { QSTASH_URL, QSTASH_TOKEN, QSTASH_CURRENT_SIGNING_KEY, QSTASH_NEXT_SIGNING_KEY });
});

test("a guest that sleeps in a backup wakes up where that is served", { skip: process.env.ABIDE_TEST_STORE === "postgres" }, async () => {
  const first = await Abide.start({ store: `sqlite:${join(abide.folder, "first.db")}` });
  const { QSTASH_URL, QSTASH_TOKEN, QSTASH_CURRENT_SIGNING_KEY, QSTASH_NEXT_SIGNING_KEY } = process.env;
  first.useCredentials();
  const other = await application.start();
  const by = clientOf(first);
  const { workflowRunId } = await by.trigger({ url: `${other.base}/wf/sleeper`, body: {}, retries: 0 });
  await waiting(workflowRunId, "DELAY", first);
  const copy = join(abide.folder, "copy.db");
  execFileSync(process.env.ABIDE_BIN, ["backup", copy, "--server", first.url]);
  await first.stop();
  const restored = await Abide.start({ store: `sqlite:${copy}`, port: first.nodes[0].port });
  await steer(await waiting(workflowRunId, "DELAY", restored), "complete", {}, restored);
  assert.equal(await result(workflowRunId, by), "awake");
  await restored.stop();
  other.close();
  Object.assign(process.env, { QSTASH_URL, QSTASH_TOKEN, QSTASH_CURRENT_SIGNING_KEY, QSTASH_NEXT_SIGNING_KEY });
});

test("what the runs of an app have in common is stored once, and reaches them all", async () => {
  const headers = { "x-user-header": "own" };
  const ids = [];
  for (const text of ["a", "b", "c"]) ids.push(await trigger("basic", { text }, { headers, label: "shared" }));
  for (const id of ids) {
    const { header, label } = await result(id);
    assert.deepEqual([header, label], ["own", "shared"]);
  }
  const stored = await Promise.all(ids.map(async (id) => abide.api(`/workflow-runs/${(await runOf(id)).id}`)));
  const [first, , last] = stored.map((run) => Object.keys(run.input).sort());
  assert.ok(first.length >= last.length);
  assert.deepEqual(last, ["body", "headers"]);
  assert.equal(stored[1].definition.version, stored[2].definition.version);
  const { messages } = await client.dlq.list({ filter: { label: "shared" } });
  assert.equal(messages.length, 0);
});

test("logs tell what a step called, waited for and came to, and what went wrong", async () => {
  const called = await ended(await trigger("call", { base: app.base }));
  const steps = called.steps.flatMap((group) => group.steps);
  const ok = steps.find((step) => step.stepName === "ok");
  assert.deepEqual([ok.callUrl, ok.callMethod, ok.callResponseStatus, ok.state], [`${app.base}/ext/json/7`, "GET", 200, "STEP_SUCCESS"]);
  const waiter = await trigger("waiter", { event: "logged", timeout: "1h" });
  const wait = await waiting(waiter, "EVENT");
  const pending = (await told(waiter)).steps.flatMap((group) => group.steps).find((step) => step.stepName === "wait");
  assert.deepEqual([pending.waitEventId, pending.waitTimeoutDuration, pending.state], ["logged", "1h", "STEP_PROGRESS"]);
  assert.equal(pending.waitTimeoutDeadline, Math.floor(Date.parse(wait.resumeAt) / 1_000));
  await client.cancel(waiter);
  const failing = await trigger("failing", {}, { retries: 3, retryDelay: "3600000" });
  await waiting(failing, "RETRY");
  const [next] = (await told(failing)).steps.at(-1).steps;
  assert.deepEqual([next.state, next.errors.length, next.errors[0].status], ["STEP_RETRY", 1, 500]);
  await client.cancel(failing);
});

test("runs are cancelled many by their ids, and letters are found by how their failure function went", async () => {
  const ids = [await trigger("sleeper"), await trigger("sleeper"), await trigger("sleeper")];
  assert.deepEqual(await client.cancel(ids.slice(0, 2)), { cancelled: 2 });
  assert.equal((await told(ids[2])).workflowState, "RUN_STARTED");
  await client.cancel({ ids: ids.slice(2) });
  const id = await trigger("failing", {}, { label: "told" });
  await ended(id);
  const inState = async (failureFunctionState) => (await client.dlq.list({ filter: { label: "told", failureFunctionState } })).messages.length;
  await until(async () => (await inState("CALLBACK_SUCCESS")) === 1);
  assert.equal(await inState("CALLBACK_FAIL"), 0);
});

test("the log of a large run is fetched by the SDK", async () => {
  const id = await trigger("large");
  assert.deepEqual(await result(id), [100_000, "d", "e"]);
  assert.ok(failures.get(`fetched ${id}`));
  for (const name of ["a", "b", "c", "d", "e"]) assert.equal(effects.get(`${id} ${name}`), 1, name);
});

test("an event wakes all branches of a run that wait for it", async () => {
  const event = `both-${Date.now()}`;
  const id = await trigger("both", { event });
  await until(async () => (await client.getWaiters({ eventId: event })).length === 2);
  await client.notify({ eventId: event, eventData: "x" });
  assert.deepEqual(await result(id), ["x", "x"]);
});

test("trigger and notify at once, with the run's id: the event is not lost", async () => {
  const { workflowRunId } = await client.trigger({ url: `${app.base}/wf/order`, body: { orderId: "at-once" } });
  await client.notify({ eventId: "order-at-once-paid", eventData: { amount: 12 }, workflowRunId });
  assert.deepEqual(await result(workflowRunId), { orderId: "at-once", paid: true, amount: 12 });
});

test("check and retry: notify until somebody was woken", async () => {
  const { workflowRunId } = await client.trigger({ url: `${app.base}/wf/order`, body: { orderId: "retried" } });
  let waiters = [];
  while (waiters.length === 0) {
    waiters = await client.notify({ eventId: "order-retried-paid", eventData: { amount: 7 } });
    if (waiters.length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(waiters[0].workflowRunId, workflowRunId);
  assert.deepEqual(await result(workflowRunId), { orderId: "retried", paid: true, amount: 7 });
});

test("unique event ids: an event wakes its own run and no other", async () => {
  const [one, two] = [await trigger("order", { orderId: "u1" }), await trigger("order", { orderId: "u2" })];
  await until(async () => (await client.getWaiters({ eventId: "order-u2-paid" })).length === 1 && (await client.getWaiters({ eventId: "order-u1-paid" })).length === 1);
  assert.equal((await client.notify({ eventId: "order-u2-paid", eventData: { amount: 2 } })).length, 1);
  assert.deepEqual(await result(two), { orderId: "u2", paid: true, amount: 2 });
  assert.equal((await told(one)).workflowState, "RUN_STARTED");
  await client.cancel(one);
});

test("with QSTASH_DEV=true the SDK finds the server without any other setting", { skip: process.env.ABIDE_TEST_STORE === "postgres" }, async () => {
  const dev = await Abide.start({ own: ["--upstash-dev", "--allow-address", "127.0.0.1"], store: `sqlite:${join(abide.folder, "dev.db")}` });
  const { QSTASH_URL, QSTASH_TOKEN, QSTASH_CURRENT_SIGNING_KEY, QSTASH_NEXT_SIGNING_KEY, ...env } = process.env;
  const script = spawn(process.execPath, ["dev.mjs"], { env: { ...env, QSTASH_DEV: "true", QSTASH_DEV_PORT: String(dev.nodes[0].port) }, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  script.stdout.on("data", (data) => (said += data));
  await new Promise((resolve) => script.once("exit", resolve));
  assert.match(said, /result: "dev works"/);
  await dev.stop();
});
