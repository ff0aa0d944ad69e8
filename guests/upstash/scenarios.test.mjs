// What the SDK must be able to do, each told as a user would see it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@upstash/workflow";
import * as application from "./app.mjs";
import { cutOff, losing } from "./faults.mjs";
import { Abide } from "./server.mjs";
import { until } from "./until.mjs";

// What goes wrong meanwhile: `requests` (the first answer to each request is lost), `answers` (every second 200 of the app
// is), `kills` (the server is killed again and again).
const faults = new Set((process.env.ABIDE_FAULTS ?? "").split(",").filter(Boolean));

const { effects, failures } = application;
let abide, app, client, lost, cut, killing;
let kills = 0;

before(async () => {
  abide = await Abide.start();
  abide.useCredentials();
  app = await application.start();
  if (faults.has("requests")) {
    lost = await losing(() => abide.url);
    process.env.QSTASH_URL = lost.url;
  }
  if (faults.has("answers")) cut = cutOff(app.app);
  if (faults.has("kills")) killing = abide.killEvery(1_000, () => (kills += 1));
  const baseUrl = lost?.url ?? abide.otherUrl;
  client = new Client({ baseUrl, token: process.env.QSTASH_TOKEN, retry: { retries: 20, backoff: () => 250 } });
});
after(async () => {
  await killing?.stop();
  app.close();
  lost?.close();
  await abide.stop();
  console.log(`lost requests: ${lost?.lost.count ?? 0}, cut answers: ${cut?.count ?? 0}, kills: ${kills}`);
});
/** How often a step function may have run: once, unless the server was killed while it did. */
const once = (count) => (faults.has("kills") ? count >= 1 : count === 1);

const trigger = async (name, body, options = {}) => {
  const { workflowRunId } = await client.trigger({ url: `${app.base}/wf/${name}`, body, retries: 0, ...options });
  return workflowRunId;
};
const run = async (id) => (await client.logs({ workflowRunId: id })).runs[0];
const ended = (id) => until(async () => {
  const found = await run(id);
  return found && found.workflowState !== "RUN_STARTED" ? found : undefined;
});
const result = async (id) => {
  const found = await ended(id);
  assert.equal(found.workflowState, "RUN_SUCCESS", JSON.stringify(found));
  return found.workflowRunResponse === undefined ? undefined : JSON.parse(found.workflowRunResponse);
};
/** Somebody else's request, sent again while the server is away. */
const persistently = (url, init) => until(() => fetch(url, init).catch(() => undefined));
const times = (id, name) => effects.get(`${id} ${name}`) ?? 0;

test("steps run in order, and headers and label reach them all", async () => {
  const id = await trigger("basic", { text: "“quo”" }, { headers: { "x-user-header": "uh" }, label: "lab-1" });
  assert.deepEqual(await result(id), { final: { a: "one “quo”", n: 2 }, header: "uh", label: "lab-1" });
  for (const name of ["step1", "step2", "undef"]) assert.ok(once(times(id, name)), name);
});

test("a run is started once under its id", async () => {
  const workflowRunId = "my-own-id";
  const first = await client.trigger({ url: `${app.base}/wf/basic`, body: { text: "a" }, workflowRunId, retries: 0 });
  const second = await client.trigger({ url: `${app.base}/wf/basic`, body: { text: "b" }, workflowRunId, retries: 0 });
  assert.equal(first.workflowRunId, second.workflowRunId);
  assert.equal((await result(first.workflowRunId)).final.a, "one a");
});

test("a token that is none is refused", async () => {
  const stranger = new Client({ baseUrl: abide.url, token: "wrong" });
  await assert.rejects(stranger.trigger({ url: `${app.base}/wf/basic`, body: {} }), /invalid token/);
});

test("sleeps end when they should", async () => {
  const slept = await result(await trigger("naps", {}));
  assert.ok(slept >= 1_000, `${slept}`);
});

test("branches run side by side, each once", async () => {
  const id = await trigger("parallel", {});
  assert.deepEqual(await result(id), { last: "ABtrue", more: [10, 20, 30] });
  for (const name of ["a", "b", "last", "m1", "m2", "m3"]) assert.ok(once(times(id, name)), name);
});

test("calls are made by the server and retried by it", async () => {
  const { ok, posted, flaky, bad, type } = await result(await trigger("call", { base: app.base }));
  assert.deepEqual(ok, { n: 7 });
  assert.deepEqual(posted, { got: { hi: "ü" }, header: "c", leaked: null });
  assert.deepEqual(flaky, [200, { count: 3 }]);
  assert.equal(bad, 418);
  assert.match(type, /application\/json/);
});

test("calls are made side by side", async () => {
  assert.deepEqual(await result(await trigger("parcall", { base: app.base })), [{ n: 1 }, { n: 2 }, { n: 3 }, "b"]);
});

test("calls under flow control are made as many at a time as was asked for", async () => {
  for (const parallelism of [1, 2]) {
    const atOnce = await result(await trigger("busy", { base: app.base, parallelism }));
    // A call that is under way when the server is killed is made again beside itself.
    assert.ok(faults.has("kills") ? atOnce >= 1 : atOnce === parallelism, `${atOnce}`);
  }
});

test("an event wakes those who wait for it, and nobody else", async () => {
  const event = `ev-${Date.now()}`;
  assert.deepEqual(await client.notify({ eventId: event, eventData: "too early" }), []);
  const ids = [await trigger("waiter", { event }), await trigger("waiter", { event })];
  const waiters = await until(async () => {
    const found = await client.getWaiters({ eventId: event });
    return found.length === 2 ? found : undefined;
  });
  assert.equal(waiters[0].url, `${app.base}/wf/waiter`);
  const woken = await client.notify({ eventId: event, eventData: { a: "ß" } });
  assert.equal(woken.length, 2);
  for (const id of ids) assert.deepEqual(await result(id), { eventData: { a: "ß" }, timedOut: false });
});

test("a wait ends with its time", async () => {
  assert.deepEqual(await result(await trigger("waiter", { event: "never", timeout: "1s" })), { eventData: null, timedOut: true });
});

test("an event for a run is kept until the run waits for it, in order", async () => {
  const event = `kept-${Date.now()}`;
  const id = await trigger("twice", { event });
  await client.notify({ eventId: event, eventData: "one", workflowRunId: id });
  await client.notify({ eventId: event, eventData: "two", workflowRunId: id });
  assert.deepEqual(await result(id), ["one", "two"]);
});

test("a workflow notifies another", async () => {
  const event = `from-${Date.now()}`;
  const waiter = await trigger("waiter", { event });
  await until(async () => (await client.getWaiters({ eventId: event })).length === 1);
  assert.equal(await result(await trigger("notifier", { event })), 1);
  assert.deepEqual((await result(waiter)).eventData, { from: "workflow" });
});

test("a webhook that is called before anybody waits is not lost", async () => {
  const id = await trigger("webhook", {});
  const url = await until(() => failures.get(`hook ${id}`));
  const called = await persistently(`${url}?q=1`, { method: "PUT", headers: { "x-hook": "hv" }, body: "{}" });
  assert.equal(called.status, 200);
  assert.deepEqual(await result(id), { timeout: false, method: "PUT", header: "hv", again: true });
});

test("a workflow invokes another, and is told how it ended", async () => {
  const { workflowRunId } = await client.trigger({ url: `${app.base}/many/parent`, retries: 0 });
  assert.deepEqual(await result(workflowRunId), { fine: { doubled: 42 }, isFailed: false, broken: true });
});

test("a step is retried as often as was asked for, after the time that was asked for", async () => {
  const id = await trigger("retries", {}, { retries: 3, retryDelay: "pow(2, retried) * 10" });
  assert.equal(await result(id), "third time");
  assert.equal(times(id, "third"), 3);
});

test("an app says when it is to be tried again", async () => {
  const id = await trigger("retryafter", {}, { retries: 2, retryDelay: "10" });
  await result(id);
  assert.equal(times(id, "later"), 2);
});

test("a run that fails calls its failure function and is in the dead letter queue", async () => {
  const id = await trigger("failing", {}, { retries: 1, retryDelay: "20", headers: { "x-user-header": "uh" }, label: "fl" });
  const found = await ended(id);
  assert.equal(found.workflowState, "RUN_FAILED");
  assert.deepEqual([times(id, "fine"), times(id, "boom")], [1, 2]);
  const told = await until(() => failures.get(id));
  assert.deepEqual([told.failStatus, told.failResponse, told.header], [500, "my-error ✓", "uh"]);
  const { messages } = await client.dlq.list({ filter: { workflowRunId: id } });
  assert.deepEqual([messages.length, messages[0].workflowRunId, messages[0].responseStatus], [1, id, 500]);
  const success = await until(async () => (await run(id)).failureFunction?.state === "CALLBACK_SUCCESS" && run(id));
  assert.equal(success.failureFunction.responseStatus, 200);
});

test("an error that cannot be retried is not", async () => {
  const id = await trigger("nonretryable", {}, { retries: 5 });
  assert.equal((await ended(id)).workflowState, "RUN_FAILED");
  assert.equal(times(id, "stop"), 1);
});

test("a failed run is resumed where it failed", async () => {
  const id = await trigger("recovers", {}, {});
  assert.equal((await ended(id)).workflowState, "RUN_FAILED");
  failures.set(`healed ${id}`, true);
  const { messages } = await client.dlq.list({ filter: { workflowRunId: id } });
  const resumed = await client.dlq.resume({ dlqId: messages[0].dlqId });
  assert.equal(await result((resumed[0] ?? resumed).workflowRunId), "healed");
  assert.equal(times(id, "fine"), 1);
});

test("a failed run is restarted, and taken out of the queue", async () => {
  const id = await trigger("failing", {}, { label: "again" });
  await ended(id);
  const { messages } = await client.dlq.list({ filter: { workflowRunId: id } });
  const restarted = await client.dlq.restart({ dlqId: messages[0].dlqId });
  const second = (restarted[0] ?? restarted).workflowRunId;
  assert.notEqual(second, id);
  assert.equal((await ended(second)).workflowState, "RUN_FAILED");
  assert.equal((await client.dlq.list({ filter: { workflowRunId: id } })).messages.length, 0);
});

test("an endpoint that is no workflow fails the run", async () => {
  const { workflowRunId } = await client.trigger({ url: `${app.base}/plain`, retries: 3 });
  const found = await ended(workflowRunId);
  assert.equal(found.workflowState, "RUN_FAILED");
});

test("runs are cancelled by id and by label", async () => {
  const one = await trigger("sleeper", {});
  assert.deepEqual(await client.cancel(one), { cancelled: 1 });
  assert.deepEqual(await client.cancel(one), { cancelled: 0 });
  assert.equal((await ended(one)).workflowState, "RUN_CANCELED");
  const label = `lab-${Date.now()}`;
  const two = [await trigger("sleeper", {}, { label }), await trigger("sleeper", {}, { label })];
  assert.deepEqual(await client.cancel({ filter: { label } }), { cancelled: 2 });
  for (const id of two) assert.equal((await ended(id)).workflowState, "RUN_CANCELED");
});

test("a workflow cancels itself", async () => {
  const id = await trigger("cancels", {});
  assert.equal((await ended(id)).workflowState, "RUN_CANCELED");
  assert.equal(times(id, "never"), 0);
});

test("a start by REST is confirmed by the SDK", async () => {
  const answer = await persistently(`${abide.url}/v2/trigger/${app.base}/wf/basic`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.QSTASH_TOKEN}`, "upstash-forward-x-user-header": "rh", "upstash-retries": "0", "content-type": "application/json" },
    body: JSON.stringify({ text: "rest" }),
  });
  assert.equal(answer.status, 201);
  const { workflowRunId } = await answer.json();
  const { final, header } = await result(workflowRunId);
  assert.deepEqual([final.a, header], ["one rest", "rh"]);
});

test("a sleeping guest is on the Waits page and is woken there", async () => {
  const id = await trigger("sleeper", {});
  const tag = encodeURIComponent(`upstash:${id}`);
  const [found] = await until(async () => {
    const { data } = await abide.api(`/workflow-runs?tag=${tag}&status=WAITING`);
    return data.length === 1 ? data : undefined;
  });
  const { data: waits } = await abide.api(`/waitpoints?runId=${found.id}&status=PENDING`);
  assert.deepEqual(waits.map((wait) => wait.kind), ["DELAY"]);
  await abide.api(`/waitpoints/${waits[0].id}/complete`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  assert.equal(await result(id), "awake");
});
